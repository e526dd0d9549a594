"""Where the joints of a BVH stand in their parents: what the channels for places mean, which the file does not say.

Most files give the place in the parent, in the offset's stead; some what is to be added to the offset; and those of
Vicon the place in the world, of joints whose turns are relative to the parent all the same.  The bones tell: they are
as long as the offsets, and do not change.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.io.bvh_frames import Mended
from poise.io.bvh_tree import Hierarchy, Node
from poise.quaternions import conjugate, quaternion_product, rotate

_FRAMES: Final = 240
"""Frames that are looked at, at most, evenly over the motion."""
_NEARER: Final = 0.25
"""Places are the world's if bones are nearer to their offsets then, by this factor; in a file of Vicon it is 0.04."""
_TORN: Final = 2.0
"""A bone that is longer than its offset by more than this factor is no bone."""


def in_parents(
    nodes: Sequence[Node], positions: Sequence[Array | None], turns: Sequence[Array], notes: list[str]
) -> list[Array | None]:
    """(frames, 3) the place of each joint in its parent, and of a root in the world; None for what has no channels.

    `positions` are the places as the file has them, (frames, 3), and `turns` (frames, 4) are relative to the parents.
    """
    positioned = [i for i, node in enumerate(nodes) if node.parent >= 0 and len(_along(node)) == 3]
    frames = len(turns[0])
    if positioned and frames:
        some = np.unique(np.linspace(0, frames - 1, _FRAMES).astype(int))
        few = [None if place is None else place[some] for place in positions]
        carried = _of_world(nodes, few, [turn[some] for turn in turns], positioned)
        read = [(_offset(nodes[i]), few[i], carried[i]) for i in positioned]
        near = sum(_miss(place, offset) for offset, _, place in read if place is not None)
        far = sum(min(_miss(p, offset), _miss(p + offset, offset)) for offset, p, _ in read if p is not None)
        if near < _NEARER * far:
            notes.append(
                f"{some_joints([nodes[i].name for i in positioned])}: the places are the world's, not the parent's"
            )
            return _of_world(nodes, positions, turns, positioned)
    return [
        place if place is None else _replacing(node, place, notes) for node, place in zip(nodes, positions, strict=True)
    ]


def _replacing(node: Node, place: Array, notes: list[str]) -> Array:
    """Places that take the offset's place, from such as may be meant to be added to it."""
    offset, along = _offset(node), _along(node)
    if node.parent >= 0 and len(place):
        middle = np.median(place, axis=0)
        if np.linalg.norm(middle[along]) < np.linalg.norm((middle - offset)[along]):
            place = place.copy()
            place[:, along] += offset[along]
            notes.append(f"joint {node.name!r}: its places lie about zero, so its OFFSET is added to them")
    elif offset.any() and along:
        notes.append(f"joint {node.name!r}: a root's places are the world's; its OFFSET is not added to them")
    return place


def _of_world(
    nodes: Sequence[Node], positions: Sequence[Array | None], turns: Sequence[Array], positioned: Sequence[int]
) -> list[Array | None]:
    """The places in the parents, if those of the joints `positioned` are the world's."""
    out, turned, stood = list(positions), list[Array](), list[Array]()
    world = set(positioned)
    for i, (node, turn) in enumerate(zip(nodes, turns, strict=True)):
        place = positions[i]
        at = np.broadcast_to(_offset(node), (len(turn), 3)) if place is None else place
        if node.parent < 0:
            turned.append(turn)
            stood.append(at)
            continue
        carrier, origin = turned[node.parent], stood[node.parent]
        turned.append(quaternion_product(carrier, turn))
        if i in world:
            out[i] = rotate(conjugate(carrier), at - origin)
        stood.append(at if i in world else origin + rotate(carrier, at))
    return out


def _miss(place: Array, offset: Array) -> float:
    """How far places (frames, 3) are from the offset, in the middle of the frames, or without one from their mean."""
    rest = offset if offset.any() else place.mean(axis=0)
    return float(np.median(np.linalg.norm(place - rest, axis=1)))


def lengths(tree: Hierarchy, middles: Sequence[Array], mended: Mended) -> list[Array]:
    """(3,) of each joint, where it stands in its parent for the size of the skeleton; a warning of bones torn apart.

    A bone that is more than twice its offset counts as the offset.  A root that carries one joint alone is a place
    in the room, from which a body may be far away: that is no bone, and nothing to warn of.
    """
    alone, torn, out = _trunk(tree), list[str](), list[Array]()
    line = 0
    for i, (node, middle) in enumerate(zip(tree.joints, middles, strict=True)):
        offset = _offset(node)
        length, declared = np.linalg.norm(middle), np.linalg.norm(offset)
        far = node.parent >= 0 and length > _TORN * declared
        out.append(offset if far and (i in alone or offset.any()) else middle)
        if far and offset.any() and i not in alone:
            line = line or node.line
            torn.append(f"{node.name!r} ({length:.4g} for {declared:.4g})")
    if torn:
        more = f" and {len(torn) - 8} more" if len(torn) > 8 else ""
        mended.add(
            "joints stand more than twice as far from their parents as their OFFSET says, and the skeleton may be torn "
            "apart; look at it, and mend the OFFSETs or the places",
            line,
            ", ".join(torn[:8]) + more,
        )
    return out


def _trunk(tree: Hierarchy) -> set[int]:
    """The joints from roots on down to the first that branches, with it; none of a root that never does."""
    carried: list[list[int]] = [[] for _ in tree.joints]
    for i, node in enumerate(tree.joints):
        if node.parent >= 0:
            carried[node.parent].append(i)
    ends = {end.parent for end in tree.ends}
    out = set[int]()
    for i, node in enumerate(tree.joints):
        if node.parent >= 0:
            continue
        way = [i]
        while len(carried[way[-1]]) == 1 and way[-1] not in ends:
            way.append(carried[way[-1]][0])
        if len(carried[way[-1]]) > 1:
            out.update(way)
    return out


def some_joints(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"joint{'s' if len(names) > 1 else ''} {shown}"


def _offset(node: Node) -> Array:
    return np.array(node.offset)


def _along(node: Node) -> list[int]:
    """The axes along which the frames give places, x 0."""
    return ["xyz".index(axis) for axis, what in node.channels or [] if what == "position"]
