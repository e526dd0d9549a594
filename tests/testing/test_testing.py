"""The laws hold for what the library has, and are broken by what is made to break them."""

from dataclasses import dataclass
from typing import Any

import pytest
from support.refusals import refused

import poise as pz
from poise.methods.registry import METHODS
from poise.testing import check_method, check_requirement, check_task

ARM = pz.load("panda")
UR = pz.load("ur5e")
HAND, ELBOW = "panda_hand", "panda_link4"
POSE = pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.0, 0.2, 0.1])
TASKS = {
    "pose": pz.PoseTask(HAND, POSE),
    "weighted place": pz.PositionTask(HAND, POSE.xyz, weight=(1.0, 0.5, 2.0)),
    "rotation": pz.OrientationTask(HAND, POSE.rotation),
    "axis": pz.AxisTask(HAND, axis=(0, 0, 1), target=(0, 0.6, 0.8)),
    "cone": pz.ConeTask(HAND, axis=(0, 0, 1), target=(0, 0, -1), angle=0.2),
    "plane": pz.PlaneTask(HAND, (0, 0.6, 0.8), POSE.xyz),
    "distance": pz.DistanceTask(HAND, 0.3, [0.5, 0.0, 0.2]),
    "seen from": pz.PositionTask(HAND, [0.3, 0.0, 0.1], base=ELBOW),
    "posture": pz.JointCouplingTask({"panda_joint1": 1.0, "panda_joint2": -0.5}, 0.3),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_the_laws_of_tasks_hold_for_those_of_the_library(task: pz.Task) -> None:
    check_task(task, ARM)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_laws_of_methods_hold_for_those_of_the_library(name: str) -> None:
    check_method(name, UR, "tool0", count=1, steps=200)


@dataclass(frozen=True, kw_only=True)
class Below(pz.Task):
    """Keep a frame below a height."""

    frame: str
    most: float
    rows = 1
    unit = "m"
    inequality = True

    @staticmethod
    def residual(frames: Any, numbers: Any, out: Any) -> None:
        out[0] = frames[0, 2] - numbers[0]


def above(most: float) -> Any:
    return lambda q: float(UR.pose("tool0", q).xyz[2] - most)


def test_the_laws_of_requirements_hold_for_tasks_and_limits() -> None:
    check_requirement(Below(frame="tool0", most=0.4), UR, "tool0", above(0.4), count=6)
    limit = pz.LinearLimit({"shoulder_lift_joint": 1.0, "elbow_joint": 1.0}, 0.5)
    check_requirement(limit, UR, "tool0", lambda q: float(q[1] + q[2] - 0.5), count=6)


def test_a_wrong_jacobian_is_found() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Wrong(Below):
        inequality = False

        @staticmethod
        def jacobian(frames: Any, numbers: Any, out: Any) -> None:
            for i in range(6):
                out[0, i] = 0.0
            out[0, 2] = 1.0 if frames[0, 1] < 0.2 else 0.9

    with pytest.raises(AssertionError, match="derivative by velocity"):
        check_task(Wrong(frame="tool0", most=0.4), UR, count=100)


def test_a_method_that_does_not_arrive_is_found() -> None:
    stiff = pz.methods.DampedLeastSquares(damping=100.0)
    with pytest.raises(AssertionError, match="are left after"):
        check_method(stiff, UR, "tool0", count=1, steps=20)  # too few for what creeps to leap


def test_a_requirement_that_is_not_what_its_oracle_says_is_found() -> None:
    with pytest.raises(AssertionError, match="beyond"):
        check_requirement(Below(frame="tool0", most=0.4), UR, "tool0", above(0.2), count=6)


def test_what_makes_no_sense_is_refused() -> None:
    with refused("empty"):
        check_requirement(Below(frame="tool0", most=0.4), UR, "tool0", lambda q: 1.0)
    with refused("out-of-range", "count"):
        check_task(TASKS["pose"], ARM, count=0)
    with pytest.raises(pz.FrameNotFound):
        check_method("dls", UR, "nowhere")
