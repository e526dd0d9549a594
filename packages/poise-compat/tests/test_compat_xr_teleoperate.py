"""xr_teleoperate's face: the least of its costs within limits, its average, torques that hold, and what is no pose.

The oracle is the same least squares, with Pinocchio's kinematics and SciPy's optimiser.
"""

import math
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares

import poise as pz
from poise.io.installed import installed_robots
from poise_compat.xr_teleoperate import G1_29_ArmIK

pin = pytest.importorskip("pinocchio")

ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw")
JOINTS = [f"{side}_{name}_joint" for side in ("left", "right") for name in ARM]
COSTS = math.sqrt(50.0), 1.0, math.sqrt(0.02), math.sqrt(0.1)

Wrists = tuple[np.ndarray, np.ndarray]


class Theirs:
    """The problem as it is published, on Pinocchio's reduced model."""

    def __init__(self, file: Path) -> None:
        whole = pin.buildModelFromUrdf(str(file))
        held = [whole.getJointId(n) for n in list(whole.names)[1:] if n not in JOINTS]
        self.model = pin.buildReducedModel(whole, held, np.zeros(whole.nq))
        for name, side in (("L_ee", "left"), ("R_ee", "right")):
            wrist = self.model.getJointId(f"{side}_wrist_yaw_joint")
            place = pin.SE3(np.eye(3), np.array([0.05, 0.0, 0.0]))
            self.model.addFrame(pin.Frame(name, wrist, place, pin.FrameType.OP_FRAME))
        self.data = self.model.createData()
        self.low, self.high = self.model.lowerPositionLimit, self.model.upperPositionLimit

    def wrists(self, q: np.ndarray) -> Wrists:
        pin.framesForwardKinematics(self.model, self.data, q)
        left, right = (self.data.oMf[self.model.getFrameId(name)].homogeneous.copy() for name in ("L_ee", "R_ee"))
        return left, right

    def residual(self, q: np.ndarray, goals: Wrists, last: np.ndarray) -> np.ndarray:
        place, turn, small, still = COSTS
        rows = [small * q, still * (q - last)]
        for here, goal in zip(self.wrists(q), goals, strict=True):
            rows += [place * (here[:3, 3] - goal[:3, 3]), turn * pin.log3(here[:3, :3] @ goal[:3, :3].T)]
        return np.concatenate(rows)

    def least(self, goals: Wrists, last: np.ndarray) -> np.ndarray:
        start = np.clip(last, self.low + 1e-6, self.high - 1e-6)
        found = least_squares(
            self.residual, start, bounds=(self.low, self.high), args=(goals, last), xtol=1e-12, ftol=1e-14
        )
        return np.asarray(found.x)


@pytest.fixture(scope="module")
def theirs() -> Theirs:
    robots = installed_robots()
    if "g1" not in robots:
        pytest.skip("example-robot-data has no G1")
    return Theirs(robots["g1"])


def places(theirs: Theirs, count: int, off: float) -> list[tuple[np.ndarray, Wrists]]:
    """Positions of the arms, and poses of the wrists a little from there."""
    rng = np.random.default_rng(0)
    starts = rng.uniform(0.7 * theirs.low, 0.7 * theirs.high, (count, 14))
    ends = np.clip(starts + rng.uniform(-off, off, (count, 14)), theirs.low, theirs.high)
    return [(start, theirs.wrists(end)) for start, end in zip(starts, ends, strict=True)]


def test_the_signature_is_as_published() -> None:
    assert list(signature(G1_29_ArmIK.solve_ik).parameters)[1:] == [
        "left_wrist", "right_wrist", "current_lr_arm_motor_q", "current_lr_arm_motor_dq",
    ]  # fmt: skip
    assert list(signature(G1_29_ArmIK).parameters)[:2] == ["Unit_Test", "Visualization"]


def test_the_costs_are_least_and_the_torques_hold(theirs: Theirs) -> None:
    for start, goals in places(theirs, 8, 0.3):
        q, torques = G1_29_ArmIK().solve_ik(*goals, start, np.ones(14))
        assert np.abs(q - theirs.least(goals, start)).max() < 1e-3
        still = np.zeros(14)
        assert np.allclose(torques, pin.rnea(theirs.model, theirs.data, q, still, still), atol=1e-9)


