"""Task priority: no level disturbs those before it, compatible tasks are all reached, and limits hold throughout."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.methods.priority import Form

FORMS: tuple[Form, ...] = ("lexicographic", "siciliano-slotine", "chiaverini", "baerlocher-boulic")
PROJECTED: tuple[Form, ...] = FORMS[1:]
ARM = pz.load("panda")
CHAIN = pz.load("planar10")
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=30)
Tasks = Sequence[pz.PoseTask | pz.PositionTask | pz.OrientationTask]


def first_step(model: pz.Model, tasks: Tasks, q: Array, targets: list[Any], **chosen: Any) -> Array:
    """(nv,) the first step of task priority from q, without limits, clamps and damping."""
    plain: dict[str, Any] = {"max_error": None, "max_step": 1e9}
    form = chosen.get("form", "lexicographic")
    if form in ("lexicographic", "baerlocher-boulic"):
        plain["damping"] = 0.0
    ik = pz.Tracker(model, tasks, pz.methods.TaskPriority(**{**plain, **chosen}), limits=False)
    return model.difference(q, np.array(ik.step(q, targets if len(targets) > 1 else targets[0])))


def rows(model: pz.Model, task: pz.PoseTask | pz.PositionTask, q: Array, target: Any) -> tuple[Array, Array]:
    """e and J of a task alone."""
    return pz.Solver(model, task).linearise(q, target)


def scene(seed: int) -> tuple[Array, list[pz.PositionTask], list[Array]]:
    """A bent chain of ten, with wishes for three of its points that are near where they are, and at times collide."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(0.2, 0.7, 10)
    frames = [CHAIN.tip, *rng.choice([f"link{i}" for i in range(4, 10)], 2, replace=False)]
    tasks = [pz.PositionTask(f, weight=(1.0, 1.0, 0.0), priority=3 * k) for k, f in enumerate(frames)]
    targets = [CHAIN.pose(f, q).xyz + np.append(0.01 * rng.normal(size=2), 0.0) for f in frames]
    return q, tasks, targets


@quick
@given(seeds, st.sampled_from(FORMS), st.booleans())
def test_what_a_level_does_is_the_same_with_and_without_those_behind_it(seed: int, form: Form, damped: bool) -> None:
    q, tasks, targets = scene(seed)
    own: dict[str, Any] = {"form": form}
    if damped and form in ("lexicographic", "baerlocher-boulic"):
        own["damping"] = 0.1
    steps = [first_step(CHAIN, tasks[: k + 1], q, targets[: k + 1], **own) for k in range(3)]
    steps.append(first_step(CHAIN, tasks, q, targets, null_space=pz.criteria.RestPosture(gain=1.0), **own))
    for k, task in enumerate(tasks):
        _, j = rows(CHAIN, task, q, targets[k])
        for later in steps[k + 1 :]:
            np.testing.assert_allclose(j @ later, j @ steps[k], rtol=0, atol=1e-12 * (1.0 + np.abs(steps).max()))


@quick
@given(seeds, st.sampled_from(FORMS))
def test_later_levels_move_the_poses_of_earlier_ones_to_second_order_only(seed: int, form: Form) -> None:
    q, tasks, targets = scene(seed)
    here = [CHAIN.pose(task.frame, q).xyz for task in tasks]
    rest = np.random.default_rng(seed).normal(size=10)
    longest = np.linalg.norm(first_step(CHAIN, tasks, q, targets, form=form))

    def moved(size: float) -> float:
        wanted = [x + size / longest * (target - x) for x, target in zip(here, targets, strict=True)]
        last = pz.criteria.RestPosture(q=q + size * rest / np.linalg.norm(rest), gain=1.0)
        alone = first_step(CHAIN, tasks[:1], q, wanted[:1], form=form)
        whole = first_step(CHAIN, tasks, q, wanted, form=form, null_space=last)
        ends = [CHAIN.pose(tasks[0].frame, q + step).xyz for step in (alone, whole)]
        return float(np.linalg.norm(ends[0] - ends[1]))

    assert moved(0.002) <= moved(0.02) / 50.0 + 1e-13


