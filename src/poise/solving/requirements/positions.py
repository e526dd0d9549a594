"""Limits of positions of coordinates: which of them a configuration stands at."""

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import AT_LIMIT

Flags = npt.NDArray[np.bool_]


def at_limits(x: Array, lower: Array, upper: Array) -> tuple[Flags, Flags]:
    """Whether numbers x stand at their lower and at their upper limits [rad or m]."""
    return x - lower <= AT_LIMIT, upper - x <= AT_LIMIT


def pushed_out(x: Array, lower: Array, upper: Array, push: Array) -> Flags:
    """Whether numbers x stand at limits out of which `push` would take them."""
    below, above = at_limits(x, lower, upper)
    return (below & (push < 0.0)) | (above & (push > 0.0))
