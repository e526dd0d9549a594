"""Isaac Lab's `DifferentialIKControllerCfg`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import numpy as np

from poise.extending import finite_positive, not_negative, one_of

_PARAMETERS: Final[dict[str, dict[str, float]]] = {
    "pinv": {"k_val": 1.0},
    "svd": {"k_val": 1.0, "min_singular_value": 1e-5},
    "trans": {"k_val": 1.0},
    "dls": {"lambda_val": 0.01},
    "adaptive_dls": {"lambda_min": 0.05, "lambda_max": 0.2, "sigma_thresh": 0.02},
}


@final
@dataclass
class DifferentialIKControllerCfg:
    """What a controller does; raises ValueError for words and numbers that are none."""

    command_type: Literal["position", "pose"]
    ik_method: Literal["pinv", "svd", "trans", "dls", "adaptive_dls"]
    use_relative_mode: bool = False
    ik_params: Mapping[str, float] | None = None
    orientation_weight: float | tuple[float, float, float] | None = None
    joint_limit_avoidance_gain: float = 0.0
    joint_limit_avoidance_margin: float = 0.3
    num_joints: int | None = None
    class_type: Any = None

    def __post_init__(self) -> None:
        one_of("command_type", self.command_type, ("position", "pose"))
        one_of("ik_method", self.ik_method, tuple(_PARAMETERS))
        for name, number in (self.ik_params or {}).items():
            one_of("a name in ik_params", name, tuple(_PARAMETERS[self.ik_method]))
            (finite_positive if name == "sigma_thresh" else not_negative)(f"ik_params[{name!r}]", number)
        self.ik_params = {**_PARAMETERS[self.ik_method], **(self.ik_params or {})}
        weight = 1.0 if self.orientation_weight is None else self.orientation_weight
        if np.shape(weight) not in ((), (3,)):
            raise ValueError(f"orientation_weight is {weight!r}; it must be one number, or three")
        if self.joint_limit_avoidance_gain != 0.0:
            raise ValueError(
                f"joint_limit_avoidance_gain is {self.joint_limit_avoidance_gain!r}; it must be 0, as no arm is pushed "
                "from its limits here: set_joint_pos_limits keeps them"
            )
