"""Where the joints of a robot of robosuite's are in its own qpos, and in that of the scene it stands in."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poise import JointNotFound
from poise.extending import Array


def joints_of(model: Any, robot_model: Any, names: Sequence[str] | None) -> tuple[list[str], Array, list[int]]:
    """The joints that may move, None: all but free ones; the robot's qpos in the scene's; theirs in the robot's.

    Raises JointNotFound for a name that the robot does not have, and for a joint of it that the scene does not have.
    """
    robot, scene = ({joint.name: joint for joint in map(m.joint, range(m.njnt))} for m in (robot_model, model))
    moving = [name for name, joint in robot.items() if joint.type[0] != 0] if names is None else list(names)
    for name in moving:
        if name not in robot:
            raise JointNotFound(name, robot, owner="robot_model, of which robot_joint_names names joints,")
    for name in robot:
        if name not in scene:
            raise JointNotFound(name, scene, owner="model, the scene that robot_model is part of,")
    read = [scene[name].qposadr[0] + np.arange(len(joint.qpos0)) for name, joint in robot.items()]
    return moving, np.concatenate([np.zeros(0, dtype=np.int64), *read]), [int(robot[n].qposadr[0]) for n in moving]
