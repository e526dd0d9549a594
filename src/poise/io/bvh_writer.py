"""Write a BVH."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.common.files import atomic_write
from poise.io.bvh_frames import FPS
from poise.io.skeleton import SkeletonFile, check_arguments
from poise.io.upright import Z_UP
from poise.quaternions import quaternion_matrix


def write_bvh(skeleton: SkeletonFile, path: Path, *, unit: float = 0.01) -> None:
    """Write a skeleton and its frames: y up, in units of `unit` [m], turns about z, then y, then x.

    Numbers have eight digits after the point.  Raises ValueError for names that a BVH cannot hold.
    """
    check_arguments(unit, skeleton.up, None)
    for joint in skeleton.joints:
        if " ".join(re.findall(r"[^\s{}]+", joint.name)) != joint.name:
            raise InvalidValue(
                "not-supported",
                f"a BVH cannot hold the name {joint.name!r}; its words are parted by one space, no braces",
            )
    axes = Z_UP.T if skeleton.up == "z" else np.eye(3)
    turns = skeleton.turns
    if skeleton.up == "z":
        turns = np.stack([turns[..., 0], turns[..., 1], turns[..., 3], -turns[..., 2]], axis=-1)
    angles = np.degrees(_angles(quaternion_matrix(turns)))
    columns = []
    for i in (i for i in _walk(skeleton) if i >= 0):
        joint = skeleton.joints[i]
        if i in skeleton.places:
            columns.append(skeleton.places[i] @ axes.T / unit)
        if joint.turns or i in skeleton.places:
            columns.append(angles[:, i])
    time = float(np.diff(skeleton.times).mean()) if len(skeleton.times) > 1 else 1.0 / FPS
    with atomic_write(path) as draft, draft.open("w", encoding="utf-8", newline="\n") as out:
        out.write("HIERARCHY\n")
        for line in _tree_lines(skeleton, axes / unit):
            out.write(line + "\n")
        out.write(f"MOTION\nFrames: {len(skeleton.times)}\nFrame Time: {time:.9g}\n")
        if columns:
            np.savetxt(out, np.concatenate(columns, axis=1), fmt="%.8f")


def _walk(skeleton: SkeletonFile) -> Iterator[int]:
    """The joints in the order of the text, each before all that it carries; -1 - i is where joint i is closed."""
    children: dict[int, list[int]] = {}
    for i, joint in enumerate(skeleton.joints):
        children.setdefault(joint.parent, []).append(i)
    pending = children.get(-1, [])[::-1]
    while pending:
        i = pending.pop()
        yield i
        if i >= 0:
            pending += [-1 - i, *reversed(children.get(i, []))]


def _tree_lines(skeleton: SkeletonFile, axes: Array) -> Iterator[str]:
    tips = {i: place for _, i, place in reversed(skeleton.ends)}
    carriers, depth = {joint.parent for joint in skeleton.joints}, 0
    for i in _walk(skeleton):
        if i < 0:
            depth -= 1
            yield "\t" * depth + "}"
            continue
        joint, outer, inner = skeleton.joints[i], "\t" * depth, "\t" * (depth + 1)
        depth += 1
        yield f"{outer}{'ROOT' if joint.parent < 0 else 'JOINT'} {joint.name}"
        yield outer + "{"
        yield f"{inner}OFFSET {_row(axes @ joint.offset)}"
        named = ["Xposition", "Yposition", "Zposition"] if i in skeleton.places else []
        named += ["Zrotation", "Yrotation", "Xrotation"] if joint.turns or i in skeleton.places else []
        yield " ".join([f"{inner}CHANNELS {len(named)}", *named])
        if i not in carriers:
            yield from (f"{inner}End Site", inner + "{")
            yield f"{inner}\tOFFSET {_row(axes @ tips.get(i, np.zeros(3)))}"
            yield inner + "}"


def _row(numbers: Array) -> str:
    return " ".join(f"{number:.8f}" for number in numbers + 0.0)


def _angles(turns: Array) -> Array:
    """(..., 3) angles about z, y and x [rad], whose product in this order is the rotation (..., 3, 3).

    The angle about x is taken from what the first leaves, so that the two fit where the second is a quarter.
    """
    z = np.arctan2(turns[..., 1, 0], turns[..., 0, 0])
    sine, cosine = np.sin(z), np.cos(z)
    y = np.arctan2(-turns[..., 2, 0], np.hypot(turns[..., 0, 0], turns[..., 1, 0]))
    x = np.arctan2(
        sine * turns[..., 0, 2] - cosine * turns[..., 1, 2], cosine * turns[..., 1, 1] - sine * turns[..., 0, 1]
    )
    return np.stack([z, y, x], axis=-1)
