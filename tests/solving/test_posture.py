"""A posture takes what the other tasks leave: all of it, and nothing more."""

import math
import warnings

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from independent import fk, pose_error
from make_unreachable import Chain
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from support.refusals import refused

import poise as pz
from poise.io.installed import installed_robots

Array = npt.NDArray[np.float64]
NEAR = 0.3
"""What counts as the same valley [rad]: SciPy looks no further around the answer."""


def weights_of(kind: str, n: int, rng: np.random.Generator) -> Array:
    return {"one": np.ones(n), "ratios": rng.uniform(0.1, 3.0, n), "zeros": rng.choice([0.0, 1.0], n)}[kind]


ARMS = ("panda", "iiwa14", "planar5", "planar10", "ur5e")
QUICK = {
    ("panda", "one"),
    ("panda", "zeros"),
    ("iiwa14", "ratios"),
    ("planar5", "zeros"),
    ("planar10", "ratios"),
    ("ur5e", "one"),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=[] if (name, kind) in QUICK else [pytest.mark.slow])
        for name in ARMS
        for kind in ("one", "ratios", "zeros")
    ],
)
def test_no_configuration_nearby_is_better(name: str, kind: str) -> None:
    """SciPy's SLSQP starts at the answer and finds nothing to gain, within the limits and with the pose held."""
    model = pz.load(name)
    chain = Chain(model)
    rows = [0, 1, 5] if name.startswith("planar") else list(range(6))  # the others are held by the plane itself
    worse = {}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        weight, posture, there, start = weights_of(kind, model.nq, rng), *model.sample(3, seed=rng)
        target = fk(model, model.tip, there)
        solution = pz.solve(model, [pz.PoseTask(model.tip, target), pz.PostureTask(posture, weight=weight)], q0=start)
        assert solution.success
        assert max(pose_error(fk(model, model.tip, solution.q), target)) <= 1.001e-6
        assert model.within_limits(solution.q)
        residual, jacobian = chain.problem(target)

        def cost(q: Array, weight: Array = weight, posture: Array = posture) -> float:
            return float(np.sum((weight * (q - posture)) ** 2))

        box = np.array([np.maximum(model.lower, solution.q - NEAR), np.minimum(model.upper, solution.q + NEAR)])
        better = minimize(
            cost,
            solution.q,
            method="SLSQP",
            jac=lambda q, w=weight, p=posture: 2.0 * w * w * (q - p),
            bounds=box.T,
            constraints={
                "type": "eq",
                "fun": lambda q, f=residual: f(q)[rows],
                "jac": lambda q, f=jacobian: f(q)[rows],
            },
            options={"ftol": 1e-14, "maxiter": 300},
        )
        if np.abs(residual(better.x)[rows]).max() > 1e-7:
            continue  # SciPy lost the pose on the way
        gap = (cost(solution.q) - better.fun) / max(1.0, cost(solution.q))
        if gap > 1e-6:
            worse[seed] = gap
    assert not worse


@pytest.mark.parametrize("name", ["panda", "iiwa14", "planar10"])
def test_the_posture_draws_nearer_than_the_start_would(name: str) -> None:
    """Of two answers to one pose, from one start, the one with the posture lies nearer to it."""
    model = pz.load(name)
    for there, start, posture in zip(*(model.sample(15, seed=k) for k in (1, 2, 3)), strict=True):
        target = model.pose(model.tip, there)
        plain = pz.solve(model, pz.PoseTask(model.tip, target), q0=start)
        drawn = pz.solve(model, [pz.PoseTask(model.tip, target), pz.PostureTask(posture)], q0=start)
        assert plain.success
        assert drawn.success
        assert np.linalg.norm(drawn.q - posture) <= np.linalg.norm(plain.q - posture) + 1e-9


@pytest.mark.parametrize("seed", [2, 5])
def test_a_turn_whose_weight_is_0_is_left_to_the_posture_as_an_aim_leaves_it(seed: int) -> None:
    model = pz.load("panda")
    pose, posture = model.pose(model.tip, model.sample(seed=seed)), model.sample(seed=100 + seed)
    free = pz.PoseTask(model.tip, pose, rotation_weight=(1.0, 1.0, 0.0), axes="target")
    aim = [pz.PositionTask(model.tip, pose.xyz), pz.AxisTask(model.tip, target=pose.rotation.act([0.0, 0.0, 1.0]))]
    one, other = pz.solve(model, [free, pz.PostureTask(posture)]), pz.solve(model, [*aim, pz.PostureTask(posture)])
    assert one.success
    assert other.success
    assert np.linalg.norm(one.q - posture) == pytest.approx(np.linalg.norm(other.q - posture), abs=1e-3)


