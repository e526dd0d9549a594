"""The pages without a browser: what is in them for every robot and every name, and how they end."""

import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused
from support.widgets import by_hand, widget

import poise as pz
from poise.clouds import PointCloud
from poise.common.errors import PoiseError

viser = pytest.importorskip("viser", reason="the viewer needs viser")

from poise.robots.planar import planar  # noqa: E402
from poise.viewer.app import view  # noqa: E402
from poise.viewer.operator.page import OperatorPage  # noqa: E402
from poise.viewer.operator.program import Program  # noqa: E402
from poise.viewer.operator.robots import truck  # noqa: E402
from poise.viewer.operator.work import load_work, save_work  # noqa: E402
from poise.viewer.pages import live, recording  # noqa: E402
from poise.viewer.scene.nodes import node  # noqa: E402
from poise.viewer.scene.obstacles import KINDS, beside, made, measures  # noqa: E402
from poise.viewer.scene.stage import outlook  # noqa: E402
from poise.viewer.server import snapshot  # noqa: E402
from poise.viewer.session.plane import in_plane, normal_of, sideways  # noqa: E402

Wait = Callable[..., None]


def tiny() -> pz.Model:
    """Two links of half a millimetre."""
    return planar(2, [5e-4, 4e-4])


# Names


def test_names_of_obstacles_with_slashes_are_nodes_of_their_own(wait_for: Wait) -> None:
    names = ["a", "a/b", "a/", "/", "//a", "..", "a%2Fb", " "]
    world = pz.World({name: pz.Sphere((i, 3.0, 0.0), 0.1) for i, name in enumerate(names)})
    with view(planar(2), world=world, port=0, block=False) as page:
        nodes = page.stage.obstacles._nodes
        assert {shown.name.count("/") for shown in nodes.values()} == {2}
        assert len({shown.name for shown in nodes.values()}) == len(names)
        world.remove("a")
        wait_for(lambda: "a" not in page.stage.obstacles._nodes)
        assert not any(shown._impl.removed for shown in nodes.values())


def test_steps_of_a_path_differ_as_the_names_do() -> None:
    names = ["a/b", "a%2Fb", "a%252Fb", "a", "/", "%"]
    assert len({node(name) for name in names}) == len(names)
    assert not any("/" in node(name) for name in names)


# Robots


@pytest.mark.parametrize("joints", [1, 2, 3])
def test_few_joints_have_an_ellipsoid_that_is_flat_across_them(joints: int) -> None:
    with view(planar(joints), port=0, block=False, q=[0.7] * joints) as page:
        page.stage.show_ellipsoid = True
        page.stage.paint(page.session.moment)
        scale = np.asarray(page.stage._ellipsoid.scale)
        assert (np.sort(scale) > 0.0).all()
        assert (scale > 2e-3 * page.stage.size).sum() == min(joints, 2)


