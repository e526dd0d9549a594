"""mink's limits, by their names."""

from poise_compat.mink.limits.collision_avoidance_limit import CollisionAvoidanceLimit as CollisionAvoidanceLimit
from poise_compat.mink.limits.configuration_limit import ConfigurationLimit as ConfigurationLimit
from poise_compat.mink.limits.free_joint_velocity_limit import FreeJointVelocityLimit as FreeJointVelocityLimit
from poise_compat.mink.limits.limit import Constraint as Constraint
from poise_compat.mink.limits.limit import Limit as Limit
from poise_compat.mink.limits.velocity_limit import VelocityLimit as VelocityLimit
