"""Tasks that are not required: missed as little as the required ones allow, and not judged."""

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize
from support.refusals import refused

import poise as pz

ARM = pz.load("so100")
GRIPPER = "gripper"
PANDA = pz.load("panda")
TASKS = [pz.PositionTask(GRIPPER), pz.OrientationTask(GRIPPER, required=False)]
SOLVER = pz.Solver(ARM, TASKS)


def aimed(seed: int) -> tuple[np.ndarray, pz.SO3]:
    """A place that the five joints reach, and any rotation."""
    rng = np.random.default_rng(seed)
    place = ARM.pose(GRIPPER, ARM.sample(seed=seed)).xyz
    return place, pz.SO3.from_rotvec(rng.normal(size=3))


def least(model: pz.Model, required: list[Any], soft: list[Any], start: np.ndarray) -> tuple[float, np.ndarray]:
    """The soft cost where SciPy comes to rest from `start`, and its q; infinite if it fails."""
    one, other = pz.Solver(model, required), pz.Solver(model, soft)

    def cost(q: np.ndarray) -> tuple[float, np.ndarray]:
        e, jacobian = other.linearise(q)
        return 0.5 * float(e @ e), -jacobian.T @ e

    found = minimize(
        cost, start, jac=True, method="SLSQP", bounds=list(zip(model.lower, model.upper, strict=True)),
        constraints={"type": "eq", "fun": lambda q: one.linearise(q)[0], "jac": lambda q: -one.linearise(q)[1]},
        options={"maxiter": 300, "ftol": 1e-14},
    )  # fmt: skip
    met = float(np.abs(one.linearise(found.x)[0]).max()) < 1e-6 and model.check_q(found.x) is not None
    return (float(found.fun) if met else np.inf), found.x


def soft_cost(model: pz.Model, soft: list[Any], q: np.ndarray) -> float:
    e, _ = pz.Solver(model, soft).linearise(q)
    return 0.5 * float(e @ e)


def pairs() -> Any:
    place, turn = aimed(3)
    yield "so100", ARM, [pz.PositionTask(GRIPPER, place)], [pz.OrientationTask(GRIPPER, turn, required=False)]
    pose = PANDA.pose("panda_hand", PANDA.sample(seed=5))
    far = [pz.PositionTask("panda_hand", pose.xyz + np.array([0.3, 0.4, 0.2]), required=False)]
    yield "panda, a place as well as it goes", PANDA, [pz.OrientationTask("panda_hand", pose.rotation)], far
    both = [
        pz.OrientationTask("panda_hand", pose.rotation, weight=0.3, required=False),
        pz.PositionTask("panda_link4", [0.4, 0.4, 0.4], required=False),
    ]
    yield "panda, two beside a place", PANDA, [pz.PositionTask("panda_hand", pose.xyz)], both
    ur5 = pz.load("ur5")
    line = [pz.LineTask("ee_link", (0, 0, 1), (0.4, 0.1, 0.0))]
    yield (
        "ur5",
        ur5,
        line,
        [pz.PoseTask("ee_link", pz.SE3.from_xyz_rpy([0.5, 0.1, 0.2], [0.1, 2.0, 0.3]), required=False)],
    )


