"""Joints among the nodes of a scene, as FBX and USD have them: each node has a pose in the one above it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, final

import numpy as np

from poise import ModelError, Motion
from poise.extending import Array, GltfJoints, continuous, numbered, of_skeleton, skeleton_of
from poise.quaternions import conjugate, quaternion_product, rotate, unit_vectors
from poise.spatial import BOUND, LARGEST

_JOINTS: Final = 4096
"""The most joints of a skeleton."""
NUMBERS: Final = 2**26
"""More poses of nodes in all frames than memory is for."""
_UNIFORM: Final = 1e-3
"""Scales along the axes that differ by no more than this share are one scale that was rounded."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """Poses of nodes, each in the node above: x -> xyz + wxyz (scale x)."""

    xyz: Array
    """(frames, nodes, 3)."""
    wxyz: Array
    """(frames, nodes, 4)."""
    scale: Array
    """(frames, nodes, 3) along the axes."""


def motion_of(
    path: Path,
    names: Sequence[str],
    above: Sequence[int],
    joints: Sequence[int],
    rest: Poses,
    times: Array,
    moved: Poses,
    *,
    unit: float | None,
    up: Literal["y", "z"] | None,
    called: str = "",
    notes: Sequence[str] = (),
) -> Motion:
    """The motion of those nodes that are `joints`; others are parts of the poses of the joints below.

    `above` is the node above each, before it, -1 for none; `rest` has one frame.  Of several joints without one above
    them the node above all becomes the root.  A uniform scale is folded into lengths.

    Raises ModelError for no joint or too many, and for scales that differ along the axes, mirror or vanish.
    """
    said = list(notes)
    order, parents = _tree(path, above, joints, said)
    if not 0 < len(order) <= _JOINTS:
        raise ModelError(f"it has {len(order)} joints; a skeleton has 1 to {_JOINTS}", file=str(path))
    own = [names[node] for node in order]
    unique = numbered(own, [f"node{node}" for node in order])
    if unique != tuple(own):
        said.append("joints without a name of their own were given one")
    needed = _needed(above, order)
    rest_xyz, rest_wxyz = _in_parents(path, names, above, order, parents, needed, rest)
    xyz, wxyz = _in_parents(path, names, above, order, parents, needed, moved)
    made = GltfJoints(
        names=unique,
        parents=parents,
        rest_xyz=rest_xyz[0],
        rest_wxyz=rest_wxyz[0],
        times=times,
        xyz=xyz,
        wxyz=continuous(wxyz),
        ends=(),
        name=called,
        notes=tuple(said),
    )
    return of_skeleton(skeleton_of(made, path, unit=unit, up=up))


def _needed(above: Sequence[int], order: Sequence[int]) -> list[int]:
    """The joints and all nodes above them, those above first."""
    out: set[int] = set()
    for node in order:
        while node >= 0 and node not in out:
            out.add(node)
            node = above[node]
    return sorted(out)


def _tree(
    path: Path, above: Sequence[int], joints: Sequence[int], notes: list[str]
) -> tuple[list[int], tuple[int, ...]]:
    """The joints, parents first, and the place among them of each one's parent."""
    among, nearest = set(joints), {-1: -1}
    for node, up in enumerate(above):
        nearest[node] = up if up in among else nearest[up]
    roots = [joint for joint in sorted(among) if nearest[joint] < 0]
    if len(roots) > 1:
        ways = [_needed(above, [root]) for root in roots]
        shared = set.intersection(*map(set, ways))
        if not shared:
            raise ModelError(f"{len(roots)} joints have no node above all of them", file=str(path))
        top = max(shared)
        notes.append(f"{len(roots)} joints have no joint above them; the node above all became the root")
        among.add(top)
        nearest |= dict.fromkeys(roots, top) | {top: -1}
    order = sorted(among)
    place = {joint: number for number, joint in enumerate(order)} | {-1: -1}
    return order, tuple(place[nearest[joint]] for joint in order)


def _in_parents(
    path: Path,
    names: Sequence[str],
    above: Sequence[int],
    order: Sequence[int],
    parents: Sequence[int],
    needed: Sequence[int],
    poses: Poses,
) -> tuple[Array, Array]:
    """(frames, joints, 3) and (frames, joints, 4) each joint in its parent's axes, in the lengths of the world."""
    still = np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]), np.ones((1, 1))
    world = {-1: still}
    for node in needed:
        scale = poses.scale[:, node]
        least, most = scale.min(axis=1, keepdims=True), scale.max(axis=1, keepdims=True)
        if not (least > 0.0).all() or ((most - least) > _UNIFORM * most).any():
            raise ModelError(
                f"node {names[node]!r} is scaled by {np.round(scale[0], 6).tolist()}; only a scale above 0 that is the "
                "same along all axes can be read",
                file=str(path),
            )
        place, turn, size = world[above[node]]
        at = place + rotate(np.broadcast_to(turn, (len(scale), 4)), size * poses.xyz[:, node])
        turned = quaternion_product(turn, unit_vectors(poses.wxyz[:, node], [1.0, 0.0, 0.0, 0.0]))
        world[node] = at, turned, size * scale.mean(axis=1, keepdims=True)
        if not (np.abs(at) <= LARGEST).all():
            raise ModelError(f"node {names[node]!r} stands too far away; {BOUND}", file=str(path))
    xyz, wxyz = list[Array](), list[Array]()
    for joint, parent in zip(order, parents, strict=True):
        place, turn, _ = world[order[parent]] if parent >= 0 else still
        at, turned, _ = world[joint]
        back = conjugate(turn)
        xyz.append(rotate(np.broadcast_to(back, (len(at), 4)), at - place))
        wxyz.append(quaternion_product(back, turned))
    return np.stack(xyz, axis=1), np.stack(wxyz, axis=1)
