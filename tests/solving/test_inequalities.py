"""Limits between joints: kept at every step, and no dearer than they must be."""

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import daqp
import numpy as np
import pytest
from support.mechanisms import at, puppet
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.kernels.rows.sums import ROUNDING
from poise.solving.requirements.inequalities import LinearLimit, together

PANDA, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
SUM = LinearLimit({"panda_joint2": 1.0, "panda_joint4": -1.0}, 2.0)
ROW = np.array([0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0])
FREE: dict[str, Any] = {"damping": 0.1, "max_step": 10.0, "max_error": None}
TIP, DT, N = pz.PositionTask("tip"), 0.01, 9


def _tailed() -> pz.Model:
    """An arm in a plane, and beside it a tail with a fin that follows it, which move no frame of the arm."""
    b = pz.ModelBuilder("tailed")
    for i in range(3):
        b.joint(
            f"joint{i}", "revolute", parent=f"link{i - 1}" if i else "base", child=f"link{i}", limits=(-2.5, 2.5),
            velocity=2.0, origin=at(0.5 * (i > 0), 0, 0),
        )  # fmt: skip
    b.frame("tip", link="link2", origin=at(0.5, 0, 0))
    b.joint("tail", "revolute", parent="base", child="tail_link", limits=(-2.0, 2.0), velocity=2.0)
    b.joint(
        "fin",
        "revolute",
        parent="tail_link",
        child="fin_link",
        mimic=pz.Mimic(joint="tail", multiplier=0.5, offset=0.1),
    )
    return b.build()


TAILED = _tailed()
BENT = np.array([0.1, 0.3, 0.3, 0.4])
TO = np.asarray(TAILED.pose("tip", [0.9, 0.2, -0.2, 0.0]).xyz)
WAY = np.linspace(TAILED.pose("tip", BENT).xyz, TO, N)
THERE = pz.PositionTask("tip", TO)


def _stepped(limits: Any, **more: Any) -> Array:
    tracker, rows = pz.Tracker(TAILED, TIP, dt=DT, limits=limits, **more), [BENT]
    for _ in range(200):
        rows.append(tracker.step(rows[-1], TO))
    return np.array(rows)


def _rolled(limits: Any) -> Array:
    tracker = pz.Tracker(TAILED, TIP, dt=DT, limits=limits)
    return np.vstack([BENT, tracker.rollout(BENT, np.tile(TO, (200, 1, 1)))])


LEADS: dict[str, Any] = {
    "solve": lambda limits: pz.solve(TAILED, THERE, q0=BENT, limits=limits).q[None],
    "solve by steps": lambda limits: pz.solve(TAILED, THERE, q0=BENT, limits=limits, method="dls").q[None],
    "solve_batch": lambda limits: pz.solve_batch(TAILED, TIP, WAY[-1:], q0=BENT[None], limits=limits).q,
    "solve_batch from stored starts": lambda limits: pz.solve_batch(TAILED, TIP, WAY[-1:], limits=limits).q,
    "solve_all": lambda limits: np.asarray(pz.solve_all(TAILED, THERE, None, BENT, limits=limits, samples=8).q),
    "Tracker": _stepped,
    "Tracker by ccd": lambda limits: _stepped(limits, method=pz.methods.CyclicCoordinateDescent()),
    "rollout": _rolled,
    "explore": lambda limits: _stepped(limits, explore=True),
    "solve_path": lambda limits: pz.solve_path(TAILED, TIP, WAY, q0=BENT, limits=limits).q,
    "plan": lambda limits: pz.plan(TAILED, TIP, WAY[[0, -1]], q0=BENT, limits=limits).q,
}


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


@pytest.mark.parametrize("method", ["qp", "dls", "jt", "ccd"])
def test_a_start_beyond_it_comes_back_in_one_step(method: str) -> None:
    """Though its target is there, and the method knows nothing of sums."""
    q = np.array([0.0, 0.6, 0.0, -1.7, 0.0, 1.9, 0.8])
    step = pz.Tracker(PANDA, HAND, method, limits=[SUM]).step(q, PANDA.pose("panda_hand", q))
    assert ROW @ step == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize("name", LEADS)
def test_a_joint_that_moves_no_task_takes_its_share(name: str) -> None:
    """Joint 0 and the fin, which is at half the tail and 0.1."""
    q = LEADS[name]([LinearLimit({"joint0": 1.0, "fin": 1.0}, 0.9)])
    assert (q[:, 0] + 0.5 * q[:, 3] + 0.1).max() <= 0.9 + 1e-9
    ends = q if name == "solve_all" else q[-1:]
    assert np.abs(TAILED.pose("tip", ends).xyz - TO).max() < 0.02
    assert TAILED.within_limits(q)


