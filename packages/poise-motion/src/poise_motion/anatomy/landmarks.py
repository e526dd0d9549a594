"""The landmarks of a human hand: the 25 joints of WebXR by their names, and the 21 of MediaPipe among them.

Sources: WebXR Hand Input Module, Level 1 (W3C), "XRHandJoint"; MediaPipe Hands (Zhang et al. 2020, arXiv:2006.10214).
"""

from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from poise import InvalidValue, ShapeError
from poise.extending import WEBXR, Array, NameNotFound
from poise.quaternions import unit_vectors

MEDIAPIPE: Final = tuple(name for name in WEBXR if name.startswith("thumb") or not name.endswith("-metacarpal"))
"""The 21 landmarks of MediaPipe in its order, by the names of WebXR: all but the metacarpals of four fingers."""
TIPS: Final = tuple(name for name in WEBXR if name.endswith("-tip"))
"""The five fingertips, the thumb's first."""
_FINGERS: Final = tuple(name.removesuffix("-tip") for name in TIPS if not name.startswith("thumb"))
WRIST: Final = "wrist"
KNUCKLES: Final = ("middle-finger-phalanx-proximal", "index-finger-phalanx-proximal")
"""The landmarks that make the axes of a hand, together with the wrist."""

_BENT: Final = 0.2
"""The least sine by which fingers bend to one side of the palm, on average, for it to be told which side that is."""


def landmark(value: object, name: str) -> str:
    """The name of a landmark that is given by its name or its number of MediaPipe's.

    Raises NameNotFound, with the nearest names, and ValueError for a number that is none.
    """
    if isinstance(value, str):
        if value not in WEBXR:
            raise NameNotFound(value, WEBXR, owner=name, noun="landmark of a hand")
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidValue(
            "wrong-type", f"{name} is {value!r}; it must be the name of a landmark, or a number from 0 to 20"
        )
    number = int(value.__index__())
    if not 0 <= number < len(MEDIAPIPE):
        raise InvalidValue("out-of-range", f"{name} is {number}; the landmarks of MediaPipe are numbered from 0 to 20")
    return MEDIAPIPE[number]


@cache
def columns(names: tuple[str, ...], count: int) -> npt.NDArray[np.intp]:
    """Where the named landmarks stand among 21 or 25; raises ShapeError for another count, or one that lacks some."""
    known = {len(MEDIAPIPE): MEDIAPIPE, len(WEBXR): WEBXR}.get(count)
    if known is None:
        raise ShapeError(f"a hand has 21 landmarks, as of MediaPipe, or 25, as of WebXR, got {count}")
    for name in names:
        if name not in known:
            raise ShapeError(f"{name!r} is not among the 21 landmarks of MediaPipe; give the 25 of WebXR")
    return np.array([known.index(name) for name in names], dtype=np.intp)


def shown_side(points: Mapping[str, Array]) -> str:
    """Whether landmarks (frames, 3) by name are of a "right" or a "left" hand: fingers bend towards the palm.

    Empty where they are too straight for it to be told, or not there.
    """
    middle, index = (points.get(name) for name in KNUCKLES)
    fingers = [(points.get(f"{name}-phalanx-proximal"), points.get(f"{name}-tip")) for name in _FINGERS]
    ways = [tip - knuckle for knuckle, tip in fingers if knuckle is not None and tip is not None]
    if WRIST not in points or middle is None or index is None or not ways:
        return ""
    palm = unit_vectors(np.cross(index - middle, middle - points[WRIST]))  # out of the palm of a right hand
    bent = float(np.nanmean(np.sum(unit_vectors(np.array(ways)) * palm, axis=-1)))
    return "right" if bent > _BENT else "left" if bent < -_BENT else ""
