"""Any method takes what it knows nothing of: later levels, soft tasks and a posture get what its own step leaves, and
limits, ranges and loops hold."""

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from support.mechanisms import CRANK, GROUND, ROCKER, four_bar, gap, rocker_angles
from support.registered import for_a_while

import poise as pz
from poise import own
from poise.common.array import Array
from poise.methods import METHODS
from poise.solving.arguments.capabilities import CANNOT

ARM = pz.load("panda")
HAND = "panda_hand"
Q0 = np.array([0.1, -0.4, 0.2, -1.9, 0.1, 1.6, 0.6])
NAMES = tuple(METHODS)
FIRST_ONLY = [name for name, kind in METHODS.items() if not kind.capabilities.priorities]


def jacobian(q: Array) -> Array:
    """(6, 7) of the place and the turn of the hand, in the world, by differences."""
    found, h = np.empty((6, 7)), 1e-6
    for a in range(7):
        ahead, back = (ARM.pose(HAND, q + s * h * np.eye(7)[a]) for s in (1.0, -1.0))
        found[:3, a] = (ahead.xyz - back.xyz) / (2 * h)
        turn = Rotation.from_matrix(ahead.rotation.matrix() @ back.rotation.matrix().T)
        found[3:, a] = turn.as_rotvec() / (2 * h)
    return found


@pytest.mark.parametrize("method", FIRST_ONLY)
@pytest.mark.parametrize("later", [{"required": False}, {"priority": 1}], ids=["soft", "level"])
def test_a_later_level_goes_as_far_as_the_step_of_the_method_lets_it(method: str, later: dict[str, Any]) -> None:
    place = ARM.pose(HAND, Q0).xyz + np.array([1e-5, -2e-5, 1e-5])
    turn = np.array([1e-5, 2e-5, -1e-5])
    pull = pz.PositionTask(HAND, target=place)
    look = pz.OrientationTask(HAND, target=pz.SO3.from_rotvec(turn) @ ARM.pose(HAND, Q0).rotation, **later)
    alone = pz.Tracker(ARM, pull, method).step(Q0) - Q0
    both = pz.Tracker(ARM, [pull, look], method).step(Q0) - Q0
    rows = jacobian(Q0)
    wanted = np.concatenate([rows[:3] @ alone, turn])
    nearest = alone + np.linalg.pinv(rows) @ (wanted - rows @ alone)
    assert rows[:3] @ both == pytest.approx(rows[:3] @ alone, rel=0.0, abs=1e-9)
    assert both == pytest.approx(nearest, rel=0.0, abs=1e-3 * np.abs(nearest).max())


@pytest.mark.parametrize("method", NAMES)
def test_a_posture_is_the_nearest_of_all_that_reach_the_target(method: str) -> None:
    place, rest = ARM.pose(HAND, Q0).xyz + np.array([0.05, 0.1, -0.05]), Q0 + 0.2
    found = minimize(
        lambda q: float(((q - rest) ** 2).sum()), Q0, method="SLSQP", options={"ftol": 1e-14, "maxiter": 300},
        constraints={"type": "eq", "fun": lambda q: ARM.pose(HAND, q).xyz - place},
    )  # fmt: skip
    tasks = [pz.PositionTask(HAND, target=place), pz.PostureTask(rest)]
    tracker, q = pz.Tracker(ARM, tasks, method), Q0
    for _ in range(1500 if method == "jt" else 300):
        q = tracker.step(q)
    assert ARM.pose(HAND, q).xyz == pytest.approx(place, abs=1e-4)
    assert np.linalg.norm(q - rest) == pytest.approx(np.sqrt(found.fun), abs=1e-3)


@pytest.mark.parametrize("method", [None, "dls", "priority", "jt", "fabrik"])
def test_a_posture_may_be_all_that_is_followed(method: str | None) -> None:
    limits = [pz.AccelerationLimit(5.0), pz.JerkLimit(50.0)]
    tracker, q = pz.Tracker(ARM, pz.PostureTask(Q0 + 0.2), method, dt=0.01, limits=limits), Q0
    for _ in range(200):
        q = tracker.step(q)
    assert q == pytest.approx(Q0 + 0.2, abs=1e-9)
    assert [error.posture for error in tracker.errors] == [pytest.approx(0.0, abs=1e-9)]
    assert "from the posture" in tracker.explain()


