"""The arrays that the kernels read: the tree as a list of units.

A unit turns about or slides along its own z axis.  Fixed joints are folded into the placement of what they carry,
and a joint with several axes becomes a chain of units: planar is two slides and a turn, floating three slides and a
ball.  A ball is two units: one that only marks the three fixed axes about which it turns, one that turns.  So is a
joint that follows another by a function: one that moves, and one that stands still on it and carries what hangs there.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import (
    BALL,
    BALL_AXES,
    BALL_TURN,
    BY_FUNCTION,
    FRAME,
    HELICAL,
    PIECE,
    PRISMATIC,
    REVOLUTE,
    STILL,
    UNIT,
)
from poise.kernels.machine.packing import joined
from poise.model.frame import WORLD
from poise.model.joint import Joint, JointKind
from poise.model.joint_function import JointFunction
from poise.quaternions import aligning
from poise.spatial import SE3, frozen, pose_of

if TYPE_CHECKING:
    from poise.model.model import Model

_AXIS_KIND = {
    JointKind.REVOLUTE: REVOLUTE,
    JointKind.CONTINUOUS: REVOLUTE,
    JointKind.PRISMATIC: PRISMATIC,
    JointKind.HELICAL: HELICAL,
}
_TURNING = (REVOLUTE, HELICAL)
_GAUGED = (REVOLUTE, PRISMATIC, HELICAL)
_X = SE3(np.concatenate([np.zeros(3), aligning((1.0, 0.0, 0.0))]))
_Y = SE3(np.concatenate([np.zeros(3), aligning((0.0, 1.0, 0.0))]))
_I = SE3.identity()


class Unit(NamedTuple):
    """One axis of the tree; its position is `multiplier * q[iq] + offset`, or a function of q[iq]."""

    parent: int
    """The unit that carries it; -1 is the world."""
    kind: int
    placement: SE3
    """Pose of its frame, before it moves, in the parent unit's frame."""
    matrix: Array
    """(4, 4) the placement as a homogeneous matrix."""
    normal: tuple[float, float, float, float] | None
    """The `common_normal` of its parent's axis and its own, before it moves."""
    iq: int
    """Its place in q; the first of four for BALL_TURN, unused for BALL_AXES."""
    iv: int
    """Its place in v; the first of three for BALL_AXES, unused for BALL_TURN; -1 of a joint that nothing moves."""
    multiplier: float = 1.0
    """0 where it stands still; of a function a bound of its slope, a power of two."""
    offset: float = 0.0
    pitch: float = 0.0
    function: JointFunction | None = None


class Tree(NamedTuple):
    """A model's units, parents before children, and where each link hangs on them."""

    units: tuple[Unit, ...]
    links: dict[str, tuple[int, SE3]]
    """Each link's unit, and its pose in that unit's frame."""
    masses: Array
    """(n + 1,) [kg] of the links that are fixed to each of the n units, not of those that further units carry.

    The last, unit -1, is of what stands still in the world.  With the `number` of `carrying`, `masses[list(number)]`
    are those of the units that it gives, and the world's at the end.
    """
    centres: Array
    """(n + 1, 3) their centres [m], each in its unit's own frame; 0 without a mass."""

    def path(self, unit: int) -> list[int]:
        """The units from the world to `unit`, in this order."""
        out = []
        while unit >= 0:
            out.append(unit)
            unit = self.units[unit].parent
        return out[::-1]


