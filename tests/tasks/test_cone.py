"""A cone: nothing inside, the angle beyond its side outside."""

import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.bench.judge import judge

ARM = pz.load("panda")
Q = np.array([0.3, -0.5, 0.2, -2.0, 0.4, 1.8, 0.6])
AXIS = (0.2, 0.3, 1.0)


def tilted(angle: float, base: str | None = None) -> np.ndarray:
    """A direction at this angle from where the axis points at Q, as the base sees it."""
    pose = ARM.pose("panda_hand", Q) if base is None else ARM.pose(base, Q).inverse() @ ARM.pose("panda_hand", Q)
    axis = pose.rotation.act(np.array(AXIS) / np.linalg.norm(AXIS))
    across = np.cross(axis, [0.3, -0.8, 0.5])
    return pz.SO3.from_rotvec(angle * across / np.linalg.norm(across)).act(axis)


@pytest.mark.parametrize("base", [None, "panda_link3"])
@pytest.mark.parametrize(
    ("angle", "left"), [(0.0, 0.0), (0.29, 0.0), (0.3, 0.0), (0.31, 0.01), (1.5, 1.2), (math.pi - 0.01, math.pi - 0.31)]
)
def test_what_is_left_is_the_angle_beyond_its_side(angle: float, left: float, base: str | None) -> None:
    task = pz.ConeTask("panda_hand", AXIS, 3.0 * tilted(angle, base), angle=0.3, weight=2.0, base=base)
    e, jacobian = pz.Solver(ARM, task).linearise(Q)
    np.testing.assert_allclose(e, [-2.0 * left, 0.0, 0.0], atol=1e-8)
    if angle != 0.3:
        assert (np.abs(jacobian).max() > 0.0) == (left > 0.0)
    verdict = judge(ARM, [task], task.goal(task.target)[None], Q[None])
    assert verdict.rotation[0, 0] == pytest.approx(left, abs=1e-9)
    assert verdict.reached[0] == (left < 1e-6)


@pytest.mark.parametrize("base", [None, "panda_link3"])
def test_its_jacobian_is_that_of_the_angle(base: str | None) -> None:
    solver = pz.Solver(ARM, pz.ConeTask("panda_hand", AXIS, tilted(0.8, base), angle=0.3, base=base))
    _, jacobian = solver.linearise(Q)
    ways = 1e-6 * np.eye(ARM.nv)
    numeric = np.array([solver.linearise(Q + way)[0] - solver.linearise(Q - way)[0] for way in ways]).T / 2e-6
    np.testing.assert_allclose(jacobian, -numeric, atol=1e-8)


@pytest.mark.parametrize("method", [None, "lm", "priority"])
def test_it_bounds_what_a_position_leaves_free(method: str | None) -> None:
    position = pz.PositionTask("panda_hand", [0.4, 0.3, 0.3])
    upright = pz.ConeTask("panda_hand", (0, 0, 1), (0, 0, -1), angle=0.2)
    alone = pz.solve(ARM, position, q0=Q, method=method)
    tipped = ARM.pose("panda_hand", alone.q).rotation.act([0, 0, -1])[2]
    assert math.acos(tipped) > 0.2 + 1e-3
    answer = pz.solve(ARM, [position, upright], q0=Q, method=method)
    assert answer.success, answer.explain()
    assert math.acos(ARM.pose("panda_hand", answer.q).rotation.act([0, 0, -1])[2]) <= 0.2 + 2e-6
    np.testing.assert_allclose(ARM.pose("panda_hand", answer.q).xyz, [0.4, 0.3, 0.3], atol=1e-6)


def test_inside_it_changes_nothing() -> None:
    position = pz.PositionTask("panda_hand", [0.45, 0.1, 0.5])
    wide = pz.ConeTask("panda_hand", (0, 0, 1), (0, 0, -1), angle=math.pi)
    ours = pz.solve(ARM, [position, wide], q0=Q, method="lm").q
    np.testing.assert_allclose(ours, pz.solve(ARM, position, q0=Q, method="lm").q, atol=1e-9)


def test_it_says_what_is_left_and_what_is_wrong() -> None:
    fixed = pz.PoseTask("panda_hand", ARM.pose("panda_hand", Q))
    answer = pz.solve(ARM, [fixed, pz.ConeTask("panda_hand", AXIS, tilted(1.0), angle=0.3)], max_restarts=0)
    assert not answer.success
    assert f"ConeTask('panda_hand') {answer.errors[1].rotation:.3g} rad" in answer.explain()
    with refused("out-of-range", "angle"):
        pz.ConeTask("panda_hand", angle=4.0)
    with refused("zero-vector", "target"):
        pz.solve(ARM, pz.ConeTask("panda_hand", target=(0, 0, 0), angle=0.1))


def test_methods_are_compared_on_it() -> None:
    comparison = pz.compare(ARM, pz.ConeTask("panda_hand", angle=0.1), methods=["lm", "dls"], count=10)
    assert comparison["lm"].solved.all()
    assert comparison["lm"].rotation_error.max() <= 1e-6


def everything() -> list[Any]:
    """Rows inside and outside, and steps of two characters, as numbers."""
    values: list[Any] = []
    for angle in (0.1, 0.8):
        task = pz.ConeTask("panda_hand", AXIS, tilted(angle), angle=0.3)
        values += [part.tolist() for part in pz.Solver(ARM, task).linearise(Q)]
        tracker = pz.Tracker(ARM, task, "dls", limits=False)
        targets = np.broadcast_to(tracker.targets, (2, 3, 1, 7))
        values.append(tracker.rollout([Q, ARM.home], targets).tolist())
    return values


def test_it_runs_in_plain_python_too() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, __file__], env=environment, check=True, capture_output=True, text=True, timeout=600
    )
    for ours, theirs in zip(everything(), eval(run.stdout), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


if __name__ == "__main__":
    print(everything())