@quick
@given(seeds)
def test_limits_and_speeds_that_later_levels_meet_cost_the_first_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = np.where(rng.random(7) < 0.3, ARM.lower, np.where(rng.random(7) < 0.3, ARM.upper, ARM.sample(seed=seed)))
    tasks = [pz.PositionTask("panda_hand"), pz.OrientationTask("panda_hand", priority=1)]
    pose = ARM.pose("panda_hand", ARM.sample(seed=seed + 1))
    for dt in (None, 0.02):
        alone = pz.Tracker(ARM, tasks[0], pz.methods.TaskPriority(), dt=dt).step(q, pose.xyz) - q
        method = pz.methods.TaskPriority(null_space=pz.criteria.RestPosture())
        whole = pz.Tracker(ARM, tasks, method, dt=dt).step(q, [pose.xyz, pose.rotation]) - q
        _, j = rows(ARM, tasks[0], q, pose.xyz)
        np.testing.assert_allclose(j @ whole, j @ alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "straight", [np.zeros(10), np.repeat([0.4, 0.0], [1, 9]), np.repeat([0.0, 0.5, 0.0], [4, 1, 5])]
)
def test_the_projectors_are_those_of_the_rank_that_is_left_where_the_chain_is_straight(
    form: Form, straight: Array
) -> None:
    frames = [CHAIN.tip, "link4"]
    for count in (1, 2):
        tasks = [pz.PositionTask(f, weight=(1.0, 1.0, 0.0), priority=k) for k, f in enumerate(frames[:count])]
        here = [CHAIN.pose(f, straight).xyz for f in frames[:count]]
        p = np.column_stack(
            [first_step(CHAIN, tasks, straight, here, form=form,
                        null_space=pz.criteria.RestPosture(q=straight + unit, gain=1.0))
             for unit in 0.1 * np.eye(10)]
        ) / 0.1  # fmt: skip
        stacked = np.vstack([rows(CHAIN, task, straight, x)[1] for task, x in zip(tasks, here, strict=True)])
        np.testing.assert_allclose(p, p.T, rtol=0, atol=1e-12)
        np.testing.assert_allclose(p @ p, p, rtol=0, atol=1e-12)
        np.testing.assert_allclose(stacked @ p, 0.0, rtol=0, atol=1e-11)
        assert np.trace(p) == pytest.approx(10 - np.linalg.matrix_rank(stacked, rtol=1e-9), abs=1e-10)


@settings(quick, max_examples=5)
@given(seeds)
def test_the_projectors_are_symmetric_idempotent_and_leave_their_levels_alone(seed: int) -> None:
    """A projector shows by what becomes of a velocity of the null space: phi goes in, P phi comes out."""
    q, tasks, _ = scene(seed)
    here = [CHAIN.pose(t.frame, q).xyz for t in tasks]
    for form in FORMS:
        for count in (1, 2, 3):
            some, at = tasks[:count], here[:count]
            p = np.column_stack(
                [first_step(CHAIN, some, q, at, form=form, null_space=pz.criteria.RestPosture(q=q + unit, gain=1.0))
                 for unit in 0.1 * np.eye(10)]
            ) / 0.1  # fmt: skip
            np.testing.assert_allclose(p, p.T, rtol=0, atol=1e-12)
            np.testing.assert_allclose(p @ p, p, rtol=0, atol=1e-12)
            for task, target in zip(some, at, strict=True):
                np.testing.assert_allclose(rows(CHAIN, task, q, target)[1] @ p, 0.0, rtol=0, atol=1e-11)


@quick
@given(seeds)
def test_steps_are_those_of_the_formulas(seed: int) -> None:
    q, tasks, targets = scene(seed)
    system = [rows(CHAIN, task, q, target) for task, target in zip(tasks, targets, strict=True)]
    nested, separate, free = np.zeros(10), np.zeros(10), np.eye(10)
    for e, j in system:

        def inverse(a: Array, j: Array = j) -> Array:
            u, s, v = np.linalg.svd(a, full_matrices=False)
            keep = s > 1e-6 * np.linalg.norm(j)
            return np.asarray((v[keep].T / s[keep]) @ u[:, keep].T)

        nested = nested + inverse(j @ free) @ (e - j @ nested)
        separate = separate + free @ inverse(j) @ e
        free = free - inverse(j @ free) @ (j @ free)
    scale = 1e-10 * (1.0 + np.abs(nested).max())
    np.testing.assert_allclose(first_step(CHAIN, tasks, q, targets, form="siciliano-slotine"), nested, atol=scale)
    np.testing.assert_allclose(first_step(CHAIN, tasks, q, targets, form="chiaverini"), separate, atol=1e-10)


