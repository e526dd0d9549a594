"""The bar of what takes long: on a terminal alone, and not before it does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, active_count
from typing import Any

import pytest

import poise as pz
from poise.cli import main, output
from poise.common import progress


class Bars:
    """What is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.began = Event()

    @contextmanager
    def bar(self, what: str, total: int | None, *, shown: bool, counted: bool) -> Iterator[Callable[[int], None]]:
        self.shown.append(f"{what}, of {total}, {shown}")
        self.began.set()
        yield lambda done: None
        self.shown.append("gone")


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Bars:
    made = Bars()
    monkeypatch.setattr(progress, "bar", made.bar)
    for module in (progress, output):
        monkeypatch.setattr(module, "on_terminal", lambda stream="stderr": stream == "stderr")
    return made


def test_what_takes_long_shows_a_bar_that_goes_when_it_ends(bars: Bars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LONG", 0.0)
    with progress.busy("path"):
        assert bars.began.wait(10.0)
    assert bars.shown == ["path, of None, True", "gone"]


def test_what_fails_takes_its_bar_along(bars: Bars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LONG", 0.0)
    before = active_count()

    def fails() -> None:
        with progress.busy("path"):
            assert bars.began.wait(10.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert bars.shown[-1] == "gone"
    assert active_count() == before


def test_what_is_quick_shows_none(bars: Bars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LONG", 1e6)
    with progress.busy("path"):
        pass
    assert bars.shown == []


def test_nothing_is_shown_where_nobody_looks(bars: Bars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LONG", 0.0)
    monkeypatch.setattr(progress, "on_terminal", lambda: False)
    before = active_count()
    with progress.busy("path"):
        assert active_count() == before
    assert bars.shown == []


def test_a_path_on_the_command_line_has_one(
    bars: Bars, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poses = tmp_path / "poses.csv"
    poses.write_text("x,y,z\n1.0,0.5,0.0\n1.0,0.6,0.0\n")
    solve_path = pz.solve_path

    def long(*given: Any, **named: Any) -> pz.JointPath:
        assert bars.began.wait(10.0)
        return solve_path(*given, **named)

    monkeypatch.setattr(pz, "solve_path", long)
    monkeypatch.setattr(progress, "LONG", 0.0)
    assert main(["path", "planar3", str(poses)]) == 0
    assert bars.shown == ["path, of None, True", "gone"]
    assert "Followed" in capsys.readouterr().out
    assert main(["path", "planar3", str(poses), "--dt", "0.1", "--acceleration", "5"]) == 2
    assert "would have to accelerate" in capsys.readouterr().out
