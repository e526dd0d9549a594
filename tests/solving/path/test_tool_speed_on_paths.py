"""Speeds of tools along a path: never above the limit at any time, and at it wherever nothing else is in the way."""

from typing import Any

import numpy as np
import pytest
from support.refusals import refused
from ways import across

import poise as pz
from poise.common.array import Array

PANDA, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
PACES: list[list[Any]] = [[], [pz.AccelerationLimit(10.0)], [pz.AccelerationLimit(10.0), pz.JerkLimit(500.0)]]


def speeds(path: pz.JointPath, frame: str = "panda_hand", some: slice = slice(3), n: int = 8001) -> Array:
    """(n,) how fast a frame goes [m/s], or with slice(3, 6) turns [rad/s], at times close to each other."""
    state = path.at(np.linspace(0.0, path.duration, n))
    twists = (path.model.jacobian(frame, state.q) @ state.velocity[..., None])[..., 0]
    return np.linalg.norm(twists[:, some], axis=1)


@pytest.mark.parametrize("more", PACES, ids=["speeds", "accelerations", "jerks"])
def test_a_tool_keeps_its_speed_along_a_path_and_uses_it(more: list[Any]) -> None:
    path = pz.solve_path(PANDA, HAND, across(40), limits=[*more, pz.ToolSpeedLimit("panda_hand", linear=0.25)])
    assert path.success, path.explain()
    found = speeds(path)
    assert found.max() <= 0.25
    assert np.median(found) > 0.25 * (1.0 - 1e-2)


def test_a_turn_is_bounded_too_and_ways_of_a_plan_are() -> None:
    stops = PANDA.pose("panda_hand", PANDA.sample(2, seed=4))
    limits = [pz.AccelerationLimit(10.0), pz.ToolSpeedLimit(["panda_hand", "panda_link4"], linear=0.3, angular=0.5)]
    path = pz.plan(PANDA, HAND, stops, q0=PANDA.home, limits=limits)
    assert path.success, path.explain()
    for frame in ("panda_hand", "panda_link4"):
        assert speeds(path, frame).max() <= 0.3
        assert speeds(path, frame, slice(3, 6)).max() <= 0.5
    assert speeds(path, "panda_hand", slice(3, 6)).max() > 0.45


def test_times_that_are_too_short_for_a_tool_are_named() -> None:
    limit = pz.ToolSpeedLimit("panda_hand", linear=0.25)
    length = float(np.linalg.norm(np.diff(across(40)[:, :3], axis=0), axis=1)[0])
    slow, fast = (pz.solve_path(PANDA, HAND, across(40), dt=length / speed, limits=[limit]) for speed in (0.24, 0.27))
    assert slow.success, slow.explain()
    assert fast.status is pz.Status.TOO_FAST
    assert "panda_hand would have to go at" in fast.explain()
    assert "ToolSpeedLimit is 0.25" in fast.explain()


def test_a_limit_of_a_frame_alone_is_enough_to_time_a_path() -> None:
    """Joints without limits of speed: the tool's alone says when each waypoint is passed."""
    free = pz.load("planar3")
    places = np.stack([np.linspace(1.0, 2.0, 50), np.full(50, 0.5), np.zeros(50)], axis=1)
    path = pz.solve_path(
        free, pz.PositionTask("tool"), places, velocity=np.inf, limits=[pz.ToolSpeedLimit("tool", 0.2)]
    )
    assert path.duration == pytest.approx(1.0 / 0.2, rel=2e-3)


@pytest.mark.parametrize("acceleration", [None, 10.0])
def test_a_way_of_any_length_is_timed(acceleration: float | None) -> None:
    builder = pz.ModelBuilder("gantry")
    builder.joint("rail", "prismatic", parent="base", child="cart", limits=(-1e13, 1e13))
    builder.joint("turn", "revolute", parent="cart", child="tool", limits=(-3.0, 3.0))
    task, places = pz.PositionTask("tool", weight=(0.0, 0.0, 1.0)), [[0.0, 0.0, z] for z in (0.0, 5e11, 1e12)]
    limits = [pz.ToolSpeedLimit("tool", 0.5)]
    path = pz.solve_path(builder.build(), task, places, velocity=np.inf, acceleration=acceleration, limits=limits)
    assert path.duration == pytest.approx(2e12, rel=1e-3)


def test_a_turn_that_is_too_far_to_be_looked_at_is_refused() -> None:
    builder = pz.ModelBuilder("spindle")
    builder.joint("turn", "continuous", parent="base", child="tool")
    with refused("too-many", "tool turns by 1e+12 rad"):
        pz.solve_path(
            builder.build(), pz.PostureTask(), [[0.0], [1e12]], limits=[pz.ToolSpeedLimit("tool", angular=0.5)]
        )


def test_a_frame_that_stands_still_is_refused() -> None:
    with refused("nothing-moves", "panda_link0"):
        pz.solve_path(PANDA, HAND, across(5), limits=[pz.ToolSpeedLimit("panda_link0", linear=1.0)])