def test_the_last_command_is_the_start_where_nothing_is_measured(theirs: Theirs) -> None:
    goals = theirs.wrists(np.full(14, 0.2))
    ik = G1_29_ArmIK()
    first, _ = ik.solve_ik(*goals)
    second, _ = ik.solve_ik(*goals)
    assert np.abs(first - theirs.least(goals, np.zeros(14))).max() < 1e-3
    assert np.abs(second - theirs.least(goals, first)).max() < 1e-3


def test_four_solutions_are_averaged(theirs: Theirs) -> None:
    ik, alone, all_goals = G1_29_ArmIK(), [], [theirs.wrists(np.full(14, x)) for x in (0.0, 0.1, 0.2, 0.3, 0.4)]
    for i, goals in enumerate(all_goals):
        start = np.full(14, 0.1 * i)
        alone.append(G1_29_ArmIK().solve_ik(*goals, start)[0])
        q, _ = ik.solve_ik(*goals, start)
        expected = alone[-1] if i < 3 else np.array([0.4, 0.3, 0.2, 0.1]) @ np.array(alone[::-1][:4])
        assert np.allclose(q, expected, atol=1e-9)


def test_beyond_the_limits_of_the_joints_the_arms_stay_at_them(theirs: Theirs) -> None:
    ik, goals = G1_29_ArmIK(), theirs.wrists(theirs.high + 0.3)
    q = theirs.high - 0.1
    for _ in range(6):
        q, torques = ik.solve_ik(*goals, q)
        assert (q >= theirs.low).all()
        assert (q <= theirs.high).all()
        assert np.isfinite(torques).all()
    assert np.min(theirs.high - q) < 1e-9


def test_what_is_no_pose_holds_the_arms(theirs: Theirs) -> None:
    """Not the measured positions, and with the torques that hold them: arms without any fall."""
    ik, goals = G1_29_ArmIK(), theirs.wrists(np.full(14, 0.2))
    command, torques = ik.solve_ik(*goals)
    lost = goals[0].copy()
    lost[0, 3] = np.nan
    for wrists, measured, word in (
        ((lost, goals[1]), command + 0.1, "left_wrist"),
        ((goals[0], np.zeros((4, 4))), command + 0.1, "not a pose"),
        (goals, np.full(14, np.nan), "current_lr_arm_motor_q"),
    ):
        with pytest.warns(RuntimeWarning, match="are held where they are"):
            held, holding = ik.solve_ik(*wrists, measured)
        assert np.array_equal(held, command)
        assert np.array_equal(holding, torques)
        assert word in ik.reason
    ik.solve_ik(*goals)
    assert not ik.reason


def test_before_the_first_command_the_measured_positions_are_held() -> None:
    ik, measured, lost = G1_29_ArmIK(), np.full(14, 0.1), np.full((4, 4), np.nan)
    with pytest.warns(RuntimeWarning, match="left_wrist"):
        held, torques = ik.solve_ik(lost, lost, measured)
    assert np.array_equal(held, measured)
    assert np.abs(torques).max() > 0.1


def test_a_robot_of_ones_own_and_bad_input() -> None:
    heavy = pz.load("g1").with_payload(1.0, link="left_wrist_yaw_link", centre=(0.1, 0.0, 0.0))
    pose: Any = np.eye(4)
    pose[:3, 3] = [0.3, 0.2, 0.1]
    other = pose.copy()
    other[1, 3] = -0.2
    (q, light), (same, loaded) = (ik.solve_ik(pose, other) for ik in (G1_29_ArmIK(), G1_29_ArmIK(model=heavy)))
    assert np.array_equal(q, same)
    assert np.abs(loaded[:7] - light[:7]).max() > 0.1
    assert np.allclose(loaded[7:], light[7:], atol=1e-12)
    with pytest.raises(pz.ShapeError, match="left_wrist must have shape"):
        G1_29_ArmIK().solve_ik(np.eye(3), pose)
    with pytest.raises(pz.ShapeError, match="current_lr_arm_motor_q must have shape"):
        G1_29_ArmIK().solve_ik(pose, other, np.zeros(29))
    with pytest.raises(pz.JointNotFound, match="left_shoulder_pitch_joint"):
        G1_29_ArmIK(model="panda")
