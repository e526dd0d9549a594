"""pink, by its names: `import poise_compat.pink as pink`, over Pinocchio's models.

A step minimises the same weighted squares, with the limits exact at where it leads.
"""

from poise.extending import optional

optional("poise_compat.pink", "pinocchio", "pink", "pinocchio")

from poise_compat.pink import barriers as barriers
from poise_compat.pink import limits as limits
from poise_compat.pink import tasks as tasks
from poise_compat.pink.configuration import Configuration as Configuration
from poise_compat.pink.exceptions import NoSolutionFound as NoSolutionFound
from poise_compat.pink.exceptions import NotWithinConfigurationLimits as NotWithinConfigurationLimits
from poise_compat.pink.exceptions import PinkError as PinkError
from poise_compat.pink.exceptions import TargetNotSet as TargetNotSet
from poise_compat.pink.solve_ik import build_ik as build_ik
from poise_compat.pink.solve_ik import solve_ik as solve_ik
from poise_compat.pink.tasks import ComTask as ComTask
from poise_compat.pink.tasks import DampingTask as DampingTask
from poise_compat.pink.tasks import FrameTask as FrameTask
from poise_compat.pink.tasks import JointCouplingTask as JointCouplingTask
from poise_compat.pink.tasks import JointVelocityTask as JointVelocityTask
from poise_compat.pink.tasks import LinearHolonomicTask as LinearHolonomicTask
from poise_compat.pink.tasks import PostureTask as PostureTask
from poise_compat.pink.tasks import Task as Task
from poise_compat.pink.utils import custom_configuration_vector as custom_configuration_vector
