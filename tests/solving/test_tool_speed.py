"""Speeds of tools in a Tracker: never above the limit, nor between two steps, along the way that the tool takes without
it, and never more slowly than it must."""

import math
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.mechanisms import CRANK, GROUND, ROCKER, four_bar, puppet, rocker_angles
from support.refusals import refused

import poise as pz
from poise.kernels.machine.jit import plain
from poise.kernels.machine.memory import MEMORY
from poise.kernels.requirements import tool_speed
from poise.robots.planar import planar
from poise.solving.requirements.inequalities import ToolSpeed
from poise.solving.requirements.tool_speed import tool_sections

Array = npt.NDArray[np.float64]
PANDA, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
LINEAR, ANGULAR = 0.25, 1.0
PACES: list[list[Any]] = [[], [pz.AccelerationLimit(10.0)], [pz.AccelerationLimit(10.0), pz.JerkLimit(300.0)]]


def fastest(model: pz.Model, frame: str, path: Array, dt: float, looks: int = 9) -> tuple[float, float]:
    """The largest speed of a frame [m/s], and of its turn [rad/s], where joints go evenly from row to row."""
    moves = model.difference(path[:-1], path[1:])
    found = np.zeros(2)
    for share in np.linspace(0.0, 1.0, looks):
        twists = (model.jacobian(frame, model.integrate(path[:-1], share * moves)) @ moves[..., None])[..., 0] / dt
        found = np.maximum(found, [np.linalg.norm(twists[:, some], axis=1).max() for some in (slice(3), slice(3, 6))])
    return float(found[0]), float(found[1])


def followed(tracker: pz.Tracker, q: Array, goals: Any, steps: int) -> Array:
    """(1 + steps * goals, nq) the way with so many steps to each goal."""
    path = [np.array(q)]
    for goal in goals:
        for _ in range(steps):
            path.append(tracker.step(path[-1], goal).copy())
    return np.array(path)


@pytest.mark.parametrize("more", PACES, ids=["speeds", "accelerations", "jerks"])
@pytest.mark.parametrize("method", ["dls", "qp"])
@given(seed=st.integers(0, 2**31), dt=st.sampled_from([0.002, 0.02]), updates=st.integers(1, 3))
@example(seed=2098, dt=0.002, updates=1)  # joints that brake make the tool faster
@example(seed=168, dt=0.002, updates=1)
@settings(max_examples=10)
def test_a_tool_is_never_too_fast_between_two_steps_either(
    method: str, more: list[Any], seed: int, dt: float, updates: int
) -> None:
    limit = pz.ToolSpeedLimit("panda_hand", linear=LINEAR, angular=ANGULAR)
    tracker = pz.Tracker(PANDA, HAND, method, dt=dt, updates=updates, limits=[limit, *more])
    goals = PANDA.pose("panda_hand", PANDA.sample(3, seed=seed))
    path = followed(tracker, PANDA.home, goals, 30)
    linear, angular = fastest(PANDA, "panda_hand", path, dt)
    assert linear <= LINEAR * (1.0 + 1e-9)
    assert angular <= ANGULAR * (1.0 + 1e-9)
    velocities = np.vstack([np.zeros(7), np.diff(path, axis=0) / dt])
    assert (np.abs(velocities) <= PANDA.velocity * (1.0 + 1e-9)).all()
    if more:
        assert np.abs(np.diff(velocities, axis=0) / dt).max() <= 10.0 * (1.0 + 1e-9)


def closed(crank: float) -> Array:
    """(3,) angles of the bar that close it, at an angle of its crank [rad]."""
    rocker = rocker_angles(crank)[1]
    (a, b), (c, d) = (r * np.array([np.cos(q), np.sin(q)]) for r, q in ((CRANK, crank), (ROCKER, rocker)))
    return np.array([crank, np.arctan2(d - b, GROUND + c - a) - crank, rocker])


