"""The Tracker: what one step is, what holds at every step, and what it refuses."""

import math
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.robots.buss import double_y, y
from poise.robots.planar import planar
from poise.solving.requirements.inequalities import Inequalities

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda")
HAND = pz.PoseTask("panda_hand")
WRIST = pz.PositionTask("panda_hand")
HOME = np.array(PANDA.home)
POSED = [name for name, kind in pz.methods.METHODS.items() if kind.capabilities.tasks != "positions"]
few = settings(max_examples=25)


def ahead(seed: int) -> pz.SE3:
    return PANDA.pose("panda_hand", PANDA.sample(seed=seed))


def around(steps: int, phase: float = 0.0) -> Array:
    """(steps, 1, 7) poses of the hand along a loop."""
    angle = np.linspace(0.0, 2.0 * np.pi, steps) + phase
    out = np.tile(PANDA.pose("panda_hand", HOME).array, (steps, 1, 1))
    out[:, 0, 0] += 0.1 * np.cos(angle)
    out[:, 0, 1] += 0.2 * np.sin(angle)
    return out


def test_a_step_is_the_damped_step_cut_at_the_limits() -> None:
    ik = pz.Tracker(PANDA, HAND, pz.methods.DampedLeastSquares(damping=0.2, max_error=None, max_step=math.inf))
    solver = pz.Solver(PANDA, HAND)
    for seed in range(10):
        q, target = PANDA.sample(seed=seed), ahead(seed + 50)
        e, jacobian = solver.linearise(q, target)
        step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 0.04 * np.eye(6), e)
        assert ik.step(q, target) == pytest.approx(np.clip(q + step, PANDA.lower, PANDA.upper), abs=1e-10)


def test_a_joint_at_its_limit_takes_no_part_in_a_step_that_pushes_it_out() -> None:
    ik = pz.Tracker(PANDA, HAND, pz.methods.DampedLeastSquares(damping=0.2, max_error=None, max_step=math.inf))
    solver, held_back = pz.Solver(PANDA, HAND), 0
    for seed in range(10):
        q, target = PANDA.sample(seed=seed), ahead(seed + 50)
        q[3], q[5] = PANDA.upper[3], PANDA.lower[5]
        e, jacobian = solver.linearise(q, target)
        down = jacobian.T @ e
        free = ~((q <= PANDA.lower) & (down < 0.0)) & ~((q >= PANDA.upper) & (down > 0.0))
        held_back += int((~free).sum())
        some = jacobian * free
        step = some.T @ np.linalg.solve(some @ some.T + 0.04 * np.eye(6), e)
        assert ik.step(q, target) == pytest.approx(np.clip(q + step, PANDA.lower, PANDA.upper), abs=1e-10)
    assert held_back > 3


@pytest.mark.parametrize("name", pz.methods.METHODS)
def test_several_updates_a_step_are_so_many_steps(name: str) -> None:
    one = pz.Tracker(PANDA, WRIST, name, limits=False)
    five = pz.Tracker(PANDA, WRIST, name, limits=False, updates=5)
    q = p = HOME
    for k in range(4):
        target = ahead(k).xyz
        p = five.step(p, target).copy()
        for _ in range(5):
            q = one.step(q, target).copy()
        assert (p == q).all()


def test_targets_start_where_the_frames_are_or_where_the_tasks_want_them() -> None:
    wanted = ahead(3)
    ik = pz.Tracker(PANDA, [HAND, pz.PositionTask("panda_link4", [0.1, 0.2, 0.6])])
    assert ik.targets.shape == (2, 7)
    assert ik.targets[0] == pytest.approx(PANDA.pose("panda_hand", HOME).array)
    assert ik.targets[1, :3] == pytest.approx([0.1, 0.2, 0.6])
    assert pz.Tracker(PANDA, pz.PoseTask("panda_hand", wanted)).targets[0] == pytest.approx(wanted.array)
    assert pz.Tracker(PANDA, HAND).step(HOME) == pytest.approx(HOME, abs=1e-9)