def test_at_a_pose_that_the_posture_has_the_posture_is_taken() -> None:
    """From nearby, the answer is the posture itself."""
    model = pz.load("iiwa14")
    for posture in model.sample(20, seed=1) * 0.8:
        posture[3] = math.copysign(1.2, posture[3])  # the elbow bent well to one side, or the start is on the other
        start = np.clip(posture + 0.1, model.lower, model.upper)
        tasks = [pz.PoseTask(model.tip, model.pose(model.tip, posture)), pz.PostureTask(posture)]
        solution = pz.solve(model, tasks, q0=start)
        assert solution.success
        np.testing.assert_allclose(solution.q, posture, atol=1e-5)


def test_only_the_ratios_of_the_weights_count() -> None:
    model = pz.load("panda")
    target, posture = model.pose("panda_hand", model.sample(seed=1)), model.sample(seed=2)
    weight = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 1.0, 3.0])
    one, other = (
        pz.solve(model, [pz.PoseTask("panda_hand", target), pz.PostureTask(posture, weight=scale * weight)]).q
        for scale in (1.0, 1e3)
    )
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_out_of_reach_the_posture_does_not_make_it_worse() -> None:
    model = pz.load("panda")
    for target in ([1.5, 0.2, 0.3], [0.0, 0.0, 2.5]):
        plain = pz.solve(model, pz.PositionTask("panda_hand", target))
        drawn = pz.solve(model, [pz.PositionTask("panda_hand", target), pz.PostureTask(model.sample(seed=1))])
        assert not drawn.success
        assert drawn.errors[0].position == pytest.approx(plain.errors[0].position, rel=1e-6)


# Among all answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["one", "ratios"])
@pytest.mark.parametrize("name", ["panda", "iiwa14", "ur5e"])
def test_it_is_nearly_the_best_of_40_starts(name: str, kind: str) -> None:
    """Within 2 % of the nearest of 40 independent answers, each of which slides to where it rests, in 95 of 100."""
    model = pz.load(name)
    weight = weights_of(kind, model.nv, np.random.default_rng(1))
    tasks = [pz.PoseTask(model.tip), pz.PostureTask(weight=weight)]
    chosen, alone = pz.Solver(model, tasks), pz.Solver(model, tasks, max_restarts=0)
    starts = model.sample((100, 40), seed=4)
    near = 0
    for there, start, posture, more in zip(*(model.sample(100, seed=k) for k in (1, 2, 3)), starts, strict=True):
        goals = [model.pose(model.tip, there), posture]
        solution = chosen(goals, start)
        assert solution.success
        assert model.within_limits(solution.q)
        found = [other.q for other in (alone(goals, q0, seed=k) for k, q0 in enumerate(more)) if other.success]
        best = min(float(np.linalg.norm(weight * (q - posture))) for q in found)
        near += float(np.linalg.norm(weight * (solution.q - posture))) <= 1.02 * best
    assert near >= 95


@pytest.mark.parametrize(
    ("name", "starts"), [("panda", 7), ("planar5", 7), pytest.param("iiwa14", 14, marks=pytest.mark.slow)]
)
def test_scipy_from_many_starts_finds_nothing_nearer(name: str, starts: int) -> None:
    """SciPy's SLSQP from the posture and from random starts, within the limits and with the pose held."""
    model = pz.load(name)
    chain = Chain(model)
    rows = [0, 1, 5] if name.startswith("planar") else list(range(6))
    for seed in range(2):
        posture, there, start, *others = model.sample(starts + 1, seed=seed)
        residual, jacobian = chain.problem(fk(model, model.tip, there))
        solution = pz.solve(
            model, [pz.PoseTask(model.tip, fk(model, model.tip, there)), pz.PostureTask(posture)], q0=start
        )
        assert solution.success
        found = [
            minimize(
                lambda q, posture=posture: float(np.sum((q - posture) ** 2)),
                q0,
                method="SLSQP",
                jac=lambda q, posture=posture: 2.0 * (q - posture),
                bounds=np.column_stack([model.lower, model.upper]),
                constraints={
                    "type": "eq",
                    "fun": lambda q, f=residual: f(q)[rows],
                    "jac": lambda q, f=jacobian: f(q)[rows],
                },
                options={"maxiter": 200},
            )
            for q0 in (posture, start, *others)
        ]
        held = [run.fun for run in found if np.abs(residual(run.x)[rows]).max() < 1e-7]
        assert held
        assert float(np.sum((solution.q - posture) ** 2)) <= 1.02**2 * min(held)


