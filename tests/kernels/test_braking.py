"""What a coordinate may do next so that it can still brake: never nothing, never too much, and hardly too little."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from kept import kept
from scipy.optimize import linprog

from poise.kernels.requirements.braking import NO_LIMIT, allowed, fastest, way_to_rest
from poise.solving.requirements.inequalities import usable

Array = npt.NDArray[np.float64]
compiled = kept(_nrt=False, error_model="numpy")


@compiled
def _walk(choices: Array, reach: float, speed: float, most: float, jerk: float, worst: Array) -> None:
    """Take the steps that `choices` in [0, 1] pick from what is allowed; `worst` holds what was beyond each limit."""
    q, v, a = 0.5 * reach, 0.0, 0.0
    for k in range(len(choices)):
        low, high = allowed(q, reach - q, v, a, speed, most, jerk)
        after = q + low + choices[k] * (high - low)
        step = after - q
        rise = step - v
        worst[0] = max(worst[0], low - high)
        worst[1] = max(worst[1], after - reach, -after)
        worst[2] = max(worst[2], abs(step) - speed)
        worst[3] = max(worst[3], abs(rise) - most)
        worst[4] = max(worst[4], abs(rise - a) - jerk)
        q, v, a = after, step, rise


@compiled
def _next(below: float, above: float, v: float, a: float, speed: float, most: float, jerk: float, out: Array) -> None:
    out[0], out[1] = allowed(below, above, v, a, speed, most, jerk)


@compiled
def _fastest(room: float, slowing: float) -> float:
    return fastest(room, slowing)


@compiled
def _way(first: float, rise: float, most: float, jerk: float, out: Array) -> None:
    out[0], out[1] = way_to_rest(first, rise, most, jerk)


def setting(rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Range, speed, acceleration and jerk of a joint, in steps, in all proportions; the jerk is none now and then."""
    reach, speed = 10.0 ** rng.uniform(-3.0, 1.0), 10.0 ** rng.uniform(-4.0, -1.0)
    most = speed * 10.0 ** rng.uniform(-2.5, 0.5)
    if rng.random() < 0.3:
        return reach, speed, most, NO_LIMIT
    jerk = most * 10.0 ** rng.uniform(-2.5, 1.0)
    return reach, speed, usable(most, jerk, speed, reach), jerk


def choices(rng: np.random.Generator, count: int) -> Array:
    """Numbers in [0, 1]: the ends for a while, or anything."""
    kept = np.maximum.accumulate(np.where(rng.random(count) < 10.0 ** rng.uniform(-3.0, 0.0), np.arange(count), 0))
    drawn = rng.random(count)
    return np.where(rng.random(count) < 0.5, np.round(drawn), drawn)[kept]


def test_whatever_is_chosen_no_limit_is_broken_and_something_is_always_allowed() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        reach, speed, most, jerk = setting(rng)
        worst = np.zeros(5)
        _walk(choices(rng, 10_000), reach, speed, most, jerk, worst)
        rounding = 1e-15 * max(1.0, reach)
        assert worst[0] <= 0.0
        assert worst[1] <= 0.25 * rounding, "no more than the last bit"
        assert worst[2] <= 1e-9 * speed + rounding
        assert worst[3] <= 1e-9 * most + rounding
        assert worst[4] <= 1e-9 * jerk + 2.0 * rounding


def test_the_largest_speed_is_the_one_whose_braking_just_fits() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2000):
        slowing = 10.0 ** rng.uniform(-6.0, -1.0)
        room = slowing * 10.0 ** rng.uniform(-3.0, 4.0)
        v = _fastest(room, slowing)
        way = np.maximum(v - slowing * np.arange(int(v / slowing) + 2), 0.0).sum()
        assert way == pytest.approx(room, rel=1e-12)
    assert _fastest(-0.3, 0.1) == -0.3, "what is beyond goes back"


