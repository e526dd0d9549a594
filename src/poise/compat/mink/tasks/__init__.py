"""mink's tasks, by their names."""

from poise.compat.mink.tasks.equality import EqualityConstraintTask as EqualityConstraintTask
from poise.compat.mink.tasks.frame import FrameTask as FrameTask
from poise.compat.mink.tasks.joints import DampingTask as DampingTask
from poise.compat.mink.tasks.joints import DofFreezingTask as DofFreezingTask
from poise.compat.mink.tasks.joints import PostureTask as PostureTask
from poise.compat.mink.tasks.physical import ComTask as ComTask
from poise.compat.mink.tasks.physical import KineticEnergyRegularizationTask as KineticEnergyRegularizationTask
from poise.compat.mink.tasks.pointing import AxisAlignTask as AxisAlignTask
from poise.compat.mink.tasks.pointing import LookAtTask as LookAtTask
from poise.compat.mink.tasks.relative_frame import RelativeFrameTask as RelativeFrameTask
from poise.compat.mink.tasks.task import BaseTask as BaseTask
from poise.compat.mink.tasks.task import Objective as Objective
from poise.compat.mink.tasks.task import Task as Task