def test_another_answer_is_taken_only_if_it_is_nearer() -> None:
    """Without restarts the answer that was found is drawn nearer, and no other is looked for."""
    model = pz.load("ur5e")
    tasks = [pz.PoseTask(model.tip), pz.PostureTask()]
    chosen, alone, plain = pz.Solver(model, tasks), pz.Solver(model, tasks, max_restarts=0), pz.Solver(model, tasks[:1])
    nearer = 0
    for there, posture in zip(*(model.sample(40, seed=k) for k in (5, 6)), strict=True):
        goal, start = model.pose(model.tip, there), there + 0.02
        first = plain(goal, start).q
        own, best = alone([goal, posture], start), chosen([goal, posture], start)
        assert own.success
        # Six joints leave nothing to slide along: it is the same answer, but for whole turns.
        np.testing.assert_allclose(np.sin(0.5 * (own.q - first)), 0.0, atol=1e-5)
        distances = [float(np.linalg.norm(s.q - posture)) for s in (own, best)]
        assert distances[1] <= distances[0] + 1e-5
        nearer += distances[1] < 0.9 * distances[0]
    assert nearer > 10


def test_joints_turn_by_whole_turns_towards_the_posture() -> None:
    model = pz.load("ur5e")
    there = np.array([0.5, -1.0, 1.2, -0.7, 1.1, 0.4])
    for joint in (0, 3, 4, 5):
        posture = there.copy()
        posture[joint] -= math.copysign(2.0 * math.pi, there[joint])
        assert model.within_limits(posture)
        for restarts in (0, 200):
            tasks = [pz.PoseTask(model.tip, model.pose(model.tip, there)), pz.PostureTask(posture)]
            solution = pz.solve(model, tasks, q0=there + 0.05, max_restarts=restarts)
            assert solution.success
            np.testing.assert_allclose(solution.q, posture, atol=1e-5)


def test_what_was_solved_before_changes_nothing() -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, [pz.PoseTask(model.tip), pz.PostureTask()])
    calls = [([model.pose(model.tip, q), p], q0) for q, p, q0 in model.sample((12, 3), seed=8)]
    forwards = [solver(*call).q for call in calls]
    backwards = [solver(*call).q for call in reversed(calls)]
    np.testing.assert_array_equal(forwards, backwards[::-1])


def test_a_cone_is_not_left_for_the_posture() -> None:
    """A task that has rows only beyond its side is kept, and seldom holds the slide up altogether."""
    model = pz.load("panda")
    tasks = [pz.PositionTask(model.tip), pz.ConeTask(model.tip, angle=0.3), pz.PostureTask()]
    apart = pz.Solver(model, [*tasks[:1], tasks[2]])
    solver, moved = pz.Solver(model, tasks, max_restarts=0), 0
    for there, posture in zip(*(model.sample(20, seed=k) for k in (9, 10)), strict=True):
        pose = model.pose(model.tip, there)
        axis = pose.rotation.matrix()[:, 2]
        solution = solver([pose.xyz, axis, posture], there)
        assert solution.success
        assert fk(model, model.tip, solution.q)[:3, 2] @ axis >= math.cos(0.3 + 1.1e-6)
        free = apart([pose.xyz, posture], solution.q)
        bounds = [float(np.linalg.norm(q - posture)) for q in (free.q, solution.q, there)]
        assert bounds[0] - 1e-5 <= bounds[1] <= bounds[2]
        moved += bounds[1] < 0.95 * bounds[2]
    assert moved >= 18


# What no other task moves ----------------------------------------------------------------------------------------


