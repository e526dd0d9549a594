"""pink's limits, by their names."""

from poise_compat.pink.limits.acceleration_limit import AccelerationLimit as AccelerationLimit
from poise_compat.pink.limits.configuration_limit import ConfigurationLimit as ConfigurationLimit
from poise_compat.pink.limits.floating_base_velocity_limit import FloatingBaseVelocityLimit as FloatingBaseVelocityLimit
from poise_compat.pink.limits.limit import Limit as Limit
from poise_compat.pink.limits.velocity_limit import VelocityLimit as VelocityLimit
