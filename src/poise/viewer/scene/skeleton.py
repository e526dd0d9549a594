"""A model as bones between its joints, so that one without any shape is worth looking at.

A bone goes from the origin of a link to each joint that the link carries, and of a link that carries none to its
frames.  A joint is drawn with the link that it moves.
"""

import functools
import math
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.model.frame import WORLD
from poise.model.joint import Joint, JointKind
from poise.model.model import Model
from poise.quaternions import unit_vectors
from poise.viewer.scene.parts import Colour, Piece
from poise.viewer.scene.tessellation import Triangles, bone, box, cylinder, sphere

BONE: Final[Colour] = (176, 182, 192, 255)
JOINT_COLOURS: Final[dict[JointKind, Colour]] = {
    JointKind.FIXED: (128, 134, 144, 255),
    JointKind.REVOLUTE: (226, 120, 52, 255),
    JointKind.CONTINUOUS: (236, 176, 58, 255),
    JointKind.PRISMATIC: (58, 150, 118, 255),
    JointKind.HELICAL: (146, 98, 186, 255),
    JointKind.PLANAR: (52, 152, 186, 255),
    JointKind.SPHERICAL: (206, 70, 84, 255),
    JointKind.FLOATING: (86, 112, 196, 255),
}
"""One colour a kind; that of fixed joints is also that of tips and of what stands on the ground."""
_LENGTH: Final = 0.3
"""Of a bone in a model that has none of any length [m]."""
_SHARE: Final = 0.1
"""The radius of a joint, as a share of the length of the bones that it joins."""
_RAIL: Final = 6.0
"""How far a rail without an end is drawn either way, in radii of its joint."""


def skeleton(model: Model) -> dict[str, list[Piece]]:
    """The pieces of each link that has any, in its frame, and of the world: the rails on which links slide there."""
    size = size_of(model)
    ways = _ways(model)
    radii = _radii(model, ways)
    pieces: dict[str, list[Piece]] = {}
    # The axis of a joint stands still in the frame of its child too.
    uprights = _along(np.array([joint.axis for joint in model.joints]).reshape(-1, 3))
    for joint, upright in zip(model.joints, uprights, strict=True):
        radius, marker = radii[joint.child], _marker(joint.kind)
        if marker is not None:
            shape = marker.vertices @ (radius * upright.T)
            pieces.setdefault(joint.child, []).append(Piece(shape, marker.faces, JOINT_COLOURS[joint.kind]))
        if joint.kind is JointKind.PRISMATIC:
            rail = _rail(joint, radius, size).placed(joint.origin)
            pieces.setdefault(joint.parent, []).append(Piece(*rail, _dim(JOINT_COLOURS[joint.kind])))
    _add_bones(ways, radii, pieces)
    carried = {joint.child for joint in model.joints}
    for link in model.links:
        if link not in carried:
            foot = box(np.full(3, 1.6 * radii[link]))
            pieces.setdefault(link, []).append(Piece(*foot, JOINT_COLOURS[JointKind.FIXED]))
        elif link not in pieces:
            tip = sphere(0.6 * radii[link], 16)
            pieces[link] = [Piece(*tip, JOINT_COLOURS[JointKind.FIXED])]
    return pieces


def size_of(model: Model) -> float:
    """The length of the longest chain of joints [m], or of a bone if that is 0."""
    far = {WORLD: 0.0}
    for joint in model.joints:
        far[joint.child] = far.get(joint.parent, 0.0) + float(np.linalg.norm(joint.origin.xyz))
    return max(far.values()) or _LENGTH


def _ways(model: Model) -> dict[str, list[Array]]:
    """By link, where the joints are that it carries, or else its frames (3,) [m]."""
    ways: dict[str, list[Array]] = {}
    for joint in model.joints:
        if joint.parent != WORLD:
            ways.setdefault(joint.parent, []).append(joint.origin.xyz)
    carrying = set(ways)
    for frame in map(model.frame, model.frames):
        if frame.name != frame.link and frame.link != WORLD and frame.link not in carrying:
            ways.setdefault(frame.link, []).append(frame.origin.xyz)
    return ways