def test_joints_that_no_task_moves_go_to_the_posture() -> None:
    if "talos" not in installed_robots():
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)
        model = pz.load("talos")
    frame = "gripper_left_base_link"
    used = {model.follows(joint)[0] for joint in model.root_path(frame)}
    idle = [model.index(name).start for name in model.joint_names if name not in used]
    assert idle
    posture = model.sample(seed=1)
    for there in model.sample(5, seed=2):
        solution = pz.solve(model, [pz.PoseTask(frame, model.pose(frame, there)), pz.PostureTask(posture)])
        assert solution.success
        np.testing.assert_array_equal(solution.q[idle], posture[idle])
        still = pz.solve(model, pz.PoseTask(frame, model.pose(frame, there)))
        np.testing.assert_array_equal(still.q[idle], model.home[idle])


def pair() -> pz.Model:
    """A joint that the task moves and one that it does not."""
    b = pz.ModelBuilder("pair")
    b.joint("a", "revolute", parent="base", child="one", limits=(-1.0, 1.0))
    b.joint("b", "revolute", parent="base", child="two", limits=(-1.0, 1.0))
    b.frame("tip", link="one", origin=pz.SE3.from_parts([1, 0, 0]))
    return b.build()


def test_a_weight_of_0_leaves_a_joint_alone() -> None:
    model = pair()
    task = pz.PositionTask("tip", [math.cos(0.3), math.sin(0.3), 0.0])
    held = pz.solve(model, [task, pz.PostureTask([0.5, 0.5], weight=[1.0, 0.0])], q0=[0.0, -0.7])
    assert held.q[1] == -0.7
    assert held.q[0] == pytest.approx(0.3, abs=1e-6)
    drawn = pz.solve(model, [task, pz.PostureTask([0.5, 0.5], weight=[0.0, 1.0])], q0=[0.0, -0.7])
    assert drawn.q[1] == 0.5


def test_a_posture_beyond_the_limits_ends_at_them() -> None:
    model = pair()
    task = pz.PositionTask("tip", [math.cos(0.3), math.sin(0.3), 0.0])
    for tasks in ([task, pz.PostureTask([7.0, -7.0])], [pz.PostureTask([7.0, -7.0])]):
        solution = pz.solve(model, tasks)
        assert solution.success
        assert solution.q[1] == -1.0


# A posture alone -------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1))
def test_alone_it_is_taken_exactly_within_the_limits(seed: int) -> None:
    model = pz.load("panda")
    posture = np.random.default_rng(seed).normal(scale=3.0, size=7)
    solution = pz.solve(model, pz.PostureTask(posture))
    np.testing.assert_array_equal(solution.q, np.clip(posture, model.lower, model.upper))
    assert solution.success
    assert solution.errors[0].posture == pytest.approx(np.abs(solution.q - posture).max(), abs=1e-15)


def test_without_a_target_it_is_home() -> None:
    model = pz.load("panda")
    np.testing.assert_array_equal(pz.solve(model, pz.PostureTask(), q0=model.sample(seed=1)).q, model.home)


# Among the other tasks --------------------------------------------------------------------------------------------


def test_it_is_a_task_of_the_last_level_and_required_where_its_tolerance_is_finite() -> None:
    posture = pz.PostureTask()
    assert isinstance(posture, pz.Task)
    assert posture.level > pz.PositionTask("tip", priority=10**9, required=False).level
    assert not posture.required
    assert pz.PostureTask(tolerance=0.1).required
    text = pz.solve(pair(), [posture, pz.PositionTask("tip", [1.0, 0.0, 0.0])]).explain()
    assert text.startswith("Every required task is within its tolerances: PositionTask('tip') ")
    assert " what is left of the others: PostureTask " in text
    with pytest.raises(TypeError, match="priority"):
        pz.PostureTask(priority=1)  # type: ignore[call-arg]


def test_its_goal_stands_behind_those_of_the_other_tasks_wherever_it_is_stated() -> None:
    model = pair()
    q = model.sample(3, seed=1)
    places = model.pose("tip", q).xyz
    first = pz.solve_batch(model, [pz.PostureTask(), pz.PositionTask("tip")], [q, places])
    last = pz.solve_batch(model, [pz.PositionTask("tip"), pz.PostureTask()], [places, q])
    for batch in (first, last):
        np.testing.assert_array_equal(batch.goals[:, :3], places)
        np.testing.assert_array_equal(batch.goals[:, 7:], q)
    np.testing.assert_array_equal(first.q, last.q)


# Tolerance -------------------------------------------------------------------------------------------------------


