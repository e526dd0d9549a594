"""pink's tasks, by their names."""

from poise.compat.pink.tasks.frame import FrameTask as FrameTask
from poise.compat.pink.tasks.frame import RelativeFrameTask as RelativeFrameTask
from poise.compat.pink.tasks.holonomic import JointCouplingTask as JointCouplingTask
from poise.compat.pink.tasks.holonomic import LinearHolonomicTask as LinearHolonomicTask
from poise.compat.pink.tasks.joints import DampingTask as DampingTask
from poise.compat.pink.tasks.joints import JointVelocityTask as JointVelocityTask
from poise.compat.pink.tasks.joints import LowAccelerationTask as LowAccelerationTask
from poise.compat.pink.tasks.joints import PostureTask as PostureTask
from poise.compat.pink.tasks.manipulability import ManipulabilityTask as ManipulabilityTask
from poise.compat.pink.tasks.places import ComTask as ComTask
from poise.compat.pink.tasks.places import OmniwheelTask as OmniwheelTask
from poise.compat.pink.tasks.places import RollingTask as RollingTask
from poise.compat.pink.tasks.task import Task as Task