def pack(model: "Model") -> Tree:
    """The units of `model`."""
    units: list[Unit] = []
    links = {WORLD: (-1, _I)} | dict.fromkeys(model.links, (-1, _I))

    def add(kind: int, placement: SE3, parent: int, iq: int, iv: int, **motion: Any) -> int:
        matrix = placement.matrix()
        normal = common_normal(matrix)
        units.append(
            Unit(parent=parent, kind=kind, placement=placement, matrix=matrix, normal=normal, iq=iq, iv=iv, **motion)
        )
        return len(units) - 1

    for joint in model.joints:
        parent, hangs = links[joint.parent]
        at = hangs @ joint.origin
        if joint.kind is JointKind.FIXED:
            links[joint.child] = (parent, at)
            continue
        source, function = model.follows(joint)
        iq, iv = model.index(source).start, model.velocity_index(source).start
        if joint.kind in _AXIS_KIND:
            turn, linear = _turn(joint), function.linear
            unit = add(
                _AXIS_KIND[joint.kind],
                at @ turn,
                parent,
                iq,
                iv,
                multiplier=_bound(model, source, function) if linear is None else linear[0],
                offset=0.0 if linear is None else linear[1],
                pitch=joint.pitch if joint.kind is JointKind.HELICAL else 0.0,
                function=function if linear is None else None,
            )
            if linear is None:
                unit = add(STILL, _I, unit, iq, iv, multiplier=0.0)
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
            axes = add(BALL_AXES, at, parent, iq, iv)
            links[joint.child] = (add(BALL_TURN, _I, axes, iq, iv), _I)
    masses, centres = np.zeros(len(units) + 1), np.zeros((len(units) + 1, 3))
    for link, (mass, centre) in model.masses.items():
        if mass > 0.0:
            unit, hangs = links[link]
            masses[unit] += mass
            centres[unit] += (hangs.act(centre) - centres[unit]) * (mass / masses[unit])
    units = [unit._replace(iv=-1) if unit.iq >= 0 and model._standing[unit.iq] else unit for unit in units]
    return Tree(tuple(units), links, frozen(masses), frozen(centres))


def _bound(model: "Model", leader: str, function: JointFunction) -> float:
    """The power of two that bounds the slope of a function: everywhere, or where that has none within the limits."""
    slope = function.steepest(-math.inf, math.inf) if function.straight else model.steepest(leader, function)
    return math.ldexp(1.0, math.frexp(slope)[1])


def _turn(joint: Joint) -> SE3:
    return pose_of(np.array([0.0, 0.0, 0.0, *aligning(joint.axis)]))


class UnitArrays(NamedTuple):
    """Units as the kernels read them."""

    numbers: npt.NDArray[np.int64]
    """(n, 6) `parent, kind, iq, whether its whole frame is stored, whether its placement is a, alpha, d`, and of one
    that follows by a function its first piece."""
    places: Array
    """(n, 16) `rotation 9, place 3, multiplier, offset, pitch, slide at zero`; a placement by a, alpha and d has
    `a, cos alpha, sin alpha, d` in place of the first twelve.  The pitch of a slide is 1."""
    turns: Array
    """(n + 1,) angle [rad] about its own z axis by which each unit's frame is turned in these arrays; the world's, 0,
    is the last, as unit -1."""
    lifts: Array
    """(n + 1,) length [m] along its own z axis by which it is shifted."""
    pieces: npt.NDArray[np.int64]
    """The records of the pieces of functions."""

    @property
    def sections(self) -> dict[str, npt.NDArray[np.int64]]:
        """The sections of a problem that forward kinematics reads."""
        return {"units": joined(UNIT, self.numbers, self.places), "pieces": self.pieces}

    def seen_from(self, unit: int, hang: SE3) -> SE3:
        """Pose, in the frame that the arrays give the unit, of what hangs on it; unit -1 is the world."""
        if unit < 0:
            return hang
        half = 0.5 * self.turns[unit]
        back = np.array([0.0, 0.0, -self.lifts[unit], math.cos(half), 0.0, 0.0, -math.sin(half)])
        return pose_of(back) @ hang