def test_a_posture_that_is_not_reached_within_its_tolerance_is_no_success() -> None:
    model = pair()
    task = pz.PositionTask("tip", [math.cos(0.3), math.sin(0.3), 0.0])
    strict = pz.solve(model, [task, pz.PostureTask([0.0, 0.5], tolerance=0.1)])
    assert not strict.success
    assert strict.status is not pz.Status.CONVERGED
    assert strict.errors[0].position <= 1e-6
    assert strict.errors[1].posture == pytest.approx(0.3, abs=1e-5)
    assert "0.3 rad or m from the posture" in strict.explain()
    assert pz.solve(model, [task, pz.PostureTask([0.0, 0.5], tolerance=0.4)]).success
    # A joint whose weight is 0 does not count.
    assert pz.solve(model, [task, pz.PostureTask([0.0, 0.5], weight=[0.0, 1.0], tolerance=0.1)]).success
    alone = pz.solve(model, pz.PostureTask([0.0, 7.0], tolerance=0.1))
    assert not alone.success
    assert alone.errors[0].posture == 6.0


# Quaternions -----------------------------------------------------------------------------------------------------


def ball_and_arm() -> pz.Model:
    b = pz.ModelBuilder("ball_and_arm")
    b.joint("ball", "spherical", parent="base", child="one")
    b.joint("elbow", "revolute", parent="one", child="two", origin=pz.SE3.from_parts([0.5, 0, 0]), limits=(-2, 2))
    b.frame("tip", link="two", origin=pz.SE3.from_parts([0.5, 0, 0]))
    return b.build()


def brick() -> pz.Model:
    b = pz.ModelBuilder("brick")
    b.link("body")
    b.frame("corner", link="body", origin=pz.SE3.from_parts([0.3, 0.2, 0.1]))
    return b.build(base="floating")


def angle(a: Array, b: Array) -> float:
    """Between two quaternions w x y z [rad]."""
    turn = Rotation.from_quat(a, scalar_first=True) * Rotation.from_quat(b, scalar_first=True).inv()
    return float(turn.magnitude())


def test_a_floating_body_held_at_a_corner_turns_as_the_posture_is_turned() -> None:
    """A point task leaves every rotation free, and with no weight on the place the posture's rotation is taken."""
    model = brick()
    weight = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    for posture, start in zip(model.sample(20, seed=1), model.sample(20, seed=2), strict=True):
        point = [0.2, -0.4, 0.6]
        solution = pz.solve(model, [pz.PositionTask("corner", point), pz.PostureTask(posture, weight=weight)], q0=start)
        assert solution.success
        np.testing.assert_allclose(fk(model, "corner", solution.q)[:3, 3], point, atol=1.001e-6)
        assert np.linalg.norm(solution.q[3:]) == pytest.approx(1.0, abs=1e-12)
        assert angle(solution.q[3:], posture[3:]) < 1e-4


def test_a_spherical_joint_is_drawn_to_the_posture_too() -> None:
    model = ball_and_arm()
    for posture, start in zip(model.sample(20, seed=3), model.sample(20, seed=4), strict=True):
        point = fk(model, "tip", posture)[:3, 3]
        drawn = pz.solve(model, [pz.PositionTask("tip", point), pz.PostureTask(posture)], q0=start)
        plain = pz.solve(model, pz.PositionTask("tip", point), q0=start)
        assert drawn.success
        np.testing.assert_allclose(fk(model, "tip", drawn.q)[:3, 3], point, atol=1.001e-6)
        away = [float(np.linalg.norm(model.difference(s.q, posture))) for s in (drawn, plain)]
        assert away[0] <= away[1] + 1e-6


@pytest.mark.parametrize("scale", [1.0, -1.0, 3.0, 1e-3])
def test_the_length_and_sign_of_a_quaternion_in_the_posture_mean_nothing(scale: float) -> None:
    model = brick()
    posture = model.sample(seed=5)
    scaled = posture.copy()
    scaled[3:] *= scale
    q = pz.solve(model, pz.PostureTask(scaled)).q
    assert np.linalg.norm(q[3:]) == pytest.approx(1.0, abs=1e-12)
    assert angle(q[3:], posture[3:]) < 1e-7
    np.testing.assert_array_equal(q[:3], posture[:3])


