"""dimos' face, in a world that answers by Pinocchio: poses, limits, collisions, groups, statuses that are true.

The messages of dimos are its own where it is installed, and stand-ins of the same fields elsewhere.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from inspect import signature
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from poise_compat.dimos import PoiseIK

AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
SIDES = ("left", "right")
ARMS = {side: tuple(f"{side}_{i}" for i in range(6)) for side in SIDES}
NAMES = ("torso", *ARMS["left"], *ARMS["right"])
BASE = pin.SE3(pin.Quaternion(0.8, 0.0, 0.0, 0.6), np.array([0.3, -0.2, 0.5]))


def urdf() -> str:
    """A torso that turns, two arms of six joints, and in each hand a finger that follows another."""

    def joint(name: str, parent: str, xyz: str, axis: str, limit: str = "2.0", more: str = "") -> str:
        return (
            f'<link name="{name}_link"/><joint name="{name}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{name}_link"/><origin xyz="{xyz}"/><axis xyz="{axis}"/>{more}'
            f'<limit lower="-{limit}" upper="{limit}" effort="1" velocity="1"/></joint>'
        )

    text = '<robot name="two"><link name="base"/>' + joint("torso", "base", "0 0 0.4", "0 0 1")
    for side, y in zip(SIDES, (0.2, -0.2), strict=True):
        parent = "torso_link"
        for name, axis in zip(ARMS[side], AXES, strict=True):
            text += joint(name, parent, f"0 {y} 0.1" if parent == "torso_link" else "0.15 0 0.05", axis)
            parent = f"{name}_link"
        text += joint(f"{side}_thumb", parent, "0.05 0.01 0", "0 0 1", "0.5")
        text += joint(
            f"{side}_finger", parent, "0.05 -0.01 0", "0 0 1", "0.5", f'<mimic joint="{side}_thumb" multiplier="-1"/>'
        )
    return text + "</robot>"


@dataclass
class Result:
    status: Any
    joint_state: Any = None
    position_error: float = 0.0
    orientation_error: float = 0.0
    iterations: int = 0
    message: str = ""


class Status(Enum):
    SUCCESS = auto()
    NO_SOLUTION = auto()
    SINGULARITY = auto()
    JOINT_LIMITS = auto()
    COLLISION = auto()
    TIMEOUT = auto()
    UNSUPPORTED = auto()


@pytest.fixture(scope="module", autouse=True)
def messages() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        try:
            import dimos.manipulation.planning.spec.models  # type: ignore[import-not-found]  # noqa: F401
        except ImportError:
            stand_ins: dict[str, dict[str, Any]] = {
                "manipulation.planning.spec.models": {"IKResult": Result, "IKStatus": Status},
                "msgs.sensor_msgs.JointState": {"JointState": SimpleNamespace},
            }
            for name, things in stand_ins.items():
                module = ModuleType(f"dimos.{name}")
                vars(module).update(things)
                patch.setitem(sys.modules, module.__name__, module)
        yield


class World:
    """What the face asks of a WorldSpec."""

    is_finalized = True

    def __init__(self, free: Callable[[dict[str, float]], bool] = lambda q: True) -> None:
        self.robot = pin.buildModelFromXML(urdf())
        low, high = np.full(13, -2.0), np.full(13, 2.0)
        groups = [group(side, ARMS[side], f"{side}_5_link") for side in SIDES] + [group("body", ("torso",), None)]
        self.prepared = SimpleNamespace(
            config=SimpleNamespace(base_link="base", base_pose=stamped(BASE), planning_groups=groups[:1]),
            description=SimpleNamespace(xml=urdf()),
            joint_space=SimpleNamespace(names=NAMES, position_limits=lambda: (low, high)),
        )
        self.groups = dict(zip(("left", "right", "body"), groups, strict=True))
        self.now = dict(zip(NAMES, np.linspace(-0.3, 0.4, 13).tolist(), strict=True))
        self.free, self.asked = free, list[dict[str, float]]()

    def get_prepared_model(self) -> Any:
        return self.prepared

    @contextmanager
    def scratch_context(self) -> Iterator[str]:
        yield "context"

    def get_joint_state(self, context: str) -> Any:
        assert context == "context"
        return SimpleNamespace(name=[*self.now], position=[*self.now.values()])

    def check_config_collision_free(self, state: Any) -> bool:
        self.asked.append(dict(zip(state.name, state.position, strict=True)))
        return self.free(self.asked[-1])

    def tip(self, side: str, values: dict[str, float]) -> Any:
        """Where the tip of an arm is in the world, by Pinocchio."""
        q, data = pin.neutral(self.robot), self.robot.createData()
        for name, value in values.items():
            q[self.robot.joints[self.robot.getJointId(name)].idx_q] = value
        pin.framesForwardKinematics(self.robot, data, q)
        return BASE * data.oMf[self.robot.getFrameId(f"{side}_5_link")]


def group(name: str, joints: tuple[str, ...], tip: str | None) -> Any:
    made = SimpleNamespace(id=name, joint_names=joints, tip_link=tip)
    return type("Group", (), {**vars(made), "__hash__": lambda self: hash(name)})()


def stamped(pose: Any) -> Any:
    turn = pin.Quaternion(pose.rotation)
    return SimpleNamespace(
        position=SimpleNamespace(**dict(zip("xyz", pose.translation.tolist(), strict=True))),
        orientation=SimpleNamespace(x=turn.x, y=turn.y, z=turn.z, w=turn.w),
    )


def drawn(count: int) -> list[dict[str, float]]:
    rng = np.random.default_rng(0)
    return [dict(zip(NAMES, row.tolist(), strict=True)) for row in rng.uniform(-1.9, 1.9, (count, 13))]


def angles(result: Any) -> dict[str, float]:
    return dict(zip(result.joint_state.name, result.joint_state.position, strict=True))


def apart(a: Any, b: Any) -> tuple[float, float]:
    """Distance [m] and angle [rad] of two poses."""
    return float(np.linalg.norm(a.translation - b.translation)), float(
        np.linalg.norm(pin.log3(a.rotation.T @ b.rotation))
    )


def test_the_signatures_are_as_published() -> None:
    for method, first in (
        (PoiseIK.solve, ["world", "target_pose"]),
        (PoiseIK.solve_pose_targets, ["world", "pose_targets", "auxiliary_groups"]),
    ):
        given = signature(method).parameters
        names = ["seed", "position_tolerance", "orientation_tolerance", "check_collision", "max_attempts"]
        assert list(given)[1:] == [*first, *names]
        assert [given[name].default for name in names] == [None, 0.001, 0.01, True, 10]


def test_the_tip_comes_to_its_pose_within_limits_and_the_errors_are_true() -> None:
    world, ik = World(), PoiseIK()
    for values in drawn(8):
        pose = world.tip("left", values)
        result = ik.solve(world, stamped(pose))
        assert result.status.name == "SUCCESS"
        found = angles(result)
        assert list(found) == [*NAMES]
        assert max(map(abs, found.values())) <= 2.0
        off, turned = apart(world.tip("left", found), pose)
        assert off < 2e-6
        assert turned < 2e-6
        assert result.position_error == pytest.approx(off, abs=1e-9)
        assert angles(ik.solve(world, stamped(pose))) == found


def test_the_answer_is_near_the_seed_of_which_names_are_in_any_order() -> None:
    world = World()
    for values in drawn(3):
        some = {name: values[name] for name in reversed(ARMS["left"])}
        there = {**world.now, **some}
        seed = SimpleNamespace(name=[*some], position=[*some.values()])
        found = angles(PoiseIK().solve(world, stamped(world.tip("left", there)), seed))
        assert all(abs(found[name] - there[name]) < 1e-5 for name in NAMES)
        whole = SimpleNamespace(name=[], position=[*there.values()])
        assert angles(PoiseIK().solve(world, stamped(world.tip("left", there)), whole)).keys() == found.keys()


def test_two_arms_go_together_and_only_joints_of_their_groups_move() -> None:
    world, values = World(), drawn(1)[0]
    goals = {world.groups[side]: stamped(world.tip(side, values)) for side in SIDES}
    result = PoiseIK().solve_pose_targets(world, goals, [world.groups["body"]])
    found = angles(result)
    assert list(found) == [*ARMS["left"], *ARMS["right"], "torso"]
    assert all(max(apart(world.tip(side, found), world.tip(side, values))) < 2e-6 for side in SIDES)
    one = {**world.now, **{name: values[name] for name in ARMS["right"]}}
    found = angles(PoiseIK().solve_pose_targets(world, {world.groups["right"]: stamped(world.tip("right", one))}))
    assert list(found) == [*ARMS["right"]]
    assert max(apart(world.tip("right", {**world.now, **found}), world.tip("right", one))) < 2e-6
    assert world.asked[-1] == {**world.now, **found}
    still = angles(PoiseIK().solve_pose_targets(world, {}, [world.groups["body"]]))
    assert still == {"torso": world.now["torso"]}


def test_of_other_configurations_one_that_the_world_calls_free_is_taken() -> None:
    world, values = World(), drawn(2)[1]
    pose = stamped(world.tip("left", values))
    taken = angles(PoiseIK().solve(world, pose))
    world.free = lambda q: abs(q["left_1"] - taken["left_1"]) > 0.1
    other = PoiseIK().solve(world, pose)
    assert other.status.name == "SUCCESS"
    assert abs(angles(other)["left_1"] - taken["left_1"]) > 0.1
    assert angles(PoiseIK().solve(world, pose, check_collision=False)) == taken
    world.free, world.asked = lambda q: False, []
    result = PoiseIK().solve(world, pose, max_attempts=3)
    assert (result.status.name, result.joint_state, len(world.asked)) == ("COLLISION", None, 3)
    assert result.position_error < 1e-6


def test_what_cannot_be_reached_is_a_status_with_what_is_left() -> None:
    world, values = World(), drawn(1)[0]
    far = pin.SE3(np.eye(3), np.array([5.0, 0.0, 0.0]))
    result = PoiseIK().solve(world, stamped(far))
    assert (result.status.name, result.joint_state) == ("NO_SOLUTION", None)
    assert 3.0 < result.position_error < 5.0
    assert "reach" in result.message
    beyond = {**values, "torso": 2.6}
    torso = group("torso", ("torso",), "torso_link")
    q, data = pin.neutral(world.robot), world.robot.createData()
    q[0] = beyond["torso"]
    pin.framesForwardKinematics(world.robot, data, q)
    result = PoiseIK().solve_pose_targets(
        world, {torso: stamped(BASE * data.oMf[world.robot.getFrameId("torso_link")])}
    )
    assert result.status.name == "JOINT_LIMITS"
    assert result.orientation_error == pytest.approx(0.6, abs=1e-6)


def test_what_is_within_the_tolerances_is_a_success() -> None:
    world = World()
    torso = group("torso", ("torso",), "torso_link")
    lifted = pin.SE3(BASE.rotation, BASE.act(np.array([0.0, 0.0, 0.405])))
    goal = {torso: stamped(lifted)}
    assert PoiseIK().solve_pose_targets(world, goal, position_tolerance=0.004).status.name == "NO_SOLUTION"
    result = PoiseIK().solve_pose_targets(world, goal, position_tolerance=0.006)
    assert result.status.name == "SUCCESS"
    assert result.position_error == pytest.approx(0.005)


def test_what_makes_no_question_is_said() -> None:
    world, ik = World(), PoiseIK(SimpleNamespace(backend="pink"), max_iterations=5)
    pose = stamped(world.tip("left", world.now))
    nothing = SimpleNamespace(position=pose.position, orientation=SimpleNamespace(x=0.0, y=0.0, z=0.0, w=0.0))
    none = SimpleNamespace(position=SimpleNamespace(x=np.nan, y=0.0, z=0.0), orientation=pose.orientation)
    stranger = SimpleNamespace(name=["wheel"], position=[0.0])
    short = SimpleNamespace(name=[], position=[0.0])
    for asked, seed, word in (
        (nothing, None, "quaternion"),
        (none, None, "position"),
        (pose, stranger, "wheel"),
        (pose, short, "seed"),
    ):
        result = ik.solve(world, asked, seed)
        assert result.status.name == "NO_SOLUTION"
        assert word in result.message
    unsure = ik.solve(world, stamped(pin.SE3(np.eye(3), np.array([9.0, 0.0, 0.0]))), position_tolerance=np.nan)
    assert (unsure.status.name, "position_tolerance is nan" in unsure.message) == ("NO_SOLUTION", True)
    for odd in (None, np.eye(4)):
        assert "is not as it must be" in ik.solve(world, odd).message
    stuck = ik.solve_pose_targets(world, {group("none", (), "left_5_link"): pose})
    assert (stuck.status.name, "left_5_link" in stuck.message) == ("NO_SOLUTION", True)
    assert ik.solve_pose_targets(world, {}).status.name == "NO_SOLUTION"
    assert ik.solve_pose_targets(world, {world.groups["body"]: pose}).status.name == "UNSUPPORTED"
    world.prepared.config.planning_groups = [world.groups[side] for side in SIDES]
    assert ik.solve(world, pose).status.name == "UNSUPPORTED"
    world.is_finalized = False
    assert "finalize" in ik.solve(world, pose).message
    assert "finalize" in ik.solve_pose_targets(world, {world.groups["left"]: pose}).message
