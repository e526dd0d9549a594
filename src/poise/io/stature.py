"""The unit of length of a skeleton, by the size of a body: a file may not say it, or be wrong about it.

A rest pose may lie in any shape, so a body is measured along its bones.  From hand to foot, the longest way, it is a
third longer than a human is tall.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.io.skeleton import reach

Ends = Sequence[tuple[str, int, Array]]
"""Ends of bones, as those of a `SkeletonFile`."""
_LIMBS: Final = 5
"""A whole body has so many ends of bones, of the head, two hands and two feet, at least."""
_TALL: Final = 0.75
"""How tall a body is, as a share of the longest way along its bones."""
_PERSON: Final = (0.9, 2.6)
"""Heights of people, and of characters that are meant to be some [m]."""
_CENTIMETRES: Final = (0.01, "centimetres")
_UNITS: Final = (
    (0.04, 4.0, 1.0, "metres"),
    (24.0, 40.0, 0.0254 / 0.45, "the units of CMU's skeletons, 56.4 mm"),
    (40.0, 90.0, 0.0254, "inches"),
    (600.0, 6000.0, 0.001, "millimetres"),
)
"""Units that a body is likely to have, by its height from the one to the other number; a person of 64 units is one of
64 inches.  What is no whole body is not taken to be in inches."""


def height(parents: Sequence[int], offsets: Sequence[Array], ends: Ends) -> tuple[float, bool]:
    """How tall a whole body is, or how far a skeleton reaches that is none, in the unit of its offsets; and which.

    A root's parent is -1, and parents stand before their children.
    """
    if len({*range(len(parents))} - {*parents}) < _LIMBS:
        return float(reach(parents, offsets, ends).max()), False
    longest, ways = 0.0, [[0.0] for _ in parents]  # from each joint to the ends beyond it
    for _, i, place in ends:
        ways[i].append(float(np.linalg.norm(place)))
    for i in range(len(parents) - 1, -1, -1):
        longest = max(longest, sum(sorted(ways[i])[-2:]))
        if parents[i] >= 0:
            ways[parents[i]].append(max(ways[i]) + float(np.linalg.norm(offsets[i])))
    return _TALL * longest, True


def unit_of(size: float, *, whole: bool) -> tuple[float, str]:
    """The unit [m] that a skeleton of this height is likely to have, and what it is called."""
    for low, high, metres, called in _UNITS:
        if low <= size < high and (whole or called != "inches"):
            return metres, called
    return _CENTIMETRES


def guessed(size: float, *, whole: bool) -> tuple[float, str]:
    """The unit [m] of a file that states none, and what there is to say of it."""
    metres, called = unit_of(size, whole=whole)
    least, most = _PERSON
    known = (*((unit, word) for _, _, unit, word in _UNITS), _CENTIMETRES)
    others = [
        f"{word} ({unit * size:.3g} m)" for unit, word in known if unit != metres and least <= unit * size <= most
    ]
    also = f"{' or '.join(others)} it could be too; " if whole and others else ""
    what = "body" if whole else "skeleton"
    said = f"a {what} of {size:.4g} is taken to be in {called}, so {metres * size:.3g} m"
    return metres, f"{said}; {also}unit says another"


def doubted(size: float, *, whole: bool) -> str:
    """A question, of a file whose format has metres, where a whole body has the height of a person in another unit."""
    metres, called = unit_of(size, whole=whole)
    least, most = _PERSON
    if not whole or metres == 1.0 or not least <= metres * size <= most:
        return ""
    return f"a body of {size:.4g} m: in {called}? unit={metres:.4g} takes it so, {metres * size:.3g} m"