def test_a_target_is_an_array_to_write_into_an_argument_or_an_aim() -> None:
    target = ahead(4)
    want = pz.Tracker(PANDA, HAND).step(HOME, target).copy()

    def same(ik: pz.Tracker, given: Any = None) -> None:
        assert ik.step(HOME, given) == pytest.approx(want, abs=1e-14)

    for form in (target, target.array, target.matrix()):
        same(pz.Tracker(PANDA, HAND), form)
        ik = pz.Tracker(PANDA, HAND)
        ik.aim(form)
        same(ik)
    ik = pz.Tracker(PANDA, HAND)
    ik.targets[0] = target.array
    same(ik)
    ik = pz.Tracker(PANDA, HAND)
    ik.targets = target.array[None]
    same(ik)
    ik = pz.Tracker(PANDA, HAND)
    ik.targets += target.array - ik.targets
    same(ik)


def test_none_in_a_list_of_targets_leaves_that_target_as_it_is() -> None:
    model, point = y(), np.array([0.5, 2.0, 0.3])
    tasks = [pz.PositionTask("e0", [0.4, 1.9, 0.2]), pz.PositionTask("e1")]
    ik, full = pz.Tracker(model, tasks, "jt"), pz.Tracker(model, tasks, "jt")
    stays = ik.targets[1].copy()
    q = ik.step(model.home, [point, None])
    assert (q == full.step(model.home, [point, stays[:3]])).all()
    assert (ik.targets[1] == stays).all()
    assert (ik.step(q, [None, None]) == full.step(q)).all()
    assert ik.targets[0, :3] == pytest.approx(point)  # where it was led, not the task's own


def test_points_are_rows_of_an_array_or_one_a_task() -> None:
    model, tasks = y(), [pz.PositionTask("e0"), pz.PositionTask("e1")]
    points = np.array([[0.5, 2.0, 0.3], [-0.6, 1.8, 0.1]])
    want = pz.Tracker(model, tasks, "jt").step(np.zeros(7), points).copy()
    assert (pz.Tracker(model, tasks, "jt").step(np.zeros(7), list(points)) == want).all()
    assert (pz.Tracker(model, tasks, "jt").step([0.0] * 7, points.tolist()) == want).all()
    single = pz.Tracker(PANDA, WRIST)
    at = np.array([0.4, 0.1, 0.5])
    want = single.step(HOME, at).copy()
    single.reset()
    assert (single.step(HOME, at[None]) == want).all()


@pytest.mark.parametrize("name", pz.methods.METHODS)
def test_a_rollout_is_a_loop_of_steps(name: str) -> None:
    ik = pz.Tracker(PANDA, WRIST, name, limits=False)
    points = around(40)[:, :, :3]
    path = ik.rollout(HOME, points)
    assert path.shape == (40, 7)
    q = HOME
    for k in range(40):
        q = ik.step(q, points[k]).copy()
        assert (path[k] == q).all()


def test_poses_are_rolled_out_from_all_that_holds_rows() -> None:
    ik = pz.Tracker(PANDA, HAND, updates=3, dt=0.01)
    poses = around(20)
    path = ik.rollout(HOME, poses)
    rows = pz.SE3(poses[:, 0])
    for same in (rows, [rows], list(rows), [poses[:, 0]]):  # as solve_batch takes them
        assert (ik.rollout(HOME, same) == path).all()
    assert (ik.rollout(HOME, [rows[0]]) == path[:1]).all()
    q = HOME
    for k in range(20):
        q = ik.step(q, poses[k, 0]).copy()
    assert (path[-1] == q).all()


@pytest.mark.parametrize("explore", [False, True])
def test_a_rollout_of_no_steps_is_empty(explore: bool) -> None:
    ik = pz.Tracker(PANDA, [HAND, pz.PostureTask()], explore=explore)
    nothing = np.empty((0, 1, 7))
    assert ik.rollout(HOME, nothing).shape == (0, 7)
    assert ik.rollout(np.tile(HOME, (3, 1)), np.stack([nothing] * 3)).shape == (3, 0, 7)
    with pytest.raises(pz.ShapeError, match="targets must have a row a step for one task at least"):
        ik.rollout(HOME, None)


def test_none_leaves_the_targets_of_all_tasks_where_they_are() -> None:
    ik = pz.Tracker(PANDA, [HAND, pz.PositionTask("panda_link4"), pz.PostureTask()])
    before = ik.targets.copy()
    ik.aim(None)
    assert (ik.targets == before).all()