def unit_arrays(units: Sequence[Unit], stored: set[int]) -> UnitArrays:
    """The arrays of `units`; `stored` are those whose whole frame something reads later.

    A unit's frame may be turned about and slid along its own z axis as one likes.  So the frame of a unit is laid on
    the common normal of its axis and the next one's, and the way to the next is a slide `a` along x, a turn `alpha`
    about x, the joint's own turn, and a slide `d` along z (Craig's form of Denavit and Hartenberg's parameters): less
    than half the work of a general placement.  It serves the first child of each unit; others, and units that
    neither turn nor slide, keep a general placement.
    """
    stored = stored | {unit.parent for i, unit in enumerate(units) if unit.parent != i - 1}
    stored |= {i for i, unit in enumerate(units) if unit.kind == BALL_AXES or unit.function is not None}
    firsts, pieces = _pieces(units)
    table = [
        (unit.parent, unit.kind if unit.function is None else BY_FUNCTION + unit.kind, unit.iq, i in stored, 0, first)
        for i, (unit, first) in enumerate(zip(units, firsts, strict=True))
    ]
    motions = [(unit.multiplier, unit.offset, 1.0 if unit.kind == PRISMATIC else unit.pitch) for unit in units]
    numbers, places = np.array(table, dtype=np.int64).reshape(-1, 6), np.zeros((len(units), 16))
    places[:, 12:15] = np.array(motions).reshape(-1, 3)
    places[:, 15] = places[:, 13] * places[:, 14]
    turning = np.array([unit.kind in _TURNING and unit.function is None for unit in units], dtype=bool)

    child_of = _first_children(units)
    parents, children = list(child_of), list(child_of.values())
    angles, heights, a, alpha = np.array([units[i].normal for i in children]).reshape(-1, 4).T
    turns, lifts = np.zeros(len(units) + 1), np.zeros(len(units) + 1)
    turns[parents], lifts[parents] = angles, heights

    # What a unit's frame is turned by before it moves is a part of its own turn, if it turns.
    placements = np.array([unit.matrix for unit in units]).reshape(-1, 4, 4)
    seen = _screws(2, -turns, -lifts)[numbers[:, 0]] @ placements
    moved = seen @ _screws(2, np.where(turning, 0.0, turns[:-1]), lifts[:-1])
    places[:, :9], places[:, 9:12] = moved[:, :3, :3].reshape(-1, 9), moved[:, :3, 3]
    places[turning, 13] += turns[:-1][turning]

    rest = _screws(0, -alpha, -a) @ seen[children]
    numbers[children, 4] = 1
    places[children, :12] = 0.0
    places[children, :4] = np.column_stack([a, np.cos(alpha), np.sin(alpha), rest[:, 2, 3] + lifts[children]])
    places[children, 13] += np.arctan2(rest[:, 1, 0], rest[:, 0, 0])
    return UnitArrays(numbers, places, turns, lifts, pieces)


def _pieces(units: Sequence[Unit]) -> tuple[list[int], npt.NDArray[np.int64]]:
    """Of each unit the first of its pieces, and the records of all."""
    firsts, whole, real, at = list[int](), list[tuple[int, int]](), list[Array](), 0
    for unit in units:
        firsts.append(at)
        stages = () if unit.function is None else unit.function.stages
        for k, stage in enumerate(stages):
            count = len(stage.rows)
            whole += [(count, int(k + 1 < len(stages)))] * count
            real.append(stage.rows)
            at += count
    return firsts, joined(PIECE, whole, np.concatenate(real)) if real else joined(PIECE, (), ())


def _first_children(units: Sequence[Unit]) -> dict[int, int]:
    """By unit, the first that it carries of those that turn and whose axis has a common normal with its own."""
    found: dict[int, int] = {}
    for i, unit in enumerate(units):
        before = units[unit.parent] if unit.normal and unit.kind in _TURNING and unit.parent >= 0 else None
        if before and before.kind in _GAUGED and before.function is None and unit.function is None:
            found.setdefault(unit.parent, i)
    return found


def common_normal(child: Array) -> tuple[float, float, float, float] | None:
    """The common normal of the z axis and that of a frame (4, 4): its angle about the z axis, its height along it, its
    length, and the angle from axis to axis.

    None if the axes are almost parallel: their normal is so far away that nothing of a double's accuracy is left.
    """
    (x, px), (y, py), (z, pz) = child[:3, 2:].tolist()
    across = math.hypot(x, y)
    if across < 1e-14:  # parallel: any normal will do, and the one through the child's origin needs no slide
        angle, height = math.atan2(py, px), pz
    elif across < 1e-3:
        return None
    else:
        angle, height = math.atan2(x, -y), pz - z * (px * x + py * y) / across**2
    return angle, height, px * math.cos(angle) + py * math.sin(angle), math.atan2(across, z)


def _screws(axis: int, angles: Array, slides: Array) -> Array:
    """(n, 4, 4) homogeneous matrices of turns about and slides along the x (0) or z (2) axis."""
    out = np.zeros((len(angles), 4, 4))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out[:, i, i] = out[:, j, j] = np.cos(angles)
    out[:, j, i] = np.sin(angles)
    out[:, i, j] = -out[:, j, i]
    out[:, axis, axis] = out[:, 3, 3] = 1.0
    out[:, axis, 3] = slides
    return out


