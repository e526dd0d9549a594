"""The viewer as a browser has it: what a hand does in the page is done to the robot."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

viser = pytest.importorskip("viser", reason="the viewer needs viser")

from hands import LOOKS, SHOWN, Window, looking, plays  # noqa: E402
from imageio.v3 import imread  # noqa: E402

from poise.geometry.shapes import Capsule, Sphere  # noqa: E402
from poise.model.model import Model  # noqa: E402
from poise.robots.planar import planar  # noqa: E402
from poise.viewer.app import Viewer, view  # noqa: E402
from poise.viewer.session.session import Session  # noqa: E402

Wait = Callable[..., None]

START = (0.5, 0.8, 0.6)


def arm() -> Model:
    """Three unit links in a plane, with bodies of twelve triangles or so each."""
    body = Capsule((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.05)
    model = planar(3)
    return model.with_shapes({link: body for link in model.links if link != "world"})


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    with view(arm(), q=START, look="skeleton", block=False, port=0) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def windows() -> dict[str, Window]:
    """The window of this file, once it is open."""
    return {}


@pytest.fixture
def window(viewer: Viewer, shared_page: Any, windows: dict[str, Window], wait_for: Wait) -> Window:
    """The window of this file, and everything in it as in the beginning."""
    if not windows:
        windows["one"] = Window(shared_page, viewer.server, wait_for)
    session = viewer.session
    shared_page.mouse.up()  # a test that failed may have left it down
    windows["one"].look()
    session.compare(None, on=False)
    session.keep_apart(None)
    session.heed(None)
    session.use(None)
    for name in session.world.names:
        session.remove_obstacle(name)
    while len(session.tasks) > 1:
        session.remove_task(len(session.tasks) - 1)
    session.put(START)
    wait_for(lambda: session.moment.resting and np.allclose(session.moment.q, START), shared_page)
    wait_for(lambda: len(viewer.stage._gizmos) == 1, shared_page)
    wait_for(lambda: np.allclose(viewer.stage._gizmos[0].position, tool(session)), shared_page)
    return windows["one"]


@pytest.fixture
def session(viewer: Viewer) -> Session:
    return viewer.session


def tool(session: Session) -> np.ndarray:
    return session.model.pose("tool", session.moment.q).xyz


def ghost_shown(viewer: Viewer) -> bool:
    return viewer.stage.ghost is not None and viewer.stage.ghost.visible


def test_the_page_comes_up(window: Window) -> None:
    window.says("planar3")
    for name in ("Targets", "Joints", "Method", "Obstacles", "View"):
        assert window.page.get_by_role("tab", name=name).is_visible()


def test_the_arm_follows_a_gizmo_that_is_dragged(window: Window, viewer: Viewer, session: Session) -> None:
    start, (gizmo,) = tool(session), viewer.stage._gizmos
    window.pull(gizmo, 0, 0.5)
    pulled = pytest.approx([0.5, 0.0, 0.0], abs=0.05)
    window.wait_for(lambda: session.moment.resting and session.moment.goals[0, :3] - start == pulled)
    goal = session.moment.goals[0, :3]
    assert goal - start == pulled
    assert tool(session) == pytest.approx(goal, abs=1e-6)


def test_a_gizmo_out_of_reach_snaps_back_when_it_is_let_go(window: Window, viewer: Viewer, session: Session) -> None:
    start, (gizmo,) = tool(session), viewer.stage._gizmos
    arrow = window.grab(gizmo, 1)
    window.page.mouse.move(*window.pixel(arrow + np.array([0.0, 0.4, 0.0])))
    window.page.mouse.move(*window.pixel(arrow + np.array([0.0, 1.0, 0.0])))
    window.wait_for(lambda: session.moment.goals[0, 1] > start[1] + 0.8)
    assert np.linalg.norm(gizmo.position) > 3.1
    window.page.mouse.up()
    window.wait_for(lambda: np.linalg.norm(gizmo.position) < 3.0 + 1e-3)
    assert gizmo.position == pytest.approx(tool(session), abs=1e-4)
    window.wait_for(lambda: session.moment.resting)
    assert gizmo.position == pytest.approx(tool(session), abs=1e-4)
    assert session.moment.goals[0, :3] == pytest.approx(tool(session), abs=1e-4)


def test_a_slider_moves_a_joint(window: Window, session: Session) -> None:
    window.tab("Joints")
    window.wait_for(lambda: float(window.slider(1).get_attribute("aria-valuenow")) == pytest.approx(START[1]))
    window.slider(1).focus()
    for angle in (0.801, 0.802, 0.803, 0.804, 0.805):
        window.page.keyboard.press("ArrowRight")
        window.wait_for(lambda angle=angle: session.moment.q[1] == pytest.approx(angle, abs=1e-9))
    assert session.moment.q[[0, 2]] == pytest.approx([0.5, 0.6], abs=1e-3)


def test_buttons_go_home_and_elsewhere(window: Window, session: Session) -> None:
    window.tab("Joints")
    window.press("Home")
    window.wait_for(lambda: np.allclose(session.moment.q, 0.0))
    window.press("Random")
    window.wait_for(lambda: not np.allclose(session.moment.q, 0.0))
    window.wait_for(
        lambda: float(window.slider(0).get_attribute("aria-valuenow")) == pytest.approx(session.moment.q[0], abs=1e-3)
    )


def test_a_method_is_chosen_and_its_settings_are_taken_over(window: Window, session: Session) -> None:
    window.tab("Method")
    window.choose("method", "das")
    window.wait_for(lambda: session.method is not None and session.method.name == "das")
    window.says("settings of the method")
    window.type("alpha", "0.5")
    window.wait_for(lambda: getattr(session.method, "alpha", None) == 0.5)
    window.choose("method", "poise's own")
    window.wait_for(lambda: session.method is None)
    window.says_nowhere("settings of the method")


def test_a_setting_that_makes_no_sense_is_refused_in_words(window: Window, session: Session) -> None:
    window.tab("Method")
    window.choose("method", "das")
    window.wait_for(lambda: session.method is not None)
    before = session.method
    window.type("alpha", "-1")
    window.says("Refused:")
    assert session.method == before


def test_a_ghost_shows_where_another_method_leads(window: Window, viewer: Viewer, session: Session) -> None:
    window.tab("Method")
    window.choose("ghost", "dls")
    window.wait_for(lambda: ghost_shown(viewer) and session.moment.resting)
    window.pull(viewer.stage._gizmos[0], 0, 0.4)
    window.wait_for(lambda: session.moment.resting and session.moment.goals[0, 0] > 1.1)
    moment = session.moment
    assert moment.ghost is not None
    assert session.model.pose("tool", moment.ghost).xyz == pytest.approx(moment.goals[0, :3], abs=1e-3)
    window.choose("ghost", "none")
    window.wait_for(lambda: not ghost_shown(viewer))


def test_the_arm_keeps_away_from_an_obstacle_that_is_pushed_at_it(
    window: Window, viewer: Viewer, session: Session
) -> None:
    window.tab("Obstacles")
    window.press("sphere")
    window.wait_for(lambda: viewer.stage.obstacles._gizmo is not None)
    window.says("sphere 1")
    window.box("keep apart").check()
    window.wait_for(lambda: session.apart is not None and session.moment.resting)
    before = session.world["sphere 1"].pose.xyz
    window.pull(viewer.stage.obstacles._gizmo, 0, -0.5)
    window.wait_for(lambda: session.world["sphere 1"].pose.xyz[0] < before[0] - 0.4)

    def apart() -> bool:
        """What is at rest may be so from before the push, until the loop has seen it."""
        return session.moment.resting and session.model.distance(session.moment.q, session.world).distance >= 0.019

    window.wait_for(apart)


def test_an_obstacle_is_resized_and_deleted(window: Window, session: Session) -> None:
    window.tab("Obstacles")
    window.press("box")
    window.says("box 1")
    window.type("x m", "0.3")
    window.wait_for(lambda: session.world["box 1"].size[0] == 0.3)
    window.press("Delete")
    window.wait_for(lambda: "box 1" not in session.world)
    window.says_nowhere("box 1")


def test_what_cannot_be_is_refused_in_words_and_the_box_goes_back(window: Window, session: Session) -> None:
    window.tab("Obstacles")
    window.press("sphere")
    window.says("sphere 1")
    window.box("heed in the null space").click()
    window.says("Refused: the solver's own way heeds no criterion")
    window.wait_for(lambda: not window.box("heed in the null space").is_checked())
    assert session.clearance is None


def test_all_solutions_are_shown_and_hidden(window: Window, viewer: Viewer) -> None:
    window.tab("Targets")
    window.press("All solutions")
    window.page.get_by_role("button", name="Hide them").wait_for()
    assert viewer.stage._crowd is not None
    window.press("Hide them")
    window.wait_for(lambda: viewer.stage._crowd is None)
    window.wait_for(lambda: not window.page.get_by_role("button", name="Hide them").is_visible())


def test_a_target_is_added_weighed_and_removed(window: Window, viewer: Viewer, session: Session) -> None:
    window.tab("Targets")
    window.choose("kind", "orientation")
    window.press("Add")
    window.says("2. OrientationTask")
    window.wait_for(lambda: len(viewer.stage._gizmos) == 2)
    weight = window.page.get_by_role("textbox", name="weight").nth(1)
    weight.fill("")
    weight.press_sequentially("2.5")
    window.wait_for(lambda: np.max(getattr(session.tasks[1], session.tasks[1].weight_names[0])) == 2.5)
    window.page.get_by_role("button", name="Remove").nth(1).click()
    window.wait_for(lambda: len(session.tasks) == 1 and len(viewer.stage._gizmos) == 1)
    window.says_nowhere("2. OrientationTask")


def test_two_windows_see_one_scene_and_one_leaves_without_harm(
    window: Window, viewer: Viewer, session: Session, wait_for: Wait
) -> None:
    other = Window(window.page.context.new_page(), viewer.server, wait_for)
    other.tab("Joints")
    window.page.bring_to_front()
    window.tab("Joints")
    window.slider(0).focus()
    window.page.keyboard.press("Home")
    other.wait_for(lambda: float(other.slider(0).get_attribute("aria-valuenow")) == pytest.approx(-np.pi, abs=1e-3))
    session.put(START)
    other.page.bring_to_front()
    (gizmo,) = viewer.stage._gizmos
    other.wait_for(lambda: np.allclose(gizmo.position, tool(session)))
    arrow = other.grab(gizmo, 0)
    other.page.mouse.move(*other.pixel(arrow + np.array([0.2, 0.0, 0.0])))
    other.page.mouse.move(*other.pixel(arrow + np.array([0.3, 0.0, 0.0])))
    other.wait_for(lambda: viewer.stage._dragged)
    other.page.close()
    window.wait_for(lambda: not viewer.stage._dragged)
    window.page.bring_to_front()
    session.put(START)
    window.wait_for(lambda: np.allclose(gizmo.position, tool(session)))
    window.pull(gizmo, 0, 0.4)
    window.wait_for(lambda: session.moment.resting and session.moment.goals[0, 0] > 1.1)


def test_a_window_that_is_loaded_again_shows_what_there_is(window: Window, session: Session, viewer: Viewer) -> None:
    session.add_obstacle("ball", Sphere((1.0, -1.0, 0.0), 0.2))
    session.put((1.0, 0.5, 0.2))
    window.page.reload()
    window.page.get_by_role("tab", name="Joints").click()
    window.wait_for(lambda: float(window.slider(0).get_attribute("aria-valuenow")) == pytest.approx(1.0, abs=1e-3))


@pytest.mark.usefixtures("browser")
@pytest.mark.parametrize("look", LOOKS)
def test_a_recording_plays_without_a_server(
    look: str, request: pytest.FixtureRequest, tmp_path: Path, wait_for: Wait
) -> None:
    page, see = looking(look, request)
    file = tmp_path / "seen.html"
    with view(arm(), q=START, look="skeleton", block=False, port=0) as viewer:
        viewer.record(file)
        for x in np.linspace(0.2, 1.0, 12):
            viewer.session.put((x, 0.8, 0.6))
            since = viewer.recording.pictures  # type: ignore[union-attr]
            wait_for(lambda since=since: viewer.recording.pictures > since + 4)  # type: ignore[union-attr]
    plays(page, file, wait_for, see)


COMMAND = """
import sys
from poise.cli import main
from poise.viewer.server.snapshot import screenshot
screenshot.__kwdefaults__.update(width=400, height=300, settle=0.5)
sys.exit(main(sys.argv[1:]))
"""
"""The command line, with pictures that are small and soon taken."""


def test_the_command_line_records_a_replay_and_takes_a_picture(page: Any, tmp_path: Path, wait_for: Wait) -> None:
    path, html, png = tmp_path / "path.csv", tmp_path / "path.html", tmp_path / "path.png"
    rows = [f"{t},{t},{t},{t}" for t in np.linspace(0.0, 1.0, 11).tolist()]
    path.write_text("\n".join(["time,joint1,joint2,joint3", *rows]) + "\n")
    asked = [sys.executable, "-c", COMMAND, "view", "planar3", "--port", "0", "--look", "skeleton"]
    asked += ["--replay", str(path), "--record", str(html), "--screenshot", str(png)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert png.read_bytes().startswith(b"\x89PNG")
    picture = imread(png)
    assert picture.shape[:2] == (300, 400)
    assert (
        len(np.unique(picture[100:200, 100:200].reshape(100 * 100, -1), axis=0)) > 50
    )  # in its middle, where the arm is
    plays(page, html, wait_for, lambda: page.evaluate(SHOWN))
