"""mink, by its names: `import poise.compat.mink as mink`.

A step minimises the same weighted squares, with the limits exact at where it leads.
"""

from poise.compat.mink.configuration import Configuration as Configuration
from poise.compat.mink.constants import FRAME_TO_ENUM as FRAME_TO_ENUM
from poise.compat.mink.constants import FRAME_TO_JAC_FUNC as FRAME_TO_JAC_FUNC
from poise.compat.mink.constants import FRAME_TO_POS_ATTR as FRAME_TO_POS_ATTR
from poise.compat.mink.constants import FRAME_TO_XMAT_ATTR as FRAME_TO_XMAT_ATTR
from poise.compat.mink.constants import SUPPORTED_FRAMES as SUPPORTED_FRAMES
from poise.compat.mink.exceptions import IntegrationTimestepNotSet as IntegrationTimestepNotSet
from poise.compat.mink.exceptions import InvalidConstraint as InvalidConstraint
from poise.compat.mink.exceptions import InvalidDamping as InvalidDamping
from poise.compat.mink.exceptions import InvalidFrame as InvalidFrame
from poise.compat.mink.exceptions import InvalidGain as InvalidGain
from poise.compat.mink.exceptions import InvalidKeyframe as InvalidKeyframe
from poise.compat.mink.exceptions import InvalidMocapBody as InvalidMocapBody
from poise.compat.mink.exceptions import InvalidTarget as InvalidTarget
from poise.compat.mink.exceptions import LimitDefinitionError as LimitDefinitionError
from poise.compat.mink.exceptions import MinkError as MinkError
from poise.compat.mink.exceptions import NoSolutionFound as NoSolutionFound
from poise.compat.mink.exceptions import NotWithinConfigurationLimits as NotWithinConfigurationLimits
from poise.compat.mink.exceptions import TargetNotSet as TargetNotSet
from poise.compat.mink.exceptions import TaskDefinitionError as TaskDefinitionError
from poise.compat.mink.exceptions import UnsupportedFrame as UnsupportedFrame
from poise.compat.mink.lie import SE3 as SE3
from poise.compat.mink.lie import SO3 as SO3
from poise.compat.mink.lie import MatrixLieGroup as MatrixLieGroup
from poise.compat.mink.limits import CollisionAvoidanceLimit as CollisionAvoidanceLimit
from poise.compat.mink.limits import ConfigurationLimit as ConfigurationLimit
from poise.compat.mink.limits import Constraint as Constraint
from poise.compat.mink.limits import FreeJointVelocityLimit as FreeJointVelocityLimit
from poise.compat.mink.limits import Limit as Limit
from poise.compat.mink.limits import VelocityLimit as VelocityLimit
from poise.compat.mink.solve_ik import build_ik as build_ik
from poise.compat.mink.solve_ik import solve_ik as solve_ik
from poise.compat.mink.tasks import AxisAlignTask as AxisAlignTask
from poise.compat.mink.tasks import BaseTask as BaseTask
from poise.compat.mink.tasks import ComTask as ComTask
from poise.compat.mink.tasks import DampingTask as DampingTask
from poise.compat.mink.tasks import DofFreezingTask as DofFreezingTask
from poise.compat.mink.tasks import EqualityConstraintTask as EqualityConstraintTask
from poise.compat.mink.tasks import FrameTask as FrameTask
from poise.compat.mink.tasks import KineticEnergyRegularizationTask as KineticEnergyRegularizationTask
from poise.compat.mink.tasks import LookAtTask as LookAtTask
from poise.compat.mink.tasks import Objective as Objective
from poise.compat.mink.tasks import PostureTask as PostureTask
from poise.compat.mink.tasks import RelativeFrameTask as RelativeFrameTask
from poise.compat.mink.tasks import Task as Task
from poise.compat.mink.utils import custom_configuration_vector as custom_configuration_vector
from poise.compat.mink.utils import get_body_geom_ids as get_body_geom_ids
from poise.compat.mink.utils import get_body_joint_ids as get_body_joint_ids
from poise.compat.mink.utils import get_freejoint_dims as get_freejoint_dims
from poise.compat.mink.utils import get_subtree_body_ids as get_subtree_body_ids
from poise.compat.mink.utils import get_subtree_geom_ids as get_subtree_geom_ids
from poise.compat.mink.utils import get_subtree_joint_ids as get_subtree_joint_ids
from poise.compat.mink.utils import move_mocap_to_frame as move_mocap_to_frame
