"""A requirement of the user's own, in one file: this one.  It holds in whatever answers, as those of the package do."""

import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.common.array import Array
from poise.kernels.machine.lanes import load, store

ARM = pz.load("panda")
HAND, ELBOW = "panda_hand", "panda_link4"
Q = np.array([0.3, -0.5, 0.2, -2.0, 0.4, 1.8, 0.6])
DT = 0.01


@dataclass(frozen=True, kw_only=True)
class HeightLimit(pz.Task):
    """Keep a frame below `most` and above `least` [m]."""

    frame: str
    least: float
    most: float
    rows = 2
    unit = "m"
    inequality = True

    @staticmethod
    def residual(frames: Any, numbers: Any, out: Any) -> None:
        out[0] = frames[0, 2] - numbers[1]
        out[1] = numbers[0] - frames[0, 2]


@dataclass(frozen=True, kw_only=True)
class WideHeightLimit(HeightLimit):
    """The same for eight problems at once, with derivatives."""

    lanes = True

    @staticmethod
    def residual(frames: Any, numbers: Any, out: Any) -> None:
        store(out, 0, load(frames, 2) - load(numbers, 1))
        store(out, 1, load(numbers, 0) - load(frames, 2))

    @staticmethod
    def jacobian(frames: Any, numbers: Any, out: Any) -> None:
        zero = 0.0 * load(frames, 0)
        for i in range(12):
            store(out, i, zero)
        store(out, 2, zero + 1.0), store(out, 8, zero - 1.0)


KINDS = pytest.mark.parametrize("kind", [HeightLimit, WideHeightLimit])


def low(kind: type[HeightLimit], **more: Any) -> HeightLimit:
    return kind(frame=ELBOW, least=0.1, most=0.55, **more)


def beyond(rows: Array) -> float:
    height = ARM.pose(ELBOW, rows).xyz[..., 2]
    return float(max(np.max(height - 0.55), np.max(0.1 - height)))


def goals(count: int) -> Array:
    q = ARM.sample(40 * count, seed=5)
    height = ARM.pose(ELBOW, q).xyz[:, 2]
    return np.asarray(ARM.pose(HAND, q[(height < 0.54) & (height > 0.11)][:count]).xyz)


@KINDS
def test_in_solves_alone_and_in_batches(kind: type[HeightLimit]) -> None:
    solver = pz.Solver(ARM, [pz.PositionTask(HAND), low(kind)])
    places = goals(20)
    batch = solver.batch([places, None])
    assert batch.success.all()
    assert beyond(batch.q) <= 1e-6
    for place in places:
        answer = solver([place, None])
        assert answer.success
        assert beyond(answer.q) <= 1e-6
        assert answer.errors[1].position == pytest.approx(max(0.0, beyond(answer.q)), abs=1e-12)
    assert not pz.solve(ARM, [pz.PositionTask(HAND, [0.3, 0.0, 1.1]), low(kind)]).success


@KINDS
@pytest.mark.parametrize(
    "beside",
    [
        lambda place: [pz.PositionTask(HAND, place, required=False)],
        lambda place: [pz.PositionTask(HAND, place), pz.PostureTask(ARM.home)],
        lambda place: [pz.PositionTask(HAND, place), pz.PositionTask("panda_link5", [0.2, 0.3, 0.6], required=False)],
    ],
    ids=["soft", "posture", "both"],
)
def test_beside_what_is_wanted(kind: type[HeightLimit], beside: Callable[[Array], list[Any]]) -> None:
    for place in ([0.3, 0.0, 1.0], [0.4, 0.3, 0.4], [0.0, 0.2, 1.2]):
        answer = pz.solve(ARM, [low(kind), *beside(np.array(place))], q0=Q)
        assert beyond(answer.q) <= 1e-6


