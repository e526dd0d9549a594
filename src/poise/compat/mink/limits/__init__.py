"""mink's limits, by their names."""

from poise.compat.mink.limits.base import FreeJointVelocityLimit as FreeJointVelocityLimit
from poise.compat.mink.limits.collision import CollisionAvoidanceLimit as CollisionAvoidanceLimit
from poise.compat.mink.limits.joints import ConfigurationLimit as ConfigurationLimit
from poise.compat.mink.limits.joints import VelocityLimit as VelocityLimit
from poise.compat.mink.limits.limit import Constraint as Constraint
from poise.compat.mink.limits.limit import Limit as Limit