def test_the_way_to_rest_is_what_a_walk_takes() -> None:
    rng, out = np.random.default_rng(2), np.zeros(2)
    for _ in range(2000):
        jerk = 10.0 ** rng.uniform(-6.0, -2.0)
        most = jerk * 10.0 ** rng.uniform(-1.0, 2.0)
        rise = rng.uniform(-most, most)
        first = most * 10.0 ** rng.uniform(-2.0, 2.0)
        way, v, a = 0.0, first, rise
        while v > 0.0:
            way += v
            a = max(a - jerk, -most)
            v += a
        _way(first, rise, most, jerk, out)
        assert out[0] == pytest.approx(way, rel=1e-9)


def _largest(above: float, below: float, v: float, a: float, limits: tuple[float, float, float], steps: int) -> Any:
    """The largest first step of all ways to rest that keep all limits, by linear programming; None if there is none."""
    speed, most, jerk = limits
    n = steps
    lower = np.tril(np.ones((n, n)))
    velocity = lower  # of the changes a_1 ... a_n
    place = lower @ lower
    change = np.eye(n) - np.eye(n, k=-1)
    first = np.zeros(n)
    first[0] = a
    rows = np.vstack([velocity, -velocity, place, -place, change, -change])
    counts = np.arange(1, n + 1)
    most_of = np.concatenate(
        [
            np.full(n, speed) - v,
            np.full(n, speed) + v,
            above - v * counts,
            below + v * counts,
            np.full(n, jerk) + first,
            np.full(n, jerk) - first,
        ]
    )
    end = np.vstack([velocity[-1], np.eye(n)[-1]])
    found = linprog(-np.eye(n)[0], rows, most_of, end, [-v, 0.0], bounds=[(-most, most)] * n, method="highs")
    return v - found.fun if found.status == 0 else None


def test_no_way_of_braking_allows_much_more() -> None:
    """Beside the exact answer of a linear program over whole ways to rest."""
    rng, out, lost = np.random.default_rng(3), np.zeros(2), []
    for _ in range(8):
        speed = 1.0
        most = 10.0 ** rng.uniform(-1.5, -0.5)
        jerk = most * 10.0 ** rng.uniform(-0.8, 0.3)
        reach = 30.0
        most = usable(most, jerk, speed, reach)
        q, v, a = 15.0, 0.0, 0.0
        bias = rng.choice([0.0, 1.0])
        for k in range(int(rng.integers(20, 200))):
            _next(q, reach - q, v, a, speed, most, jerk, out)
            if k % 40 == 39:
                bias = rng.choice([0.0, 1.0, rng.random()])
            step = out[0] + bias * (out[1] - out[0])
            q, a, v = q + step, step - v, step
        _next(q, reach - q, v, a, speed, most, jerk, out)
        for side, (above, below, s) in zip((1.0, -1.0), ((reach - q, q, 1.0), (q, reach - q, -1.0)), strict=True):
            best = _largest(above, below, s * v, s * a, (speed, most, jerk), 120)
            assert best is not None, "what is allowed leads to states that can come to rest"
            mine = side * out[1 if side > 0 else 0]
            assert mine <= best + 1e-7
            lost.append((best - mine) / jerk)
    assert max(lost) < 1e-3


def test_a_start_beyond_a_limit_comes_back_no_faster_than_its_speed() -> None:
    rng, out = np.random.default_rng(4), np.zeros(2)
    for _ in range(300):
        reach, speed, most, jerk = setting(rng)
        out_by = speed * 10.0 ** rng.uniform(-2.0, 2.0)
        q, v, a = reach + out_by, 0.0, 0.0
        for _ in range(20_000):
            _next(q, reach - q, v, a, speed, most, jerk, out)
            step = float(out[1])  # as little as may be
            assert abs(step) <= speed * (1.0 + 1e-9)
            assert abs(step - v) <= most * (1.0 + 1e-9)
            q, a, v = q + step, step - v, step
            if q <= reach:
                break
        assert q <= reach + 1e-15
