"""An answer is at rest where its gradient says so: beside a posture, of soft tasks, and of both."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from support.mechanisms import four_bar, two_arms

import poise as pz

ARMS = {name: pz.load(name) for name in ("panda", "ur5e", "so100", "planar3")}
CLOSE = 1e-9
"""How far an answer may be from its rest [rad or m]: Newton's step before the last was a thousand times as long."""
TRIES = 12
"""Questions of a test, at most: an answer may be singular, and then it has no derivative."""


def question(model: pz.Model, kind: str, seed: int) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """Tasks, a start and a posture, of which some joints are at their limits or beyond."""
    there, other, start, posture = model.sample((4,), seed=seed)
    rng = np.random.default_rng(seed)
    posture = np.where(rng.random(model.nq) < 0.3, np.where(rng.random(model.nq) < 0.5, 4.0, -4.0), posture)
    pose, turn = model.pose(model.tip, there), model.pose(model.tip, other).rotation
    place, wish = pz.PositionTask(model.tip, pose.xyz), pz.OrientationTask(model.tip, turn, required=False)
    tasks: dict[str, list[Any]] = {
        "pose, posture": [pz.PoseTask(model.tip, pose), pz.PostureTask(posture)],
        "place, posture": [place, pz.PostureTask(posture)],
        "soft": [place, wish],
        "soft and posture": [place, wish, pz.PostureTask(posture)],
    }
    return tasks[kind], start, posture


def away(solution: pz.Solution) -> float | None:
    """How far an answer is from the rest of its gradient; None where it has none."""
    gradient = solution.gradient()
    if not solution.success or gradient.status == "undefined":
        return None
    return float(np.abs(solution.model.difference(solution.q, gradient.q)).max())


@pytest.mark.parametrize("kind", ["pose, posture", "place, posture", "soft", "soft and posture"])
@pytest.mark.parametrize("name", ARMS)
@settings(max_examples=TRIES)
@given(seed=st.integers(0, 2**31))
def test_an_answer_is_where_its_gradient_is_taken(name: str, kind: str, seed: int) -> None:
    tasks, start, _ = question(ARMS[name], kind, seed)
    solution = pz.solve(ARMS[name], tasks, q0=start)
    far = away(solution)
    assert far is None or far <= CLOSE


@pytest.mark.parametrize("kind", ["pose, posture", "place, posture"])
@pytest.mark.parametrize("name", ["panda", "ur5e"])
def test_beside_a_posture_an_answer_fulfils_the_conditions_of_a_minimum(name: str, kind: str) -> None:
    """Karush, Kuhn and Tucker: the way from the posture is one of the tasks' rows and of limits that are met."""
    model, looked_at = ARMS[name], 0
    for seed in range(TRIES):
        tasks, start, posture = question(model, kind, seed)
        solver = pz.Solver(model, tasks[0])
        solution = pz.solve(model, tasks, q0=start)
        if not solution.success:
            continue
        e, jacobian = solver.linearise(solution.q, tasks[0].target)
        if np.linalg.svd(jacobian)[1].min() < 1e-2:
            continue
        looked_at += 1
        assert np.abs(e).max() < CLOSE
        one, low, high = np.eye(model.nv), solution.q <= model.lower, solution.q >= model.upper
        forces = np.c_[jacobian.T, -one[:, low], one[:, high]]
        least = np.r_[np.full(len(e), -np.inf), np.zeros(low.sum() + high.sum())]
        found = lsq_linear(forces, posture - solution.q, bounds=(least, np.full(len(least), np.inf)), tol=1e-14)
        assert np.sqrt(2.0 * found.cost) < 1e-8
    assert looked_at > TRIES / 2


@pytest.mark.parametrize("made", [four_bar, two_arms])
def test_in_a_loop_too(made: Any) -> None:
    """A place of the tip that may be missed, a posture, and both; two arms have spherical joints with limits."""
    model, looked_at = made(), 0
    for seed in range(TRIES):
        rng = np.random.default_rng(seed)
        wish = pz.PositionTask(model.tip, np.array([*rng.uniform(-2.0, 2.0, 2), 0.0]), required=False)
        posture = pz.PostureTask(model.sample(seed=seed))
        for tasks in ([wish], [wish, posture], [posture]):
            far = away(pz.solve(model, tasks))
            looked_at += far is not None
            assert far is None or far <= CLOSE
    assert looked_at > TRIES
