"""robosuite's controller "WHOLE_BODY_MINK_IK", and the `IKSolverMink` in it.

    from poise.compat.robosuite import WholeBodyMinkIK  # was: from robosuite.examples.third_party_controller...

The import registers it under its name, so configurations of robosuite stay as they are.  The original takes one damped
step, in which the posture pulls the sites off their targets, and counts on joints that are not its own to move.
"""

import importlib
from functools import cache
from typing import Any, Final

from poise.compat.robosuite_solver import IKSolverMink as IKSolverMink

_OPTIONS: Final = (
    "input_type", "input_ref_frame", "input_rotation_repr", "posture_weights", "hand_pos_cost", "hand_ori_cost",
)  # fmt: skip
"""Settings of the solver that a configuration has as "ik_...".  Others decide nothing."""


def __getattr__(name: str) -> Any:
    if name != "WholeBodyMinkIK":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _whole_body()


@cache
def _whole_body() -> Any:
    parts = importlib.import_module("robosuite.controllers.composite.composite_controller")

    class WholeBodyMinkIK(parts.WholeBodyIK):  # type: ignore[misc, name-defined]
        """The controller of whole bodies of robosuite, with this solver."""

        name = "WHOLE_BODY_MINK_IK"

        def _init_joint_action_policy(self) -> None:
            config = self.composite_controller_specific_config
            controllers = [self.part_controllers[part] for part in config["actuation_part_names"]]
            self.joint_action_policy = IKSolverMink(
                self.sim.model._model, self.sim.data._data, config["ref_name"], self.robot_model.mujoco_model,
                [name for each in controllers for name in each.joint_names],
                **{name: config[f"ik_{name}"] for name in _OPTIONS if f"ik_{name}" in config},
            )  # fmt: skip

    return parts.register_composite_controller(WholeBodyMinkIK)
