"""A processor step of LeRobot that is registered when LeRobot looks for plug-ins: poses of the hand to joints.

`InverseKinematicsEEToJoints` of LeRobot takes `poise_compat.lerobot.RobotKinematics` as it is; this one reads the
joints of an observation by name, so that no order can be wrong.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from lerobot.configs.types import FeatureType, PipelineFeatureType, PolicyFeature
from lerobot.processor import ProcessorStepRegistry, RobotAction, RobotActionProcessorStep, TransitionKey

from poise import SE3
from poise_compat.lerobot import RobotKinematics

_POSE = ("x", "y", "z", "wx", "wy", "wz")


@ProcessorStepRegistry.register("poise_ee_to_joints")
@dataclass
class PoiseEEToJoints(RobotActionProcessorStep):
    """`ee.x` to `ee.wz` [m, rad] and `ee.gripper_pos` become `NAME.pos` [deg] of the joints of `kinematics`."""

    kinematics: RobotKinematics
    orientation_weight: float = 0.01

    def action(self, action: RobotAction) -> RobotAction:
        """Raises ValueError where a part of the pose or a joint is missing, and names it."""
        missing = [f"ee.{name}" for name in (*_POSE, "gripper_pos") if action.get(f"ee.{name}") is None]
        observation = self.transition.get(TransitionKey.OBSERVATION) or {}
        missing += [f"{name}.pos" for name in self.kinematics.joint_names if f"{name}.pos" not in observation]
        if missing:
            raise ValueError(f"the step needs {', '.join(missing)}: the action and the observation lack them")
        numbers = [float(action.pop(f"ee.{name}")) for name in _POSE]
        pose = SE3.from_rotvec(numbers[:3], numbers[3:]).matrix()
        now = np.array([float(observation[f"{name}.pos"]) for name in self.kinematics.joint_names])
        found = self.kinematics.inverse_kinematics(now, pose, orientation_weight=self.orientation_weight)
        action |= {f"{name}.pos": float(x) for name, x in zip(self.kinematics.joint_names, found, strict=True)}
        action["gripper.pos"] = float(action.pop("ee.gripper_pos"))
        return action

    def transform_features(self, features: Any) -> Any:
        """The names that go and that come."""
        actions = features[PipelineFeatureType.ACTION]
        for name in (*_POSE, "gripper_pos"):
            actions.pop(f"ee.{name}", None)
        for name in (*self.kinematics.joint_names, "gripper"):
            actions[f"{name}.pos"] = PolicyFeature(type=FeatureType.ACTION, shape=(1,))
        return features