def test_a_posture_with_a_quaternion_of_no_length_is_refused() -> None:
    model = brick()
    for target in (np.zeros(7), [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0]):
        with refused("not-a-rotation"):
            pz.solve(model, pz.PostureTask(target))


def test_the_sign_of_the_start_does_not_lead_the_long_way_round() -> None:
    """A quaternion and its negative are one rotation."""
    model = brick()
    posture = model.sample(seed=6)
    start = posture.copy()
    start[3:] *= -1.0
    corner = fk(model, "corner", posture)[:3, 3]
    solution = pz.solve(model, [pz.PositionTask("corner", corner), pz.PostureTask(posture)], q0=start)
    assert solution.success
    assert angle(solution.q[3:], start[3:]) < 1e-5
    assert solution.errors[1].posture < 1e-5


def test_a_posture_that_is_missed_alone_blames_nothing_else() -> None:
    model = pz.load("panda")
    beyond = pz.PostureTask(np.array(model.home) + 10.0, tolerance=1e-3)
    alone = pz.solve(model, beyond)
    assert alone.status is pz.Status.LIMIT
    np.testing.assert_array_equal(alone.q, model.upper)
    both = pz.solve(model, [pz.PositionTask("panda_hand", [0.5, 0.0, 0.4]), beyond])
    assert both.status is pz.Status.LOCAL_MINIMUM
    text = both.explain()
    assert "Only the posture is farther away than its tolerance; the other tasks are within theirs." in text
    assert "limits, and pushed" not in text
    assert "starts came to rest" not in text


def test_the_distance_counts_the_whole_turns_that_a_posture_takes() -> None:
    model = pz.load("ur5e")
    q0 = np.array(model.home)
    q0[5] += 2.0 * np.pi if q0[5] <= 0.0 else -2.0 * np.pi
    tasks = [pz.PoseTask(model.tip, model.pose(model.tip, model.home)), pz.PostureTask(model.home)]
    found = pz.solve(model, tasks, q0=q0)
    assert found.q == pytest.approx(model.home, abs=1e-5)
    assert found.distance == pytest.approx(np.linalg.norm(model.difference(q0, found.q)), abs=1e-9)


def test_a_weight_that_is_none_is_not_taken_for_one_that_was_prepared() -> None:
    arm = pz.load("panda")
    named = [f"panda_joint{k}" for k in range(1, 8)]
    for sound, wrong, error in (
        (np.ones(7), np.ones((7, 1)), pz.ShapeError),
        (1.0, {"": 1.0}, pz.JointNotFound),
        ({}, (), pz.ShapeError),
        (dict.fromkeys(named, 2.0), {**dict.fromkeys(named[1:], 2.0), named[0]: [[2.0]]}, pz.ShapeError),
    ):
        assert pz.solve(arm, pz.PostureTask(weight=sound)).success
        with pytest.raises(error):
            pz.solve(arm, pz.PostureTask(weight=wrong))
        with pytest.raises(error):
            pz.solve(arm, pz.PostureTask(weight=wrong))


