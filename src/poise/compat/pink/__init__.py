"""pink, by its names: `import poise.compat.pink as pink`, over Pinocchio's models.

A step minimises the same weighted squares, with the limits exact at where it leads.
"""

from poise.compat.pink.configuration import Configuration as Configuration
from poise.compat.pink.configuration import NotWithinConfigurationLimits as NotWithinConfigurationLimits
from poise.compat.pink.configuration import PinkError as PinkError
from poise.compat.pink.configuration import TargetNotSet as TargetNotSet
from poise.compat.pink.joint_tasks import ComTask as ComTask
from poise.compat.pink.joint_tasks import DampingTask as DampingTask
from poise.compat.pink.joint_tasks import PostureTask as PostureTask
from poise.compat.pink.solve import solve_ik as solve_ik
from poise.compat.pink.tasks import FrameTask as FrameTask
