"""The time that a path may take: what is waited for compilations is not of it."""

import pytest

from poise.kernels.machine.notice import Notice
from poise.solving.path import clock
from poise.solving.path.clock import Clock


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which only the test moves."""
    time = [100.0]
    monkeypatch.setattr(clock, "perf_counter", lambda: time[0])
    return time


@pytest.fixture
def notice(monkeypatch: pytest.MonkeyPatch) -> Notice:
    """What is told of compilations, which only the test tells."""
    made = Notice()
    monkeypatch.setattr(clock, "NOTICE", made)
    return made


def test_it_stands_still_while_kernels_are_compiled(now: list[float], notice: Notice) -> None:
    notice.ends(20.0, 5.0)  # before it was made
    search = Clock(10.0)
    now[0] += 65.0
    notice.ends(60.0, 57.0)
    assert not search.late
    assert search.end == pytest.approx(167.0)
    now[0] += 3.0
    assert search.late


def test_one_of_its_own_goes_off_no_later(now: list[float], notice: Notice) -> None:
    search = Clock(10.0)
    part, whole = search.until(4.0), search.until(40.0)
    notice.ends(60.0, 57.0)
    assert (part.end, whole.end, search.end) == pytest.approx((161.0, 167.0, 167.0))
    assert not Clock(None).until(1e9).late