@pytest.mark.parametrize("place", [0, 1])
def test_a_tracker_takes_the_posture_among_its_targets(place: int) -> None:
    arm = pz.load("panda")
    xyz, posture = [0.4, 0.1, 0.5], arm.sample(seed=3)
    tasks: list[pz.Task] = [pz.PositionTask("panda_hand")]
    tasks.insert(place, pz.PostureTask())
    tracker, other = pz.Tracker(arm, tasks), pz.Tracker(arm, tasks)
    for named in (posture, None):
        targets: list[object] = [xyz]
        targets.insert(place, named)
        other.posture = other.posture if named is None else named
        assert np.array_equal(tracker.step(arm.home, targets), other.step(arm.home, xyz))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_tasks_and_errors_of_a_tracker_go_by_its_targets(place: int) -> None:
    arm = pz.load("panda")
    xyz, posture = [0.4, 0.1, 0.5], arm.sample(seed=3)
    tasks: list[pz.Task] = [pz.PositionTask("panda_hand"), pz.AxisTask("panda_hand")]
    targets: list[object] = [xyz, [0.0, 0.0, -1.0]]
    tasks.insert(place, pz.PostureTask())
    targets.insert(place, posture)
    tracker = pz.Tracker(arm, tasks)
    q = tracker.step(arm.home, targets)
    assert [type(task) for task in tracker.tasks] == [type(task) for task in tasks]
    errors = tracker.errors
    assert errors[place].posture == pytest.approx(np.abs(q - posture).max(), abs=1e-12)
    assert [error.task for error in errors] == [task.label for task in tasks]
    assert f"PostureTask {errors[place].posture:.3g} rad or m from the posture" in tracker.explain()
    with pytest.raises(ValueError, match=rf"target\[{place}\]\[2\] of the PostureTask, 'panda_joint3', is nan"):
        tracker.step(q, [[*posture[:2], np.nan, *posture[3:]] if k == place else None for k in range(3)])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_rollout_takes_the_targets_that_a_step_takes(place: int) -> None:
    arm, rng = pz.load("panda"), np.random.default_rng(0)
    count, steps = 3, 6
    tasks: list[pz.Task] = [pz.PoseTask("panda_hand"), pz.PositionTask("panda_link4")]
    poses = arm.pose("panda_hand", arm.home + 0.1 * rng.normal(size=(count, steps, 7)))
    points = arm.pose("panda_link4", arm.home).xyz + 0.05 * rng.normal(size=(count, steps, 3))
    postures = arm.home + 0.1 * rng.normal(size=(count, steps, 7))
    ways: list[object] = [poses, points]
    tasks.insert(place, pz.PostureTask())
    ways.insert(place, postures)
    starts = np.tile(arm.home, (count, 1))
    tracker = pz.Tracker(arm, tasks)
    together = tracker.rollout(starts, ways)
    for c in range(count):
        one = [way[c] for way in ways]  # type: ignore[index]
        alone = tracker.rollout(arm.home, one)
        assert together[c] == pytest.approx(alone, abs=1e-9)
        other, q = pz.Tracker(arm, tasks), arm.home
        for k in range(steps):
            q = other.step(q, [way[k] for way in one])
            assert alone[k] == pytest.approx(q, abs=1e-12)
    stays = [None if k == place else way[0] for k, way in enumerate(ways)]  # type: ignore[index]
    left_out = [way for way in stays if way is not None]
    assert (tracker.rollout(arm.home, stays) == tracker.rollout(arm.home, left_out)).all()
    numbers = np.stack([poses[0].array, np.pad(points[0], ((0, 0), (0, 4)))], axis=1)
    assert (tracker.rollout(arm.home, left_out) == tracker.rollout(arm.home, numbers)).all()
    with refused("wrong-shape"):
        tracker.rollout(arm.home, [None, None, None])
    ways[place] = postures[0, 1]
    assert tracker.rollout(starts, ways).shape == (count, steps, arm.nq)


def test_a_tracker_of_a_posture_alone_takes_it_as_its_target() -> None:
    arm = pz.load("panda")
    posture = arm.sample(seed=3)
    expected = pz.Tracker(arm, pz.PostureTask(posture)).step(arm.home)
    assert np.array_equal(pz.Tracker(arm, pz.PostureTask()).step(arm.home, posture), expected)
    assert not np.array_equal(expected, arm.home)


@pytest.mark.parametrize(
    ("name", "frame"), [("panda", "panda_hand"), ("g1", "right_wrist_yaw_link"), ("planar5", None)]
)
def test_what_a_tolerance_leaves_room_for_is_found(name: str, frame: str | None) -> None:
    """The nearest by the sum of squares may have one joint farther off than the tolerance, where others have none."""
    model = pz.load(name)
    frame = frame or model.links[-1]
    for k in range(30):
        rng, tolerance = np.random.default_rng([k, 3]), (0.1, 0.3, 0.8)[k % 3]
        posture = model.sample(1, seed=k)[0]
        q = model.clip(posture + rng.uniform(-0.98, 0.98, model.nq) * tolerance)
        place = pz.PositionTask(frame, target=model.pose(frame, q).xyz)
        found = pz.solve(model, [place, pz.PostureTask(posture, tolerance=tolerance)])
        assert found.success, found.explain()
        assert np.abs(found.q - posture).max() <= tolerance
        assert found.errors[1].posture == np.abs(found.q - posture).max()
        assert found.distance == pytest.approx(np.linalg.norm((found.q - model.home)[list(moving(model, place))]))
        assert model.within_limits(found.q)


def moving(model: pz.Model, task: pz.Task) -> tuple[int, ...]:
    return pz.Solver(model, task).velocities