@pytest.mark.parametrize("name", LEADS)
def test_it_stays_where_it_is_while_the_limit_is_not_reached(name: str) -> None:
    free, held = (LEADS[name](limits) for limits in (True, [LinearLimit({"joint0": 1.0, "tail": 1.0}, 50.0)]))
    assert np.ptp(held[:, 3]) <= 1e-12
    if name.startswith("solve"):
        np.testing.assert_allclose(held, free, atol=1e-9 if name == "solve_path" else 0.0)


def test_what_begins_beyond_comes_back_though_it_moves_no_task() -> None:
    limit = LinearLimit({"tail": 1.0}, 0.2)
    found = pz.solve(TAILED, THERE, q0=BENT, limits=[limit])
    assert found.success
    assert found.q[3] <= 0.2 + 1e-12
    for method in (None, "dls"):
        tails = _stepped([limit], method=method)[:, 3]
        assert (np.diff(tails) <= 0.0).all()
        assert tails[-1] == pytest.approx(0.2, abs=1e-12)
        assert tails[1] == pytest.approx(0.4 - 2.0 * DT, abs=1e-12)


def test_what_cannot_be_kept_is_refused() -> None:
    assert pz.Tracker(PANDA, HAND, limits=[SUM]).method.name == "qp"
    with refused("not-supported", "'shoulder'"):
        pz.Tracker(puppet(), pz.PositionTask("palm"), limits=[LinearLimit({"shoulder": 1.0}, 1.0)])
    with refused("empty"):
        pz.Tracker(TAILED, TIP, limits=[LinearLimit({"tail": 1.0, "fin": -2.0}, 1.0)])
    with refused("empty", "coefficients"):
        LinearLimit({}, 1.0)
    with refused("not-finite"):
        LinearLimit({"panda_joint1": np.nan}, 1.0)
    for wrong in ("a", None, [1.0]):
        with refused("not-a-number"):
            LinearLimit({"panda_joint1": 1.0}, wrong)  # type: ignore[arg-type]
    with refused("empty"):
        LinearLimit({"panda_joint1": 0.0}, -1.0)
    for given in (SUM, "yes", [1], [LinearLimit], None, 0):
        with refused("not-a-limit", "limits"):
            pz.Tracker(PANDA, HAND, "qp", limits=given)  # type: ignore[arg-type]


def test_what_is_no_limit_is_refused_by_a_solve() -> None:
    for given in ([1], SUM, "no", None):
        with refused("not-a-limit", "limits"):
            pz.Solver(PANDA, HAND, limits=given)  # type: ignore[arg-type]
        with refused("not-a-limit", "limits"):
            pz.solve(PANDA, pz.PositionTask("panda_hand", [0.4, 0.1, 0.5]), limits=given)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [pz.VelocityLimit, pz.AccelerationLimit, pz.JerkLimit, pz.FollowingErrorLimit])
def test_limits_keep_nothing_that_a_caller_may_change(kind: Any) -> None:
    numbers, some, each = np.full(7, 5.0), {"panda_joint1": 5.0}, [5.0]
    limits = [kind(numbers), kind(some), kind({"panda_joint1": each})]
    told = list(map(repr, limits))
    numbers[:], some["panda_joint1"], each[0] = 50.0, 50.0, 50.0
    assert list(map(repr, limits)) == told
    for limit in limits:
        for again in (copy.copy(limit), copy.deepcopy(limit), pickle.loads(pickle.dumps(limit))):
            (held,) = (x for x in (getattr(again, "most", None), getattr(again, "joints", None)) if x is not None)
            with pytest.raises((TypeError, ValueError)):
                held["panda_joint1" if isinstance(held, Mapping) else 0] = 50.0
            assert repr(again) == repr(limit)


def test_a_sum_of_joints_is_what_it_was_made_of() -> None:
    given: dict[str, float] = {"panda_joint1": 1}
    limit = LinearLimit(given, 0.1)
    given.clear()
    assert repr(limit) == "LinearLimit(coefficients={'panda_joint1': 1.0}, most=0.1)"
    assert (
        pickle.loads(pickle.dumps(limit)).structure == limit.structure == LinearLimit(limit.coefficients, 0.1).structure
    )
    assert pz.solve(PANDA, pz.PositionTask("panda_hand", [0.4, 0.3, 0.5]), limits=[limit]).q[0] <= 0.1


def test_pairs_that_may_touch_are_what_they_were() -> None:
    given = [["panda_link5", "ball"]], {("panda_link5", "ball")}
    for pairs in given:
        limit = pz.CollisionLimit(allowed=pairs)  # type: ignore[arg-type]
        told = repr(limit)
        pairs.clear()
        assert repr(limit) == told
        assert [sorted(pair) for pair in pickle.loads(pickle.dumps(limit)).allowed] == [["ball", "panda_link5"]]


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1.0, 1e155, 1e300])
def test_the_size_of_the_coefficients_is_of_no_account(size: float) -> None:
    """Joints 2 and 4 together at most -1.9, from a start at -1.5."""
    limit = LinearLimit({"panda_joint2": size, "panda_joint4": size}, -1.9 * size)
    q = np.array([0.0, 0.2, 0.0, -1.7, 0.0, 1.9, 0.8])
    step = pz.Tracker(PANDA, HAND, "qp", limits=[limit]).step(q, PANDA.pose("panda_hand", q))
    assert step[1] + step[3] == pytest.approx(-1.9, abs=1e-12)


