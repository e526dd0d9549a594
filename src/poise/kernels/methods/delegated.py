"""What a method that proposes steps for another is told, in a problem of its own."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.layout import GOAL

_READ = 12
"""Rows of a target before its weights, which are of another scale in the proposing method's problem."""


@kernel
def put_targets(p, w, w1):
    """Give the workspace of the proposing method the targets of what is delegated to it."""
    for k in range(len(p.delegated)):
        at, scale = GOAL * p.delegated[k].effector, p.delegated[k].scale
        for i in range(GOAL):
            w1.target[GOAL * k + i] = w.target[at + i] * (1.0 if i < _READ else scale)
