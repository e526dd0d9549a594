"""mink's tasks, by their names."""

from poise_compat.mink.tasks.axis_align_task import AxisAlignTask as AxisAlignTask
from poise_compat.mink.tasks.com_task import ComTask as ComTask
from poise_compat.mink.tasks.damping_task import DampingTask as DampingTask
from poise_compat.mink.tasks.dof_freezing_task import DofFreezingTask as DofFreezingTask
from poise_compat.mink.tasks.equality_constraint_task import EqualityConstraintTask as EqualityConstraintTask
from poise_compat.mink.tasks.frame_task import FrameTask as FrameTask
from poise_compat.mink.tasks.kinetic_energy_regularization_task import (
    KineticEnergyRegularizationTask as KineticEnergyRegularizationTask,
)
from poise_compat.mink.tasks.look_at_task import LookAtTask as LookAtTask
from poise_compat.mink.tasks.posture_task import PostureTask as PostureTask
from poise_compat.mink.tasks.relative_frame_task import RelativeFrameTask as RelativeFrameTask
from poise_compat.mink.tasks.task import BaseTask as BaseTask
from poise_compat.mink.tasks.task import Objective as Objective
from poise_compat.mink.tasks.task import Task as Task
