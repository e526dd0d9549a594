"""What a method or a damping rule of your own is written with; docs/methods/own.md has an example of both.

A kernel takes `p`, the problem, `s`, the settings, and `w`, the workspace, whose rows are one number each or one of
eight characters.  `load`, `store` and what stands beside them read and write rows in either width, and
`poise.kernels.machine.layout` says what there is.  A kernel calls functions that are kernels too.
"""

from poise.kernels.algebra.blocks import times, transpose_times
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.methods.damping import damp, squared
from poise.kernels.methods.filters import add_null_term, split
from poise.kernels.methods.memory import FRESH
from poise.kernels.methods.update import linearise, move, restrain
from poise.methods.base import Capabilities, Case, JacobianMethod, Method, NullSpaceMethod, Plan, Prepared, method
from poise.methods.damping import Damping, DampingRule, damping_rule, rule_of

__all__ = [
    "FRESH",
    "Capabilities",
    "Case",
    "Damping",
    "DampingRule",
    "JacobianMethod",
    "Method",
    "NullSpaceMethod",
    "Plan",
    "Prepared",
    "add_null_term",
    "any_of",
    "back_substitute",
    "damp",
    "damping_rule",
    "factor",
    "gram",
    "kernel",
    "linearise",
    "load",
    "method",
    "move",
    "restrain",
    "rule_of",
    "select",
    "splat",
    "split",
    "sqrt",
    "squared",
    "store",
    "times",
    "transpose_times",
]
