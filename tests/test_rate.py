"""The Rate: ticks at their times on a clock of the test's own, and what it does when the body takes too long."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz


class Clock:
    """A time that passes only when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now, self.oversleep = 100.0, 0.0

    def sleep(self, seconds: float) -> None:
        assert seconds > 0.0
        self.now += seconds + self.oversleep

    def ticks(self, rate: pz.Rate, works: list[float]) -> Iterator[float]:
        """The times since the first at which ticks come, with bodies that work for so many seconds."""
        began = self.now
        for tick in rate:
            assert tick < len(works)
            yield self.now - began
            self.now += works[tick]
            if tick == len(works) - 1:
                return


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("poise.rate.monotonic", lambda: made.now)
    return made


def test_ticks_are_dt_apart_however_long_the_body_takes(clock: Clock) -> None:
    rate = pz.Rate(0.25, sleep=clock.sleep)
    assert list(clock.ticks(rate, [0.0, 0.125, 0.25, 0.0625])) == [0.0, 0.25, 0.5, 0.75]
    assert rate.slipped == 0


def test_oversleeping_does_not_add_up(clock: Clock) -> None:
    clock.oversleep = 0.0625
    times = list(clock.ticks(pz.Rate(0.25, sleep=clock.sleep), [0.0] * 5))
    assert times == [0.0, *(0.25 * k + 0.0625 for k in range(1, 5))]


def test_what_was_missed_is_not_made_up_for(clock: Clock) -> None:
    """A body of many periods: the next tick comes at once, and those after it are a period apart."""
    rate = pz.Rate(0.25, sleep=clock.sleep)
    assert list(clock.ticks(rate, [0.0, 1.375, 0.0, 0.0])) == [0.0, 0.25, 1.625, 1.875]
    assert rate.slipped == 1
    assert "slipped 1" in repr(rate)


def test_a_body_that_is_always_late_has_its_own_pace(clock: Clock) -> None:
    rate = pz.Rate(0.25, sleep=clock.sleep)
    assert list(clock.ticks(rate, [0.375] * 4)) == [0.0, 0.375, 0.75, 1.125]
    assert rate.slipped == 3
    assert list(clock.ticks(rate, [0.0, 0.0])) == [0.0, 0.25], "it begins anew"
    assert rate.slipped == 0


def test_it_sleeps_by_itself() -> None:
    for tick in pz.Rate(0.001):
        if tick == 3:
            return


@pytest.mark.parametrize(
    ("dt", "code"),
    [
        *((dt, "out-of-range") for dt in (0.0, -0.1, 1e300, 10**400)),
        *((dt, "not-finite") for dt in (math.nan, math.inf)),
        *((dt, "not-a-number") for dt in (True, None, "fast")),
    ],
)
def test_a_dt_that_is_none_is_refused(dt: Any, code: str) -> None:
    with refused(code, "dt"):
        pz.Rate(dt)


@pytest.mark.parametrize("dt", [np.float32(0.5), np.int64(1), 2])
def test_a_dt_is_any_number(dt: Any) -> None:
    assert pz.Rate(dt).dt == float(dt)