@pytest.mark.parametrize("updates", [1, 2])
@pytest.mark.parametrize("loops", [False, True])
def test_balls_and_loops_keep_it_too(loops: bool, updates: int) -> None:
    model, frame, start = (four_bar(), "pen", closed(0.5)) if loops else (puppet(), "palm", puppet().home)
    task = pz.PositionTask(frame, weight=(1.0, 1.0, 0.0) if loops else 1.0)
    limit = pz.ToolSpeedLimit(frame, linear=0.1, angular=0.8)
    tracker = pz.Tracker(model, task, dt=0.01, updates=updates, limits=[limit])
    path = followed(tracker, start, [np.add(model.pose(frame, start).xyz, [-0.2, -0.2, 0.0])], 40)
    linear, angular = fastest(model, frame, path, 0.01)
    assert linear <= 0.1 * (1.0 + 1e-6)
    assert angular <= 0.8 * (1.0 + 1e-6)
    assert max(linear / 0.1, angular / 0.8) > 0.95


@pytest.mark.parametrize("dt", [0.002, 0.02])
def test_a_step_is_shortened_no_more_than_it_must_be_and_in_its_own_direction(dt: float) -> None:
    limit = pz.ToolSpeedLimit("panda_hand", linear=0.1)
    free, bounded = (pz.Tracker(PANDA, HAND, "dls", dt=dt, limits=some) for some in (True, [limit]))
    starts = PANDA.sample(20, seed=5)
    for q, goal in zip(starts, PANDA.pose("panda_hand", starts[::-1]).array, strict=True):
        free.reset()
        bounded.reset()
        long, short = free.step(q, goal) - q, bounded.step(q, goal) - q
        share = float(np.linalg.norm(short) / np.linalg.norm(long))
        assert np.allclose(short, share * long, rtol=1e-9, atol=1e-14)
        fast = fastest(PANDA, "panda_hand", np.array([q, q + short]), dt)[0]
        assert share == 1.0 or 0.1 * (1.0 - (5e-3 if dt < 0.01 else 0.1)) < fast <= 0.1 * (1.0 + 1e-9)


@pytest.mark.parametrize("more", PACES, ids=["speeds", "accelerations", "jerks"])
@pytest.mark.parametrize("slow", [(50.0, 100.0), (2.0, 8.0)], ids=["never", "not here"])
def test_steps_that_are_slow_enough_are_the_same_to_the_bit(more: list[Any], slow: tuple[float, float]) -> None:
    start = PANDA.pose("panda_hand", PANDA.home).xyz
    goals = [pz.SE3.from_xyz_rpy(np.add(start, x), [np.pi, 0.0, 0.0]) for x in ([0.0, 0.1, 0.0], [0.0, 0.0, -0.1])]
    limit = pz.ToolSpeedLimit("panda_hand", linear=slow[0], angular=slow[1])
    free, bounded = (pz.Tracker(PANDA, HAND, "dls", dt=0.002, limits=[*some, *more]) for some in ([], [limit]))
    assert np.array_equal(
        followed(free, PANDA.home, goals, 50), followed(bounded, PANDA.home, goals, 50)
    )  # fmt: skip


@pytest.mark.parametrize("still", [(), ("panda_joint2",)], ids=["all", "one held"])
@given(seed=st.integers(0, 2**31))
@settings(max_examples=10)
def test_steps_that_begin_elsewhere_keep_it_too(still: tuple[str, ...], seed: int) -> None:
    """Where q is measured, or somebody else moves a joint that is held: what was seen of a tool is of elsewhere."""
    rng, q = np.random.default_rng(seed), np.array(PANDA.home)
    tracker = pz.Tracker(
        PANDA, HAND, "dls", dt=0.01, limits=[pz.ToolSpeedLimit("panda_hand", linear=LINEAR)], still=still
    )
    for _ in range(40):
        q = PANDA.clip(q + rng.choice([0.0, 1e-3, 0.05, 0.5]) * rng.normal(size=7))
        goal = PANDA.pose("panda_hand", PANDA.clip(q + rng.choice([0.01, 0.1, 1.0]) * rng.normal(size=7)))
        after = tracker.step(q, goal)
        assert fastest(PANDA, "panda_hand", np.array([q, after]), 0.01)[0] <= LINEAR * (1.0 + 1e-9)
        q = after.copy()


