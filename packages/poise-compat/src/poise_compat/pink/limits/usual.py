"""The limits that a model of Pinocchio's has of itself, as pink keeps them: at the model."""

from typing import Any

from poise_compat.pink.limits.configuration_limit import ConfigurationLimit
from poise_compat.pink.limits.floating_base_velocity_limit import FloatingBaseVelocityLimit
from poise_compat.pink.limits.limit import Limit
from poise_compat.pink.limits.velocity_limit import VelocityLimit


def usual(model: Any) -> list[Limit]:
    """Those of positions and speeds, and of a floating base if the model was given one.

    What the original put there before, in a program that has both, is replaced by ours of the same numbers.
    """
    names = "configuration_limit", "velocity_limit", "floating_base_velocity_limit"
    places, speeds, base = (getattr(model, name, None) for name in names)
    if not isinstance(places, Limit):
        places = model.configuration_limit = ConfigurationLimit(model, getattr(places, "config_limit_gain", 0.5))
    if not isinstance(speeds, Limit):
        speeds = model.velocity_limit = VelocityLimit(model, getattr(speeds, "velocity_limit", None))
    if base is not None and not isinstance(base, Limit):
        base = FloatingBaseVelocityLimit(model, base.base_frame, base.linear_max, base.angular_max)
        model.floating_base_velocity_limit = base
    return [limit for limit in (places, speeds, base) if limit is not None]
