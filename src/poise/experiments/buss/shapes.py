"""The two shapes and the curves of their targets, to the last digit of the program released with the paper.

Source: the program of Buss and Kim 2005, by which Buss 2004, section 8, was measured; the paper gives no number.
"""

from functools import cache
from typing import Final

import numpy as np

from poise.model.builder import ModelBuilder
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.robots import TEXTBOOK
from poise.spatial import SE3, Array

SHAPES: Final = {"y": 2, "double_y": 4}
"""How many effectors each shape has."""
TIME_STEP: Final = 0.005
"""Time between two updates; angular frequencies below are per unit of the same time."""
CURVES: Final[dict[str, tuple[tuple[tuple[float, float, float], ...], ...]]] = {
    "y": (
        ((2.0, 1.5, 6.0), (1.2, 0.2, 7.0), (0.3, 0.2, 8.0)),
        ((-0.7, 0.4, 4.0), (0.8, 0.3, 4.0), (-0.2, 0.2, 3.0)),
    ),
    "double_y": (
        ((2.0, 3.0, 3.0), (0.5, 0.4, 7.0), (0.3, 1.4, 5.0)),
        ((0.5, 0.8, 4.0), (0.4, 0.6, 4.0), (-0.2, 2.0, 3.0)),
        ((-0.5, 1.6, 6.0), (0.6, 0.4, 7.0), (0.3, 1.0, 8.0)),
        ((-1.6, 1.6, 4.0), (0.3, 0.6, 4.0), (-0.2, 0.6, 3.0)),
    ),
}
"""For each effector, e0 first, and each of x, y, z: offset, amplitude and frequency of offset + amplitude sin(f t)."""


def targets(shape: str, times: Array) -> Array:
    """(steps, effectors, 3) places of the targets at `times` (steps,)."""
    table = np.array(CURVES[shape])
    offsets, amplitudes, frequencies = table[..., 0], table[..., 1], table[..., 2]
    # The program has the offsets as single-precision literals, the heights as -0.5 plus one: this is the ninth digit
    # of the totals.
    base = np.array([0.0, -0.5, 0.0])
    offsets = base + _single(offsets - base)
    return offsets + amplitudes * np.sin(frequencies * times[:, None, None])


def times(steps: int) -> Array:
    """(steps,) the times of the updates; the first comes one step after 0."""
    return TIME_STEP * np.arange(1.0, steps + 1.0)


@cache
def mechanism(shape: str) -> Model:
    """The shape; the nodes of the Y lie where the program's single-precision literals put them."""
    model = TEXTBOOK[shape]()
    if shape != "y":
        return model  # the program computes the nodes of the double Y, in double precision
    builder = ModelBuilder(shape)
    places = {WORLD: np.zeros(3)}
    for joint in model.joints:
        place = _single(model.pose(joint.child, model.home).xyz)
        places[joint.child] = place
        builder.joint(
            joint.name,
            joint.kind,
            parent=joint.parent,
            child=joint.child,
            origin=SE3.from_parts(place - places[joint.parent]),
            axis=joint.axis,
        )
    return builder.build()


def links(shape: str) -> int:
    """The number of links as the paper counts them: pieces of some length between two nodes."""
    model = mechanism(shape)
    ends = {joint.child: tuple(model.pose(joint.child, model.home).xyz.round(6)) for joint in model.joints}
    pieces = {(ends[joint.parent], ends[joint.child]) for joint in model.joints if joint.parent != WORLD}
    return sum(start != end for start, end in pieces)


def _single(numbers: Array) -> Array:
    return numbers.astype(np.float32).astype(np.float64)
