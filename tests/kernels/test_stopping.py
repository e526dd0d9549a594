"""Braking as it is followed: in plain Python, of one joint far from its limits."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.common.array import Array
from poise.kernels.machine.jit import plain
from poise.kernels.machine.memory import MEMORY
from poise.kernels.requirements import stopping, tool_speed
from poise.kernels.requirements.braking import BELOW, NO_LIMIT, braking_curve, speed_on_curve

SPEED, CHANGE, JERK = 0.1, 0.004, 0.0005


def braked(v: float, s: float, most: float = CHANGE, jerk: float = JERK) -> Array:
    """The velocities of one joint that brakes from a step v, whose change was s, until it rests."""
    rate = SimpleNamespace(speed=SPEED, change=most, jerk=jerk, lower=-np.inf, upper=np.inf)
    joint = SimpleNamespace(q=0, v=0, lower=-1e3, upper=1e3)
    p = SimpleNamespace(
        coordinates=[joint], rates=[rate], balls=[], braking_group=[0], loops=[], inequalities=np.zeros(0),
    )  # fmt: skip
    braking = SimpleNamespace(box=np.zeros(3), start=np.zeros(1))
    w = SimpleNamespace(braking=braking, step=np.zeros(1), memory=np.zeros(MEMORY))
    velocity, change, x = np.array([v]), np.array([s]), np.zeros(1)
    found = []
    while not stopping.rests(velocity, change):
        assert plain(stopping.brake_on)(p, w, velocity, change, x)
        found.append(float(velocity[0]))
        assert len(found) < 500
    return np.array(found)


@pytest.mark.parametrize(("v", "s"), [(0.05, 0.0), (0.05, 0.002), (0.02, -0.003), (0.09, 0.001), (0.001, 0.0)])
def test_braking_the_other_way_is_the_mirror_image_and_neither_swings_back(v: float, s: float) -> None:
    there, back = braked(v, s), braked(-v, -s)
    np.testing.assert_allclose(there, -back, rtol=0, atol=1e-15)
    changes = np.diff([v, *there])
    assert np.abs(changes).max() <= max(CHANGE, abs(s)) + 1e-12
    assert np.abs(np.diff([s, *changes])).max() <= JERK + 1e-12
    assert there.min() > -1e-3 * SPEED


@st.composite
def steps_of_braking(draw: st.DrawFn) -> tuple[float, float, float, float]:
    """A step, its change, which does not turn it back, the limit of an acceleration, and that of a jerk or none."""
    jerk = draw(st.sampled_from([1e-4, 1e-5, 1e-6, NO_LIMIT]))
    most = draw(st.floats(0.5, 40.0)) * min(jerk, 1e-5)
    v = draw(st.floats(0.0, 1.0)) ** 3 * min(SPEED, 40.0 * most)
    slowing = 0.0 if jerk == NO_LIMIT else jerk * (np.sqrt(0.25 + 2.0 * v / jerk) - 0.5)
    return v, draw(st.floats(-1.0, 1.0)) * min(most, slowing), most, jerk


@given(steps_of_braking())
def test_braking_follows_its_curve(step: tuple[float, float, float, float]) -> None:
    v, s, most, jerk = step
    curve, below = plain(braking_curve)(v, s, most, jerk), BELOW * jerk if jerk < NO_LIMIT else 0.0
    for k, speed in enumerate(braked(v, s, most, jerk), 1):
        at = plain(speed_on_curve)(*curve, most, jerk, float(k))
        assert at - below - 1e-9 <= speed <= at + 1e-9


@given(st.lists(steps_of_braking(), min_size=1, max_size=4), st.sampled_from([-1.0, 1.0]))
def test_velocities_on_the_way_to_rest_are_near_their_chords(
    steps: list[tuple[float, float, float, float]], sign: float
) -> None:
    """Between two instants at which the velocities of tools are summed up, by no more than is said of each joint."""
    n, instants = len(steps), tool_speed.INSTANTS
    rates = [SimpleNamespace(change=most, jerk=jerk) for _, _, most, jerk in steps]
    v, s = (sign * np.array([step[i] for step in steps]) for i in range(2))
    motion = {name: np.zeros(n) for name in ("aside", "most")} | {
        name: np.zeros(instants * n) for name in ("velocities", "bends")
    }
    w = SimpleNamespace(
        tool_motion=SimpleNamespace(curve=np.zeros(4 * n), **motion), braking=SimpleNamespace(speeds=np.zeros(n))
    )
    plain(tool_speed._put_instants)(SimpleNamespace(rates=rates), w, v, s)
    at = np.vstack([w.tool_motion.velocities.reshape(instants, n), np.zeros(n)])
    bends = np.vstack([w.tool_motion.bends.reshape(instants, n), np.full(n, np.inf)])
    curves = w.tool_motion.curve.reshape(n, 4)
    times = np.array(tool_speed._TIMES) * (curves[:, 3] - curves[:, 1]).max()
    for a, (speed, change, most, jerk) in enumerate(steps):
        way = np.array([v[a], *sign * braked(speed, change, most, jerk)])
        chord = np.interp(np.arange(len(way)), times, at[:, a])
        before = np.minimum(np.searchsorted(times, np.arange(len(way)), side="right") - 1, instants - 1)
        near = np.minimum(bends[before, a], bends[before + 1, a])
        assert (np.abs(way - chord) <= near + 1e-9).all()
        assert np.abs(way).max() <= w.tool_motion.most[a] + 1e-9
