"""How trackers come to rest where targets stand still, in and out of reach, and go on when they move."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.refusals import refused

import poise as pz
from poise.kernels.machine.memory import MU
from poise.robots.planar import planar

Array = npt.NDArray[np.float64]
STEPS, LAST = 1200, 100
STEADY = ["jt", "dls", "sdls", "lm", "hybrid", "qp"]
"""The methods of one level that come to rest wherever the target is."""


def place_and_turn(frame: str) -> list[Any]:
    return [pz.PositionTask(frame), pz.OrientationTask(frame, priority=1)]


def far_hand() -> tuple[pz.Model, list[Any], Array, Array]:
    """A place out of reach, and a turn for what it leaves."""
    model = pz.load("ur5e")
    return model, place_and_turn("tool0"), np.array(model.home), np.array([[1.5, 0.3, 0.2, 1, 0, 0, 0]] * 2)


def two_places() -> tuple[pz.Model, list[Any], Array, Array]:
    model = pz.load("panda")
    tasks = [pz.PositionTask("panda_hand"), pz.PositionTask("panda_link4", priority=1)]
    return model, tasks, np.array(model.home), np.array([[1.4, 0.2, 0.7, 1, 0, 0, 0], [0.1, 0.4, 0.3, 1, 0, 0, 0]])


def three_levels() -> tuple[pz.Model, list[Any], Array, Array]:
    """A humanoid whose left hand reaches too far, then turns; the right one follows."""
    model = pz.load("g1")
    left, right = "left_rubber_hand", "right_rubber_hand"
    tasks = [pz.PositionTask(left), pz.OrientationTask(left, priority=1), pz.PositionTask(right, priority=2)]
    targets = np.array([[0.9, 0.5, 0.4, 1, 0, 0, 0], [0, 0, 0, 0.5, 0.5, 0.5, 0.5], [0.2, -0.3, 0.1, 1, 0, 0, 0]])
    return model, tasks, np.array(model.home), targets


LEVELLED = [far_hand, two_places, three_levels]


def sway(path: Array) -> float:
    """How far a joint goes to and fro in the last steps: its way less the distance that it comes [rad]."""
    steps = np.diff(path[-LAST:], axis=0)
    return float((np.abs(steps).sum(axis=0) - np.abs(steps.sum(axis=0))).max())


def rolled(scene: Any, method: Any = None, **settings: Any) -> Array:
    model, tasks, start, targets = scene()
    return pz.Tracker(model, tasks, method, **settings).rollout(start, np.tile(targets, (STEPS, 1, 1)))


@pytest.mark.parametrize("scene", LEVELLED)
@pytest.mark.parametrize("dt", [None, 0.01])
@pytest.mark.parametrize("updates", [1, 2])
def test_levels_of_which_the_first_is_out_of_reach_come_to_rest(scene: Any, dt: float | None, updates: int) -> None:
    path = rolled(scene, dt=dt, updates=updates)
    # The humanoid's last levels may still be on their way, which leads to and fro by less than it leads on.
    assert sway(path) < max(1e-6, 0.5 * float(np.abs(path[-1] - path[-LAST]).max()))
    assert np.abs(np.diff(path[-LAST:], axis=0)).max() < 2e-3


@pytest.mark.parametrize("scene", LEVELLED)
def test_without_settling_they_do_not(scene: Any) -> None:
    assert sway(rolled(scene, settle=False)) > 0.1


def test_at_rest_the_first_level_is_as_near_as_it_can_be() -> None:
    model, tasks, start, targets = far_hand()
    q = rolled(far_hand)[-1]
    alone = pz.Tracker(model, tasks[0], "lm").rollout(start, np.tile(targets[0, :3], (STEPS, 1, 1)))[-1]
    short = [float(np.linalg.norm(targets[0, :3] - model.pose("tool0", x).xyz)) for x in (q, alone)]
    assert short[0] == pytest.approx(short[1], abs=1e-8)


def test_at_rest_a_later_level_has_what_the_first_leaves() -> None:
    """The hand stretches, and can still turn about the line to its target."""
    model, _, _, targets = far_hand()
    flat = pz.OrientationTask("tool0", priority=1)
    q = rolled(far_hand)[-1]
    error, jacobian = pz.Solver(model, flat).linearise(q, pz.SE3(targets[1]).rotation)
    places = model.jacobian("tool0", q)[:3]
    # No joint may move the place, to first order and to second: a stretched arm is left its last axis.
    wanted = jacobian.T @ error
    only = np.abs(places).max(axis=0) < 1e-9
    assert only.any()
    assert np.abs(wanted[only]).max() < 5e-3


SO100 = pz.SE3([0.1345, -0.0755, 0.03, 0.4051, 0.0609, -0.9089, 0.0779])
SO100_START = np.array([1.6728, 2.4626, -1.29, 0.1391, 1.3123, 0.5283])


@pytest.mark.parametrize("name", STEADY)
def test_limits_that_are_met_and_left_in_turn_do_not_shake_an_arm(name: str) -> None:
    model, task = pz.load("so100"), pz.PoseTask("gripper")
    path = pz.Tracker(model, task, name, dt=0.01).rollout(SO100_START, np.tile(SO100.array, (2 * STEPS, 1, 1)))
    assert sway(path) < 1e-6
    error, jacobian = pz.Solver(model, task).linearise(path[-1], SO100)
    down = jacobian.T @ error
    down[(path[-1] <= model.lower + 1e-9) & (down < 0.0)] = 0.0
    down[(path[-1] >= model.upper - 1e-9) & (down > 0.0)] = 0.0
    assert np.abs(down).max() < 1e-4, "it rests where the error is least, not where it was stopped"


@pytest.mark.parametrize("name", STEADY)
@pytest.mark.parametrize("dt", [None, 0.01])
def test_out_of_reach_and_from_anywhere_no_arm_shakes(name: str, dt: float | None) -> None:
    model = pz.load("iiwa14")
    tracker = pz.Tracker(model, pz.PositionTask(model.tip), name, dt=dt)
    for seed in range(6):
        far = 2.0 * model.pose(model.tip, model.sample(seed=100 + seed)).xyz
        path = tracker.rollout(model.sample(seed=seed), np.tile(far, (STEPS, 1, 1)))
        way = float(np.abs(path[-1] - path[-LAST]).max())
        assert sway(path) < max(1e-4, 0.5 * way)


@pytest.mark.parametrize("name", ["dls", "sdls", "lm", "qp"])
@pytest.mark.parametrize("updates", [1, 3])
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_a_target_in_reach_that_moves_is_followed_as_without_settling(name: str, updates: int, noise: float) -> None:
    model = pz.load("panda")
    angle = np.linspace(0.0, 6.0, 600)
    here = model.pose("panda_hand", model.home).xyz
    points = here + 0.1 * np.stack([np.cos(angle) - 1.0, np.sin(angle), np.sin(2.0 * angle)], axis=1)
    points += noise * np.random.default_rng(1).normal(size=points.shape)
    settling, plain = (
        pz.Tracker(model, pz.PositionTask("panda_hand"), name, dt=0.01, updates=updates, settle=settle).rollout(
            model.home, points[:, None]
        )
        for settle in (True, False)
    )
    assert settling == pytest.approx(plain, abs=1e-12)


def test_at_speed_limits_several_updates_follow_as_without_settling() -> None:
    model = pz.load("iiwa14")
    random = np.random.default_rng(4)
    middle = np.clip(0.7 * model.sample(seed=random), model.lower + 0.5, model.upper - 0.5)
    phase, speed = 6.0 * random.random(7), 0.8 * random.random(7) + 0.2
    way = middle + 0.2 * np.sin(speed * np.arange(500)[:, None] * 0.002 * 2.0 * np.pi + phase)
    targets = model.pose(model.tip, way)
    for updates in (2, 3):
        settling, plain = (
            pz.Tracker(model, pz.PoseTask(model.tip), "qp", dt=0.002, updates=updates, settle=settle).rollout(
                way[0], targets
            )
            for settle in (True, False)
        )
        assert settling == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("seed", [1, 7, 16])
def test_after_a_rest_a_jump_is_followed_to_its_end(seed: int) -> None:
    """The damping that suited the first target leaves none for the second."""
    model = pz.load("ur5e")
    q, first, second = model.sample(3, seed=seed)
    ik = pz.Tracker(model, pz.PoseTask(model.tip), "lm", dt=0.002)
    for goal, steps in ((first, 1000), (second, 5000)):
        for _ in range(steps):
            q = ik.step(q, model.pose(model.tip, goal)).copy()
    assert model.pose(model.tip, q).xyz == pytest.approx(model.pose(model.tip, second).xyz, abs=1e-6)


def rested() -> tuple[pz.Model, pz.Tracker, np.ndarray]:
    """The far hand, where it has come to rest."""
    model, tasks, q, targets = far_hand()
    ik = pz.Tracker(model, tasks)
    ik.targets = targets
    for _ in range(STEPS):
        q = ik.step(q).copy()
    return model, ik, q


def test_after_a_rest_a_target_that_moves_lets_the_steps_go() -> None:
    model, ik, q = rested()
    there = model.pose("tool0", model.home + 0.3)
    ik.targets = np.array([there.array, there.array])
    for _ in range(60):
        q = ik.step(q).copy()
    assert model.pose("tool0", q).xyz == pytest.approx(there.xyz, abs=1e-3)


def test_a_slow_target_out_of_reach_does_not_wake_the_shaking() -> None:
    model, tasks, start, targets = far_hand()
    away = np.tile(targets, (STEPS, 1, 1))
    away[:, 0, 0] += 1e-5 * np.arange(STEPS)
    settling, plain = (pz.Tracker(model, tasks, settle=settle).rollout(start, away) for settle in (True, False))
    assert sway(plain) > 10.0
    assert sway(settling) < 0.05 * sway(plain)


def test_an_arm_that_is_moved_from_outside_comes_back() -> None:
    model, ik, q = rested()
    rest = model.pose("tool0", q).xyz
    q = q + 0.3
    for _ in range(100):
        q = ik.step(q).copy()
    assert model.pose("tool0", q).xyz == pytest.approx(rest, abs=1e-3)


@pytest.mark.parametrize("method", [pz.methods.Pseudoinverse(), pz.methods.GaussNewton(), "lm"])
def test_where_steps_are_shortened_a_rollout_is_its_steps_and_characters_go_alone(method: Any) -> None:
    model, task = planar(3), pz.PositionTask("tool")
    starts = np.array([[0.3, 0.5, -0.4], [0.1, -0.9, 0.2], [1.0, 0.2, 0.3]])
    points = np.tile([[[2.9, 1.2, 0.0]]], (40, 1, 1))
    ik = pz.Tracker(model, task, method)
    apart = np.array([ik.rollout(start, points) for start in starts])
    q = starts[0]
    for k in range(40):
        q = ik.step(q, points[k]).copy()
        assert (q == apart[0, k]).all()
    # Stretched, an error of rounding is its root in the joints.
    assert ik.rollout(starts, np.tile(points, (3, 1, 1, 1))) == pytest.approx(apart, abs=1e-6)


def test_a_reset_forgets_what_settled() -> None:
    model, tasks, start, targets = far_hand()
    ik = pz.Tracker(model, tasks)
    ik.targets = targets
    first = [q := ik.step(start).copy()] + [q := ik.step(q).copy() for _ in range(50)]
    ik.reset()
    again = [q := ik.step(start).copy()] + [q := ik.step(q).copy() for _ in range(50)]
    assert (np.array(first) == np.array(again)).all()


def test_steps_cut_by_speeds_do_not_wear_the_gain_ratio_down() -> None:
    """Marquardt's parameter tells how far the linear model holds, of which a step cut short says nothing."""
    model, task = pz.load("panda"), pz.PoseTask("panda_hand")
    start = np.array([-2.8973, 1.61838137, 1.33089661, -1.71904773, 2.8973, -0.01212547, -1.93301708])
    target = pz.SE3([-0.5285751, 0.67805755, 1.37097622, 0.95659527, -0.19325684, -0.17465382, 0.13066494])
    ik = pz.Tracker(model, task, "lm", dt=0.01, updates=2)
    q = start
    for _ in range(STEPS):
        before, q = q, ik.step(q, target).copy()
    assert not ik.failed
    error, jacobian = pz.Solver(model, task).linearise(q, target)
    down = jacobian.T @ error
    down[((q <= model.lower + 1e-9) & (down < 0.0)) | ((q >= model.upper - 1e-9) & (down > 0.0))] = 0.0
    assert np.abs(down).max() < 1e-2 or np.abs(q - before).max() > 1e-6, "it has not stopped on the way"
    assert ik._stepper.memory[MU] > 1e-13


@pytest.mark.parametrize("wrong", [1, "no", None])
def test_settle_is_true_or_false(wrong: object) -> None:
    with refused("not-a-bool", "settle"):
        pz.Tracker(pz.load("planar3"), pz.PositionTask("tool"), settle=wrong)  # type: ignore[arg-type]
    with refused("not-a-bool", "explore"):
        pz.Tracker(pz.load("planar2"), pz.PositionTask("tool"), explore="no")  # type: ignore[arg-type]