def carrying(tree: Tree, tips: list[int]) -> tuple[list[Unit], dict[int, int]]:
    """The units from the world to each of `tips`, parents renumbered among themselves, and each one's new number."""
    wanted = sorted({unit for tip in tips for unit in tree.path(tip)})
    number = {unit: i for i, unit in enumerate(wanted)} | {-1: -1}
    units = [tree.units[u] for u in wanted]
    moved = [
        unit if number[unit.parent] == unit.parent else unit._replace(parent=number[unit.parent]) for unit in units
    ]
    return moved, number


def massless(model: "Model") -> InvalidValue:
    """The error for a centre of mass that there is not."""
    return InvalidValue(
        "no-such-part",
        f"no link of {model.name} has a mass; give some with ModelBuilder.mass, or read a file with <inertial>",
    )


def bodies(model: "Model", arrays: UnitArrays, number: dict[int, int]) -> Array:
    """(n + 1, 5) for `kinematics.mass`, of the n units of `arrays`; the last row is what stands still in the world.

    A row is the share of all mass that hangs on the unit itself, its centre 3 in the frame that the arrays give the
    unit, and the share of all that the unit carries.
    """
    tree = model.tree
    shares = tree.masses[list(number)] / model.mass
    x, y, z = tree.centres[list(number)].T
    cosine, sine = np.cos(arrays.turns), np.sin(arrays.turns)
    seen = [cosine * x + sine * y, cosine * y - sine * x, z - arrays.lifts]
    carried = np.array(shares)
    for i, parent in reversed(list(enumerate(arrays.numbers[:, 0].tolist()))):
        carried[parent] += carried[i]
    return np.column_stack([shares, *seen, carried])


def ball_records(model: "Model", balls: Sequence[Sequence[int]], *, limits: bool = True) -> npt.NDArray[np.int64]:
    """The unit quaternions at these places in q and velocities, with their limits."""
    known = {
        ball.place: np.hstack(ball.record[:-1])
        for ball in model.ball_limits
        if limits and not model._standing[ball.place]
    }
    whole = [(q, v, int(q in known)) for q, v in balls]
    return joined(BALL, whole, [known.get(q, np.zeros(BALL.words - BALL.whole)) for q, _ in balls])


class Columns(NamedTuple):
    """The columns of a Jacobian: which velocities they stand for, and through which unit's axis those act."""

    velocities: tuple[int, ...]
    """The place in v of each column."""
    raw: npt.NDArray[np.int64]
    """(n, 4), for `forward.jacobian_columns`."""
    scales: Array
    """(n, 2) multiplier and pitch."""


def frame_columns(units: Sequence[Unit], tip: int, base: int = -1) -> Columns:
    """The columns of a frame on unit `tip`, as it moves against unit `base`; what moves both is left out."""
    forth, back = _path(units, tip), _path(units, base)
    signed = [(u, 1.0) for u in forth if u not in back] + [(u, -1.0) for u in back if u not in forth]
    return unit_columns(units, signed)


def unit_columns(units: Sequence[Unit], signed: Sequence[tuple[int, float]]) -> Columns:
    """The columns of what these units, parents first, move, each with a factor."""
    raw, scales, column_of = [], [], dict[int, int]()
    for i, sign in signed:
        unit = units[i]
        if unit.kind in (BALL_TURN, STILL) or unit.iv < 0:
            continue
        axes = ((6, 0), (9, 1), (3, 2)) if unit.kind == BALL_AXES else ((3, 0),)  # rows of x, y and z within a frame
        for row, k in axes:
            fresh = unit.iv + k not in column_of
            column = column_of.setdefault(unit.iv + k, len(column_of))
            kind = REVOLUTE if unit.kind == BALL_AXES else unit.kind
            raw.append((FRAME * i + row, FRAME * i, kind, column if fresh else -1 - column))
            scales.append((sign * unit.multiplier, unit.pitch))
    return Columns(tuple(column_of), np.array(raw, dtype=np.int64).reshape(-1, 4), np.array(scales).reshape(-1, 2))


def _path(units: Sequence[Unit], unit: int) -> list[int]:
    """The units from the world to `unit`, in this order."""
    path = []
    while unit >= 0:
        path.append(unit)
        unit = units[unit].parent
    return path[::-1]
