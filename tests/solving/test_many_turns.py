"""Wheels that have turned often: their turns are kept, as far as a double has digits for them, and refused beyond."""

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import poise as pz
from poise.spatial import LARGEST

Array = npt.NDArray[np.float64]
TURN = 2.0 * math.pi
TURNS = [0.0, 1_000.0, -1_700.0, 3e5, -2e7, 1e8]
BEYOND = np.nextafter(LARGEST, np.inf)


def rig(*, multiplier: float | None = None) -> pz.Model:
    """An arm on a wheel that turns without end, with two more such wheels; one that moves no task stands aside."""
    b = pz.ModelBuilder("rig")
    up, ahead = pz.SE3.from_parts([0.0, 0.0, 0.3]), pz.SE3.from_parts([0.4, 0.0, 0.0])
    b.joint("wheel", "continuous", parent="world", child="a", velocity=10.0)
    b.joint("shoulder", "continuous", parent="a", child="b", origin=up, axis=(0, 1, 0), velocity=10.0)
    b.joint("elbow", "revolute", parent="b", child="c", origin=ahead, axis=(0, 1, 0), limits=(-2.5, 2.5), velocity=10.0)
    b.joint("wrist", "continuous", parent="c", child="d", origin=ahead, axis=(1, 0.2, 0.3), velocity=10.0)
    b.joint("aside", "continuous", parent="a", child="e", velocity=10.0)
    if multiplier is not None:
        mimic = pz.Mimic(joint="wheel", multiplier=multiplier)
        b.joint("gear", "continuous", parent="e", child="f", mimic=mimic)
    b.frame("tip", link="d", origin=pz.SE3.from_parts([0.2, 0.1, 0.05]))
    return b.build()


RIG = rig()
TIP = pz.PositionTask("tip")


def turned(q: Array, turns: float) -> Array:
    """q with so many turns of every wheel, and what a double keeps of them."""
    return np.array(q + turns * TURN * np.array([1.0, -1.0, 0.0, 2.0, 1.0]))


@pytest.mark.parametrize("turns", TURNS)
def test_poses_jacobians_and_rows_read_every_turn(turns: float) -> None:
    solver = pz.Solver(RIG, TIP)
    for seed in range(10):
        q = turned(RIG.sample(seed=seed), turns)
        small = np.array([math.remainder(x, TURN) for x in q])
        digits = 8.0 * np.spacing(np.abs(q).max()) + 2.0 * abs(turns) * 2.5e-16 + 1e-14  # 2 pi itself is rounded
        np.testing.assert_allclose(RIG.pose("tip", q).xyz, RIG.pose("tip", small).xyz, rtol=0, atol=digits)
        np.testing.assert_allclose(RIG.jacobian("tip", q), RIG.jacobian("tip", small), rtol=0, atol=digits)
        for one, other in zip(
            solver.linearise(q, [0.1, 0.2, 0.3]), solver.linearise(small, [0.1, 0.2, 0.3]), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=0, atol=digits)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("method", [None, "dls", "lm", "qp"])
def test_a_solve_stays_on_the_turn_of_its_start(turns: float, method: str | None) -> None:
    solver = pz.Solver(RIG, TIP, method=method)
    for seed in range(10):
        q0 = turned(RIG.sample(seed=seed), turns)
        target = RIG.pose("tip", RIG.sample(seed=100 + seed)).xyz
        solution = solver(target, q0)
        assert solution.success
        assert np.linalg.norm(RIG.pose("tip", solution.q).xyz - target) < 2e-6
        assert (np.abs(solution.q - q0)[[0, 1, 3]] <= math.pi + 1e-6).all()
        assert solution.q[4] == q0[4]


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("updates", [1, 3])
def test_a_tracker_keeps_its_speed_on_every_turn(turns: float, updates: int) -> None:
    dt = 0.01
    ik = pz.Tracker(RIG, TIP, dt=dt, updates=updates)
    q = turned(np.array([0.1, -0.4, 0.9, 0.3, 0.2]), turns)
    for seed in range(20):
        after = ik.step(q, RIG.pose("tip", RIG.sample(seed=seed)).xyz).copy()
        assert (np.abs(after - q) <= 10.0 * dt * (1.0 + 1e-9) + updates * np.spacing(np.abs(q))).all()
        q = after


