"""A Tracker that follows a posture as its last level: what a step is, where it rests, and what it refuses."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize
from support.human import bent, figure, swaying
from support.refusals import refused

import poise as pz
from poise.common.errors import JointNotFound, ShapeError

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda")
HAND = pz.PoseTask("panda_hand")
FIGURE = figure()
STANCE = bent(FIGURE)
PINS = [pz.PoseTask(f"{side}Foot", FIGURE.pose(f"{side}Foot", STANCE)) for side in ("Left", "Right")]
REACH = pz.PositionTask("LeftHand", FIGURE.pose("LeftHand", STANCE).xyz + np.array([0.1, -0.1, 0.1]))
WALK = Path(os.environ.get("ASSIMP_TESTMODELS", "/usr/share/assimp/models")) / "BVH" / "01_01.bvh"
"""CMU's subject 1, in Debian's package assimp-testmodels."""
UNDAMPED = {"max_error": None, "max_step": 1e9, "damping": 0.1}


def figure_targets(steps: int) -> Array:
    """(steps, 3, 7) the feet stay, the hand stays where it is pinned."""
    tracker = pz.Tracker(FIGURE, [*PINS, REACH])
    return np.repeat(tracker.targets[None], steps, axis=0)


def with_posture(targets: Array, postures: Array) -> list[Array]:
    """The targets of a rollout, one a task, from those of `figure_targets` (..., steps, 3, 7)."""
    return [targets[..., 0, :], targets[..., 1, :], targets[..., 2, :3], postures]


# What a step is ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, (1.0, 2.0, 1.0, 5.0, 1.0, 0.0, 3.0)])
@pytest.mark.parametrize("method", [pz.methods.DampedLeastSquares(**UNDAMPED), pz.methods.TaskPriority(**UNDAMPED)])
def test_a_step_goes_to_the_posture_as_far_as_the_tasks_leave_it(weight: Any, method: Any) -> None:
    ik = pz.Tracker(PANDA, [HAND, pz.PostureTask(weight=weight)], method, limits=False, settle=False)
    solver, rng = pz.Solver(PANDA, HAND), np.random.default_rng(0)
    w = np.broadcast_to(weight, PANDA.nv).astype(float)
    share = np.where(w > 0.0, 1.0 / np.where(w > 0.0, w, 1.0), 1.0)
    moving = np.diag(share**2)
    for seed in range(5):
        q, posture = PANDA.sample(seed=seed), PANDA.sample(seed=seed + 30)
        goal = PANDA.pose("panda_hand", q + rng.normal(0.0, 0.02, PANDA.nv))
        e, jacobian = solver.linearise(q, goal)
        phi, square = (posture - q) * (w > 0.0), jacobian @ moving @ jacobian.T
        to_task = moving @ jacobian.T @ np.linalg.solve(square + 0.01 * np.eye(6), e)
        to_posture = phi - moving @ jacobian.T @ np.linalg.solve(square, jacobian @ phi)
        ik.reset()
        assert ik.step(q, [goal, posture]) == pytest.approx(q + to_task + to_posture, abs=1e-7)


@pytest.mark.parametrize("method", ["dls", "priority"])
def test_it_rests_where_the_weighted_distance_is_least(method: str) -> None:
    weight = np.array([3.0, 1.0, 2.0, 1.0, 0.5, 1.0, 1.0])
    task = pz.PositionTask("panda_hand", PANDA.pose("panda_hand", PANDA.home).xyz + np.array([0.1, 0.2, -0.1]))
    posture = PANDA.home + 0.2
    ik = pz.Tracker(PANDA, [task, pz.PostureTask(posture, weight=weight)], method)
    q = PANDA.home
    for _ in range(100):
        q = ik.step(q)
    place = {"type": "eq", "fun": lambda x: PANDA.pose("panda_hand", x).xyz - task.target}
    best = minimize(
        lambda x: float(((weight * (x - posture)) ** 2).sum()),
        q,
        constraints=place,
        bounds=list(zip(PANDA.lower, PANDA.upper, strict=True)),
        options={"ftol": 1e-14},
    )
    assert ik.errors[0].position < 1e-8
    assert q == pytest.approx(best.x, abs=1e-4)


def test_heavy_joints_keep_to_the_posture_and_light_ones_do_the_work() -> None:
    turned = {}
    for weight in (1.0, {"Hips": 30.0, "Spine": 30.0, "Chest": 30.0}):
        ik = pz.Tracker(FIGURE, [*PINS, REACH, pz.PostureTask(STANCE, weight=weight)])
        q = STANCE
        for _ in range(40):
            q = ik.step(q)
        assert ik.errors[2].position < 1e-6
        away = np.abs(FIGURE.difference(STANCE, q))
        turned[isinstance(weight, dict)] = (
            max(away[FIGURE.velocity_index(name)].max() for name in ("Hips", "Spine", "Chest")),
            away[FIGURE.velocity_index("LeftArm")].max(),
        )
    assert turned[True][0] < 0.1 * turned[False][0]
    assert turned[True][1] > turned[False][1]


@pytest.mark.parametrize("method", ["dls", "priority"])
def test_joints_that_no_task_moves_follow_it_exactly(method: str) -> None:
    motion = swaying(FIGURE, 10)
    ik = pz.Tracker(FIGURE, [*PINS, pz.PostureTask()], method)
    q = motion[0]
    for posture in motion:
        q = ik.step(q, [None, None, posture])
        for joint in ("Head", "LeftArm", "RightHand"):
            assert q[FIGURE.index(joint)] == pytest.approx(posture[FIGURE.index(joint)], abs=1e-8)
    assert max(error.position for error in ik.errors[:2]) < 1e-3


def test_the_levels_before_it_do_not_give_way() -> None:
    motion = swaying(FIGURE, 120)
    beneath = pz.PositionTask("RightHand", np.array([0.3, -0.6, 0.4]), priority=1)
    ik = pz.Tracker(FIGURE, [*PINS, beneath, pz.PostureTask()])
    assert ik.method.name == "priority"
    q, worst = motion[0], 0.0
    for k, posture in enumerate(motion):
        q = ik.step(q, [None, None, None, posture])
        worst = max(worst, ik.errors[0].position, ik.errors[1].position) if k > 30 else 0.0
    assert worst < 2e-4
    assert ik.errors[2].position < 2e-4


def test_without_weight_a_joint_is_left_alone() -> None:
    ik = pz.Tracker(FIGURE, [*PINS, pz.PostureTask(weight={"Head": 0.0})])
    q = ik.step(STANCE, [None, None, swaying(FIGURE, 1)[0]])
    assert (q[FIGURE.index("Head")] == STANCE[FIGURE.index("Head")]).all()
    assert (q[FIGURE.index("Chest")] != STANCE[FIGURE.index("Chest")]).any()


def test_it_keeps_limits_of_joints_and_speeds() -> None:
    model = PANDA.with_limits(velocity=dict.fromkeys(PANDA.joint_names[:7], 0.5))
    far = PANDA.upper + 1.0
    for method in ("dls", "priority"):
        ik = pz.Tracker(model, [pz.AxisTask("panda_hand", target=(0, 0, -1)), pz.PostureTask(far)], method, dt=0.05)
        q = model.home
        for _ in range(200):
            last, q = q, ik.step(q)
            assert (q >= model.lower).all()
            assert (q <= model.upper).all()
            assert (np.abs(q - last) <= 0.5 * 0.05 + 1e-12).all()


def test_it_comes_to_rest_and_goes_on_when_the_posture_moves() -> None:
    ik = pz.Tracker(PANDA, [pz.PositionTask("panda_hand", [3.0, 0.0, 0.5]), pz.PostureTask()], "priority")
    q = PANDA.home
    for _ in range(200):
        last, q = q, ik.step(q)
    assert np.abs(q - last).max() < 1e-6
    assert ik.posture is not None
    ik.posture = PANDA.home + 0.5 * np.eye(7)[6]
    assert np.abs(ik.step(q) - q).max() > 0.01


def test_loops_that_it_alone_moves_stay_closed() -> None:
    b = pz.ModelBuilder("a finger on a gripper of four bars")
    b.joint("a", "revolute", parent="base", child="A")
    b.joint("b", "revolute", parent="A", child="B", origin=pz.SE3.from_parts([0.3, 0.0, 0.0]))
    b.joint("c", "revolute", parent="base", child="C", origin=pz.SE3.from_parts([0.5, 0.0, 0.0]))
    b.joint("finger", "revolute", parent="base", child="F")
    b.frame("tip", link="F", origin=pz.SE3.from_parts([0.2, 0.0, 0.0]))
    b.frame("one", link="B", origin=pz.SE3.from_parts([0.5, 0.0, 0.0]))
    b.frame("other", link="C", origin=pz.SE3.from_parts([0.3, 0.0, 0.0]))
    b.loop("one", "other")
    model = b.build()
    ik = pz.Tracker(model, [pz.PositionTask("tip", [0.0, 0.2, 0.0]), pz.PostureTask()])
    q = model.q(a=1.2, b=-1.2, c=1.2)
    for k in range(30):
        q = ik.step(q, [None, model.q(a=1.2 - 0.01 * k, b=-1.0, c=1.2)])
        assert model.pose("one", q).xyz == pytest.approx(model.pose("other", q).xyz, abs=1e-7)
    assert q[model.index("a")][0] < 1.15


@pytest.mark.parametrize("method", ["dls", "priority"])
def test_pins_hold_where_a_heavy_root_walks_out_of_their_reach(method: str) -> None:
    ik = pz.Tracker(FIGURE, [*PINS, pz.PostureTask(weight={"Hips": 10.0})], method)
    q, posture, worst = STANCE, STANCE.copy(), 0.0
    for _ in range(200):
        posture[0] += 0.01
        q = ik.step(q, [None, None, posture])
        worst = max(worst, *(error.position for error in ik.errors[:2]))
    assert worst < 5e-3
    assert posture[0] - q[0] > 1.0


# Rollouts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, {"Hips": 5.0}])
def test_a_rollout_is_its_steps(weight: Any) -> None:
    motion, targets = swaying(FIGURE, 20), figure_targets(20)
    ik = pz.Tracker(FIGURE, [*PINS, REACH, pz.PostureTask(STANCE, weight=weight)])
    path = ik.rollout(STANCE, with_posture(targets, motion))
    q = STANCE
    for posture, found in zip(motion, path, strict=True):
        q = ik.step(q, [None, None, None, posture])
        assert found == pytest.approx(q, abs=1e-12)
    still = ik.rollout(STANCE, with_posture(targets, motion[3]))
    assert (still == ik.rollout(STANCE, with_posture(targets, np.tile(motion[3], (20, 1))))).all()


@pytest.mark.parametrize("weight", [1.0, {"Hips": 5.0}])
def test_eight_characters_at_once_are_characters_one_by_one(weight: Any) -> None:
    count = 11
    motions = np.stack([swaying(FIGURE, 15, seed=seed) for seed in range(count)])
    targets = np.tile(figure_targets(15), (count, 1, 1, 1))
    ik = pz.Tracker(FIGURE, [*PINS, REACH, pz.PostureTask(weight=weight)])
    starts = motions[:, 0]
    together = ik.rollout(starts, with_posture(targets, motions), threads=1)
    assert (together == ik.rollout(starts, with_posture(targets, motions), threads=2)).all()
    for k in range(count):
        assert together[k] == pytest.approx(ik.rollout(starts[k], with_posture(targets[k], motions[k])), abs=1e-9)
    shared = ik.rollout(starts, with_posture(targets, motions[0]))
    assert shared[3] == pytest.approx(ik.rollout(starts[3], with_posture(targets[3], motions[0])), abs=1e-9)


def test_a_rollout_takes_the_posture_of_the_tracker() -> None:
    ik = pz.Tracker(FIGURE, [*PINS, REACH, pz.PostureTask(STANCE)])
    first = swaying(FIGURE, 5)[4]
    ik.posture = first
    targets = figure_targets(5)
    assert ik.rollout(STANCE, targets) == pytest.approx(ik.rollout(STANCE, with_posture(targets, first)), abs=1e-12)
    eight = ik.rollout(np.tile(STANCE, (8, 1)), np.tile(targets, (8, 1, 1, 1)))
    assert eight[5] == pytest.approx(ik.rollout(STANCE, targets), abs=1e-9)


def test_a_pickled_tracker_goes_on() -> None:
    ik = pz.Tracker(FIGURE, [*PINS, REACH, pz.PostureTask()])
    motion = swaying(FIGURE, 3)
    q = ik.step(STANCE, [None, None, None, motion[1]])
    assert (pickle.loads(pickle.dumps(ik)).step(q) == ik.step(q)).all()


def test_quaternions_of_any_length_are_turns() -> None:
    ik = pz.Tracker(FIGURE, [*PINS, pz.PostureTask()])
    posture = swaying(FIGURE, 1)[0]
    want = ik.step(STANCE, [None, None, posture])
    ik.reset()
    longer = posture.copy()
    longer[FIGURE.index("Head")] *= -3.0
    assert ik.step(STANCE, [None, None, longer]) == pytest.approx(want, abs=1e-12)


@pytest.mark.skipif(not WALK.is_file(), reason="needs Debian's assimp-testmodels")
@pytest.mark.filterwarnings("ignore::poise.common.errors.ModelWarning")
def test_a_recorded_walk_is_led_over_uneven_ground() -> None:
    walk = pz.load_motion(WALK)[300:700:2]
    model, feet = walk.model, ("LeftFoot", "RightFoot")
    targets = np.stack([model.pose(foot, walk.q).array for foot in feet], axis=1)
    targets[..., 2] += 0.05 * np.sin(3.0 * targets[..., 0]) + 0.04 * targets[..., 1]
    method = pz.methods.DampedLeastSquares(damping=0.05)
    ik = pz.Tracker(model, [*map(pz.PoseTask, feet), pz.PostureTask(weight={"Hips": 2.0})], method, updates=2)
    path = ik.rollout(walk.q[0], [*np.moveaxis(targets, 1, 0), walk.q])
    for i, foot in enumerate(feet):
        assert np.linalg.norm(model.pose(foot, path).xyz - targets[:, i, :3], axis=-1)[10:].max() < 5e-4
    for joint in ("LeftHand", "Head", "RThumb"):
        assert path[:, model.index(joint)] == pytest.approx(walk.q[:, model.index(joint)], abs=1e-8)
    # No joint leaves the animation in a jerk.
    turns = model.difference(walk.q, path)[10:]
    assert np.abs(np.diff(turns, axis=0)).max() < 0.1


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tasks", "method", "settings", "code", "words"),
    [
        ([HAND, pz.PostureTask(), pz.PostureTask()], None, {}, "too-many", "2 PostureTasks"),
        (
            [HAND, pz.PostureTask()],
            pz.methods.TaskPriority(null_space=pz.criteria.RestPosture()),
            {},
            "conflict",
            "takes the place of RestPosture",
        ),
        (
            [HAND, pz.PostureTask(weight={"panda_joint1": 1e5})],
            None,
            {},
            "out-of-range",
            "from 1 to 100000; in a Tracker",
        ),
    ],
)
def test_what_it_cannot_follow_it_refuses(tasks: Any, method: Any, settings: Any, code: str, words: str) -> None:
    with refused(code, words):
        pz.Tracker(PANDA, tasks, method, **settings)


def test_a_posture_is_for_a_tracker_that_follows_one() -> None:
    ik = pz.Tracker(PANDA, HAND)
    assert ik.posture is None
    for ask in (lambda: setattr(ik, "posture", PANDA.home),):
        with refused("needs"):
            ask()


def test_a_posture_of_another_shape_or_without_numbers_is_refused() -> None:
    ik = pz.Tracker(PANDA, [HAND, pz.PostureTask()])
    way = np.tile(ik.targets[0], (3, 1))
    with pytest.raises(ShapeError, match=r"target\[1\] must have 7 numbers"):
        ik.step(PANDA.home, [None, PANDA.home[:5]])
    with refused("not-finite", "target[1][0]"):
        ik.step(PANDA.home, [None, np.full(PANDA.nq, np.nan)])
    with pytest.raises(ShapeError, match=r"targets\[0\] must be of 1 x 4, characters x steps, got \(1, 3\)"):
        ik.rollout(PANDA.home, [way, np.tile(PANDA.home, (4, 1))])
    with refused("not-finite", "targets[1][0, 0]"):
        ik.rollout(PANDA.home, [way, np.full((3, PANDA.nq), np.inf)])


@pytest.mark.parametrize("method", ["dls", "priority"])
def test_a_zero_quaternion_in_a_posture_is_refused_and_leaves_no_trace(method: str) -> None:
    ik, other = (pz.Tracker(FIGURE, [*PINS, pz.PostureTask()], method) for _ in range(2))
    motion, none = swaying(FIGURE, 3), STANCE.copy()
    none[FIGURE.index("Head")] = 0.0
    q = ik.step(STANCE, [None, None, motion[0]])
    with refused("not-a-rotation", "target[2]"):
        ik.step(q, [None, None, none])
    assert np.abs(ik.step(q, [None, None, motion[1]]) - q).max() > 1e-3
    with refused("not-a-rotation"):
        other.rollout(STANCE, [None, None, np.stack([motion[0], none, motion[1]])])


# Weights a joint -----------------------------------------------------------------------------------------------------


def test_weights_by_joint_are_those_of_an_array() -> None:
    weight = np.ones(PANDA.nv)
    weight[PANDA.velocity_index("panda_joint2")] = 4.0
    by_name, by_number = (pz.PostureTask(weight=w) for w in ({"panda_joint2": 4.0}, weight))
    assert (by_name.weights(PANDA) == by_number.weights(PANDA)).all()
    goal = pz.PoseTask("panda_hand", PANDA.pose("panda_hand", PANDA.sample(seed=4)))
    one, other = (pz.solve(PANDA, [goal, task]).q for task in (by_name, by_number))
    assert (one == other).all()
    found = pz.PostureTask(weight={"Hips": (1.0, 1.0, 2.0, 0.0, 0.0, 3.0), "Head": 2.0}).weights(FIGURE)
    assert found[FIGURE.velocity_index("Hips")].tolist() == [1.0, 1.0, 2.0, 0.0, 0.0, 3.0]
    assert found[FIGURE.velocity_index("Head")].tolist() == [2.0, 2.0, 2.0]
    assert found[FIGURE.velocity_index("Chest")].tolist() == [1.0, 1.0, 1.0]


def test_weights_of_joints_that_there_are_not_are_refused() -> None:
    with pytest.raises(JointNotFound, match="panda_joint2"):
        pz.Tracker(PANDA, [HAND, pz.PostureTask(weight={"panda_jont2": 4.0})])
    with refused("negative", "weight['Head']"):
        pz.PostureTask(weight={"Head": -1.0})
    with refused("wrong-shape", "'Head'"):
        pz.PostureTask(weight={"Head": (1.0, 2.0)}).weights(FIGURE)
    with refused("nothing-moves"):
        pz.PostureTask(weight={"panda_hand_joint": 1.0}).weights(PANDA)


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e200])
def test_a_posture_that_is_none_is_refused_where_it_is_set(number: float) -> None:
    arm = pz.load("panda")
    tracker = pz.Tracker(arm, [pz.PositionTask("panda_hand"), pz.PostureTask()])
    wrong = arm.home.copy()
    wrong[2] = number
    with pytest.raises(ValueError, match=r"posture\[2\]"):
        tracker.posture = wrong
    assert tracker.posture is not None
    assert tracker.posture.tolist() == arm.home.tolist()


@pytest.mark.parametrize("method", [None, "priority"])
@pytest.mark.parametrize("weight", [30.0, 100.0, 1e4])
def test_a_dear_base_moves_as_far_as_the_arm_can_do_without_and_no_later(weight: float, method: str | None) -> None:
    mobile = pz.load("example-robot-data/panda", base="planar")
    hand = mobile.pose("panda_hand", mobile.home)
    dear = pz.PostureTask(weight={mobile.joints[0].name: weight})
    for off, seconds in (([0.1, 0.1, -0.1], 3.0), ([2.0, 1.0, 0.0], 3.0)):
        loop, q = pz.Tracker(mobile, [pz.PoseTask("panda_hand"), dear], method, dt=0.01), mobile.home
        target = pz.SE3.from_parts(hand.xyz + off, hand.rotation)
        for _ in range(round(seconds / 0.01)):
            q = loop.step(q, [target, None])
        assert loop.errors[0].position < 1e-3
        if off[0] < 1.0:
            assert np.linalg.norm(q[:2]) < 2e-3
        else:  # 2.2 m away, of which the arm can do 0.5
            assert 1.7 < np.linalg.norm(q[:2]) < 1.9


def test_a_dear_base_with_accelerations_does_not_drive_away() -> None:
    """Levels within accelerations asked a base to go on as it could not stop: it went for kilometres."""
    mobile = pz.load("example-robot-data/panda", base="planar")
    hand = mobile.pose("panda_hand", mobile.home)
    dear = pz.PostureTask(weight={mobile.joints[0].name: 100.0})
    for off, left in (([2.0, 1.0, 0.0], 1e-3), ([0.0, 0.0, 2.0], 2.0)):
        limits = [pz.AccelerationLimit(5.0)]
        loop = pz.Tracker(mobile, [pz.PoseTask("panda_hand"), dear], "priority", dt=0.01, limits=limits)
        q = mobile.home
        for _ in range(3000):
            q = loop.step(q, [pz.SE3.from_parts(hand.xyz + off, hand.rotation), None])
        assert loop.errors[0].position < left
        assert np.abs(loop.velocity).max() < 0.1


@pytest.mark.parametrize(
    ("method", "weight", "off", "most", "seconds"),
    [
        ("priority", 1e4, [0.5, 0.3, 0.0], 15.0, 3.0),
        ("priority", 100.0, [2.0, 1.0, 0.0], 5.0, 5.0),
        ("priority", 1e4, [2.0, 1.0, 0.0], 15.0, 4.0),
        ("qp", 1.0, [0.1, 0.1, -0.1], 15.0, 2.0),
        ("qp", 100.0, [2.0, 1.0, 0.0], 15.0, 4.0),
    ],
)
def test_a_base_with_accelerations_and_a_posture_arrives_and_rests(
    method: str, weight: float, off: list[float], most: float, seconds: float
) -> None:
    """Its arm swung about a stretched pose, for up to half a minute, and kept the base from going."""
    mobile = pz.load("example-robot-data/panda", base="planar")
    hand = mobile.pose("panda_hand", mobile.home)
    dear, limits = pz.PostureTask(weight={mobile.joints[0].name: weight}), [pz.AccelerationLimit(most)]
    loop, q = pz.Tracker(mobile, [pz.PoseTask("panda_hand"), dear], method, dt=0.01, limits=limits), mobile.home
    last = np.zeros(mobile.nv)
    for _ in range(round(seconds / 0.01)):
        q = loop.step(q, [pz.SE3.from_parts(hand.xyz + off, hand.rotation), None])
        assert np.abs(loop.velocity - last).max() <= most * 0.01 * (1 + 1e-9)
        last = loop.velocity
    assert loop.errors[0].position < 1e-4
    assert np.abs(last).max() < 0.02


def test_a_heavy_torso_rests_where_the_weighted_posture_is_least() -> None:
    """A PostureTask of 1e4 times the weight for one joint, beside a pose that needs 15 cm of it: as with 100 times."""
    arm = pz.load("tiago")
    angles = {"torso_lift_joint": 0.1, "arm_1_joint": 0.6, "arm_2_joint": 0.2, "arm_3_joint": -1.5, "arm_4_joint": 1.2}
    home = arm.q(**angles, arm_5_joint=0.3, arm_6_joint=0.2)
    goal = arm.pose(arm.tip, arm.clip(home + 0.4 * np.random.default_rng(0).standard_normal(arm.nq)))
    at = arm.index("torso_lift_joint").start
    for weight in (100.0, 1e4):
        torso = pz.PostureTask(home, weight={"torso_lift_joint": weight})
        loop, q = pz.Tracker(arm, [pz.PoseTask(arm.tip, goal), torso], dt=0.01), home
        for _ in range(3000):
            q = loop.step(q)
        assert loop.errors[0].position < 1e-5
        assert q[at] - home[at] == pytest.approx(0.1468, abs=1e-3)


def test_a_posture_keeps_bounded_least_squares_from_no_place_in_reach() -> None:
    """An arm on a slide, which chattered where it was stretched, and a Panda led into its limits."""
    b = pz.ModelBuilder("slide")
    b.joint("torso", "prismatic", parent="base", child="trunk", axis=(1, 0, 0), limits=(-2, 2), velocity=1.0)
    b.joint("shoulder", "revolute", parent="trunk", child="upper", axis=(0, 0, 1), limits=(-3, 3), velocity=2.0)
    ahead = pz.SE3.from_parts([0.4, 0.0, 0.0])
    b.joint(
        "elbow", "revolute", parent="upper", child="lower", axis=(0, 0, 1), origin=ahead, limits=(-3, 3), velocity=2.0
    )
    b.frame("panda_hand", link="lower", origin=ahead)
    for arm, draws in ((b.build(), 10), (PANDA, 5)):
        for seed in range(draws):
            q, goal = arm.sample(seed=seed), arm.pose("panda_hand", arm.sample(seed=seed + 50)).xyz
            tasks = [pz.PositionTask("panda_hand", goal), pz.PostureTask(arm.sample(seed=seed + 90))]
            tracker = pz.Tracker(arm, tasks, "qp", dt=0.01)
            for _ in range(1500):
                q = tracker.step(q)
            assert np.linalg.norm(arm.pose("panda_hand", q).xyz - goal) < 1e-5, (arm.name, seed)