def _radii(model: Model, ways: dict[str, list[Array]]) -> dict[str, float]:
    """By link, the radius of what is drawn at its origin [m], from the longest of the bones that meet there.

    Where none has a length, that of the median bone.
    """
    lengths = {link: [float(np.linalg.norm(way)) for way in those] for link, those in ways.items()}
    found = [length for those in lengths.values() for length in those if length > 0.0]
    usual = float(np.median(found)) if found else _LENGTH
    into: dict[str, float] = {}  # the bone that leads to a link, past those without a length
    for joint in model.joints:
        length = float(np.linalg.norm(joint.origin.xyz)) if joint.parent != WORLD else 0.0
        into[joint.child] = length or into.get(joint.parent, 0.0)
    longest = {link: max(into.get(link, 0.0), *lengths.get(link, ()), 0.0) or usual for link in model.links}
    return {link: _SHARE * min(max(length, 0.5 * usual), 1.5 * usual) for link, length in longest.items()}


@functools.cache
def _marker(kind: JointKind) -> Triangles | None:
    """What shows how a joint moves, about the origin with its axis along z, for a radius of 1; None for a fixed one."""
    match kind:
        case JointKind.FIXED:
            return None
        case JointKind.REVOLUTE | JointKind.CONTINUOUS | JointKind.HELICAL:
            return cylinder(1.0, 2.6)
        case JointKind.PRISMATIC:
            return box((2.0, 2.0, 1.6))
        case JointKind.PLANAR:
            return box((4.0, 4.0, 0.4))
        case JointKind.SPHERICAL | JointKind.FLOATING:
            return sphere(1.1)


def _rail(joint: Joint, radius: float, size: float) -> Triangles:
    """Where a joint slides, in its own frame: between its limits, but not much further than the model's `size`."""
    ends = [(end, _RAIL * radius if math.isinf(end) else 2.0 * size) for end in (*joint.lower, *joint.upper)]
    low, high = (min(max(end, -far), far) for end, far in ends)
    low, high = min(low, 0.0) - radius, max(high, 0.0) + radius
    axis = np.array(joint.axis)
    rail = box((0.7 * radius, 0.7 * radius, high - low))
    return Triangles(rail.vertices @ _along(axis[None])[0].T + 0.5 * (low + high) * axis, rail.faces)


def _add_bones(ways: dict[str, list[Array]], radii: dict[str, float], pieces: dict[str, list[Piece]]) -> None:
    """Add the bones of all links, but those without a length."""
    links = [link for link, those in ways.items() for _ in those]
    ends = np.array([way for those in ways.values() for way in those]).reshape(-1, 3)
    lengths = np.linalg.norm(ends, axis=1)
    unit = bone(1.0, 1.0)
    for link, length, along in zip(links, lengths.tolist(), _along(ends), strict=True):
        if length > 0.0:
            width = min(max(0.2 * length, 0.5 * radii[link]), 1.6 * radii[link])
            stretched = unit.vertices * (width, width, length)
            pieces.setdefault(link, []).append(Piece(stretched @ along.T, unit.faces, BONE))


def _along(ways: Array) -> Array:
    """(n, 3, 3) rotations that take z to the ways (n, 3), and to itself for those of no length."""
    z = unit_vectors(ways, [0.0, 0.0, 1.0])
    # Normal to z is what the axis that it is least along leaves of itself.
    least = np.eye(3)[np.argmin(np.abs(z), axis=1)]
    x = np.cross(least, z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=2)


def _dim(colour: Colour) -> Colour:
    """A darker shade."""
    red, green, blue, alpha = colour
    return 7 * red // 10, 7 * green // 10, 7 * blue // 10, alpha