@KINDS
@pytest.mark.parametrize("limits", [True, [pz.AccelerationLimit(20.0)], [pz.LinearLimit({"panda_joint2": 1.0}, 0.4)]])
def test_in_a_tracker_and_a_rollout(kind: type[HeightLimit], limits: Any) -> None:
    way = np.linspace(ARM.pose(HAND, Q).xyz, [0.2, 0.1, 1.1], 150)
    q0 = pz.solve(ARM, [pz.PositionTask(HAND, way[0]), low(kind)], q0=Q).q
    loop, q, rows = pz.Tracker(ARM, [pz.PositionTask(HAND), low(kind)], dt=DT, limits=limits), q0, []
    for place in way:
        q = loop.step(q, [place, None]).copy()
        rows.append(q)
    assert beyond(np.array(rows)) <= 1e-9
    assert beyond(np.array(rows)) > -1e-3  # it went up to the border
    targets = np.zeros((len(way), 2, 7))
    targets[:, 0, :3], targets[:, 0, 3] = way, 1.0
    rolled = pz.Tracker(ARM, [pz.PositionTask(HAND), low(kind)], dt=DT, limits=limits).rollout(q0, targets)
    np.testing.assert_allclose(rolled, rows, atol=1e-12)


def test_a_row_without_weight_is_no_side() -> None:
    loop = pz.Tracker(ARM, [pz.PositionTask(HAND), low(HeightLimit, weight=(0.0, 1.0))], dt=DT)
    q = pz.solve(ARM, [pz.PositionTask(HAND, [0.4, 0.2, 0.4]), low(HeightLimit)], q0=Q).q
    for _ in range(300):
        q = loop.step(q, [[0.2, 0.1, 1.1], None])
    assert ARM.pose(ELBOW, q).xyz[2] > 0.56


def test_all_solutions_keep_it() -> None:
    place = goals(1)[0]
    found = pz.solve_all(ARM, [pz.PositionTask(HAND, place), low(HeightLimit)], samples=4)
    assert len(found)
    assert beyond(found.q) <= 1e-6


def test_along_paths() -> None:
    way = np.linspace([0.4, -0.3, 0.4], [0.4, 0.3, 0.5], 12)
    tasks = [pz.PositionTask(HAND), low(HeightLimit)]
    found = pz.solve_path(ARM, tasks, [way, None], q0=Q)
    assert found.success, found.explain()
    assert beyond(found.q) <= 1e-6
    there = pz.plan(ARM, tasks, [way[[0, -1]], None], q0=found.q[0])
    assert there.success, there.explain()
    assert beyond(there.q) <= 1e-6


def test_it_travels() -> None:
    solver = pz.Solver(ARM, [pz.PositionTask(HAND), low(HeightLimit)])
    place = goals(1)[0]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(solver))([place, None]).q, solver([place, None]).q)


@dataclass(frozen=True, kw_only=True)
class Dome(pz.Task):
    """Stay under an arc over x, which has no number beyond its ends [m]."""

    frame: str
    radius: float
    unit = "m"
    inequality = True

    @staticmethod
    def residual(frames: Any, numbers: Any, out: Any) -> None:
        out[0] = abs(frames[0, 1]) - np.sqrt(numbers[0] ** 2 - frames[0, 0] ** 2)


@dataclass(frozen=True, kw_only=True)
class Arc(Dome):
    """Stay on it."""

    inequality = False


@pytest.mark.parametrize("kind", [Dome, Arc])
@pytest.mark.parametrize("method", ["priority", "dls"])
@pytest.mark.parametrize(
    "limits",
    [True, [pz.LinearLimit({"panda_joint1": 1.0}, 0.5)], [pz.AccelerationLimit(5.0), pz.JerkLimit(50.0)]],
    ids=["plain", "sum", "jerks"],
)
def test_where_what_must_hold_has_no_number_the_arm_stays_or_brakes(kind: Any, method: str, limits: Any) -> None:
    hand = pz.PositionTask(HAND, [0.75, 0.0, 0.5], weight=(1.0, float(kind.inequality), 1.0))
    loop = pz.Tracker(ARM, [hand, kind(frame=HAND, radius=0.62)], method, dt=DT, limits=limits)
    q, speed = np.array(ARM.home), np.zeros(ARM.nv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for _ in range(300):
            before, (q, last) = q, (loop.step(q), speed)
            speed = q - before
            assert np.isfinite(q).all()
            if loop.failed and (limits is True or len(limits) == 1):
                assert np.array_equal(q, before)
            elif loop.failed:
                assert (np.abs(speed - last) <= 5.0 * DT**2 * (1.0 + 1e-6) + 1e-12).all()
        assert np.isfinite(loop.rollout(ARM.home, np.tile(loop.targets, (300, 1, 1)))).all()
