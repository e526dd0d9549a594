"""Limits between joints: kept at every step, and no dearer than they must be."""

from typing import Any

import daqp
import numpy as np
import pytest

import poise as pz
from poise.solving.inequalities import LinearLimit

PANDA, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
SUM = LinearLimit({"panda_joint2": 1.0, "panda_joint4": -1.0}, 2.0)
ROW = np.array([0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0])
FREE: dict[str, Any] = {"damping": 0.1, "max_step": 10.0, "max_error": None}


@pytest.mark.parametrize("method", [pz.methods.BoundedLeastSquares(**FREE), pz.methods.TaskPriority(**FREE)])
def test_the_step_is_the_minimum_that_a_dense_solver_finds(method: Any) -> None:
    limited = pz.Tracker(PANDA, HAND, method, limits=[SUM])
    met = 0
    for seed in range(100):
        q, there = PANDA.sample(2, seed=seed)
        target = PANDA.pose("panda_hand", there)
        e, j = pz.Solver(PANDA, HAND).linearise(q, target)
        left = 2.0 - ROW @ q
        above, below = np.append(PANDA.upper - q, left), np.append(PANDA.lower - q, -1e30)
        hessian, slope = j.T @ j + 0.01 * np.eye(7), -j.T @ e
        best, _, flag, _ = daqp.solve(hessian, slope, ROW[None], above, below, np.zeros(8, np.int32), primal_tol=1e-9)
        if flag <= 0:
            continue
        limited.reset()
        step = limited.step(q, target) - q
        np.testing.assert_allclose(step, best, rtol=0, atol=1e-6)
        met += ROW @ step > left - 1e-9
    assert met > 20


@pytest.mark.parametrize("name", ["qp", "priority"])
def test_a_path_keeps_it_and_goes_along_it(name: str) -> None:
    q = np.array([0.0, 0.2, 0.0, -1.7, 0.0, 1.9, 0.8])
    limited, open_way = pz.Tracker(PANDA, HAND, name, limits=[SUM]), pz.Tracker(PANDA, HAND, name)
    target = PANDA.pose("panda_hand", np.array([0.1, 0.9, 0.1, -2.4, 0.0, 2.9, 0.8]))
    free, kept, sums = q, q, []
    for _ in range(100):
        free, kept = open_way.step(free, target).copy(), limited.step(kept, target).copy()
        sums.append(ROW @ kept)
    assert ROW @ free > 2.2
    assert max(sums) <= 2.0 + 1e-12
    assert sums[-1] == pytest.approx(2.0, abs=1e-9)
    assert PANDA.within_limits(kept)


def test_a_start_beyond_it_comes_back_in_one_step() -> None:
    q = np.array([0.0, 0.6, 0.0, -1.7, 0.0, 1.9, 0.8])
    step = pz.Tracker(PANDA, HAND, "qp", limits=[SUM]).step(q, PANDA.pose("panda_hand", q))
    assert ROW @ step == pytest.approx(2.0, abs=1e-12)


def test_what_cannot_be_kept_is_refused() -> None:
    assert pz.Tracker(PANDA, HAND, limits=[SUM]).method.name == "qp"
    with pytest.raises(ValueError, match="must be one coordinate that moves a task's frame"):
        pz.Tracker(PANDA, pz.PositionTask("panda_link3"), "qp", limits=[SUM])
    with pytest.raises(ValueError, match="coefficients must name joints"):
        LinearLimit({}, 1.0)
    with pytest.raises(ValueError, match="holds nan, which is no finite number"):
        LinearLimit({"panda_joint1": np.nan}, 1.0)
    for wrong in ("a", None, [1.0]):
        with pytest.raises(ValueError, match="which is no finite number"):
            LinearLimit({"panda_joint1": 1.0}, wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no coefficient but 0"):
        LinearLimit({"panda_joint1": 0.0}, -1.0)
    for given in (SUM, "yes", [1], None, 0):
        with pytest.raises(TypeError, match="limits must be True or False"):
            pz.Tracker(PANDA, HAND, "qp", limits=given)  # type: ignore[arg-type]


def test_what_is_no_limit_is_refused_by_a_solve() -> None:
    for given in ([1], SUM, "no", None):
        with pytest.raises(TypeError, match="limits must be True or False"):
            pz.Solver(PANDA, HAND, limits=given)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="limits must be True or False"):
            pz.solve(PANDA, pz.PositionTask("panda_hand", [0.4, 0.1, 0.5]), limits=given)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1.0, 1e155, 1e300])
def test_the_size_of_the_coefficients_is_of_no_account(size: float) -> None:
    """Joints 2 and 4 together at most -1.9, from a start at -1.5."""
    limit = LinearLimit({"panda_joint2": size, "panda_joint4": size}, -1.9 * size)
    q = np.array([0.0, 0.2, 0.0, -1.7, 0.0, 1.9, 0.8])
    step = pz.Tracker(PANDA, HAND, "qp", limits=[limit]).step(q, PANDA.pose("panda_hand", q))
    assert step[1] + step[3] == pytest.approx(-1.9, abs=1e-12)
