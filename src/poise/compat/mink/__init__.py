"""mink, by its names: `import poise.compat.mink as mink`.

A step minimises the same weighted squares, with the limits exact at where it leads.
"""

from poise.compat.mink.configuration import Configuration as Configuration
from poise.compat.mink.errors import InvalidFrame as InvalidFrame
from poise.compat.mink.errors import InvalidKeyframe as InvalidKeyframe
from poise.compat.mink.errors import InvalidMocapBody as InvalidMocapBody
from poise.compat.mink.errors import MinkError as MinkError
from poise.compat.mink.errors import NotWithinConfigurationLimits as NotWithinConfigurationLimits
from poise.compat.mink.errors import TargetNotSet as TargetNotSet
from poise.compat.mink.joint_tasks import ComTask as ComTask
from poise.compat.mink.joint_tasks import DampingTask as DampingTask
from poise.compat.mink.joint_tasks import PostureTask as PostureTask
from poise.compat.mink.limits import CollisionAvoidanceLimit as CollisionAvoidanceLimit
from poise.compat.mink.limits import ConfigurationLimit as ConfigurationLimit
from poise.compat.mink.limits import VelocityLimit as VelocityLimit
from poise.compat.mink.se3 import SE3 as SE3
from poise.compat.mink.so3 import SO3 as SO3
from poise.compat.mink.solve import solve_ik as solve_ik
from poise.compat.mink.tasks import FrameTask as FrameTask
from poise.compat.mink.tasks import RelativeFrameTask as RelativeFrameTask
from poise.compat.mink.utils import custom_configuration_vector as custom_configuration_vector
from poise.compat.mink.utils import get_body_geom_ids as get_body_geom_ids
from poise.compat.mink.utils import get_freejoint_dims as get_freejoint_dims
from poise.compat.mink.utils import get_subtree_body_ids as get_subtree_body_ids
from poise.compat.mink.utils import get_subtree_geom_ids as get_subtree_geom_ids
from poise.compat.mink.utils import move_mocap_to_frame as move_mocap_to_frame