def _turning(n: int) -> pz.Model:
    """A chain of n joints without limits, about two axes in turn."""
    b = pz.ModelBuilder("turning")
    for i in range(n):
        b.joint(
            f"joint{i}", "continuous", parent=f"link{i - 1}" if i else "base", child=f"link{i}", velocity=2.0,
            axis=(0, i % 2, 1 - i % 2), origin=at(0.2 * (i > 0), 0, 0.1),
        )  # fmt: skip
    b.frame("tip", link=f"link{n - 1}", origin=at(0.2, 0.05, 0))
    return b.build()


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_all_agree_on_what_a_sum_may_be_beyond_its_limit_for_rounding(n: int, factor: float, size: float) -> None:
    """Within the rounding of its terms it holds for all, and is at its limit for all; beyond, it is broken for all."""
    model = _turning(n)
    q = size * np.array([1.0, -0.7, 0.9, -1.1, 0.8, -1.0, 0.6])[:n]
    row = np.array([factor, 1.0, factor, -1.0 / factor, factor, 1.0, factor])[:n]
    rounding = ROUNDING * float(np.abs(row) @ np.maximum(np.abs(q), 1.0))
    there = np.asarray(model.pose("tip", q).xyz)
    for beyond in (-1e8, -0.9, -0.1, 0.1, 0.9, 1.1, 20.0):
        limit = LinearLimit(dict(zip(model.joint_names, row, strict=True)), float(row @ q) - beyond * rounding)
        solution = pz.solve(model, pz.PositionTask("tip", there), q0=q, limits=[limit], max_restarts=0)
        path = pz.solve_path(model, TIP, there[None], start=q, limits=[limit])
        tracker = pz.Tracker(model, TIP, dt=DT, limits=[limit])
        back = float(row @ (q - tracker.step(q, there))) / rounding
        assert np.isclose(back, max(beyond, 0.0), rtol=1e-2, atol=1e-2)  # a step takes back even what is rounding
        holds = beyond < 1.0
        assert (solution.success and np.array_equal(solution.q, q)) == holds
        assert path.status is (pz.Status.CONVERGED if holds else pz.Status.LIMIT)
        if holds:
            at_limit = beyond > -1.0
            assert bool(tracker.active_limits) == at_limit
            assert ("a sum of joints" in solution.gradient().reason) == at_limit


def test_a_step_that_begins_far_beyond_a_sum_says_how_far_it_is() -> None:
    b = pz.ModelBuilder("stage")
    for i, axis in enumerate(((1, 0, 0), (0, 1, 0))):
        b.joint(f"x{i}", "prismatic", parent=f"l{i}", child=f"l{i + 1}", axis=axis, limits=(-9, 9), velocity=1.0)
    limit = pz.LinearLimit({"x0": 1.0, "x1": 0.5}, 0.25)
    tracker, q = pz.Tracker(b.build(), pz.PositionTask("l2", [3.0, 0.0, 0.0]), dt=0.1, limits=[limit]), np.full(2, 4.0)
    q = tracker.step(q)
    assert f"x0 and x1 are {q[0] + 0.5 * q[1] - 0.25:.3g} beyond their LinearLimit, 0.25" in tracker.explain()
    for _ in range(60):
        q = tracker.step(q)
    assert "x0 and x1 are at their LinearLimit, 0.25" in tracker.explain()


@pytest.mark.parametrize("some", [[0, 2, 5], [3, 4, 5, 7, 9], [8], [], list(range(12))])
def test_what_limits_say_of_some_velocities_is_a_part_of_what_they_say_of_all(some: list[int]) -> None:
    model = pz.load("g1", base="floating")
    first, second, third = [joint.name for joint in model.joints if joint.speeds][-3:]
    limits: list[Any] = [
        pz.VelocityLimit({first: 2.0}), pz.AccelerationLimit({second: 3.0}), pz.JerkLimit({third: 40.0}),
        pz.TwistLimit(1.0, 2.0), pz.LinearLimit({first: 1.0, third: -0.5}, 1.0), pz.ToolSpeedLimit(linear=0.5),
    ]  # fmt: skip
    some = [*some, model.nv - 1]
    part, asked = together(model, range(model.nv), limits, 0.1).of(some), together(model, some, limits, 0.1)
    for name in ("changes", "rows", "most", "accelerations", "jerks"):
        np.testing.assert_array_equal(getattr(part, name), getattr(asked, name), err_msg=name)
    assert (part.twists, part.tools) == (asked.twists, asked.tools)
