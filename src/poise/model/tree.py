"""The arrays that the kernels read: the tree as a list of units.

A unit turns about or slides along its own z axis.  Fixed joints are folded into the placement of what they carry,
and a joint with several axes becomes a chain of units: planar is two slides and a turn, floating three slides and a
ball.  A ball is two units: one that only marks the three fixed axes about which it turns, one that turns.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.layout import BALL_AXES, BALL_TURN, FRAME, HELICAL, PRISMATIC, REVOLUTE
from poise.model.joint import Joint, JointKind, aligning
from poise.model.model import WORLD, Model
from poise.spatial import SE3, Array, quaternion_matrix

_AXIS_KIND = {
    JointKind.REVOLUTE: REVOLUTE,
    JointKind.CONTINUOUS: REVOLUTE,
    JointKind.PRISMATIC: PRISMATIC,
    JointKind.HELICAL: HELICAL,
}
_GAUGED = (REVOLUTE, PRISMATIC, HELICAL)
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
    """Its place in q; the first of four for BALL_TURN, unused for BALL_AXES."""
    iv: int
    """Its place in v; the first of three for BALL_AXES, unused for BALL_TURN."""
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
            axes = add(BALL_AXES, at, parent, iq, iv)
            links[joint.child] = (add(BALL_TURN, _I, axes, iq, iv), _I)
    return Tree(tuple(units), links)


def _turn(joint: Joint) -> SE3:
    return SE3(np.concatenate([np.zeros(3), aligning(joint.axis)]))


@final
@dataclass(frozen=True, slots=True)
class UnitArrays:
    """Units as the kernels read them."""

    numbers: npt.NDArray[np.int64]
    """(n, 5) `parent, kind, iq, whether its whole frame is kept, whether its placement is a, alpha, d`."""
    places: Array
    """(n, 16) `rotation 9, place 3, multiplier, offset, pitch, slide at zero`; a placement by a, alpha and d has
    `a, cos alpha, sin alpha, d` in place of the first twelve.  The pitch of a slide is 1."""
    gauges: list[SE3]
    """Pose of each unit's frame in these arrays, in the unit's own frame."""

    def seen_from(self, unit: int, hang: SE3) -> SE3:
        """Pose, in the frame that the arrays give the unit, of what hangs on it; unit -1 is the world."""
        return hang if unit < 0 else self.gauges[unit].inverse() @ hang


def unit_arrays(units: list[Unit], kept: set[int]) -> UnitArrays:
    """The arrays of `units`; `kept` are those whose whole frame something reads later.

    A unit's frame may be turned about and slid along its own z axis as one likes.  So the frame of a unit is laid on
    the common normal of its axis and the next one's, and the way to the next is a slide `a` along x, a turn `alpha`
    about x, the joint's own turn, and a slide `d` along z (Craig's form of Denavit and Hartenberg's parameters): less
    than half the work of a general placement.  It serves the first child of each unit; others, and units that
    neither turn nor slide, keep a general placement.
    """
    kept = kept | {unit.parent for i, unit in enumerate(units) if unit.parent != i - 1}
    kept |= {i for i, unit in enumerate(units) if unit.kind == BALL_AXES}
    gauges = [_I] * len(units)
    normals: dict[int, tuple[float, float]] = {}
    claimed: set[int] = set()
    for i, unit in enumerate(units):
        parent = unit.parent
        if parent < 0 or units[parent].kind not in _GAUGED or parent in claimed or unit.kind not in (REVOLUTE, HELICAL):
            continue
        found = _common_normal(unit.placement)
        if found:
            claimed.add(parent)
            gauges[parent], normals[i] = found[0], found[1:]
    numbers, places = np.zeros((len(units), 5), dtype=np.int64), np.zeros((len(units), 16))
    for i, unit in enumerate(units):
        seen = unit.placement if unit.parent < 0 else gauges[unit.parent].inverse() @ unit.placement
        twist, slide = _about_z(gauges[i])
        numbers[i] = unit.parent, unit.kind, unit.iq, i in kept, i in normals
        pitch = 1.0 if unit.kind == PRISMATIC else unit.pitch
        places[i, 12:] = unit.multiplier, unit.offset, pitch, pitch * unit.offset
        if i in normals:
            a, alpha = normals[i]
            rest = SE3.from_xyz_rpy([a, 0.0, 0.0], [alpha, 0.0, 0.0]).inverse() @ seen
            turn, lift = _about_z(rest)
            places[i, :4] = a, np.cos(alpha), np.sin(alpha), lift + slide
            places[i, 13] += turn + twist
            continue
        if unit.kind in (REVOLUTE, HELICAL):
            places[i, 13] += twist
            seen = seen @ SE3.from_parts([0.0, 0.0, slide])
        else:
            seen = seen @ gauges[i]
        places[i, :9] = quaternion_matrix(seen.wxyz).ravel()
        places[i, 9:12] = seen.xyz
    return UnitArrays(numbers, places, gauges)


def _common_normal(child: SE3) -> tuple[SE3, float, float] | None:
    """The frame on the z axis whose x axis is the common normal to the child's z axis, its length and the angle.

    None if the axes are almost parallel: their normal is so far away that nothing of a double's accuracy is left.
    """
    x, y, z = child.rotation.act([0.0, 0.0, 1.0])
    px, py, pz = child.xyz
    across = math.hypot(x, y)
    if across < 1e-14:  # parallel: any normal will do, and the one through the child's origin needs no slide
        angle, height = math.atan2(py, px), pz
    elif across < 1e-3:
        return None
    else:
        angle, height = math.atan2(x, -y), pz - z * (px * x + py * y) / across**2
    length = px * math.cos(angle) + py * math.sin(angle)
    return SE3.from_xyz_rpy([0.0, 0.0, height], [0.0, 0.0, angle]), length, math.atan2(across, z)


def _about_z(motion: SE3) -> tuple[float, float]:
    """Angle and slide of a motion about and along the z axis."""
    w, _, _, z = motion.wxyz
    return 2.0 * math.atan2(z, w), float(motion.xyz[2])


def carrying(tree: Tree, tips: list[int]) -> tuple[list[Unit], dict[int, int]]:
    """The units from the world to each of `tips`, parents renumbered among themselves, and each one's new number."""
    wanted = sorted({unit for tip in tips for unit in tree.path(tip)})
    number = {unit: i for i, unit in enumerate(wanted)} | {-1: -1}
    return [replace(tree.units[u], parent=number[tree.units[u].parent]) for u in wanted], number