def test_several_steps_in_one_call_are_steps_one_by_one_and_go_on() -> None:
    one, other = (pz.Tracker(PANDA, [HAND, pz.PostureTask(weight=0.1)], "priority", dt=0.01) for _ in range(2))
    poses, postures = around(20), np.linspace(HOME, HOME + 0.3, 20)
    path, q = np.empty((20, 7)), HOME
    one.steps(HOME, poses[:12], path[:12], postures[:12])
    one.steps(path[11], poses[12:], path[12:], postures[12:])
    for row, pose, posture in zip(path, poses, postures, strict=True):
        other.targets, other.posture = pose, posture
        q = other.step(q)
        assert (row == q).all()
    assert (one.velocity == other.velocity).all()
    assert one.errors == other.errors


def test_a_posture_stays_where_several_steps_have_none() -> None:
    one, other = (pz.Tracker(PANDA, [WRIST, pz.PostureTask(weight=0.1)], "priority", dt=0.01) for _ in range(2))
    one.posture = other.posture = HOME + 0.3
    path, q = np.full((4, 7), 1e3), HOME
    one.steps(HOME, np.tile(one.targets, (4, 1, 1)), path)
    for row in path:
        q = other.step(q)
        assert (row == q).all()


@pytest.mark.parametrize("count", [1, 3, 8, 11])
@pytest.mark.parametrize(
    "method",
    [
        pz.methods.DampedLeastSquares(damping=0.1, max_error=0.1),
        pz.methods.SelectivelyDamped(max_error=0.1),
        "lm",
        "jt",
    ],
)
def test_characters_side_by_side_go_where_each_goes_alone(count: int, method: Any) -> None:
    ik = pz.Tracker(PANDA, HAND, method, dt=0.02)
    starts = HOME + 0.1 * np.random.default_rng(1).normal(size=(count, 7))
    poses = np.array([around(50, phase) for phase in np.linspace(0.0, 2.0, count)])
    together = ik.rollout(starts, poses)
    assert together.shape == (count, 50, 7)
    for c in range(count):
        assert together[c] == pytest.approx(ik.rollout(starts[c], poses[c]), abs=1e-6)
    assert (together >= PANDA.lower).all()
    assert (together <= PANDA.upper).all()


@pytest.mark.parametrize("method", ["dls", "ccd"])  # in lanes, and one character after the other
def test_characters_go_the_same_ways_on_any_number_of_threads(method: str) -> None:
    ik = pz.Tracker(PANDA, WRIST, method, limits=method == "dls")
    starts = HOME + 0.1 * np.random.default_rng(1).normal(size=(30, 7))
    points = np.array([around(20, phase)[:, :, :3] for phase in np.linspace(0.0, 2.0, 30)])
    want = ik.rollout(starts, points, threads=1)
    for threads in (None, 2, 5):
        assert (ik.rollout(starts, points, threads=threads) == want).all()
    with refused("out-of-range", "threads"):
        ik.rollout(starts, points, threads=0)


def test_starts_of_any_memory_layout_are_read() -> None:
    ik = pz.Tracker(PANDA, HAND)
    starts = np.array([HOME, HOME + 0.01])
    poses = np.array([around(5), around(5, 0.3)])
    want = ik.rollout(starts, poses)
    frozen = starts.copy()
    frozen.flags.writeable = False
    assert (ik.rollout(np.asfortranarray(starts), np.asfortranarray(poses)) == want).all()
    assert (ik.rollout(frozen, poses) == want).all()
    assert (ik.step(frozen[0], ahead(1)) == ik.step(starts[0], ahead(1))).all()
    assert (ik.step(np.asfortranarray(starts)[0], ahead(1)) == ik.step(starts[0], ahead(1))).all()
    assert (ik.step(starts[0].astype(np.float32)) == ik.step(starts[0].astype(np.float32).astype(float))).all()


