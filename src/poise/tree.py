"""The arrays that the kernels read: the tree as a list of units.

A unit turns about or slides along its own z axis.  Fixed joints are folded into the placement of what they carry,
and a joint with several axes becomes a chain of units: planar is two slides and a turn, floating three slides and a
ball.  A ball is two units: one that only marks the three fixed axes about which it turns, one that turns.
"""

from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.joint import Joint, JointKind, aligning
from poise.model import WORLD, Model
from poise.spatial import SE3, Array, quaternion_matrix

REVOLUTE: Final = 0
PRISMATIC: Final = 1
HELICAL: Final = 2
BALL: Final = 3
TURN: Final = 4
FRAME: Final = 12
"""Rows of a unit's frame in a workspace; the kernels have the same number in `poise.kernels.tree`."""

_AXIS_KIND = {
    JointKind.REVOLUTE: REVOLUTE,
    JointKind.CONTINUOUS: REVOLUTE,
    JointKind.PRISMATIC: PRISMATIC,
    JointKind.HELICAL: HELICAL,
}
_X = SE3(np.concatenate([np.zeros(3), aligning((1.0, 0.0, 0.0))]))
_Y = SE3(np.concatenate([np.zeros(3), aligning((0.0, 1.0, 0.0))]))
_I = SE3.identity()


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One axis of the tree; its position is `multiplier * q[iq] + offset`."""

    parent: int
    """The unit that carries it; -1 is the world."""
    kind: int
    placement: SE3
    """Pose of its frame, before it moves, in the parent unit's frame."""
    iq: int
    """Its place in q; the first of four for TURN, unused for BALL."""
    iv: int
    """Its place in v; the first of three for BALL, unused for TURN."""
    multiplier: float = 1.0
    offset: float = 0.0
    pitch: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Tree:
    """A model's units, parents before children, and where each link hangs on them."""

    units: tuple[Unit, ...]
    links: dict[str, tuple[int, SE3]]
    """Each link's unit, and its pose in that unit's frame."""

    def path(self, unit: int) -> list[int]:
        """The units from the world to `unit`, in this order."""
        out = []
        while unit >= 0:
            out.append(unit)
            unit = self.units[unit].parent
        return out[::-1]


def pack(model: Model) -> Tree:
    """The units of `model`."""
    units: list[Unit] = []
    links = {WORLD: (-1, _I)} | dict.fromkeys(model.links, (-1, _I))

    def add(kind: int, placement: SE3, parent: int, iq: int, iv: int, **motion: float) -> int:
        units.append(Unit(parent=parent, kind=kind, placement=placement, iq=iq, iv=iv, **motion))
        return len(units) - 1

    for joint in model.joints:
        parent, hangs = links[joint.parent]
        at = hangs @ joint.origin
        if joint.kind is JointKind.FIXED:
            links[joint.child] = (parent, at)
            continue
        source, multiplier, offset = model.follows(joint)
        iq, iv = model.index(source).start, model.velocity_index(source).start
        if joint.kind in _AXIS_KIND:
            turn = _turn(joint)
            unit = add(
                _AXIS_KIND[joint.kind],
                at @ turn,
                parent,
                iq,
                iv,
                multiplier=multiplier,
                offset=offset,
                pitch=joint.pitch if joint.kind is JointKind.HELICAL else 0.0,
            )
            links[joint.child] = (unit, turn.inverse())
        elif joint.kind is JointKind.PLANAR:
            turn = _turn(joint)
            along_x = add(PRISMATIC, at @ turn @ _X, parent, iq, iv)
            along_y = add(PRISMATIC, _X.inverse() @ _Y, along_x, iq + 1, iv + 1)
            links[joint.child] = (add(REVOLUTE, _Y.inverse(), along_y, iq + 2, iv + 2), turn.inverse())
        else:
            if joint.kind is JointKind.FLOATING:
                along_x = add(PRISMATIC, at @ _X, parent, iq, iv)
                along_y = add(PRISMATIC, _X.inverse() @ _Y, along_x, iq + 1, iv + 1)
                parent, at = add(PRISMATIC, _Y.inverse(), along_y, iq + 2, iv + 2), _I
                iq, iv = iq + 3, iv + 3
            axes = add(BALL, at, parent, iq, iv)
            links[joint.child] = (add(TURN, _I, axes, iq, iv), _I)
    return Tree(tuple(units), links)


def _turn(joint: Joint) -> SE3:
    return SE3(np.concatenate([np.zeros(3), aligning(joint.axis)]))


def unit_arrays(units: list[Unit], kept: set[int]) -> tuple[npt.NDArray[np.int64], Array]:
    """(n, 4) int64 `parent, kind, iq, keep` and (n, 16) float64 `rotation 9, place 3, multiplier, offset, pitch, 0`.

    `kept` are the units whose whole frame something reads later; a unit that carries another than the next is kept.
    """
    kept = kept | {unit.parent for i, unit in enumerate(units) if unit.parent != i - 1}
    kept |= {i for i, unit in enumerate(units) if unit.kind == BALL}
    numbers = np.array([(u.parent, u.kind, u.iq, i in kept) for i, u in enumerate(units)], dtype=np.int64)
    places = np.zeros((len(units), 16))
    for i, unit in enumerate(units):
        places[i, :9] = quaternion_matrix(unit.placement.wxyz).ravel()
        places[i, 9:12] = unit.placement.xyz
        places[i, 12:15] = unit.multiplier, unit.offset, unit.pitch
    return numbers.reshape(-1, 4), places


def carrying(tree: Tree, tips: list[int]) -> tuple[list[Unit], dict[int, int]]:
    """The units from the world to each of `tips`, parents renumbered among themselves, and each one's new number."""
    wanted = sorted({unit for tip in tips for unit in tree.path(tip)})
    number = {unit: i for i, unit in enumerate(wanted)} | {-1: -1}
    return [replace(tree.units[u], parent=number[tree.units[u].parent]) for u in wanted], number


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """The Jacobian columns of one frame: which velocities move it, and through which unit's axis."""

    velocities: tuple[int, ...]
    """The place in v of each column."""
    raw: npt.NDArray[np.int64]
    """(n, 4), for `poise.kernels.tree.columns`."""
    scales: Array
    """(n, 2) multiplier and pitch."""


def frame_columns(units: list[Unit], tip: int) -> Columns:
    """The columns of a frame on unit `tip`."""
    raw, scales, column_of = [], [], dict[int, int]()
    path = []
    while tip >= 0:
        path.append(tip)
        tip = units[tip].parent
    for i in reversed(path):
        unit = units[i]
        if unit.kind == TURN:
            continue
        axes = ((6, 0), (9, 1), (3, 2)) if unit.kind == BALL else ((3, 0),)  # rows of x, y and z within a frame
        for row, k in axes:
            fresh = unit.iv + k not in column_of
            column = column_of.setdefault(unit.iv + k, len(column_of))
            kind = REVOLUTE if unit.kind == BALL else unit.kind
            raw.append((FRAME * i + row, FRAME * i, kind, column if fresh else -1 - column))
            scales.append((unit.multiplier, unit.pitch))
    return Columns(tuple(column_of), np.array(raw, dtype=np.int64).reshape(-1, 4), np.array(scales).reshape(-1, 2))
