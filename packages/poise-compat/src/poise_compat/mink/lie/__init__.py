"""mink's groups of motions."""

from poise_compat.mink.lie.base import MatrixLieGroup as MatrixLieGroup
from poise_compat.mink.lie.se3 import SE3 as SE3
from poise_compat.mink.lie.so3 import SO3 as SO3
from poise_compat.mink.lie.utils import get_epsilon as get_epsilon
from poise_compat.mink.lie.utils import skew as skew
