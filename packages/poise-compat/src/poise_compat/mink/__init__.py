"""mink, by its names: `import poise_compat.mink as mink`.

A step minimises the same weighted squares, with the limits exact at where it leads.
"""

from poise.extending import optional

optional("poise_compat.mink", "mujoco", "mjcf", "mujoco")

from poise_compat.mink.configuration import Configuration as Configuration
from poise_compat.mink.constants import FRAME_TO_ENUM as FRAME_TO_ENUM
from poise_compat.mink.constants import FRAME_TO_JAC_FUNC as FRAME_TO_JAC_FUNC
from poise_compat.mink.constants import FRAME_TO_POS_ATTR as FRAME_TO_POS_ATTR
from poise_compat.mink.constants import FRAME_TO_XMAT_ATTR as FRAME_TO_XMAT_ATTR
from poise_compat.mink.constants import SUPPORTED_FRAMES as SUPPORTED_FRAMES
from poise_compat.mink.exceptions import IntegrationTimestepNotSet as IntegrationTimestepNotSet
from poise_compat.mink.exceptions import InvalidConstraint as InvalidConstraint
from poise_compat.mink.exceptions import InvalidDamping as InvalidDamping
from poise_compat.mink.exceptions import InvalidFrame as InvalidFrame
from poise_compat.mink.exceptions import InvalidGain as InvalidGain
from poise_compat.mink.exceptions import InvalidKeyframe as InvalidKeyframe
from poise_compat.mink.exceptions import InvalidMocapBody as InvalidMocapBody
from poise_compat.mink.exceptions import InvalidTarget as InvalidTarget
from poise_compat.mink.exceptions import LimitDefinitionError as LimitDefinitionError
from poise_compat.mink.exceptions import MinkError as MinkError
from poise_compat.mink.exceptions import NoSolutionFound as NoSolutionFound
from poise_compat.mink.exceptions import NotWithinConfigurationLimits as NotWithinConfigurationLimits
from poise_compat.mink.exceptions import TargetNotSet as TargetNotSet
from poise_compat.mink.exceptions import TaskDefinitionError as TaskDefinitionError
from poise_compat.mink.exceptions import UnsupportedFrame as UnsupportedFrame
from poise_compat.mink.lie import SE3 as SE3
from poise_compat.mink.lie import SO3 as SO3
from poise_compat.mink.lie import MatrixLieGroup as MatrixLieGroup
from poise_compat.mink.limits import CollisionAvoidanceLimit as CollisionAvoidanceLimit
from poise_compat.mink.limits import ConfigurationLimit as ConfigurationLimit
from poise_compat.mink.limits import Constraint as Constraint
from poise_compat.mink.limits import FreeJointVelocityLimit as FreeJointVelocityLimit
from poise_compat.mink.limits import Limit as Limit
from poise_compat.mink.limits import VelocityLimit as VelocityLimit
from poise_compat.mink.solve_ik import build_ik as build_ik
from poise_compat.mink.solve_ik import solve_ik as solve_ik
from poise_compat.mink.tasks import AxisAlignTask as AxisAlignTask
from poise_compat.mink.tasks import BaseTask as BaseTask
from poise_compat.mink.tasks import ComTask as ComTask
from poise_compat.mink.tasks import DampingTask as DampingTask
from poise_compat.mink.tasks import DofFreezingTask as DofFreezingTask
from poise_compat.mink.tasks import EqualityConstraintTask as EqualityConstraintTask
from poise_compat.mink.tasks import FrameTask as FrameTask
from poise_compat.mink.tasks import KineticEnergyRegularizationTask as KineticEnergyRegularizationTask
from poise_compat.mink.tasks import LookAtTask as LookAtTask
from poise_compat.mink.tasks import Objective as Objective
from poise_compat.mink.tasks import PostureTask as PostureTask
from poise_compat.mink.tasks import RelativeFrameTask as RelativeFrameTask
from poise_compat.mink.tasks import Task as Task
from poise_compat.mink.utils import custom_configuration_vector as custom_configuration_vector
from poise_compat.mink.utils import get_body_geom_ids as get_body_geom_ids
from poise_compat.mink.utils import get_body_joint_ids as get_body_joint_ids
from poise_compat.mink.utils import get_freejoint_dims as get_freejoint_dims
from poise_compat.mink.utils import get_subtree_body_ids as get_subtree_body_ids
from poise_compat.mink.utils import get_subtree_geom_ids as get_subtree_geom_ids
from poise_compat.mink.utils import get_subtree_joint_ids as get_subtree_joint_ids
from poise_compat.mink.utils import move_mocap_to_frame as move_mocap_to_frame
