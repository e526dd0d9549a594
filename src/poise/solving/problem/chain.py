"""The joints that move a frame against its base, one after the other, whichever way they stand in the tree."""

from typing import Any, NamedTuple

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import BALL_AXES, BALL_TURN, PRISMATIC, STILL
from poise.model.model import Model
from poise.model.tree import Unit
from poise.spatial import SE3


class Axis(NamedTuple):
    """A joint of a chain: it turns about its own z axis, or slides along it."""

    matrix: Array
    """(4, 4) its frame in that of the joint before, or of the base, where it stands at 0."""
    turns: bool
    slides: float
    """[m] for each metre, or radian, of its position: 1 of a slide, 0 of a hinge, the pitch of a screw."""
    ball: bool
    """Whether it turns about any axis through its origin, and nothing bounds it."""
    centre: float
    half: float
    """Its position is nowhere but from `centre - half` to `centre + half` [rad or m]: pi of a hinge that goes round,
    inf of a slide without end."""

    @property
    def hinge(self) -> bool:
        """Whether it turns about one axis and does not slide."""
        return self.turns and not self.slides and not self.ball

    @property
    def slide(self) -> bool:
        """Whether it slides and does not turn."""
        return not self.turns


class Chain(NamedTuple):
    """Body 0 is the base, body k is carried by joint k, and the last one carries the frame."""

    axes: tuple[Axis, ...]
    hang: Array
    """(4, 4) the frame, or the tool on it, in the last body."""

    @property
    def size(self) -> float:
        """No two joints, and no joint and the frame, are ever farther apart [m]."""
        lengths = [float(np.linalg.norm(m[:3, 3])) for m in (self.hang, *(axis.matrix for axis in self.axes))]
        return sum(lengths) + sum(abs(x.slides) * (abs(x.centre) + x.half) for x in self.axes if x.slides)


def chain_of(model: Model, frame: str, base: str | None, offset: SE3, *, limits: bool) -> Chain:
    """The chain from `base`, None is the world, to what stands at `offset` in `frame`."""
    tree, tip, root = model.tree, model.frame(frame), None if base is None else model.frame(base)
    unit, hangs = tree.links[tip.link]
    forth, back = tree.path(unit), list[int]()
    before: Any = np.eye(4)
    if root is not None:
        unit, there = tree.links[root.link]
        back, before = tree.path(unit), (there @ root.origin).inverse().matrix()
    axes = []
    for i in (i for i in reversed(back) if i not in forth):
        axes.append(_axis(model, tree.units[i], before, sign=-1.0, limits=limits))
        before = np.linalg.inv(tree.units[i].matrix)
    for i in (i for i in forth if i not in back):
        axes.append(_axis(model, tree.units[i], before @ tree.units[i].matrix, sign=1.0, limits=limits))
        before = np.eye(4)
    return Chain(tuple(axes), before @ (hangs @ tip.origin @ offset).matrix())


def _axis(model: Model, unit: Unit, matrix: Array, *, sign: float, limits: bool) -> Axis:
    """A unit where it stands in a chain, against which it may be passed the other way: with a `sign` of -1."""
    slides, ball = 1.0 if unit.kind == PRISMATIC else unit.pitch, unit.kind == BALL_TURN
    low, high = (0.0, 0.0) if unit.kind in (BALL_AXES, STILL) else (-np.inf, np.inf)
    axis = unit.kind not in (BALL_AXES, BALL_TURN, STILL)
    if unit.function is not None:
        if limits:
            low, high = unit.function.image(float(model.lower[unit.iq]), float(model.upper[unit.iq]))
    elif axis and unit.multiplier == 0.0:
        low = high = unit.offset
    elif axis and limits:
        low, high = (unit.multiplier * float(x[unit.iq]) + unit.offset for x in (model.lower, model.upper))
    centre, half = sign * 0.5 * (low + high), 0.5 * abs(high - low)
    if not slides and not half < np.pi:
        centre, half = 0.0, np.pi
    elif not half < np.inf:
        centre, half = 0.0, np.inf
    return Axis(matrix, unit.kind != PRISMATIC, slides, ball, centre, half)
