"""What kind of arm moves a frame, by where its axes lie: what decides whether its poses have a closed form."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, final

import numpy as np

from poise.kernels.machine.layout import REVOLUTE
from poise.model.axes import SPECIAL, Axes, axes_between, leaning, meeting
from poise.model.frame import Frame
from poise.model.tree import Tree

_ALMOST: Final = 2e-3
"""Axes almost meet, or almost are parallel, if they do to this share of the arm's size, or to this angle [rad]."""
_CASES: Final = (
    ("spherical wrist", (("4, 5 and 6 meet", (3, 4, 5), True),)),
    ("spherical shoulder", (("1, 2 and 3 meet", (0, 1, 2), True),)),
    ("three parallel axes", (("2, 3 and 4 are parallel", (1, 2, 3), False), ("5 and 6 meet", (4, 5), True))),
    ("three parallel axes", (("3, 4 and 5 are parallel", (2, 3, 4), False), ("1 and 2 meet", (0, 1), True))),
)
"""Names, and of each what must hold: in words, of which axes, and whether they meet or are parallel."""


@final
@dataclass(frozen=True, slots=True)
class KinematicClass:
    """What kind of arm moves a frame; see `Model.kinematic_class`."""

    name: str
    """In words, such as "spherical wrist", "general" or "4 turning joints, 1 slide"."""
    almost: str
    """What it would be but for rounding, empty if it is nothing else; then `name` is "general"."""
    residuals: Mapping[str, float]
    """What decides, in words, with how far it is from being so: a share of the arm's size, or the sine of an angle."""
    size: float
    """The arm's size [m]: the largest extent of the points of its axes."""

    def __str__(self) -> str:
        lines = [self.name + (f"; but for rounding: {self.almost}" if self.almost else "")]
        for what, off in self.residuals.items():
            lines.append(f"  axes {what}: " + (f"off by {off:.2g}" if off < np.inf else "two are parallel"))
        return "\n".join(lines)


def kinematic_class(tree: Tree, frame: Frame) -> KinematicClass:
    """What kind of arm moves a frame."""
    unit = tree.links[frame.link][0]
    found = axes_between(tree, unit, None, np.eye(4)) if unit >= 0 else None
    if found is None:
        return KinematicClass("no chain of joints that turn or slide", "", {}, 0.0)
    axes = found[0]
    size = float(np.ptp(axes.p, axis=0).max())
    turning = sum(kind == REVOLUTE for kind in axes.kinds)
    slides = len(axes.kinds) - turning
    if (turning, slides) != (6, 0):
        words = f"{turning} turning joint{'s' * (turning != 1)}" if turning else ""
        words += (", " if turning and slides else "") + (f"{slides} slide{'s' * (slides != 1)}" if slides else "")
        return KinematicClass(words, "", {}, size)
    residuals, almost = dict[str, float](), ""
    for name, parts in _CASES:
        offs = {words: _off(axes, list(some), size, meets=meets) for words, some, meets in parts}
        residuals |= offs
        if max(offs.values()) <= SPECIAL:
            return KinematicClass(name, "", residuals, size)
        if max(offs.values()) <= _ALMOST and not almost:
            almost = name
    return KinematicClass("general", almost, residuals, size)


def _off(axes: Axes, some: list[int], size: float, *, meets: bool) -> float:
    """How far some axes are from meeting, as a share of the arm's size, or from being parallel, as a sine."""
    h = axes.h[some]
    pairs = [leaning(a, b) for a, b in pairwise(h)]
    if not meets:
        return max(pairs)
    if min(pairs) <= SPECIAL:
        return np.inf
    return meeting(h, axes.p[some])[1] / max(size, 1e-300)