@pytest.mark.parametrize("name", POSED)
@pytest.mark.parametrize("updates", [1, 4])
def test_no_joint_is_faster_than_its_limit(name: str, updates: int) -> None:
    dt = 0.01
    ik = pz.Tracker(PANDA, HAND, name, dt=dt, updates=updates)
    fastest = 0.0
    for seed in range(6):
        q = PANDA.sample(seed=seed)
        for k in range(20):
            after = ik.step(q, ahead(100 + seed + k // 7)).copy()
            assert (np.abs(after - q) <= PANDA.velocity * dt * (1.0 + 1e-9)).all()
            fastest = max(fastest, float((np.abs(after - q) / (PANDA.velocity * dt)).max()))
            q = after
    assert fastest > 0.5


def test_a_step_too_fast_is_shortened_as_a_whole_or_each_joint_by_itself() -> None:
    """Whichever leaves less of the error."""
    method = pz.methods.DampedLeastSquares(damping=0.2, max_error=None, max_step=math.inf)
    free, paced = pz.Tracker(PANDA, HAND, method), pz.Tracker(PANDA, HAND, method, dt=0.01)
    solver, most, wholes = pz.Solver(PANDA, HAND), PANDA.velocity * 0.01, 0
    for seed in range(30):
        q = 0.5 * (PANDA.lower + PANDA.upper)
        step = free.step(q, ahead(seed)) - q
        ratio = float((np.abs(step) / most).max())
        assert ratio > 1.0
        if (np.abs(step) < 0.5 * (PANDA.upper - PANDA.lower)).all():
            e, jacobian = solver.linearise(q, ahead(seed))
            ways = [step / ratio, np.clip(step, -most, most)]
            left = [float(np.linalg.norm(e - jacobian @ way)) for way in ways]
            wholes += left[0] < left[1]
            paced.reset()
            assert paced.step(q, ahead(seed)) - q == pytest.approx(ways[int(np.argmin(left))], abs=1e-12)
    assert 0 < wholes < 30


def turning(*, follower: bool = False) -> pz.Model:
    """A free base, a ball and two joints, each with its own speeds."""
    b = pz.ModelBuilder("turning")
    b.joint("base", "floating", parent="world", child="a", velocity=[9.0, 9.0, 9.0, 2.0, 3.0, 4.0])
    ahead = pz.SE3.from_parts([0.4, 0.0, 0.0])
    b.joint("ball", "spherical", parent="a", child="b", origin=ahead, velocity=[3.0, 2.7, 2.3])
    b.joint("hinge", "revolute", parent="b", child="c", origin=ahead, axis=(0, 1, 0), limits=(-2, 2), velocity=2.3)
    mimic = pz.Mimic(joint="hinge", multiplier=-1.5) if follower else None
    b.joint("wrist", "revolute", parent="c", child="d", origin=ahead, axis=(1, 0, 0), velocity=1.0, mimic=mimic)
    b.frame("tip", link="d", origin=pz.SE3.from_parts([0.2, 0.1, 0.0]))
    return b.build()


def speeds_of(model: pz.Model, path: Array, dt: float) -> Array:
    """(steps,) the largest share of a joint's speed in each step, those that follow others among them."""
    shares = [np.abs(model.difference(path[:-1], path[1:])) / (model.velocity * dt)]
    for joint in model.joints:
        if joint.mimic:
            source, function = model.follows(joint)
            moved = np.abs(np.diff(function(path[:, model.index(source)]), axis=0))
            shares.append(moved / (joint.velocity[0] * dt))
    return np.concatenate(shares, axis=1).max(axis=1)


BOLD = pz.methods.BoundedLeastSquares(damping=1e-3, max_error=None, max_step=math.inf)


@pytest.mark.parametrize("method", ["dls", "qp", "priority", "lm", "jt", BOLD])
@pytest.mark.parametrize("updates", [1, 2, 5])
@pytest.mark.parametrize("follower", [False, True])
def test_no_ball_turns_faster_than_its_limit_over_a_whole_step(
    method: str | pz.methods.BoundedLeastSquares, updates: int, follower: bool
) -> None:
    model, dt = turning(follower=follower), 0.1
    ik = pz.Tracker(model, pz.PoseTask("tip"), method, dt=dt, updates=updates)
    fastest = 0.0
    for seed in range(8):
        path = [model.sample(seed=seed)]
        for k in range(30):
            path.append(ik.step(path[-1], model.pose("tip", model.sample(seed=100 * seed + k // 10))).copy())
        shares = speeds_of(model, np.array(path), dt)
        fastest = max(fastest, shares.max())
        assert (shares <= 1.0 + 1e-9).all()
        assert all(model.within_limits(q) for q in path)
    assert fastest > 0.5


@pytest.mark.parametrize("characters", [1, 11])
def test_no_ball_turns_faster_in_a_rollout_than_in_steps(characters: int) -> None:
    model, dt, updates = turning(), 0.1, 5
    ik = pz.Tracker(model, pz.PoseTask("tip"), dt=dt, updates=updates)
    starts = model.sample(characters, seed=1)
    goals = np.stack([model.pose("tip", model.sample(40, seed=c)).array[:, None] for c in range(characters)])
    ways = ik.rollout(starts, goals)
    for start, way in zip(starts, ways, strict=True):
        assert (speeds_of(model, np.vstack([start, way]), dt) <= 1.0 + 1e-9).all()
    q = starts[0]
    for k in range(40):
        q = ik.step(q, goals[0, k, 0]).copy()
        np.testing.assert_allclose(q, ways[0, k], rtol=0, atol=1e-6)


def test_a_whole_step_too_fast_goes_less_far_along_the_same_way() -> None:
    """Each update keeps the speeds, and their sum does not."""
    model, dt, updates, shortened = turning(), 0.3, 5, 0
    ik = pz.Tracker(model, pz.PoseTask("tip"), BOLD, dt=dt, updates=updates)
    single = pz.Tracker(model, pz.PoseTask("tip"), BOLD, dt=dt / updates)
    for seed in range(20):
        start, target = model.sample(seed=seed), model.pose("tip", model.sample(seed=100 + seed))
        q = start
        for _ in range(updates):
            q = single.step(q, target).copy()
        share = max(1.0, speeds_of(model, np.array([start, q]), dt)[0])
        shortened += share > 1.05
        np.testing.assert_allclose(ik.step(start, target), model.interpolate(start, q, 1.0 / share), rtol=0, atol=1e-12)
    assert shortened >= 3


@dataclass(frozen=True)
class Stopped:
    """A limit that leaves one velocity nothing, or less."""

    change: float

    def inequalities(self, model: pz.Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        n = len(velocities)
        return Inequalities(np.full(n, self.change), np.zeros((0, n)), np.zeros(0))


@pytest.mark.parametrize("change", [0.0, 1e-310, -1.0, math.nan])
def test_a_limit_that_leaves_a_joint_nothing_is_refused_with_the_way_out(change: float) -> None:
    with pytest.raises(ValueError, match=r"'panda_joint1' change by .*model.lock\(panda_joint1=...\)"):
        pz.Tracker(PANDA, HAND, limits=[Stopped(change)])


@pytest.mark.parametrize("name", POSED)
@few
@given(
    start=st.integers(0, 10**6),
    places=st.lists(st.lists(st.floats(-5.0, 5.0), min_size=3, max_size=3), min_size=1, max_size=3),
    turn=st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3),
)
def test_joint_limits_hold_at_every_step(name: str, start: int, places: list[list[float]], turn: list[float]) -> None:
    ik = pz.Tracker(PANDA, HAND, name)
    q = PANDA.sample(seed=start) + 0.5  # some joints are outside, and are pulled in
    for place in places:
        for _ in range(5):
            q = ik.step(q, pz.SE3.from_rotvec(place, turn))
            assert (q >= PANDA.lower).all()
            assert (q <= PANDA.upper).all()


def test_without_limits_joints_leave_them() -> None:
    ik = pz.Tracker(PANDA, HAND, "dls", limits=False)
    q = np.array(PANDA.upper) + 1.0
    assert ik.step(q, PANDA.pose("panda_hand", q)) == pytest.approx(q, abs=1e-9)


OUT_OF_REACH = {
    "y": (y(), [pz.PositionTask(f"e{i}") for i in range(2)], [[2.5, 2.0, 0.5], [-2.5, 2.0, 0.5]]),
    "double_y": (
        double_y(),
        [pz.PositionTask(f"e{i}") for i in range(4)],
        [[3.0, 1.0, 0.5], [3.0, 2.0, -0.5], [-3.0, 2.0, 0.5], [-3.0, 1.0, -0.5]],
    ),
    "planar3 ahead": (planar(3), [pz.PositionTask("tool")], [[3.5, 1.0, 0.0]]),
    "planar3 behind": (planar(3), [pz.PositionTask("tool")], [[-4.0, 0.5, 0.0]]),
    "planar3 just too far": (planar(3), [pz.PositionTask("tool")], [[3.01, 0.0, 0.0]]),
    "panda far": (PANDA, [WRIST], [[1.6, 0.0, 0.5]]),
    "panda above": (PANDA, [WRIST], [[0.3, 0.0, 1.8]]),
}
STEADY = ["jt", "dls", "lm", "hybrid"]
"""The methods that say that they never shake, by themselves."""


@pytest.mark.parametrize("arm", OUT_OF_REACH)
@pytest.mark.parametrize("name", STEADY)
def test_out_of_reach_the_arm_comes_to_rest(arm: str, name: str) -> None:
    model, tasks, points = OUT_OF_REACH[arm]
    start = np.array(model.home) + (np.array([0.3, 0.5, -0.4]) if arm.startswith("planar") else 0.0)
    path = pz.Tracker(model, tasks, name, settle=False).rollout(start, np.tile(points, (400, 1, 1)))
    moves = np.abs(np.diff(path, axis=0)).max(axis=1)
    assert moves[290:300].max() < 1e-3
    assert moves[-10:].max() <= moves[290:300].max() + 1e-12


@pytest.mark.parametrize("name", STEADY)
def test_after_a_rest_out_of_reach_a_target_in_reach_is_followed(name: str) -> None:
    model = planar(3)
    ik = pz.Tracker(model, pz.PositionTask("tool"), name)
    q = np.array([0.3, 0.5, -0.4])
    for _ in range(400):
        q = ik.step(q, [4.0, 0.5, 0.0]).copy()
    for _ in range(400):
        q = ik.step(q, [1.5, 1.2, 0.0]).copy()
    assert model.pose("tool", q).xyz == pytest.approx([1.5, 1.2, 0.0], abs=1e-3)


def test_the_damping_of_a_rest_does_not_hold_up_a_new_target() -> None:
    ik = pz.Tracker(PANDA, HAND, "lm")
    near = PANDA.pose("panda_hand", HOME)
    far = pz.SE3.from_parts(near.xyz + np.array([1.0, 0.0, 0.3]), near.rotation)
    q = ik.rollout(HOME, pz.SE3(np.tile(far.array, (2, 1))))[-1]
    for _ in range(400):
        q = ik.step(q, far).copy()
    for _ in range(100):
        q = ik.step(q, near).copy()
    assert PANDA.pose("panda_hand", q).xyz == pytest.approx(near.xyz, abs=1e-3)


@pytest.mark.parametrize("name", pz.methods.METHODS)
def test_a_step_begins_where_q_is_whatever_came_before(name: str) -> None:
    """A controller may put the arm elsewhere; no method takes it back to where it was."""
    task = pz.PositionTask("panda_hand", PANDA.pose("panda_hand", HOME).xyz)
    ik = pz.Tracker(PANDA, task, name, dt=0.001, limits=False)
    q = HOME
    for _ in range(5):
        q = ik.step(q).copy()
    for far in PANDA.sample(10, seed=3):
        assert (np.abs(ik.step(far) - far) <= PANDA.velocity * 0.001 * (1.0 + 1e-9)).all()


def test_a_step_allocates_nothing() -> None:
    ik = pz.Tracker(y(), [pz.PositionTask("e0"), pz.PositionTask("e1")], dt=0.01)
    q, points = np.zeros(7), np.array([[0.5, 2.0, 0.3], [-0.6, 1.8, 0.1]])
    for _ in range(3):
        q = ik.step(q, points)
    tracemalloc.start()
    try:
        for _ in range(10):
            q = ik.step(q, points)
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            q = ik.step(q, points)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 200
    assert peak - before < 2000, "no array, only the interpreter's small change"


@pytest.mark.parametrize("entry", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_named(entry: float) -> None:
    ik = pz.Tracker(PANDA, HAND)
    q = HOME.copy()
    q[2] = entry
    with refused("not-finite", "q[2]"):
        ik.step(q)
    ik.targets[0, 1] = entry
    with refused("not-finite", "target[1] of PoseTask('panda_hand')"):
        ik.step(HOME)
    points = pz.Tracker(PANDA, [WRIST, pz.PositionTask("panda_link4")])
    with refused("not-finite", "target[1][2] of PositionTask('panda_link4')"):
        points.step(HOME, np.array([[0.1, 0.2, 0.3], [0.1, 0.2, entry]]))
    poses = around(4)
    poses[2, 0, 3] = entry
    fresh = pz.Tracker(PANDA, HAND)
    with refused("not-finite", "target[3] of PoseTask('panda_hand')"):
        fresh.rollout(HOME, poses)
    with pytest.raises(ValueError, match=r"q\[1, 2\] is|q\[1\]\[2\] is"):
        fresh.rollout(np.array([HOME, q]), np.array([around(4), around(4)]))


def turret() -> pz.Model:
    """A turntable with a shoulder and an elbow, stretched along x at zero, where no joint moves the tip along x."""
    builder = pz.ModelBuilder("turret")
    out = pz.SE3.from_parts([0.5, 0.0, 0.0])
    builder.joint("turn", "revolute", parent="world", child="a", axis=[0.0, 0.0, 1.0])
    builder.joint("lift", "revolute", parent="a", child="b", axis=[0.0, 1.0, 0.0])
    builder.joint("bend", "revolute", parent="b", child="c", axis=[0.0, 1.0, 0.0], origin=out)
    builder.joint("tip", "fixed", parent="c", child="tip", origin=out)
    return builder.build()


@pytest.mark.filterwarnings("ignore:a step of this Tracker:RuntimeWarning")
def test_a_singular_pose_stops_the_undamped_method_where_it_is() -> None:
    model, task, target = turret(), pz.PositionTask("tip"), [0.5, 0.4, 0.3]
    ik = pz.Tracker(model, task, pz.methods.Pseudoinverse(form="rows"))
    assert (ik.step(np.zeros(3), target) == 0.0).all()
    assert ik.failed
    moved = ik.step(np.array([0.2, 0.3, 0.9]), target).copy()
    assert not (moved == [0.2, 0.3, 0.9]).any()
    assert not ik.failed, "it is told of the last step only"
    assert (ik.rollout(np.zeros(3), [[target]]) == 0.0).all()
    assert ik.failed
    damped = pz.Tracker(model, task, pz.methods.DampedLeastSquares(damping=0.1))
    assert (damped.step(np.zeros(3), target) != 0.0).any()
    assert not damped.failed


def test_reset_forgets_the_past() -> None:
    ik = pz.Tracker(PANDA, HAND, "lm")
    first = ik.step(HOME, ahead(2)).copy()
    q = first
    for k in range(10):
        q = ik.step(q, ahead(k)).copy()
    ik.reset()
    assert (ik.step(HOME, ahead(2)) == first).all()


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ({"dt": 0.0}, "not-positive", "dt"),
        ({"dt": -1.0}, "not-positive", "dt"),
        ({"dt": math.nan}, "not-finite", "dt"),
        ({"updates": 0}, "out-of-range", "updates"),
        ({"updates": 1.5}, "not-whole", "updates"),
        ({"method": "dsl"}, "unknown-word", "did you mean 'dls'"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings: dict[str, Any], code: str, words: str) -> None:
    with refused(code, words):
        pz.Tracker(PANDA, HAND, **settings)


def test_wrong_shapes_are_named() -> None:
    ik = pz.Tracker(PANDA, HAND)
    with pytest.raises(pz.ShapeError, match="q must have 7 numbers"):
        ik.step(np.zeros(6))
    with pytest.raises(pz.ShapeError, match=r"q must have shape \(7,\)"):
        ik.step(np.zeros((2, 7)))
    with pytest.raises(pz.ShapeError):
        ik.step(HOME, np.zeros(5))
    with pytest.raises(pz.ShapeError, match=r"targets must have shape \(steps, 1, 7\), got \(4, 1, 3\)"):
        ik.rollout(HOME, np.zeros((4, 1, 3)))
    with pytest.raises(pz.ShapeError, match=r"targets must have shape \(2, steps, 1, 7\)"):
        ik.rollout(np.array([HOME, HOME]), around(4)[None])
    both = pz.Tracker(PANDA, [WRIST, pz.PositionTask("panda_link4")])
    with pytest.raises(pz.ShapeError, match="target must be 2 targets"):
        both.step(HOME, [0.1, 0.2, 0.3])
    with pytest.raises(pz.FrameNotFound):
        pz.Tracker(PANDA, pz.PoseTask("panda_hnd"))
