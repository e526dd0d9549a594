"""A tool that goes at one speed along a path, and corners of polylines that are rounded."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused
from ways import DOWN, across

import poise as pz
from poise.common.array import Array
from poise.solving.path.rounded import rounded

PANDA, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
PACES: list[list[Any]] = [[pz.AccelerationLimit(10.0)], [pz.AccelerationLimit(10.0), pz.JerkLimit(500.0)]]
CORNERS = np.array([[0.4, -0.2, 0.3], [0.6, -0.2, 0.3], [0.6, 0.2, 0.3], [0.45, 0.25, 0.35]])
POLYLINE = np.hstack([CORNERS, np.tile(DOWN, (4, 1))])


def moves(path: pz.JointPath, n: int = 20001) -> tuple[Array, Array, Array]:
    """(n,) times [s], (n, 3) places [m] and (n,) speeds [m/s] of the hand."""
    t = np.linspace(0.0, path.duration, n)
    state = path.at(t)
    speeds = (PANDA.jacobian("panda_hand", state.q) @ state.velocity[..., None])[:, :3, 0]
    return t, PANDA.pose("panda_hand", state.q).xyz, np.linalg.norm(speeds, axis=1)


def from_line(points: Array, corners: Array) -> Array:
    """(n,) how far each point is from the polyline."""
    best = np.full(len(points), np.inf)
    for a, b in pairwise(corners):
        share = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(points - a - share[:, None] * (b - a), axis=1))
    return best


@pytest.mark.parametrize("limits", PACES, ids=["accelerations", "jerks"])
def test_a_seam_is_followed_at_one_speed_between_its_ramps(limits: list[Any]) -> None:
    path = pz.solve_path(PANDA, HAND, POLYLINE, limits=limits, tool_speed=0.05, blend=0.01)
    assert path.success, path.explain()
    t, places, speeds = moves(path)
    between = (t > 0.1) & (t < path.duration - 0.1)
    assert speeds.max() <= 0.05
    assert speeds[between].min() >= 0.05 * (1.0 - 1e-3)
    assert np.abs(path.at(t[[0, -1]]).velocity).max() < 1e-9
    assert from_line(places, CORNERS).max() <= 0.01
    for corner in CORNERS[1:-1]:
        assert np.linalg.norm(places - corner, axis=1).min() <= 0.01
    assert np.allclose(places[[0, -1]], CORNERS[[0, -1]], atol=1e-6)
    (note,) = path.notes
    assert note.startswith("The tool goes at 0.05 m/s, but is slower from")
    assert note.count(" to ") == 2


def test_a_sharp_corner_slows_the_tool_there_alone() -> None:
    """Jerks let the tool keep its speed up to a corner that is passed within 5 mm."""
    path = pz.solve_path(PANDA, HAND, POLYLINE, limits=PACES[-1], tool_speed=0.05, blend=0.005)
    assert path.success, path.explain()
    t, places, speeds = moves(path)
    away = np.min([np.linalg.norm(places - corner, axis=1) for corner in CORNERS[1:-1]], axis=0) > 0.02
    between = (t > 0.1) & (t < path.duration - 0.1)
    assert speeds.max() <= 0.05
    assert speeds[between & away].min() >= 0.05 * (1.0 - 6e-4)
    assert speeds[between].min() >= 0.05 * (1.0 - 1e-2)


def test_where_joints_are_too_slow_for_the_tool_is_told() -> None:
    """A tool that passes near the shoulder's axis: the base cannot turn so fast there."""
    arm = pz.load("planar3")
    places = np.stack([np.linspace(-1.0, 1.0, 201), np.full(201, 0.05), np.zeros(201)], axis=1)
    limits = [pz.AccelerationLimit(4.0), pz.VelocityLimit({"joint1": 0.3})]
    path = pz.solve_path(arm, pz.PositionTask("tool"), places, limits=limits, tool_speed=0.5)
    assert path.success, path.explain()
    t = np.linspace(0.0, path.duration, 4001)
    state = path.at(t)
    speeds = np.linalg.norm((arm.jacobian("tool", state.q) @ state.velocity[..., None])[:, :3, 0], axis=1)
    assert speeds.max() <= 0.5
    assert np.abs(state.velocity[:, 0]).max() <= 0.3 * (1.0 + 1e-9)
    (note,) = path.notes
    slow = t[speeds < 0.499]
    assert "but is slower from" in note or "nowhere goes at" in note
    assert len(slow) > 0


@given(seed=st.integers(0, 2**31), count=st.integers(2, 6), blend=st.floats(1e-3, 0.2), posed=st.booleans())
@settings(max_examples=30)
def test_a_rounded_way_is_near_its_lines_and_has_no_corner(seed: int, count: int, blend: float, posed: bool) -> None:
    poses = PANDA.pose("panda_hand", PANDA.sample(count, seed=seed))
    task = HAND if posed else pz.PositionTask("panda_hand")
    rows = rounded(PANDA, [task], poses if posed else poses.xyz, blend)
    assert rows.shape[1] == (7 if posed else 3)
    assert np.array_equal(rows[0, :3], poses.xyz[0])
    assert np.allclose(rows[-1, :3], poses.xyz[-1], atol=1e-12)
    assert from_line(rows[:, :3], poses.xyz).max() <= blend
    steps = np.linalg.norm(np.diff(rows[:, :3], axis=0), axis=1)
    assert steps.max() <= 0.0101
    for corner in poses.xyz:
        assert np.linalg.norm(rows[:, :3] - corner, axis=1).min() <= blend + 0.005
    if posed:
        assert np.allclose(np.linalg.norm(rows[:, 3:], axis=1), 1.0)
        turns = np.abs((rows[1:, 3:] * rows[:-1, 3:]).sum(axis=1))
        assert turns.min() > np.cos(0.5 * 0.5)
        assert abs(rows[-1, 3:] @ poses.array[-1, 3:]) == pytest.approx(1.0)


def test_what_contradicts_is_refused() -> None:
    with refused("conflict", "dt"):
        pz.solve_path(PANDA, HAND, across(5), dt=0.1, tool_speed=0.05)
    with refused("conflict", "blend"):
        pz.solve_path(PANDA, HAND, across(5), dt=0.1, blend=0.05)
    with refused("needs", "PoseTask"):
        pz.solve_path(PANDA, pz.OrientationTask("panda_hand"), [pz.SO3.identity()] * 2, tool_speed=0.05)
    with refused("not-supported", "offset"):
        task = pz.PoseTask("panda_hand", offset=pz.SE3.from_parts([0.0, 0.0, 0.1]))
        pz.solve_path(PANDA, task, across(5), tool_speed=0.05)
    with refused("not-supported", "blend"):
        pz.solve_path(PANDA, [HAND, pz.PostureTask()], [across(5), None], blend=0.05)
    with refused("not-positive", "tool_speed"):
        pz.solve_path(PANDA, HAND, across(5), tool_speed=-1.0)
    with refused("not-positive", "blend"):
        pz.solve_path(PANDA, HAND, across(5), blend=0.0)