def test_levels_of_joints_of_their_own_are_alike_for_siciliano_slotine_and_chiaverini() -> None:
    """J1 J2^T = 0 on a body with two arms: the second level needs nothing that the first has."""
    builder = pz.ModelBuilder("two arms")
    for side, y in (("left", 0.5), ("right", -0.5)):
        link = "body"
        for i in range(4):
            origin = pz.SE3.from_parts([0.3 if i else 0.0, 0.0 if i else y, 0.0])
            axis = (0, 0, 1) if i % 2 else (0, 1, 0)
            builder.joint(f"{side}{i}", "revolute", parent=link, child=f"{side}_{i}", origin=origin, axis=axis)
            link = f"{side}_{i}"
        builder.frame(f"{side}_hand", link=link, origin=pz.SE3.from_parts([0.3, 0.0, 0.0]))
    body = builder.build()
    q = np.random.default_rng(0).uniform(-1.0, 1.0, body.nq)
    tasks = [pz.PositionTask("left_hand"), pz.PositionTask("right_hand", priority=1)]
    targets = [body.pose(t.frame, q).xyz + 0.01 for t in tasks]
    nested = first_step(body, tasks, q, targets, form="siciliano-slotine")
    np.testing.assert_allclose(first_step(body, tasks, q, targets, form="chiaverini"), nested, rtol=0, atol=1e-14)


def test_a_level_with_almost_nothing_left_gives_no_huge_step() -> None:
    """Seven joints, two levels that take six of their directions: what the third is left with is partly rounding."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        q = rng.uniform(-1.0, 1.0, 7) + ARM.home
        frames = ["panda_hand", "panda_link5", "panda_link6"]
        tasks = [
            pz.PositionTask(frames[0]),
            pz.OrientationTask(frames[0], priority=1),
            pz.PositionTask(frames[2], priority=2),
        ]
        pose = ARM.pose(frames[0], q)
        targets = [pose.xyz + 0.01, pose.rotation, ARM.pose(frames[2], q).xyz + 0.01]
        assert np.abs(first_step(ARM, tasks, q, targets, form="siciliano-slotine")).max() < 1e4


@pytest.mark.parametrize("form", FORMS)
def test_both_of_two_compatible_tasks_are_reached(form: Form) -> None:
    rng = np.random.default_rng(1)
    near = 1e-4 if form == "chiaverini" else 1e-6  # its later levels are late, for they ask for what the first has
    for _ in range(5):
        there = np.asarray(CHAIN.home) + 0.2 + rng.uniform(-0.2, 0.2, 10)
        tasks = [
            pz.PositionTask(CHAIN.tip, CHAIN.pose(CHAIN.tip, there).xyz, tolerance=near),
            pz.PositionTask("link5", CHAIN.pose("link5", there).xyz, tolerance=near, priority=1),
        ]
        start = there + rng.uniform(-0.1, 0.1, 10)
        found = pz.solve(CHAIN, tasks, q0=start, method=pz.methods.TaskPriority(form=form), max_restarts=0)
        assert found.success


def test_of_two_that_collide_the_first_is_reached_and_the_second_as_near_as_that_allows() -> None:
    """The tip and the elbow of a planar arm of two links: with the tip reached, the elbow has two places left."""
    arm = pz.load("planar2")
    q = np.array([0.4, 1.1])
    tip, elbow = arm.pose(arm.tip, q).xyz, np.array([3.0, 0.5, 0.0])
    middle = "link2"
    weight = (1.0, 1.0, 0.0)
    tasks = [
        pz.PositionTask(arm.tip, tip, weight=(1.0, 0.0, 0.0)),
        pz.PositionTask(middle, elbow, weight=weight, priority=1),
    ]
    found = pz.solve(arm, tasks, q0=q + 0.1, max_restarts=3)
    assert found.method == pz.methods.TaskPriority()
    assert abs(arm.pose(arm.tip, found.q).xyz[0] - tip[0]) < 1e-8
    # On the curve of the first task, by brute force.
    turns = np.linspace(-np.pi, np.pi, 100001)
    length = np.linalg.norm(arm.pose(middle, [0.0, 0.0]).xyz), np.linalg.norm(arm.pose(arm.tip, [0.0, 0.0]).xyz)
    other = length[1] - length[0]
    cosine = (tip[0] - length[0] * np.cos(turns)) / other
    able = np.abs(cosine) <= 1.0
    distance = np.hypot(length[0] * np.cos(turns) - elbow[0], length[0] * np.sin(turns) - elbow[1])[able]
    reached = np.linalg.norm(arm.pose(middle, found.q).xyz - elbow)
    assert reached == pytest.approx(distance.min(), abs=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_limits_hold_at_every_step(form: Form) -> None:
    rng = np.random.default_rng(2)
    tasks = [pz.PositionTask("panda_hand"), pz.OrientationTask("panda_hand", priority=1)]
    ik = pz.Tracker(ARM, tasks, pz.methods.TaskPriority(form=form, null_space=pz.criteria.JointCentring()), dt=0.05)
    q = np.array(ARM.home)
    speed = ARM.velocity * 0.05
    for _ in range(20):
        pose = ARM.pose("panda_hand", ARM.sample(seed=int(rng.integers(1000))))
        for _ in range(20):
            before, q = q, np.array(ik.step(q, [1.3 * pose.xyz, pose.rotation]))
            assert ARM.within_limits(q)
            assert (np.abs(q - before) <= speed * (1.0 + 1e-9)).all()
            assert not ik.failed


def test_a_slow_joint_for_a_later_level_does_not_hold_up_the_first() -> None:
    """The box is inside: by inverses the whole step is shortened, and the first level is late for the second's sake."""
    builder = pz.ModelBuilder("cross")
    builder.joint("x", "prismatic", parent="floor", child="cart", axis=(1, 0, 0), limits=(-9, 9), velocity=1.0)
    builder.joint("y", "prismatic", parent="cart", child="tool", axis=(0, 1, 0), limits=(-9, 9), velocity=0.1)
    cross = builder.build()
    tasks = [
        pz.PositionTask("tool", [0.5, 0.0, 0.0], weight=(1.0, 0.0, 0.0)),
        pz.PositionTask("tool", [0.0, 0.5, 0.0], weight=(0.0, 1.0, 0.0), priority=1),
    ]
    for form, expected in (("lexicographic", [0.5, 0.1]), ("siciliano-slotine", [0.1, 0.1])):
        plain: dict[str, Any] = {"damping": 0.0} if form == "lexicographic" else {}
        ik = pz.Tracker(cross, tasks, pz.methods.TaskPriority(form=form, max_error=None, **plain), dt=1.0)  # type: ignore[arg-type]
        np.testing.assert_allclose(ik.step([0.0, 0.0]), expected, atol=1e-12)


