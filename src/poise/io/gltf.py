"""Read the skeleton and the motion of a glTF 2.0 file, `.gltf` or `.glb` (Khronos Group, glTF 2.0 Specification).

| glTF | here |
|---|---|
| joints of a skin | joints; each hangs on the next joint above it in the tree of nodes |
| joints without a common joint above | beside them the node above all of them, as the root |
| the 25 joints of a WebXR hand, all on one node | the hand's tree: five fingers on the wrist |
| nodes between and above the joints | part of the poses of the joints below |
| nodes beneath a joint that carry nothing and do not move in it | ends of bones, which are frames |
| inverse bind matrices | the pose at rest, if its bones are those of the nodes |
| axes of a joint | at rest parallel to the world's: rotations are those from the pose at rest |
| uniform scale | folded into lengths |
| animation | frames; a joint whose place in its parent does not change only turns, about the mean of its places |
| bones of a humanoid that a VRM names | joints, and `bones` |
| y up | z up: what points along y points along z |
"""

from pathlib import Path
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.common.errors import ModelError
from poise.io.gltf_joints import GltfJoints, read_joints, some
from poise.io.skeleton import SkeletonFile, SkeletonJoint, Up, check_arguments, reach
from poise.io.stature import doubted, height
from poise.io.upright import stood_up
from poise.quaternions import conjugate, quaternion_product, rotate
from poise.spatial import BOUND, LARGEST

_STILL: Final = 1e-3
"""How far a joint may move against its parent, and count as one that only turns, as a share of the skeleton."""
_LEAST: Final = 1e-3
"""A skeleton that is smaller [m] counts as this large, for places are rounded."""


def read_gltf(
    path: Path,
    *,
    unit: float | None = None,
    up: Up | None = None,
    fps: float | None = None,
    skin: int | str | None = None,
    animation: int | str | None = None,
) -> SkeletonFile:
    """The skeleton of a glTF file and one of its animations.

    `unit` is the metres that one unit of length is, which are 1 by the format, and 0.01 in files of programs that do
    not heed it.  `up` is the axis that is up in the file, by the format y; what is y up is turned so that z is.  Frames
    are at the animation's keys, those of all its channels together, or `fps` a second from the first key to the last;
    without an animation there is one frame, of the nodes as they stand.  `skin` and `animation` are names, or indices
    from 0; without them the skin with the most joints and the first animation are read.  Of a VRM the joints are the
    bones of its humanoid, unless `skin` is given; in a file without a skin the nodes that the animation moves.  Only
    files within the folder of this one are read.

    Joints without a name are called by their index, and a name that is there already gets a number.

    Raises ModelError, with the path in the JSON, for a file that is not glTF 2.0, and for scales that differ along the
    axes, mirror or vanish; NameNotFound for an unknown skin or animation; ValueError for arguments that make no sense.
    """
    check_arguments(unit, up, fps)
    return skeleton_of(read_joints(path, skin=skin, animation=animation, fps=fps), path, unit=unit, up=up)


def skeleton_of(read: GltfJoints, path: Path, *, unit: float | None = None, up: Up | None = None) -> SkeletonFile:
    """The skeleton of joints that have poses of their own at rest, such that all are parallel to the world's there.

    `unit` is the metres that one unit of length is; without it 1, and a note asks where a body is as large as one in
    another unit.  `up` is the axis that is up, by the format y; raises ModelError for joints too far away.
    """
    metres = 1.0 if unit is None else float(unit)
    # At rest: the rotation of each joint in the world, and at last that of the world, the parent -1 of the root.
    rest = np.concatenate([np.empty_like(read.rest_wxyz), [[1.0, 0.0, 0.0, 0.0]]])
    for i, parent in enumerate(read.parents):
        rest[i] = quaternion_product(rest[parent], read.rest_wxyz[i])
    parents = rest[list(read.parents)]
    turns = quaternion_product(quaternion_product(parents, read.wxyz), conjugate(rest[:-1]))
    turns = turns * np.where(turns[:1, :, :1] < 0.0, -1.0, 1.0)  # of q and -q, the one that is nearer to rest
    places = metres * rotate(parents, read.xyz)
    offsets = metres * rotate(parents, read.rest_xyz)
    ends = tuple((name, joint, metres * rotate(rest[joint], place)) for name, joint, place in read.ends)
    if not max(np.abs(at).max() for at in (places, offsets, *(place for _, _, place in ends))) <= LARGEST:
        raise ModelError(f"a joint stands too far away: {BOUND}; give another unit", file=str(path))
    centres = places.mean(axis=0)
    size = reach(read.parents, list(offsets), ()).max()
    moved = np.abs(places - centres).max(axis=(0, 2)) > _STILL * max(size, _LEAST)
    moved[0] = True  # the root
    joints = _joints(read.names, read.parents, np.where(moved[:, None], offsets, centres))
    notes = list(read.notes)
    tall, whole = height(read.parents, list(np.where(moved[:, None], offsets, centres)), ends)
    if unit is None and (asked := doubted(tall, whole=whole)):
        notes.append(asked)
    if moved.sum() > 1:
        names = [joint.name for joint, far in zip(joints, moved, strict=True) if far][1:]
        notes.append(f"joints are moved against their parents, not only turned: {some(names)}")
    skeleton = SkeletonFile(
        name=read.name or path.stem,
        joints=joints,
        ends=ends,
        times=read.times,
        places={i: places[:, i] for i in np.flatnonzero(moved).tolist()},
        turns=turns,
        unit=metres,
        notes=tuple(notes),
        bones=read.bones,
        file=str(path),
    )
    return stood_up(skeleton, up, by_format=True)


def _joints(names: tuple[str, ...], parents: tuple[int, ...], offsets: Array) -> tuple[SkeletonJoint, ...]:
    return tuple(
        SkeletonJoint(name=name, parent=parent, offset=offset)
        for name, parent, offset in zip(names, parents, offsets, strict=True)
    )
