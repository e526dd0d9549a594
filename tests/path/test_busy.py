"""The bar of what takes long: on a terminal alone, and not before it does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, active_count

import pytest

from poise.solving import progress


class Bars:
    """What is shown."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.began = Event()

    @contextmanager
    def bar(self, what: str, total: int | None, *, shown: bool) -> Iterator[Callable[[int], None]]:
        self.shown.append(f"{what}, of {total}, {shown}")
        self.began.set()
        yield lambda done: None
        self.shown.append("gone")


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Bars:
    made = Bars()
    monkeypatch.setattr(progress, "bar", made.bar)
    monkeypatch.setattr(progress, "on_terminal", lambda: True)
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


def test_what_is_quick_shows_none(bars: Bars) -> None:
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