def massless(model: Model) -> ValueError:
    """The error for a centre of mass that there is not."""
    return ValueError(
        f"no link of {model.name} has a mass; give some with ModelBuilder.mass, or read a file with <inertial>"
    )


def carried_masses(model: Model) -> tuple[Array, Array]:
    """The masses (n + 1,) [kg] that hang on each of the n units of `model.tree`, and their centres (n + 1, 3) [m].

    A unit bears the links that are fixed to it, not those that further units carry; its centre is in its own frame.
    The last row, unit -1, is what stands still in the world.  A unit without a mass has its centre at 0.  With the
    `number` of `carrying`, `masses[list(number)]` are those of the units that it gives, and the world's at the end.
    """
    count = len(model.tree.units) + 1
    masses, centres = np.zeros(count), np.zeros((count, 3))
    for link, (mass, centre) in model.masses.items():
        if mass == 0.0:
            continue
        unit, hangs = model.tree.links[link]
        masses[unit] += mass
        centres[unit] += (hangs.act(centre) - centres[unit]) * (mass / masses[unit])
    return masses, centres


def bodies(model: Model, arrays: UnitArrays, number: dict[int, int]) -> Array:
    """(n + 1, 5) for `kinematics.mass`, of the n units of `arrays`; the last row is what stands still in the world.

    A row is the share of all mass that hangs on the unit itself, its centre 3 in the frame that the arrays give the
    unit, and the share of all that the unit carries.
    """
    masses, centres = carried_masses(model)
    shares = masses[list(number)] / model.mass
    seen = [arrays.seen_from(i, SE3.from_parts(centres[u])).xyz for u, i in number.items()]
    carried = np.array(shares)
    for i, parent in reversed(list(enumerate(arrays.numbers[:, 0].tolist()))):
        carried[parent] += carried[i]
    return np.column_stack([shares, seen, carried])


@final
@dataclass(frozen=True, slots=True)
class Columns:
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
        if unit.kind == BALL_TURN:
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