def test_a_wheel_rolls_on_past_ten_thousand_radians() -> None:
    b = pz.ModelBuilder("cart")
    b.joint("wheel", "continuous", parent="world", child="rim", velocity=10.0)
    b.frame("mark", link="rim", origin=pz.SE3.from_parts([0.3, 0.0, 0.0]))
    model, dt = b.build(), 0.01
    ik = pz.Tracker(model, pz.PositionTask("mark"), "lm", dt=dt)
    q = np.array([9_999.0])
    for _ in range(100):
        goal = model.pose("mark", q + 0.05).xyz
        after = ik.step(q, goal).copy()
        assert 0.0 < after[0] - q[0] <= 10.0 * dt * (1.0 + 1e-9)
        q = after
    assert q[0] > 10_001.0


@pytest.mark.parametrize("characters", [1, 9])
def test_rollouts_take_the_steps_of_a_tracker_on_every_turn(characters: int) -> None:
    ik = pz.Tracker(RIG, TIP, dt=0.01)
    starts = np.array([turned(RIG.sample(seed=c), TURNS[c % len(TURNS)]) for c in range(characters)])
    goals = np.array([RIG.pose("tip", RIG.sample(6, seed=50 + c)).xyz for c in range(characters)])[:, :, None]
    ways = ik.rollout(starts, goals)
    for start, goal, way in zip(starts, goals, ways, strict=True):
        ik.reset()
        q = start
        for k in range(len(goal)):
            q = ik.step(q, goal[k]).copy()
            np.testing.assert_allclose(way[k], q, rtol=0, atol=1e-9 + 4.0 * np.spacing(np.abs(q).max()))


CALLS: dict[str, Callable[[pz.Model, Array], Any]] = {
    "solve": lambda model, q: pz.solve(model, pz.PositionTask("tip", [0.1, 0.2, 0.3]), q0=q),
    "method": lambda model, q: pz.solve(model, pz.PositionTask("tip", [0.1, 0.2, 0.3]), q0=q, method="dls"),
    "step": lambda model, q: pz.Tracker(model, TIP).step(q, [0.1, 0.2, 0.3]),
    "rollout": lambda model, q: pz.Tracker(model, TIP).rollout(q, np.zeros((2, 1, 3))),
    "lanes": lambda model, q: pz.Tracker(model, TIP).rollout([model.home, q], np.zeros((2, 2, 1, 3))),
    "linearise": lambda model, q: pz.Solver(model, TIP).linearise(q, [0.1, 0.2, 0.3]),
    "pose": lambda model, q: model.pose("tip", q),
    "poses": lambda model, q: model.pose("tip", [model.home, q]),
    "jacobian": lambda model, q: model.jacobian("tip", q),
    "posture": lambda model, q: pz.solve(model, [pz.PositionTask("tip", [0.1, 0.2, 0.3]), pz.PostureTask(q)]),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("joint", ["wheel", "aside"])
def test_what_has_no_digits_left_is_refused_with_the_name_of_the_joint(call: str, joint: str) -> None:
    q = np.array(RIG.home)
    for model, most in ((RIG, LARGEST), (rig(multiplier=-40.0), LARGEST / 40.0 if joint == "wheel" else LARGEST)):
        q[model.index(joint)] = -most
        CALLS[call](model, q)
        q[model.index(joint)] = np.nextafter(-most, -np.inf)
        with pytest.raises(ValueError, match=rf"'{joint}', is -\d.*e\+1\d: beyond .* a double has no digits left"):
            CALLS[call](model, q)


def test_a_model_keeps_how_far_it_can_count_in_a_pickle() -> None:
    model = pickle.loads(pickle.dumps(rig(multiplier=4.0)))
    assert model.farthest.tolist() == [LARGEST / 4.0, *[LARGEST] * 4]
    assert rig().q(wheel=BEYOND)[0] > model.farthest[0]