def crane() -> pz.Model:
    """Slides, turns and a screw, one on the other."""
    builder = pz.ModelBuilder("crane")
    builder.joint("rail", "prismatic", parent="base", child="cart", limits=(-3.0, 3.0))
    builder.joint("slew", "revolute", parent="cart", child="jib", limits=(-3.0, 3.0))
    builder.joint("boom", "prismatic", parent="jib", child="boom", axis=[1.0, 0.0, 0.0], limits=(0.0, 3.0))
    tilted = pz.SE3.from_xyz_rpy([0.3, 0.2, 0.1], [0.3, 1.0, 2.0])
    builder.joint("drill", "helical", parent="boom", child="bit", origin=tilted, pitch=0.1, limits=(-9.0, 9.0))
    builder.frame("tip", link="bit", origin=pz.SE3.from_parts([0.1, 0.5, 0.2]))
    return builder.build()


TOOLS = {
    "panda": (PANDA, "panda_hand"), "puppet": (puppet(), "palm"), "four bar": (four_bar(), "pen"),
    "crane": (crane(), "tip"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOOLS)
def test_no_column_is_longer_than_is_said(name: str) -> None:
    """By which steps far from the limit are known to be slow, wherever they begin."""
    model, frame = TOOLS[name]
    bounds = tool_sections(model, [ToolSpeed(frame, 1.0, 1.0)], range(model.nv))["tool_bounds"]
    most = bounds[:-1].reshape(2, model.nv)
    jacobians = model.jacobian(frame, model.sample(500, seed=0)).reshape(-1, 2, 3, model.nv)
    assert (np.linalg.norm(jacobians, axis=2) <= most + 1e-12).all()
    assert np.isfinite(most).all() == (name != "crane")


@pytest.mark.parametrize("name", TOOLS)
@given(seed=st.integers(0, 2**31))
def test_what_is_said_of_places_near_a_look_is_so(name: str, seed: int) -> None:
    """Nowhere within reach of it is a tool faster than where it is surely slow."""
    model, frame = TOOLS[name]
    n, rng = model.nv, np.random.default_rng(seed)
    q, v = model.sample(seed=seed), rng.normal(size=n) * rng.choice([0.0, 0.02, 1.0], n)
    reach = 0.4 / n * rng.uniform(size=n) * rng.choice([0.0, 0.1, 1.0], n)
    places = model.integrate(q, reach * rng.choice([-1.0, 0.0, 1.0], (64, n)))
    twists = (model.jacobian(frame, places) @ v).reshape(-1, 2, 3)
    fastest = np.linalg.norm(twists, axis=2).max(axis=0)
    columns = model.jacobian(frame, q).reshape(2, 3, n).transpose(0, 2, 1)
    bounds = tool_sections(model, [ToolSpeed(frame, 1.0, 1.0)], range(n))["tool_bounds"]
    motion = SimpleNamespace(
        columns=columns.ravel(), lengths=np.linalg.norm(columns[0], axis=1), reach=reach, most=np.abs(v),
        velocities=v, bends=np.zeros(n),
    )  # fmt: skip
    w = SimpleNamespace(step=v, tool_motion=motion, memory=np.ones(MEMORY))
    for part in range(2):
        most = np.full(2, 1e9)
        most[part] = 0.999 * fastest[part]
        p = SimpleNamespace(tools=[SimpleNamespace(linear=most[0], angular=most[1])], tool_bounds=bounds)
        assert fastest[part] == 0.0 or plain(tool_speed._slow_within)(p, w, 1) != tool_speed.SURE


def test_any_frame_counts_and_all_links_where_none_is_named() -> None:
    arm = planar(4)
    goal = [-1.0, 2.0, 0.0]
    links = [link for link in arm.links if np.abs(arm.jacobian(link, arm.home)).max() > 0.0]
    for frames in (None, links, ["tool", *links]):
        tracker = pz.Tracker(arm, pz.PositionTask("tool"), dt=0.01, limits=[pz.ToolSpeedLimit(frames, linear=0.1)])
        path = followed(tracker, arm.home + 0.3, [goal], 60)
        each = {name: fastest(arm, name, path, 0.01)[0] for name in (frames or links)}
        assert max(each.values()) <= 0.1 * (1.0 + 1e-9)
        assert max(each.values()) > 0.095


def test_a_start_beyond_its_limits_comes_back_no_faster() -> None:
    start = np.array(PANDA.home)
    start[3] = PANDA.lower[3] - 0.2
    tracker = pz.Tracker(PANDA, HAND, "dls", dt=0.01, limits=[pz.ToolSpeedLimit("panda_hand", linear=0.1)])
    path = followed(tracker, start, [PANDA.pose("panda_hand", PANDA.home)], 200)
    assert fastest(PANDA, "panda_hand", path, 0.01)[0] <= 0.1 * (1.0 + 1e-9)
    assert PANDA.within_limits(path[-1])


def test_a_rollout_and_a_copy_keep_it_too() -> None:
    limit = pz.ToolSpeedLimit("panda_hand", linear=LINEAR)
    tracker = pz.Tracker(PANDA, HAND, "dls", dt=0.01, limits=[limit])
    goal = PANDA.pose("panda_hand", PANDA.sample(seed=3))
    path = followed(tracker, PANDA.home, [goal], 40)
    again = pickle.loads(pickle.dumps(pz.Tracker(PANDA, HAND, "dls", dt=0.01, limits=[limit])))
    way = again.rollout(PANDA.home, np.tile(goal.array, (40, 1, 1)))
    assert np.array_equal(way, path[1:])


def test_what_a_step_ended_at_is_told() -> None:
    for dt in (0.002, 0.02):
        limit = pz.ToolSpeedLimit("panda_hand", linear=0.1)
        tracker = pz.Tracker(PANDA, HAND, "dls", dt=dt, limits=[limit])
        tracker.step(PANDA.home, pz.SE3.from_xyz_rpy([0.4, 0.5, 0.3], [np.pi, 0, 0]))
        (met,) = [found for found in tracker.active_limits if found.kind == "tool speed"]
        assert met.name == "panda_hand"
        assert met.bound == 0.1
        assert 0.095 < met.value <= 0.1
        assert "panda_hand is at its ToolSpeedLimit, 0.1" in tracker.explain()


def test_one_that_is_none_is_refused() -> None:
    with refused("empty", "linear"):
        pz.ToolSpeedLimit("panda_hand")
    with refused("empty", "frame"):
        pz.ToolSpeedLimit([], linear=1.0)
    with refused("wrong-type"):
        pz.ToolSpeedLimit(3, linear=1.0)  # type: ignore[arg-type]
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="angular"):
            pz.ToolSpeedLimit("panda_hand", angular=wrong)
    with refused("nothing-moves", "panda_link0"):
        pz.Tracker(PANDA, HAND, dt=0.01, limits=[pz.ToolSpeedLimit("panda_link0", linear=1.0)])
    with refused("nothing-moves", "no joint of panda that may move moves"):
        parked = [pz.ToolSpeedLimit("panda_link1", linear=1.0)]
        pz.Tracker(PANDA, HAND, dt=0.01, limits=parked, still="panda_joint1")
    with pytest.raises(pz.FrameNotFound):
        pz.Tracker(PANDA, HAND, dt=0.01, limits=[pz.ToolSpeedLimit("hand", linear=1.0)])
    with refused("no-dt", "ToolSpeedLimit"):
        pz.Tracker(PANDA, HAND, limits=[pz.ToolSpeedLimit("panda_hand", linear=1.0)])
    with pytest.raises(pz.FrameNotFound):
        pz.solve(
            PANDA, pz.PoseTask("panda_hand", PANDA.pose("panda_hand", PANDA.home)),
            limits=[pz.ToolSpeedLimit("hand", linear=1.0)],
        )  # fmt: skip