def test_a_cloud_is_drawn_as_its_points_and_anew_when_it_has_others(wait_for: Wait) -> None:
    world = pz.World({"seen": PointCloud([[0.5, 0.0, 0.1], [np.nan, 0.0, 0.0]], 0.01)})
    with view(planar(2), world=world, port=0, block=False) as page:
        nodes = page.stage.obstacles._nodes
        wait_for(lambda: "seen" in nodes and nodes["seen"].points.shape == (1, 3))
        world.replace("seen", PointCloud([[0.5, 0.0, 0.1], [0.5, 0.1, 0.1]], 0.01))
        wait_for(lambda: nodes["seen"].points.shape == (2, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_obstacles_are_as_large_as_suits_a_robot_of_a_millimetre(kind: str) -> None:
    sizes = measures(made(kind, (0.0, 0.0, 0.0), 1e-3))
    assert all(1e-5 < size < 1e-3 for size in sizes.values())


@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_obstacles_appear_beside_one_another(size: float) -> None:
    """Whatever floor there is, however large: a box of it is no reason to go to its rim, where it is below."""
    floor = pz.Box(pz.SE3.from_parts((0.0, 0.0, -size)), (100.0, 100.0, size))
    there: list[Any] = [floor, pz.HalfSpace((0, 0, -1), (0, 0, 1))]
    way = np.array([0.0, 0.25 * size, 0.0])
    for kind in 3 * KINDS:
        there.append(beside(made(kind, (0.0, 0.0, 0.0), size), there, way))
    names = [str(i) for i in range(len(there))]
    for i, shape in enumerate(there[2:], 2):
        world = pz.World({name: other for name, other in zip(names, there, strict=True) if name not in ("1", str(i))})
        probe = planar(1).with_shapes({"link1": shape.placed(pz.SE3.identity())})
        assert float(probe.distance([0.0], world)) > 0.0
    places = np.array([shape.pose.xyz for shape in there[2:]])
    assert np.ptp(places[:, 1]) < 12 * size
    assert np.ptp(places[:, [0, 2]]) == 0.0
    wall = pz.Box(pz.SE3.identity(), (1.0, 100.0, 1.0))
    assert beside(made("sphere", (0.0, 0.0, 0.0), size), [wall], way).pose.xyz[1] > 50.0


def test_a_robot_of_a_millimetre_is_guided_at_a_speed_that_suits_it() -> None:
    with OperatorPage(Program(tiny()), port=0) as page:
        assert 0.1 * page.stage.size < page.windows.speed < page.stage.size
        slider = widget(page, "speed m/s")
        assert slider.min < slider.value < slider.max
        assert 0.0 < slider.step < slider.value


def test_the_handles_of_an_obstacle_and_of_the_hand_look_different(wait_for: Wait) -> None:
    world = pz.World({"ball": pz.Sphere((0.5, 1.0, 0.1), 0.1)})
    with view(planar(2), world=world, port=0, block=False) as page:
        wait_for(lambda: "ball" in page.stage.obstacles._nodes)
        page.stage.obstacles.select("ball")
        hand, other = page.stage._gizmos[0], page.stage.obstacles._gizmo
        assert hand.line_width > 2 * other.line_width
        nodes = page.server.viser.scene._handle_from_node_name
        marks = [nodes[f"{gizmo.name}/mark"] for gizmo in (hand, other)]
        assert marks[0].color != marks[1].color
        assert len(marks[0].faces) > 2 * len(marks[1].faces) == 24  # a ball, and a cube
        page.stage.obstacles.select(None)
        assert f"{other.name}/mark" not in nodes


def test_at_rest_nothing_is_painted_and_nothing_told_however_long_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    with view(planar(2), port=0, block=False) as page:
        for loop in (page.solver, page.painter):
            loop.stop()
        while not page.session.tick().resting:
            pass
        asked: list[str] = []
        for thing, name in ((page.stage.figure, "place"), (page.panel, "_status_lines"), (page.panel, "_show")):
            do = getattr(thing, name)
            monkeypatch.setattr(thing, name, lambda *given, do=do, name=name: asked.append(name) or do(*given))

        def painted() -> set[str]:
            asked.clear()
            page.panel._said = 0.0  # a text is due
            page._paint()
            return set(asked)

        painted()
        assert painted() == set()
        page.stage.show_limits = False
        assert painted() == {"place"}
        page.session.refusal = "no"
        assert painted() == {"_status_lines", "_show"}
        page.session.world.add("ball", pz.Sphere((5.0, 0.0, 0.0), 0.1))
        assert "place" in painted()
        page.session.put([0.3, 0.2])
        page.session.tick()
        assert painted() == {"place", "_status_lines", "_show"}


# The panel


def test_a_priority_leaves_the_weights_as_they_are_and_a_weight_their_proportions(wait_for: Wait) -> None:
    task = pz.PositionTask("tool", weight=(1.0, 0.5, 0.0))
    with view(planar(3), task, port=0, block=False) as page:
        by_hand(page, "priority", 1)
        assert (page.session.tasks[0].priority, tuple(page.session.tasks[0].weight)) == (1, (1.0, 0.5, 0.0))
        by_hand(page, "weight", 3.0)
        assert tuple(page.session.tasks[0].weight) == (3.0, 1.5, 0.0)
        by_hand(page, "weight", 0.0)
        assert "weight" in page.session.refusal  # nothing would be asked for
        by_hand(page, "weight", 2.0)
        assert tuple(page.session.tasks[0].weight) == (2.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("label", "value"), [("weight", -1.0), ("weight", np.nan), ("weight", np.inf), ("priority", -1)]
)
def test_a_weight_that_is_none_is_refused_in_the_panel(label: str, value: float) -> None:
    with view(planar(3), port=0, block=False) as page:
        task = page.session.tasks[0]
        by_hand(page, label, value)
        assert label in page.session.refusal
        assert page.session.tasks[0] is task


def test_an_obstacle_that_has_gone_meanwhile_is_not_selected() -> None:
    with view(planar(3), port=0, block=False) as page:
        page.panel._selected("gone")
        assert not page.panel._obstacle.visible
    with OperatorPage(Program(planar(3)), port=0) as other:
        other.panel._selected("gone")
        assert not other.panel._obstacle.visible


def test_a_slider_that_is_given_no_number_shows_the_joint_again(wait_for: Wait) -> None:
    with view(planar(3), port=0, block=False, q=[0.3, 0.4, 0.5]) as page:
        slider = widget(page, "joint2")
        by_hand(page, "joint2", np.nan)
        wait_for(lambda: abs(slider.value - 0.4) < 1e-3, seconds=10.0)


def test_what_a_hand_has_changed_is_left_to_it_until_it_is_told_of(wait_for: Wait) -> None:
    with view(planar(3), port=0, block=False) as page:
        box = widget(page, "keep apart")
        wait_for(lambda: page.panel._was, seconds=10.0)
        box._impl.value = True  # as it comes from a window, before anybody is called
        page.wait(1.0)
        assert box.value
        by_hand(page, "heed in the null space", True)  # which the solver's own way cannot
        wait_for(lambda: not widget(page, "heed in the null space").value, seconds=10.0)


def test_the_panel_takes_back_what_a_hand_did(wait_for: Wait) -> None:
    world = pz.World({"ball": pz.Sphere((0.5, 1.0, 0.1), 0.1)})
    with view(planar(2), world=world, port=0, block=False) as page:
        wait_for(lambda: "ball" in page.stage.obstacles._nodes)
        assert widget(page, "Undo").disabled
        page.stage.obstacles.select("ball")
        by_hand(page, "radius m", 0.3)
        for phase, x in (("start", 1.0), ("update", 2.0), ("end", 3.0)):
            page.stage._move_obstacle(phase, "ball", [x, 1.0, 0.1, 1.0, 0.0, 0.0, 0.0])
        assert world["ball"] == pz.Sphere((3.0, 1.0, 0.1), 0.3)
        wait_for(lambda: not widget(page, "Undo").disabled)
        by_hand(page, "Undo", True)
        assert world["ball"] == pz.Sphere((0.5, 1.0, 0.1), 0.3)
        by_hand(page, "Undo", True)
        assert world["ball"] == pz.Sphere((0.5, 1.0, 0.1), 0.1)
        assert widget(page, "radius m").value == 0.1
        wait_for(lambda: widget(page, "Undo").disabled)


def test_a_panel_gives_an_obstacle_another_shape(wait_for: Wait) -> None:
    with view(planar(3), port=0, block=False) as page:
        page.session.add_obstacle("it", pz.Sphere((1.0, 2.0, 0.0), 0.1))
        wait_for(lambda: "it" in page.stage.obstacles._nodes, seconds=10.0)
        page.stage.obstacles.select("it")
        by_hand(page, "shape", "box")
        shape = page.session.world["it"]
        assert isinstance(shape, pz.Box)
        np.testing.assert_array_equal(shape.pose.xyz, [1.0, 2.0, 0.0])


def test_the_operators_page_has_what_every_panel_has_and_is_recorded(tmp_path: Path) -> None:
    with OperatorPage(Program(planar(3)), port=0) as page:
        page.record(tmp_path / "it.html")
        widget(page, "grid")
        by_hand(page, "manipulability ellipsoid", True)
        assert page.stage.show_ellipsoid
    assert (tmp_path / "it.html").stat().st_size > 1e5


# The end


def test_work_that_is_loaded_shows_its_measures_though_the_same_is_there(tmp_path: Path, wait_for: Wait) -> None:
    program = Program(planar(2))
    program.record()
    program.tick(0.01)
    program.stop()
    with OperatorPage(program, port=0) as page:
        save_work(tmp_path / "work.npz", program.work)
        program.open_work(load_work(tmp_path / "work.npz", program.model))
        loaded = program.moment.attempts[0]
        wait_for(lambda: loaded.measured)
        wait_for(lambda: "| duration s | 0.0 |" in page.panel._table.content)


def test_two_attempts_are_laid_over_the_robot_at_one_time(wait_for: Wait) -> None:
    program = Program(planar(2), start=[0.3, 0.4])
    for ticks in (10, 30):
        program.reset()
        program.record()
        program.drive((-1.0, 0.0, 0.0))
        for _ in range(ticks):
            program.tick(0.01)
        program.stop()
    one, other = program.moment.attempts
    with OperatorPage(program, port=0) as page:
        figures = [place.figure for place in page.panel._overlaid]
        wait_for(lambda: page.panel._attempts)
        assert not any(figure.visible for figure in figures)
        by_hand(page, "show it", True)
        by_hand(page, "attempt", "attempt 1")
        by_hand(page, "laid over it", "attempt 2")
        by_hand(page, "time s", 0.2)
        assert page.panel._timeline.duration == pytest.approx(0.3)  # the longer one
        for figure, attempt in zip(figures, (one, other), strict=True):
            there = program.model.poses(attempt.motion.at(0.2), figure._frames).array
            wait_for(lambda figure=figure, there=there: figure.visible and np.allclose(figure._nodes._sent, there))
        wait_for(lambda: r"attempt 1 (green) | attempt 2 (violet)" in page.panel._table.content)
        by_hand(page, "laid over it", "none")
        wait_for(lambda: figures[0].visible and not figures[1].visible)


def test_who_waits_for_the_end_finds_the_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, begun, go_on = tmp_path / "it.html", threading.Event(), threading.Event()
    page = view(planar(2), port=0, block=False)
    page.record(file)
    write = recording.write_whole

    def slowly(*given: Any) -> None:
        begun.set()
        assert go_on.wait(20.0)
        write(*given)

    monkeypatch.setattr(recording, "write_whole", slowly)
    closer = threading.Thread(target=page.close)
    closer.start()
    assert begun.wait(20.0)
    page.close()  # the second does nothing
    assert not page.wait(0.05)
    go_on.set()
    assert page.wait(20.0)
    assert file.is_file()
    closer.join()


@pytest.mark.parametrize("loop", ["solver", "painter"])
def test_a_loop_may_close_its_page(loop: str) -> None:
    page = view(planar(2), port=0, block=False)
    getattr(page, loop)._do = page.close
    assert page.wait(20.0)
    assert page.server._stopped


def test_a_recording_is_not_given_up_for_another(tmp_path: Path) -> None:
    with view(planar(2), port=0, block=False) as page:
        page.record(tmp_path / "one.html")
        with refused("conflict", "one.html"):
            page.record(tmp_path / "other.html")
    assert [file.name for file in tmp_path.iterdir()] == ["one.html"]


def test_a_recording_where_nothing_can_be_written_is_refused_first() -> None:
    with view(planar(2), port=0, block=False) as page, pytest.raises(OSError, match="cannot be written"):
        page.record("/proc/it.html")


def test_a_screenshot_without_playwright_names_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(PoiseError, match=r'pip install "poise\[screenshot\]"'):
        snapshot.screenshot(None, "http://127.0.0.1:1", tmp_path / "it.png")


@pytest.fixture
def libraries(tmp_path: Path) -> tuple[Path, Path]:
    """A file in the place of poise.wasm, which pages take as it is, and a place without one."""
    there = tmp_path / "poise.wasm"
    there.write_bytes(b"\0asm")
    return there, tmp_path / "nowhere.wasm"


def test_a_program_that_ends_without_closing_it_ends_in_silence_and_its_recording_is_there(
    tmp_path: Path, libraries: tuple[Path, Path]
) -> None:
    program = f"""
        from pathlib import Path
        import poise as pz
        from poise.viewer.pages import live
        live.place = lambda target: Path({str(libraries[0])!r})
        shown = pz.view(pz.load("planar3"), port=0, block=False)
        shown.record({str(tmp_path / "it.html")!r})
        shown.session.drag(0, [-1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "Drag it" in (tmp_path / "it.html").read_text()


def test_a_recording_says_that_it_cannot_be_dragged_where_there_is_no_library_for_browsers(
    tmp_path: Path, libraries: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name, library in zip(("dragged.html", "played.html"), libraries, strict=True):
        monkeypatch.setattr(live, "place", lambda target, library=library: library)
        live.live_script.cache_clear()
        with view(planar(2), port=0, block=False) as page:
            page.record(tmp_path / name)
    live.live_script.cache_clear()
    (said,) = caplog.messages
    assert said.startswith(f"the page can be played, and not dragged: there is no {libraries[1]}")
    assert "Drag it" in (tmp_path / "dragged.html").read_text()
    assert "Drag it" not in (tmp_path / "played.html").read_text()


# From where it is looked at


def test_a_planar_arm_is_seen_from_above_its_plane() -> None:
    """However it stands and whatever its posture."""
    arms = [planar(5), planar(1), truck().model]
    assert all(normal_of(arm) == pytest.approx([0, 0, 1]) for arm in arms)
    upright = planar(3).with_base(pz.SE3.from_xyz_rpy([0, 0, 1], [np.pi / 2, 0, 0]))
    assert normal_of(upright) == pytest.approx([0, -1, 0])
    for arm in (*arms, upright):
        away, normal = outlook(arm), normal_of(arm)
        assert normal is not None
        assert away @ normal > 0.95 * np.linalg.norm(away)
        assert np.hypot(*away[:2]) > 0.0  # else the picture has no way up
    assert sideways(arms[0]) == pytest.approx([0, 1, 0])
    assert sideways(upright) == pytest.approx([1, 0, 0])
    for name in ("panda", "ur5e"):
        assert normal_of(pz.load(name)) is None
        assert outlook(pz.load(name))[2] > 0.0


def test_a_handle_has_the_arrows_and_arcs_that_a_planar_arm_can_follow() -> None:
    arm = planar(3)
    with view(arm, pz.PoseTask(arm.tip), port=0, block=False) as page:
        (gizmo,) = page.stage._gizmos
        assert gizmo.active_axes == (True, True, False)
    upright = pz.SE3.from_xyz_rpy([0.0, 0.0, 0.0], [np.pi / 2, 0.0, 0.0])
    turned = pz.SE3.from_xyz_rpy([0.0, 0.0, 0.0], [0.4, 0.0, 0.0])
    assert in_plane(arm, pz.SE3.identity().array) == (True, True, False)
    assert in_plane(arm, upright.array) == (True, False, True)
    assert in_plane(arm, turned.array) == in_plane(pz.load("panda"), upright.array) == (True, True, True)
