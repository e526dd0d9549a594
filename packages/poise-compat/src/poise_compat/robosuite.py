"""robosuite's controller "WHOLE_BODY_MINK_IK", robocasa's "HYBRID_WHOLE_BODY_MINK_IK", and the `IKSolverMink` in them.

    from poise_compat.robosuite import WholeBodyMinkIK  # was: from robosuite.examples.third_party_controller...

The import registers both under their names, so configurations stay as they are.  The originals take one damped step, in
which the posture pulls the sites off their targets.  That of robosuite counts on joints that are not its own to move,
and that of robocasa takes those of "external_part_names" out of the model; here such joints stay where they are.
"""

import importlib
from functools import cache
from typing import Any, Final

from poise_compat.robosuite_solver import IKSolverMink as IKSolverMink

_OPTIONS: Final = (
    "input_type", "input_ref_frame", "input_rotation_repr", "posture_weights", "hand_pos_cost", "hand_ori_cost",
)  # fmt: skip
"""Settings of the solver that a configuration has as "ik_...".  Others decide nothing."""


def __getattr__(name: str) -> Any:
    if name not in ("WholeBodyMinkIK", "HybridWholeBodyMinkIK"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _controllers()[name]


@cache
def _controllers() -> dict[str, Any]:
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

    class HybridWholeBodyMinkIK(WholeBodyMinkIK):
        """The same, beside legs or a torso that others control."""

        name = "HYBRID_WHOLE_BODY_MINK_IK"

    kinds = WholeBodyMinkIK, HybridWholeBodyMinkIK
    return {kind.__name__: parts.register_composite_controller(kind) for kind in kinds}
