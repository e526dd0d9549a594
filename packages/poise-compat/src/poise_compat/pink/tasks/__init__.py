"""pink's tasks, by their names."""

from poise_compat.pink.tasks.com_task import ComTask as ComTask
from poise_compat.pink.tasks.damping_task import DampingTask as DampingTask
from poise_compat.pink.tasks.frame_task import FrameTask as FrameTask
from poise_compat.pink.tasks.joint_coupling_task import JointCouplingTask as JointCouplingTask
from poise_compat.pink.tasks.joint_velocity_task import JointVelocityTask as JointVelocityTask
from poise_compat.pink.tasks.linear_holonomic_task import LinearHolonomicTask as LinearHolonomicTask
from poise_compat.pink.tasks.low_acceleration_task import LowAccelerationTask as LowAccelerationTask
from poise_compat.pink.tasks.manipulability_task import ManipulabilityTask as ManipulabilityTask
from poise_compat.pink.tasks.omniwheel_task import OmniwheelTask as OmniwheelTask
from poise_compat.pink.tasks.posture_task import PostureTask as PostureTask
from poise_compat.pink.tasks.relative_frame_task import RelativeFrameTask as RelativeFrameTask
from poise_compat.pink.tasks.rolling_task import RollingTask as RollingTask
from poise_compat.pink.tasks.task import Task as Task
