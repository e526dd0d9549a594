"""The types of arrays in signatures: what functions take, and what they return."""

import sys

import numpy as np
import numpy.typing as npt

if sys.version_info >= (3, 12):
    from typing import TypeAliasType
else:
    from typing_extensions import TypeAliasType

# By name, so that signatures stay short wherever they are shown.
ArrayLike = TypeAliasType("ArrayLike", npt.ArrayLike)
"""What NumPy makes an array of: an array, numbers in lists, one number."""
Array = TypeAliasType("Array", npt.NDArray[np.float64])
"""An array of doubles."""