@pytest.mark.parametrize(
    ("name", "model", "required", "soft"), list(pairs()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_nothing_near_the_answer_is_better(name: str, model: pz.Model, required: Any, soft: Any) -> None:
    for seed in range(4):
        answer = pz.solve(model, [*required, *soft], q0=model.sample(seed=seed), seed=seed)
        assert answer.success, answer.explain()
        assert answer.stationary
        assert pz.solve(model, required, q0=answer.q, max_restarts=0).iterations == 0
        assert (model.lower <= answer.q).all()
        assert (answer.q <= model.upper).all()
        best, _ = least(model, required, soft, answer.q)
        assert soft_cost(model, soft, answer.q) <= best * (1.0 + 1e-6) + 1e-11


def test_few_minima_that_scipy_finds_are_better() -> None:
    better = 0
    for seed in range(12):
        place, turn = aimed(seed)
        required, soft = [pz.PositionTask(GRIPPER, place)], [pz.OrientationTask(GRIPPER, turn, required=False)]
        answer = SOLVER([place, turn], ARM.home)
        found = [least(ARM, required, soft, ARM.sample(seed=100 * seed + i))[0] for i in range(4)]
        better += min(found) < soft_cost(ARM, soft, answer.q) * (1.0 - 1e-6) - 1e-11
    assert better <= 2


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_five_joints_reach_the_place_whatever_the_rotation(seed: int) -> None:
    place, turn = aimed(seed)
    answer = SOLVER([place, turn], ARM.sample(seed=seed + 1))
    assert answer.success
    assert answer.status is pz.Status.CONVERGED
    np.testing.assert_allclose(ARM.pose(GRIPPER, answer.q).xyz, place, atol=1e-6)
    again = SOLVER([place, turn], ARM.sample(seed=seed + 1))
    np.testing.assert_array_equal(again.q, answer.q)


def test_what_can_be_fulfilled_is() -> None:
    tasks = [pz.PositionTask("panda_hand"), pz.OrientationTask("panda_hand", required=False)]
    solver, fulfilled = pz.Solver(PANDA, tasks), 0
    for seed in range(20):
        pose = PANDA.pose("panda_hand", PANDA.sample(seed=seed))
        answer = solver([pose.xyz, pose.rotation], PANDA.sample(seed=seed + 50))
        assert answer.success
        fulfilled += answer.rotation_error < 1e-6
    assert fulfilled >= 18


def test_a_weight_counts_among_soft_tasks_only() -> None:
    place, turn = aimed(1)
    for weight in (1e-4, 1.0, 1e4):
        tasks = [pz.PositionTask(GRIPPER, place), pz.OrientationTask(GRIPPER, turn, weight=weight, required=False)]
        answer = pz.solve(ARM, tasks)
        assert answer.success
        assert answer.stationary
        assert answer.position_error < 1e-6
        assert answer.rotation_error == pytest.approx(SOLVER([place, turn]).rotation_error, rel=1e-4)


def test_all_soft_is_least_squares() -> None:
    place, turn = aimed(2)
    soft = [pz.PositionTask(GRIPPER, place, required=False), pz.OrientationTask(GRIPPER, turn, required=False)]
    answer = pz.solve(ARM, soft)
    assert answer.success
    assert answer.stationary
    e, jacobian = pz.Solver(ARM, soft).linearise(answer.q)
    pull = jacobian.T @ e
    inside = (answer.q > ARM.lower + 1e-9) & (answer.q < ARM.upper - 1e-9)
    assert np.abs(pull[inside]).max() < 1e-4
    assert (pull[answer.q >= ARM.upper - 1e-9] >= -1e-9).all()


def test_out_of_reach_is_what_it_was() -> None:
    answer = SOLVER([[3.0, 0.0, 0.0], pz.SO3.identity()])
    assert answer.status is pz.Status.UNREACHABLE
    assert "Not required, and left: OrientationTask('gripper')" in answer.explain()
    alone = pz.solve(ARM, pz.PositionTask(GRIPPER, [3.0, 0.0, 0.0]))
    assert answer.errors[0].position == pytest.approx(alone.errors[0].position, rel=1e-3)


def test_a_soft_target_out_of_reach_is_no_reason() -> None:
    tasks = [
        pz.OrientationTask("panda_hand", pz.SO3.identity()),
        pz.PositionTask("panda_hand", [5, 0, 0], required=False),
    ]
    answer = pz.solve(PANDA, tasks)
    assert answer.status is pz.Status.CONVERGED
    assert answer.errors[1].position > 3.0


def test_it_says_what_is_left() -> None:
    place, turn = aimed(3)
    answer = SOLVER([place, turn])
    left = answer.errors[1].rotation
    assert left is not None
    assert left > 0.01
    assert answer.explain() == (
        f"Every required task is within its tolerances: PositionTask('gripper') {answer.errors[0].position:.3g} m. "
        f"As well as it goes, what is left of the others: OrientationTask('gripper') {left:.3g} rad. "
        "PositionTask('gripper') is required, and holds OrientationTask('gripper') back: give both the same required= "
        "to share what is missed."
    )


def test_the_lowest_is_returned_or_the_first() -> None:
    place, turn = aimed(4)
    first = pz.Solver(ARM, TASKS, select="first")
    soft = [pz.OrientationTask(GRIPPER, turn, required=False)]
    for seed in range(5):
        q0 = ARM.sample(seed=seed)
        one, lowest = first([place, turn], q0), SOLVER([place, turn], q0)
        assert one.success
        assert soft_cost(ARM, soft, lowest.q) <= soft_cost(ARM, soft, one.q) * (1.0 + 1e-5) + 1e-11
    alone = pz.Solver(ARM, TASKS, max_restarts=0)([place, turn], q0)
    assert alone.success


@pytest.mark.parametrize("select", ["nearest", "first"])
def test_nothing_worse_than_the_start_is_returned(select: Any) -> None:
    """Of a start that fulfils what is required, however rarely a random start comes to as little as is missed there."""
    frames, soft_frame = ("panda_hand", "panda_link4"), "panda_link4"
    rng = np.random.default_rng(1)
    for seed in range(60):
        reached, other = PANDA.sample(seed=1000 + seed), PANDA.sample(seed=1500 + seed)
        near = PANDA.pose(soft_frame, reached).xyz + rng.normal(size=3) * rng.choice([1e-5, 0.2])
        near = near if seed % 2 else PANDA.pose(soft_frame, other).xyz
        required = [pz.PositionTask(frames[0], PANDA.pose(frames[0], reached).xyz)]
        soft = [pz.PositionTask(soft_frame, near, required=False)]
        answer = pz.solve(PANDA, [*required, *soft], q0=reached, select=select)
        assert answer.success
        assert soft_cost(PANDA, soft, answer.q) <= soft_cost(PANDA, soft, reached) * (1.0 + 1e-6) + 1e-15


def test_iterations_that_are_few_end_it_soon() -> None:
    place, turn = aimed(4)
    usual = SOLVER([place, turn])
    spent = [pz.Solver(ARM, TASKS, max_iterations=most)([place, turn]).iterations for most in (1, 4, 200)]
    assert spent[0] < spent[1] < spent[2] == usual.iterations
    assert spent[0] <= 8  # a few searches, each with a look at where its last step led


def test_a_batch_is_solved_one_by_one_and_alike() -> None:
    places, turns = zip(*(aimed(seed) for seed in range(6)), strict=True)
    wxyz = pz.SO3(wxyz=[turn.wxyz for turn in turns])
    batch = pz.solve_batch(ARM, TASKS, [np.array(places), wxyz])
    assert batch.success.all()
    for i, (place, turn) in enumerate(zip(places, turns, strict=True)):
        np.testing.assert_array_equal(batch[i].q, SOLVER([place, turn]).q)


def test_a_pose_that_is_soft_is_no_closed_form() -> None:
    ur5 = pz.load("ur5")
    pose = ur5.pose("ee_link", ur5.sample(seed=1))
    answer = pz.solve(ur5, [pz.PoseTask("ee_link", pose, required=False)])
    assert answer.success
    assert answer.start >= 0
    every = pz.solve_all(ur5, pz.PoseTask("ee_link", pose, required=False), samples=4)
    assert every.explain().startswith("a search from ")
    assert every[0].position_error < 1e-6


def test_a_solver_travels() -> None:
    place, turn = aimed(5)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(SOLVER))([place, turn]).q, SOLVER([place, turn]).q)


