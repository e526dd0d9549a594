"""Braking as it is followed: in plain Python, of one joint far from its limits."""

from types import SimpleNamespace

import numpy as np
import pytest

from poise.common.array import Array
from poise.kernels.machine.jit import plain
from poise.kernels.machine.memory import MEMORY
from poise.kernels.requirements import stopping

SPEED, CHANGE, JERK = 0.1, 0.004, 0.0005


def braked(v: float, s: float) -> Array:
    """The velocities of one joint that brakes from a step v, whose change was s, until it rests."""
    rate = SimpleNamespace(speed=SPEED, change=CHANGE, jerk=JERK, lower=-np.inf, upper=np.inf)
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
