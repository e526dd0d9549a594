"""From dark to bright: the colours of a share from 0 to 1, the same in every picture and file."""

from typing import Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array

VIRIDIS: Final = (
    (68, 1, 84), (71, 45, 123), (59, 82, 139), (44, 114, 142), (33, 145, 140), (40, 174, 128), (94, 201, 98),
    (173, 220, 48), (253, 231, 37),
)  # fmt: skip
"""Nine of the colours of viridis (Smith and van der Walt, CC0), evenly spaced; legible without telling hues apart."""


def coloured(share: Array) -> npt.NDArray[np.uint8]:
    """(n, 3) red, green and blue for n shares."""
    at = np.clip(share, 0.0, 1.0) * (len(VIRIDIS) - 1)
    mixed = [np.interp(at, range(len(VIRIDIS)), [colour[i] for colour in VIRIDIS]) for i in range(3)]
    return np.stack(mixed, axis=-1).round().astype(np.uint8)