def test_it_is_part_of_the_task() -> None:
    task = pz.PositionTask(GRIPPER, required=False)
    assert "required=False" in repr(task)
    assert task.structure != pz.PositionTask(GRIPPER).structure
    with refused("not-a-bool", "required"):
        pz.PositionTask(GRIPPER, required=1)  # type: ignore[arg-type]


# Levels ---------------------------------------------------------------------------------------------------------------


def test_levels_of_which_some_are_soft() -> None:
    pose = PANDA.pose("panda_hand", PANDA.sample(seed=3))
    turn = pose.rotation @ pz.SO3.from_rotvec([0.3, 0.2, 0.1])
    tasks = [
        pz.PositionTask("panda_hand", pose.xyz),
        pz.OrientationTask("panda_hand", turn, priority=1, required=False),
        pz.PositionTask("panda_link4", [0.3, 0.3, 0.6], priority=2, required=False),
    ]
    answer = pz.solve(PANDA, tasks)
    assert answer.success, answer.explain()
    assert answer.position_error >= 0.0
    assert answer.errors[0].position < 1e-6
    assert answer.errors[1].rotation < 1e-2  # the last level disturbs it not
    assert answer.method.name == "priority"


def test_two_levels_are_required_tasks_and_soft_ones() -> None:
    place, turn = aimed(6)
    later = [pz.PositionTask(GRIPPER, place), pz.OrientationTask(GRIPPER, turn, priority=1, required=False)]
    np.testing.assert_array_equal(pz.solve(ARM, later).q, SOLVER([place, turn]).q)


