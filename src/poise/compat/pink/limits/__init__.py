"""pink's limits, by their names."""

from poise.compat.pink.limits.base import FloatingBaseVelocityLimit as FloatingBaseVelocityLimit
from poise.compat.pink.limits.joints import AccelerationLimit as AccelerationLimit
from poise.compat.pink.limits.joints import ConfigurationLimit as ConfigurationLimit
from poise.compat.pink.limits.joints import VelocityLimit as VelocityLimit
from poise.compat.pink.limits.limit import Limit as Limit
