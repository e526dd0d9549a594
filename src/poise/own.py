"""What methods, damping rules and the kernels of tasks of your own are written with.

A kernel takes `p`, the problem, `s`, the settings, and `w`, the workspace, whose rows are one number each or one of
eight characters.  `load`, `store` and what stands beside them read and write rows in either width.  A kernel calls
functions that are kernels too.  The page "Your own" of the documentation has examples, and says what there is.
"""

from typing import Any

from poise.kernels.algebra.blocks import times as times
from poise.kernels.algebra.blocks import transpose_times as transpose_times
from poise.kernels.algebra.tiles import back_substitute as back_substitute
from poise.kernels.algebra.tiles import factor as factor
from poise.kernels.algebra.tiles import gram as gram
from poise.kernels.machine import lanes
from poise.kernels.machine.jit import kernel as kernel
from poise.kernels.machine.memory import FRESH as FRESH
from poise.kernels.methods.damping import damp as damp
from poise.kernels.methods.damping import squared as squared
from poise.kernels.methods.filters import add_null_term as add_null_term
from poise.kernels.methods.filters import split as split
from poise.kernels.methods.update import linearise as linearise
from poise.kernels.methods.update import move as move
from poise.kernels.methods.update import restrain as restrain
from poise.methods.base import Capabilities as Capabilities
from poise.methods.base import Case as Case
from poise.methods.base import JacobianMethod as JacobianMethod
from poise.methods.base import Method as Method
from poise.methods.base import NullSpaceMethod as NullSpaceMethod
from poise.methods.base import Plan as Plan
from poise.methods.base import Prepared as Prepared
from poise.methods.base import method as method
from poise.methods.damping import Damping as Damping
from poise.methods.damping import DampingRule as DampingRule
from poise.methods.damping import damping_rule as damping_rule
from poise.methods.damping import rule_of as rule_of

# To a type checker they would have the argument with which Numba calls an intrinsic.
any_of: Any = lanes.any_of
load: Any = lanes.load
select: Any = lanes.select
splat: Any = lanes.splat
sqrt: Any = lanes.sqrt
store: Any = lanes.store