@pytest.mark.parametrize("method", [None, "dls", "lm", "ccd", "bfgs"])
def test_in_a_tracker_a_soft_task_gives_way(method: str | None) -> None:
    place, turn = aimed(3)
    tasks = [pz.PositionTask(GRIPPER, place), pz.OrientationTask(GRIPPER, turn, required=False)]
    best = SOLVER([place, turn])
    tracker, q = pz.Tracker(ARM, tasks, method), np.array(ARM.integrate(best.q, np.full(6, 0.1)))
    q = np.clip(q, ARM.lower, ARM.upper)
    for _ in range(400):
        q = np.array(tracker.step(q))
    assert np.linalg.norm(ARM.pose(GRIPPER, q).xyz - place) < 1e-5
    left = (turn @ ARM.pose(GRIPPER, q).rotation.inverse()).log()
    assert np.linalg.norm(left) < best.rotation_error * 1.02 + 1e-3


def everything() -> list[Any]:
    """Answers as numbers."""
    return [SOLVER([*aimed(seed)]).q.tolist() for seed in (3, 7)]


def test_it_runs_in_plain_python_too() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, __file__], env=environment, check=True, capture_output=True, text=True, timeout=600
    )
    np.testing.assert_allclose(eval(run.stdout), everything(), rtol=0, atol=1e-4)


if __name__ == "__main__":
    print(everything())


@pytest.mark.parametrize(
    ("model", "frame", "swapped"), [(ARM, GRIPPER, False), (PANDA, "panda_hand", False), (PANDA, "panda_hand", True)]
)
def test_what_is_called_at_rest_fulfils_the_conditions_of_a_minimum(model: pz.Model, frame: str, swapped: bool) -> None:
    """Karush, Kuhn and Tucker: the slope of the soft cost is one of the required rows and of limits that are met."""
    kinds = (pz.OrientationTask, pz.PositionTask) if swapped else (pz.PositionTask, pz.OrientationTask)
    solver = pz.Solver(model, [kinds[0](frame), kinds[1](frame, required=False)])
    looked_at = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        pose = model.pose(frame, model.sample(seed=seed))
        place, turn = pose.xyz + 0.3 * swapped * rng.normal(size=3), pz.SO3.from_rotvec(rng.normal(size=3))
        target = [pose.rotation, place] if swapped else [place, turn]
        answer = solver(target, model.sample(seed=seed + 1000))
        assert answer.success
        e, jacobian = solver.linearise(answer.q, target)
        if not answer.stationary or np.linalg.norm(e[3:]) < 1e-5:  # met within its tolerance, it is done
            continue
        looked_at += 1
        assert np.abs(e[:3]).max() < 1e-8
        slope = -jacobian[3:].T @ e[3:]
        one, low, high = np.eye(model.nv), answer.q <= model.lower + 1e-12, answer.q >= model.upper - 1e-12
        forces = np.c_[jacobian[:3].T, -one[:, low], one[:, high]]
        least = np.r_[np.full(3, -np.inf), np.zeros(low.sum() + high.sum())]
        found = lsq_linear(forces, -slope, bounds=(least, np.full(len(least), np.inf)), tol=1e-14)
        assert np.linalg.norm(forces @ found.x + slope) < 1e-4 * max(float(np.linalg.norm(e[3:])), 1e-3)
    assert looked_at >= 5