def test_one_priority_is_none() -> None:
    goal = ARM.pose("panda_hand", ARM.sample(seed=5))
    assert pz.Tracker(ARM, pz.PoseTask("panda_hand")).method == pz.methods.DampedLeastSquares()
    assert pz.Tracker(ARM, pz.PoseTask("panda_hand", priority=2)).method == pz.methods.DampedLeastSquares()
    ours, theirs = (pz.solve(ARM, pz.PoseTask("panda_hand", goal, priority=k), seed=1) for k in (0, 3))
    np.testing.assert_array_equal(ours.q, theirs.q)


def test_levels_choose_their_method() -> None:
    tasks = [pz.PositionTask("panda_hand"), pz.OrientationTask("panda_hand", priority=1)]
    assert pz.Tracker(ARM, tasks).method == pz.methods.TaskPriority()
    assert pz.Solver(ARM, tasks).method == pz.methods.TaskPriority()
    assert pz.Tracker(ARM, tasks, "dls").method == pz.methods.DampedLeastSquares()


@pytest.mark.parametrize("priority", [-1, 0.5, True, "first"])
def test_a_priority_is_a_whole_number(priority: Any) -> None:
    for make in (pz.PoseTask, pz.PositionTask, pz.OrientationTask, pz.AxisTask, pz.LookAtTask):
        with pytest.raises(ValueError, match=r"priority is .*; it must be (a whole number|at least 0)"):
            make("panda_hand", priority=priority)
    assert pz.PoseTask("panda_hand", priority=np.int64(2)).structure == pz.PoseTask("panda_hand", priority=2).structure


def test_levels_that_can_do_nothing_are_refused() -> None:
    held = [
        pz.PoseTask("panda_hand"),
        pz.PositionTask("panda_link5", priority=1),
        pz.AxisTask("panda_link6", priority=2),
    ]
    with pytest.raises(ValueError, match=r"priority 2 can never act: the rows of the levels before it take up all 7 d"):
        pz.Tracker(ARM, held)
    idle = [pz.PoseTask("panda_hand"), pz.PositionTask("panda_link5", weight=0.0, priority=1)]
    with pytest.raises(
        ValueError, match=r"priority 1 holds no row that a joint can change: PositionTask\('panda_link5"
    ):
        pz.Solver(ARM, idle)


