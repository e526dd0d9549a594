"""The middle of few numbers, of which a body has many: NumPy's own takes ten times as long on them."""

import numpy as np

from poise.extending import Array


def median(values: Array) -> float:
    """That of values (n,), of which there is at least one; of an even number the mean of both in the middle."""
    ordered = np.sort(values)
    return float(0.5 * (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]))
