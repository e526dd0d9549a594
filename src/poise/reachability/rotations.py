"""A deterministic spread over all rotations: super-Fibonacci spirals (Alexa 2022, doi:10.1109/CVPR52688.2022.00811).

As Fibonacci's spiral spreads points over a sphere, two spirals that are wound around each other spread unit quaternions
over the sphere in four dimensions, low in discrepancy for any number of them.
"""

import math
from typing import Final

import numpy as np

from poise.spatial import SO3, rotation_of

_PHI: Final = math.sqrt(2.0)
_PSI: Final = 1.533751168755204288118041
"""The positive root of psi^4 = psi + 4."""


def spread(count: int) -> SO3:
    """(count,) rotations, evenly over all; the paper's algorithm 1."""
    s = np.arange(count) + 0.5
    alpha, beta = 2.0 * math.pi * s / _PHI, 2.0 * math.pi * s / _PSI
    inner, outer = np.sqrt(s / count), np.sqrt(1.0 - s / count)
    wxyz = [inner * np.sin(alpha), inner * np.cos(alpha), outer * np.sin(beta), outer * np.cos(beta)]
    return rotation_of(np.stack(wxyz, axis=-1))
