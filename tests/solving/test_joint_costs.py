"""`joint_costs=`: one measure of motion in answers, steps, paths and plans."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

import poise as pz

COSTS = {"track": 10.0, "positioner": 5.0}
WEIGHTS = np.array([10.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0])


def cell() -> pz.Model:
    """An arm of four joints on a track, and a positioner of two under the part."""
    b = pz.ModelBuilder("cell")
    b.joint("track", "prismatic", parent="floor", child="carriage", axis=(1, 0, 0), limits=(-2, 2), velocity=1.0)
    link, up = "carriage", pz.SE3.from_parts([0.0, 0.0, 0.35])
    for i, axis in enumerate(((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 1, 0))):
        b.joint(f"arm_{i}", "revolute", parent=link, child=f"link{i}", axis=axis, origin=up, limits=(-2.8, 2.8))
        link = f"link{i}"
    b.frame("tool", link=link, origin=up)
    table = pz.SE3.from_parts([0.7, 0.2, 0.2])
    b.joint("tilt", "revolute", parent="floor", child="cradle", axis=(0, 1, 0), limits=(-1.5, 1.5), origin=table)
    b.joint("turn", "revolute", parent="cradle", child="part", limits=(-3.1, 3.1))
    b.group("positioner", ["tilt", "turn"])
    return b.build()


CELL = cell()
START = CELL.q(track=0.1, arm_0=0.3, arm_1=0.8, arm_2=0.7, arm_3=0.6, tilt=0.1, turn=0.2)
POINT = np.array([0.15, 0.1, 0.15])
SPOT = pz.PositionTask("tool", POINT, base="part")


def jacobian(q: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """(3, nv) of the tool's place as the part sees it, by differences."""
    at = np.asarray(q)

    def seen(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return (CELL.pose("part", x).inverse() @ CELL.pose("tool", x)).xyz

    nudges = 1e-6 * np.eye(CELL.nv)
    return np.stack([(seen(at + d) - seen(at - d)) / 2e-6 for d in nudges], axis=1)


def across(j: npt.NDArray[np.float64], pull: npt.NDArray[np.float64]) -> float:
    """The share of a pull (nv,) that the rows of a Jacobian do not withstand."""
    rest = pull - np.linalg.pinv(j) @ (j @ pull)
    return float(np.linalg.norm(rest) / np.linalg.norm(pull))


def paid(way: npt.NDArray[np.float64]) -> float:
    return float(np.linalg.norm(WEIGHTS * way))


def test_an_answer_is_the_nearest_by_what_motion_costs() -> None:
    plain, dear = pz.solve(CELL, SPOT, q0=START), pz.solve(CELL, SPOT, q0=START, joint_costs=COSTS)
    assert dear.success
    assert paid(dear.q - START) < 0.8 * paid(plain.q - START)
    # Lagrange: where no limit is in the way, the tasks' rows withstand all of the pull to the start.
    assert across(jacobian(dear.q), WEIGHTS**2 * (dear.q - START)) < 1e-2


def test_scipy_finds_nothing_cheaper() -> None:
    def missed(q: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return (CELL.pose("part", q).inverse() @ CELL.pose("tool", q)).xyz - POINT

    found = pz.solve(CELL, SPOT, q0=START, joint_costs=COSTS)
    others = [
        minimize(
            lambda q: paid(q - START) ** 2, begin, method="SLSQP", constraints={"type": "eq", "fun": missed},
            bounds=list(zip(CELL.lower, CELL.upper, strict=True)),
        )
        for begin in (START, *(CELL.sample(seed=seed) for seed in range(6)))
    ]  # fmt: skip
    least = min(np.sqrt(other.fun) for other in others if other.success and np.abs(missed(other.x)).max() < 1e-6)
    assert paid(found.q - START) == pytest.approx(least, rel=1e-3)


def test_it_is_a_posture_at_the_start_with_these_weights() -> None:
    dear = pz.solve(CELL, SPOT, q0=START, joint_costs=COSTS)
    posture = pz.PostureTask(START, weight={"track": 10.0, "tilt": 5.0, "turn": 5.0})
    assert np.array_equal(dear.q, pz.solve(CELL, [SPOT, posture], q0=START).q)
    assert dear.errors[-1].posture == pytest.approx(np.abs(dear.q - START).max())
    for other in (
        pz.Solver(CELL, SPOT, joint_costs=COSTS)(q0=START),
        pz.Solver(CELL, SPOT, joint_costs=COSTS).batch(np.tile(POINT, (2, 1)), START)[1],
        pz.solve_batch(CELL, [SPOT], [np.tile(POINT, (2, 1))], q0=START, joint_costs=COSTS)[0],
    ):
        assert np.allclose(other.q, dear.q, atol=1e-9)
    assert pz.Solver(CELL, SPOT, joint_costs=COSTS).tasks == (SPOT,)


@pytest.mark.parametrize("same", [{}, {"track": 1.0}, dict.fromkeys(CELL.joint_names, 7.0), {"part": 1.0}])
def test_costs_that_are_all_alike_change_nothing(same: dict[str, float]) -> None:
    assert pz.Solver(CELL, SPOT, joint_costs=same).model is CELL
    plain, alike = pz.solve(CELL, SPOT, q0=START), pz.solve(CELL, SPOT, q0=START, joint_costs=same)
    assert np.array_equal(plain.q, alike.q)
    plain_step, alike_step = (pz.Tracker(CELL, SPOT, dt=0.02, joint_costs=costs).step(START) for costs in (None, same))
    assert np.array_equal(plain_step, alike_step)


@pytest.mark.parametrize("method", ["dls", "qp", "priority"])
@pytest.mark.parametrize("dear", [8.0, 100.0])
def test_a_step_costs_least_of_all_that_do_the_same(method: str, dear: float) -> None:
    tracker = pz.Tracker(CELL, SPOT, method, dt=0.02, limits=False, joint_costs={"track": dear})
    plain = pz.Tracker(CELL, SPOT, method, dt=0.02, limits=False)
    q = pz.solve(CELL, SPOT, q0=START).q
    target = POINT + np.array([0.004, -0.003, 0.002])
    step, other = tracker.step(q, target) - q, plain.step(q, target) - q
    weights = np.where(np.arange(CELL.nv) == 0, dear, 1.0)
    assert across(jacobian(q), weights**2 * step) < 1e-3 * dear**2
    assert np.linalg.norm(weights * step) < np.linalg.norm(weights * other)
    assert abs(step[0]) < 0.5 * abs(other[0])
    done, wanted = jacobian(q) @ step, jacobian(q) @ other
    assert np.linalg.norm(done - wanted) < 0.2 * np.linalg.norm(wanted)


def test_what_the_others_cannot_do_a_dear_base_does() -> None:
    far = pz.PositionTask("tool", [1.9, 0.2, 0.6])
    tracker, q = pz.Tracker(CELL, far, dt=0.02, joint_costs={"track": 100.0}), START
    for _ in range(400):
        q = tracker.step(q)
    assert tracker.errors[0].position is not None
    assert tracker.errors[0].position < 1e-6
    assert q[0] > 0.2
    assert pz.Tracker(CELL, far, dt=0.02, joint_costs={"track": 100.0}).posture is None


def test_a_rollout_goes_as_steps_do() -> None:
    tracker = pz.Tracker(CELL, SPOT, dt=0.02, joint_costs=COSTS)
    targets = np.linspace(POINT, [0.1, 0.2, 0.2], 12)
    rolled = tracker.rollout(START, targets[:, None])
    many = tracker.rollout(np.tile(START, (3, 1)), np.tile(targets[None, :, None], (3, 1, 1, 1)), threads=1)
    q = START
    for target, row in zip(targets, rolled, strict=True):
        q = tracker.step(q, target)
        assert np.array_equal(q, row)
    assert np.allclose(many, rolled, atol=1e-9)
    again = pickle.loads(pickle.dumps(tracker))
    assert np.array_equal(again.step(q, targets[0]), tracker.step(q, targets[0]))
    assert again.model.joint_costs == {"track": 10.0, "tilt": 5.0, "turn": 5.0}


def test_a_path_is_the_shortest_by_what_motion_costs() -> None:
    points = np.linspace([0.15, -0.1, 0.15], [0.15, 0.2, 0.15], 15)
    plain = pz.solve_path(CELL, SPOT, points, q0=START)
    dear = pz.solve_path(CELL, SPOT, points, q0=START, joint_costs=COSTS)
    assert plain.success
    assert dear.success
    assert paid(np.diff(dear.q, axis=0)) < 0.7 * paid(np.diff(plain.q, axis=0))
    for t in range(1, 14):
        pull = WEIGHTS**2 * (2.0 * dear.q[t] - dear.q[t - 1] - dear.q[t + 1])
        scale = np.linalg.norm(WEIGHTS**2 * (dear.q[t + 1] - dear.q[t]))
        free = (dear.q[t] > CELL.lower + 1e-4) & (dear.q[t] < CELL.upper - 1e-4)
        rest = across(jacobian(dear.q[t])[:, free], pull[free]) * np.linalg.norm(pull[free])
        assert rest < 1e-2 * scale


def test_a_plan_moves_what_is_cheap() -> None:
    points = np.array([[0.15, -0.1, 0.15], [0.15, 0.2, 0.15]])
    plain, dear = (pz.plan(CELL, SPOT, points, q0=START, joint_costs=costs) for costs in (None, COSTS))
    assert plain.success
    assert dear.success
    lengths = [sum(paid(step) for step in np.diff(path.q, axis=0)) for path in (plain, dear)]
    assert lengths[1] < 0.8 * lengths[0]


def test_a_plan_goes_round_by_what_is_cheap() -> None:
    post = pz.World({"post": pz.Capsule([0.55, 0.1, 0.0], [0.55, 0.1, 2.0], 0.05)})
    ball = CELL.with_shapes({"link3": pz.Sphere([0.0, 0.0, 0.3], 0.05)})
    points, limits = np.array([[0.6, -0.3, 0.9], [0.6, 0.5, 0.9]]), [pz.CollisionLimit(post, min_distance=0.01)]
    begin = pz.solve(ball, pz.PositionTask("tool", points[0]), q0=START).q
    plans = [
        pz.plan(ball, pz.PositionTask("tool"), points, q0=begin, limits=limits, joint_costs=costs)
        for costs in (None, {"track": 20.0})
    ]
    weights = np.where(np.arange(CELL.nv) == 0, 20.0, 1.0)
    lengths = [float(np.linalg.norm(weights * np.diff(path.q, axis=0), axis=1).sum()) for path in plans]
    assert all(path.success for path in plans)
    assert lengths[1] < lengths[0]


def test_what_stands_still_costs_nothing() -> None:
    both = pz.Solver(CELL, SPOT, still="track", joint_costs={"track": 50.0})
    assert both.model.joint_costs == {}
    least = pz.Solver(CELL, SPOT, joint_costs={"positioner": 0.5})
    assert least.model.joint_costs == dict.fromkeys(["track", *(f"arm_{i}" for i in range(4))], 2.0)
    assert least.model.lock(track=0.0).joint_costs == dict.fromkeys([f"arm_{i}" for i in range(4)], 2.0)


@pytest.mark.parametrize(
    ("costs", "kind", "words"),
    [
        ([1.0] * 7, pz.InvalidType, "must name joints"),
        ({"trakc": 2.0}, pz.JointNotFound, "did you mean 'track'"),
        ({"track": 0.0}, pz.InvalidValue, "must be a positive number"),
        ({"track": np.inf}, pz.InvalidValue, "infinite"),
        ({"track": 1e5}, pz.InvalidValue, "still= names it"),
    ],
)
def test_what_is_no_cost_is_refused(costs: Any, kind: type[Exception], words: str) -> None:
    for call in (pz.solve, pz.Solver, pz.Tracker):
        with pytest.raises(kind, match=words):
            call(CELL, SPOT, joint_costs=costs)


def test_two_that_say_what_motion_costs_are_refused() -> None:
    for call in (pz.solve, pz.Solver, pz.Tracker):
        with pytest.raises(pz.InvalidValue, match="leave out joint_costs"):
            call(CELL, [SPOT, pz.PostureTask(START)], joint_costs=COSTS)
    with pytest.raises(pz.InvalidValue, match="'jt' knows no joint_costs"):
        pz.Tracker(CELL, SPOT, "jt", joint_costs=COSTS)


# What the price means -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_an_answer_costs_least_at_the_limits_of_joints_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = dict(zip(CELL.joint_names, np.exp(rng.uniform(0.0, np.log(100.0), CELL.nv)).tolist(), strict=True))
    free = pz.solve(CELL, SPOT, q0=START, joint_costs=costs)
    far = int(np.argmax(np.abs(free.q - START)))
    name, end = CELL.joint_names[far], float(START[far] + 0.5 * (free.q - START)[far])
    limits = (end, float(CELL.upper[far])) if end < START[far] else (float(CELL.lower[far]), end)
    model, weights = CELL.with_limits({name: limits}), np.array(list(costs.values()))
    found = pz.solve(model, SPOT, q0=START, joint_costs=costs)
    assert found.success
    assert found.q[far] == pytest.approx(end, abs=1e-6)

    def missed(q: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return (model.pose("part", q).inverse() @ model.pose("tool", q)).xyz - POINT

    others = [
        minimize(
            lambda q: ((weights * (q - START)) ** 2).sum() / weights.max(), begin, method="SLSQP",
            constraints={"type": "eq", "fun": missed}, bounds=list(zip(model.lower, model.upper, strict=True)),
            options={"maxiter": 300, "ftol": 1e-10},
        )
        for begin in (found.q, *(model.sample(seed=seed) for seed in range(4)))
    ]  # fmt: skip
    least = min(((weights * (x.x - START)) ** 2).sum() for x in others if np.abs(missed(x.x)).max() < 1e-6)
    assert ((weights * (found.q - START)) ** 2).sum() <= 1.01 * least


@pytest.mark.parametrize("method", ["dls", "qp", "priority"])
def test_a_step_costs_least_at_the_limit_of_a_joint_too(method: str) -> None:
    model = CELL.with_limits({"arm_2": (-2.8, 0.7)})
    q = np.where(np.arange(CELL.nv) == 3, 0.7, START)
    spot = (model.pose("part", q).inverse() @ model.pose("tool", q)).xyz
    weights = np.array([10.0, 1.0, 2.0, 1.0, 3.0, 5.0, 5.0])
    costs = dict(zip(CELL.joint_names, weights.tolist(), strict=True))
    shares = []
    for target in spot + 0.004 * np.random.default_rng(0).normal(size=(12, 3)):
        step = pz.Tracker(model, SPOT, method, dt=0.02, joint_costs=costs).step(q, target) - q
        rows, square = jacobian(q), float(((weights * step) ** 2).sum())
        bounds = [(low, high) for low, high in zip(model.lower - q, model.upper - q, strict=True)]
        least = minimize(
            lambda x, square=square: ((weights * x) ** 2).sum() / square, 0.0 * q, method="SLSQP", bounds=bounds,
            constraints={"type": "eq", "fun": lambda x, rows=rows, step=step: 1e2 * rows @ (x - step)},
            options={"ftol": 1e-12},
        )  # fmt: skip
        assert least.success
        shares.append(least.fun if abs(step[3]) < 1e-12 else 1.0)
    assert len(shares) > shares.count(1.0)
    assert (min(shares) < 0.99) == (method == "dls")  # which cuts steps short


def test_a_step_in_which_a_joint_is_too_dear_may_cost_more() -> None:
    # Ten times the cheapest is the most that counts by price alone: beyond, what others cannot do comes without delay.
    q = pz.solve(CELL, SPOT, q0=START).q
    shares = []
    for dear in (10.0, 100.0):
        weights = np.where(np.arange(CELL.nv) == 0, dear, 1.0)
        tracker = pz.Tracker(CELL, SPOT, dt=0.02, limits=False, joint_costs={"track": dear})
        step = tracker.step(q, POINT + np.array([0.004, -0.003, 0.002])) - q
        shares.append(across(jacobian(q) / weights, weights * step))
    assert shares[0] < 1e-6 < shares[1]


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_goes_the_way_that_is_shortest_by_price(seed: int) -> None:
    arm, rng = pz.load("ur5e"), np.random.default_rng(seed)
    q0, goal = arm.sample(seed=seed) * 0.4, arm.sample(seed=seed + 50) * 0.4
    weights = np.exp(rng.uniform(0.0, np.log(30.0), 6))
    costs = dict(zip(arm.joint_names, weights.tolist(), strict=True))
    path = pz.plan(arm, pz.PoseTask(arm.tip), arm.poses(goal, [arm.tip]), q0=q0, joint_costs=costs)
    assert path.success
    price = sum(np.sqrt(((weights * step) ** 2).sum()) for step in np.diff(path.q, axis=0))
    branches = pz.solve_all(arm, pz.PoseTask(arm.tip, arm.pose(arm.tip, goal)), q0=q0, turns=True)
    ratio = weights.min()
    assert price / ratio == pytest.approx(
        min(np.sqrt(((weights * (q - q0)) ** 2).sum()) for q in branches.q) / ratio, rel=1e-4
    )
