"""The operator's program as a browser has it: keys, attempts and files."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

viser = pytest.importorskip("viser", reason="the viewer needs viser")

from hands import SHOWN, Window, plays  # noqa: E402

from poise.viewer.operator.page import OperatorPage  # noqa: E402
from poise.viewer.operator.program import Program  # noqa: E402
from poise.viewer.operator.robots import truck  # noqa: E402
from poise.viewer.operator.scene import read_scene  # noqa: E402
from poise.viewer.operator.work import load_work  # noqa: E402

Wait = Callable[..., None]

GAMEPAD = """
window.pad = { connected: true, axes: [0, 0, 0, 0], buttons: [] };
navigator.getGamepads = () => [window.pad];
"""


def programmed() -> Program:
    robot = truck()
    return Program(robot.model, robot.frame, start=robot.start)


@pytest.fixture(scope="module")
def shown() -> Iterator[OperatorPage]:
    with OperatorPage(programmed(), look="skeleton", port=0) as page:
        yield page


@pytest.fixture(scope="module")
def windows() -> dict[str, Window]:
    """The window of this file, once it is open."""
    return {}


@pytest.fixture
def window(shown: OperatorPage, shared_page: Any, windows: dict[str, Window], wait_for: Wait) -> Window:
    """The window of this file, with work that has just begun."""
    if not windows:
        windows["one"] = Window(shared_page, shown.server, wait_for)
    windows["one"].look()
    program = shown.program
    if program.moment.recording:
        program.stop()
    program.open_work(programmed().work)
    program.resume()
    program.refusal = ""
    return windows["one"]


@pytest.fixture
def program(shown: OperatorPage) -> Program:
    return shown.program


def recorded(window: Window, program: Program) -> None:
    """Record an attempt of some ticks, and pause."""
    program.record()
    program.aim(program.moment.hand.xyz + np.array([0.3, 0.2, 0.0]))
    before = program.moment.ticks
    window.wait_for(lambda: program.moment.ticks > before + 20)
    program.stop()
    program.pause()


def upload(window: Window, button: str, file: Path) -> None:
    with window.page.expect_file_chooser() as chooser:
        window.press(button)
    chooser.value.set_files(file)


def download(window: Window, button: str, to: Path) -> Path:
    with window.page.expect_download() as started:
        window.press(button)
    file = to / started.value.suggested_filename
    started.value.save_as(file)
    return file


def test_held_keys_move_the_hand_until_they_are_let_go(window: Window, program: Program) -> None:
    start, keys = program.moment.hand.xyz, window.page.keyboard
    keys.down("ArrowUp")
    window.wait_for(lambda: program.moment.hand.xyz[1] > start[1] + 0.2)
    assert any(program.moment.drive.linear)
    keys.up("ArrowUp")
    window.wait_for(lambda: not any(program.moment.drive.linear))
    target = program.moment.target.xyz
    assert target[[0, 2]] == pytest.approx(start[[0, 2]], abs=0.05)
    ticks = program.moment.ticks
    window.wait_for(lambda: program.moment.ticks > ticks + 5)
    assert (program.moment.target.xyz == target).all()
    window.wait_for(lambda: program.moment.position_error < 1e-3)


def test_space_pauses_and_goes_on(window: Window, program: Program) -> None:
    window.tab("Guide")
    window.page.keyboard.press("Space")
    window.wait_for(lambda: program.moment.paused)
    window.page.get_by_role("button", name="Go on").wait_for()
    window.press("Go on")
    window.wait_for(lambda: not program.moment.paused)


def test_r_records_attempts_that_stand_side_by_side_with_their_measures(window: Window, program: Program) -> None:
    for count in (1, 2):
        window.page.keyboard.press("KeyR")
        window.wait_for(lambda count=count: program.moment.recording == f"attempt {count}")
        window.page.keyboard.down("ArrowRight")
        ticks = program.moment.ticks
        window.wait_for(lambda ticks=ticks: program.moment.ticks > ticks + 10)
        window.page.keyboard.up("ArrowRight")
        window.page.keyboard.press("KeyR")
        window.wait_for(lambda count=count: len(program.moment.attempts) == count)
    window.tab("Attempts")
    table = window.page.get_by_role("table")
    window.wait_for(lambda: re.fullmatch(r"(?s)(?!.*\.\.\.).*attempt 2.*", table.inner_text()))  # of one look at it
    one, two = (attempt.measures for attempt in program.moment.attempts)
    assert f"{one.hand_length:.2f}" in table.inner_text()
    assert f"{two.worst_speed:.2f}" in table.inner_text()
    window.choose("attempt", "attempt 1")
    window.press("Commit")
    window.wait_for(lambda: program.moment.committed == "attempt 1")
    window.press("Discard")
    window.wait_for(lambda: [one.name for one in program.moment.attempts] == ["attempt 2"])
    assert program.moment.committed is None


def test_terms_of_the_law_and_the_method_are_set(window: Window, program: Program) -> None:
    window.tab("Law")
    window.slider(2).focus()
    before = program.moment.setup.law.alpha
    window.page.keyboard.press("ArrowLeft")
    window.wait_for(lambda: program.moment.setup.law.alpha == pytest.approx(before - 0.01))
    window.choose("led by", "dls")
    window.wait_for(lambda: program.moment.setup.method is not None)
    window.choose("led by", "the law of Das et al.")
    window.wait_for(lambda: program.moment.setup.method is None)


def test_an_obstacle_is_added_moved_reshaped_and_deleted(window: Window, shown: OperatorPage, program: Program) -> None:
    window.tab("Obstacles")
    window.press("box")
    window.says("box 1")
    window.wait_for(lambda: shown.stage.obstacles._gizmo is not None)
    before = program.moment.setup.obstacle("box 1").shape.pose.xyz
    window.pull(shown.stage.obstacles._gizmo, 0, -0.5)
    window.wait_for(lambda: program.moment.setup.obstacle("box 1").shape.pose.xyz[0] < before[0] - 0.4)
    window.choose("shape", "sphere")
    window.says("radius m")
    window.type("radius m", "0.25")
    window.wait_for(lambda: program.moment.setup.obstacle("box 1").shape.radius == 0.25)
    window.box("stops (a hard limit)").check()
    window.wait_for(lambda: program.moment.setup.obstacle("box 1").stops)
    window.press("Delete")
    window.wait_for(lambda: not program.moment.setup.obstacles)


def test_work_comes_back_to_the_bit(window: Window, program: Program, tmp_path: Path) -> None:
    program.tune(alpha=0.37)
    recorded(window, program)
    saved = program.work
    window.tab("Attempts")
    file = download(window, "Save the work", tmp_path)
    assert load_work(file, program.model) == saved
    program.open_work(programmed().work)
    assert program.work != saved
    upload(window, "Load work (.npz)", file)
    window.wait_for(lambda: program.work == saved)
    window.tab("Law")
    window.wait_for(lambda: float(window.slider(2).get_attribute("aria-valuenow")) == 0.37)


def test_a_scene_comes_back_to_the_bit(window: Window, program: Program, tmp_path: Path) -> None:
    program.tune(alpha=1.0 / 3.0, beta=0.123456789)
    saved = program.moment.setup
    window.tab("Attempts")
    file = download(window, "Save the scene", tmp_path)
    assert read_scene(file.read_text(), program.model, file.name) == saved
    program.tune(alpha=0.5, beta=None)
    upload(window, "Load a scene (.json)", file)
    window.wait_for(lambda: program.moment.setup == saved)


@pytest.mark.parametrize(
    ("button", "name", "content", "words"),
    [
        ("Load work (.npz)", "broken.npz", b"PK\x03\x04 and no more", "broken.npz"),
        ("Load a scene (.json)", "broken.json", b'{"schema": 1, ', "broken.json is no scene"),
        ("Load a scene (.json)", "noise.json", b"\xff\xfe\x00", "noise.json is no scene"),
        ("Load a scene (.json)", "other.json", json.dumps({"schema": 1, "robot": "x", "joints": []}).encode(), "other"),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence_and_changes_nothing(
    window: Window, program: Program, tmp_path: Path, button: str, name: str, content: bytes, words: str
) -> None:
    program.pause()
    before = program.work
    (tmp_path / name).write_bytes(content)
    window.tab("Attempts")
    upload(window, button, tmp_path / name)
    window.says(f"Refused: {words}")
    assert program.work == before
    assert "/tmp" not in window.page.get_by_text("Refused:").first.inner_text()


def test_an_exported_page_plays_without_a_server(
    window: Window, program: Program, page: Any, tmp_path: Path, wait_for: Wait
) -> None:
    recorded(window, program)
    window.tab("Attempts")
    window.wait_for(lambda: window.chosen("attempt") == "attempt 1")
    file = download(window, "A page that plays it", tmp_path)
    plays(page, file, wait_for, lambda: page.evaluate(SHOWN))


def test_commands_of_an_attempt_are_downloaded(window: Window, program: Program, tmp_path: Path) -> None:
    recorded(window, program)
    window.tab("Attempts")
    window.wait_for(lambda: window.chosen("attempt") == "attempt 1")
    rows = download(window, "Commands as CSV", tmp_path).read_text().splitlines()
    (attempt,) = program.moment.attempts
    assert len(rows) >= 100.0 * attempt.duration
    with np.load(download(window, "Commands as NPZ", tmp_path)) as arrays:
        assert list(arrays["joints"]) == list(program.model.coordinates)


def test_a_gamepad_moves_the_hand(shown: OperatorPage, window: Window, program: Program, wait_for: Wait) -> None:
    page = window.page.context.new_page()
    page.add_init_script(GAMEPAD)
    start, other = program.moment.hand.xyz, Window(page, shown.server, wait_for)
    page.evaluate("pad.axes = [1, 0, 0, 0]")
    other.wait_for(lambda: program.moment.hand.xyz[0] > start[0] + 0.2)
    page.evaluate("pad.axes = [0, 0, 0, 0]")
    other.wait_for(lambda: not any(program.moment.drive.linear))
    page.close()
    window.page.bring_to_front()