@pytest.mark.parametrize("method", FIRST_ONLY)
def test_a_soft_task_gives_way_in_a_solve(method: str) -> None:
    there = ARM.integrate(Q0, 0.2 * np.ones(7))
    tasks = [
        pz.PositionTask(HAND, target=ARM.pose(HAND, there).xyz),
        pz.OrientationTask(HAND, target=ARM.pose(HAND, there).rotation, required=False),
    ]
    solution = pz.solve(ARM, tasks, q0=Q0, method=method)
    assert solution.success
    assert solution.errors[0].position < 1e-5
    assert solution.errors[1].rotation < 1e-4


@pytest.mark.parametrize("method", ["jt", "ccd", "lm"])
def test_rollouts_copies_and_resets_go_the_way_of_steps(method: str) -> None:
    tasks = [pz.PositionTask(HAND), pz.OrientationTask(HAND, required=False), pz.PostureTask(Q0 + 0.1)]
    targets = np.tile(pz.Tracker(ARM, tasks, method).targets, (40, 1, 1))
    targets[:, 0, :3] = ARM.pose(HAND, Q0).xyz + 0.002 * np.arange(40)[:, None]
    tracker = pz.Tracker(ARM, tasks, method, dt=0.01, updates=2)
    way = tracker.rollout(Q0, targets)
    for start in range(2):
        q = Q0
        for k, row in enumerate(targets):
            if k == 20 and start:
                tracker = pickle.loads(pickle.dumps(tracker))
            tracker.targets[:] = row
            q = tracker.step(q)
            assert np.array_equal(q, way[k])
        tracker.reset()


def test_fabrik_leads_what_a_loop_holds() -> None:
    model, place = four_bar(), four_bar().pose("pen", _closed(0.9)).xyz
    tracker, q = pz.Tracker(model, pz.PositionTask("pen", target=place), "fabrik", dt=0.01), _closed(0.5)
    for _ in range(300):
        q = tracker.step(q)
        assert gap(model, q) < 1e-6
    assert model.pose("pen", q).xyz == pytest.approx(place, abs=1e-3)


def _closed(crank: float) -> Array:
    """(3,) angles of the four-bar at an angle of its crank [rad]."""
    rocker = rocker_angles(crank)[1]
    end = GROUND + ROCKER * np.exp(1j * rocker) - CRANK * np.exp(1j * crank)
    return np.array([crank, np.angle(end) - crank, rocker])


@dataclass(frozen=True, kw_only=True)
class _Runaway(own.Method):
    """Goes on, whatever the limits."""

    name: ClassVar[str] = "runaway"
    title: ClassVar[str] = "Runaway"
    capabilities: ClassVar[own.Capabilities] = own.Capabilities(limits=False, characters=False)

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> Any:
        for i in range(len(w.q)):
            w.q[i] = w.q[i] + 0.05
        return 1.0, 2.0


def test_a_method_that_knows_no_limits_is_kept_within_them() -> None:
    with for_a_while():
        own.method(_Runaway)
        tracker, q = pz.Tracker(ARM, pz.PositionTask(HAND), "runaway", dt=0.01), Q0
        for _ in range(200):
            before, q = q, tracker.step(q)
            assert ARM.within_limits(q)
            assert (np.abs(q - before) <= 0.01 * ARM.velocity + 1e-12).all()
        assert q == pytest.approx(ARM.upper, abs=1e-12)


@pytest.mark.parametrize("method", ["bfgs", "fabrik"])
def test_limits_hold_in_solves_too(method: str) -> None:
    rng = np.random.default_rng(1)
    solved = 0
    for _ in range(20):
        goal = ARM.pose(HAND, ARM.sample(1, seed=int(rng.integers(1000)))[0]).xyz
        solution = pz.solve(ARM, pz.PositionTask(HAND, target=goal), q0=Q0, method=method)
        assert ARM.within_limits(solution.q)
        solved += solution.success
    assert solved == 20


def test_what_a_method_cannot_do_is_said_once_and_stands_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "methods" / "index.md").read_text(encoding="utf-8")
    for says, why in CANNOT.values():
        assert f"| {says} | {why} |\n" in page