def test_levels_are_no_more_than_rows_and_have_the_frames_and_criteria_that_they_can() -> None:
    flat = (1.0, 1.0, 0.0)
    many = [pz.PositionTask(f, weight=flat, priority=k) for k, f in enumerate(("tool", "link3", "link2"))]
    with pytest.raises(
        ValueError, match=r"priority 2 can never act: .* all 4 directions .* drop PositionTask\('link2'\)"
    ):
        pz.Tracker(pz.load("planar4"), many)
    tasks = [pz.PositionTask("panda_hand"), pz.PositionTask("panda_link55", priority=1)]
    for make in (pz.Tracker, pz.Solver):
        with pytest.raises(pz.FrameNotFound, match="no frame 'panda_link55'; did you mean 'panda_link5'"):
            make(ARM, tasks)
    with pytest.raises(ValueError, match="is no criterion of the last level of priorities: leave it out"):
        pz.Tracker(ARM, tasks[0], pz.methods.TaskPriority(null_space=pz.criteria.Manipulability()))
    for bounded in (pz.criteria.JointCentring(), pz.criteria.LimitDistance()):
        with refused("conflict"):
            pz.Tracker(ARM, tasks[0], pz.methods.TaskPriority(null_space=bounded), limits=False)


def test_dampings_that_a_form_does_not_know_are_refused() -> None:
    with pytest.raises(ValueError, match=r"form must|form is 'nested'; it must be one of 'lexicographic'"):
        pz.methods.TaskPriority(form="nested")  # type: ignore[arg-type]
    with refused("conflict", "'chiaverini'"):
        pz.methods.TaskPriority(form="chiaverini", damping=0.1)
    with refused("conflict"):
        pz.methods.TaskPriority(damping=pz.damping.MaxNorm())
    with refused("wrong-type", "damping"):
        pz.methods.TaskPriority(damping="much")  # type: ignore[arg-type]


def test_a_rollout_is_its_steps() -> None:
    tasks = [pz.PositionTask("panda_hand"), pz.PositionTask("panda_link5", priority=1)]
    ik = pz.Tracker(ARM, tasks, pz.methods.TaskPriority(null_space=pz.criteria.RestPosture()), dt=0.01)
    q0 = np.array(ARM.home)
    here = np.stack([ARM.pose(t.frame, q0).xyz for t in tasks])
    way = here + 0.3 * np.sin(np.linspace(0.0, 6.0, 50))[:, None, None]
    path = ik.rollout(q0, way)
    q = q0
    for k in range(50):
        q = np.array(ik.step(q, way[k]))
        np.testing.assert_allclose(path[k], q, rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", ["lexicographic", "siciliano-slotine", "chiaverini"])
@pytest.mark.parametrize("levels", [1, 2])
def test_the_last_level_goes_round_obstacles_as_the_null_space_does(form: str, levels: int) -> None:
    obstacles = [
        pz.Sphere((0.3, 0.25, 0.6), 0.1),
        pz.Box(pz.SE3.from_xyz_rpy([0.0, -0.5, 0.6], [0.1, 0.2, 0.3]), (0.2, 0.1, 0.3)),
    ]
    criteria = (pz.criteria.RestPosture(gain=0.02), pz.criteria.Clearance(obstacles=obstacles, gain=0.01))
    q = ARM.home + np.random.default_rng(5).uniform(-0.2, 0.2, 7)
    place = ARM.pose("panda_hand", q)
    tasks = [pz.PositionTask("panda_hand", place.xyz)]
    if levels == 2:
        tasks.append(pz.OrientationTask("panda_hand", place.rotation, priority=1))
    damping = 0.0 if form == "lexicographic" else None
    by_levels = pz.methods.TaskPriority(form=form, damping=damping, null_space=criteria)  # type: ignore[arg-type]
    found = pz.Tracker(ARM, tasks, by_levels).step(q).copy()
    alike = [pz.PositionTask("panda_hand", place.xyz), pz.OrientationTask("panda_hand", place.rotation)][:levels]
    wanted = pz.Tracker(ARM, alike, pz.methods.Pseudoinverse(null_space=criteria)).step(q).copy()
    assert np.abs(found - q).max() > 1e-3
    np.testing.assert_allclose(found, wanted, atol=1e-10)
