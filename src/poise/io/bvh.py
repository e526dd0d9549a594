"""BVH, Biovision's text of a skeleton and its motion.

The first half is a tree of joints, each with an offset from its parent and the channels, places along and turns about
x, y and z, that each frame gives it; the second is a row of numbers a frame, in degrees.  A joint's rotation is the
product of its turns in the order of its channels.  The format has no standard; what is done here is what most
programs do (Meredith and Maddock, "Motion Capture File Formats Explained", Sheffield 2001, has the grammar):

- y is up, unless the motion stands along z; the unit of length is not stated.
- A place replaces the offset.  Where an inner joint's places lie about zero and its offset does not, they are added;
  where bones keep their lengths only with places of the world, they are the world's.
- An inner joint whose places do not change only turns, about a centre that is their mean.
"""

import re
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import ModelError
from poise.io.bvh_frames import Mended, read_frames
from poise.io.bvh_places import in_parents, lengths, some_joints
from poise.io.bvh_tree import Hierarchy, Node, read_tree
from poise.io.elements import read_bytes
from poise.io.notes import Notes
from poise.io.skeleton import (
    Flags,
    SkeletonFile,
    SkeletonJoint,
    Up,
    bridged,
    bridged_turns,
    check_arguments,
    continuous,
    numbered,
    reach,
    unusable,
)
from poise.io.stature import guessed, height
from poise.io.upright import stood_up
from poise.quaternions import quaternion_product
from poise.spatial import BOUND, LARGEST

_FILE: Final = 512 * 2**20
"""The largest file that is read [bytes]."""
_TURNS: Final = 2**26
"""The most rotations of all joints in all frames: 2 GiB."""
_STILL: Final = 1e-3
"""How far a joint may move against its parent, and count as one that only turns, as a share of the skeleton."""
_MOTION: Final = re.compile(rb"^[ \t}]*MOTION\b", re.IGNORECASE | re.MULTILINE)


def read_bvh(path: Path, *, unit: float | None = None, up: Up | None = None, fps: float | None = None) -> SkeletonFile:
    """The skeleton and the frames of a file; see `parse_bvh`.  Also raises ModelError for what cannot be read."""
    data = read_bytes(path, most=_FILE)
    return parse_bvh(data, file=str(path), name=path.stem, unit=unit, up=up, fps=fps)


def parse_bvh(
    data: bytes,
    *,
    file: str | None = None,
    name: str = "skeleton",
    unit: float | None = None,
    up: Up | None = None,
    fps: float | None = None,
) -> SkeletonFile:
    """The skeleton and the frames of a text.

    `unit` is what one unit of length is in metres; without it the size of the skeleton tells.  `up` is the axis that is
    up in the file; without it the motion tells, see `stood_up`.  What is y up is turned so that z is, and what is z up
    left as it is.  `fps` takes the place of the file's frame time.

    What is mended is warned of (ModelWarning): numbers that are none, which are bridged from the frames about them, a
    count of frames that is not that of the rows, a frame time that is none, a name that is given twice, which gets a
    number; and bones that are more than twice as long as their offsets.  Raises ModelError, with file and line,
    for what is no BVH or was cut off; ValueError for arguments out of range.
    """
    check_arguments(unit, up, fps)
    if b"\n" not in data:  # line ends of old Macs
        data = data.replace(b"\r", b"\n")
    found = _MOTION.search(data)
    split = found.start() + found.group().lower().index(b"motion") if found else len(data)
    tree = read_tree(data[:split], file)
    mended = Mended([], Notes(file))
    if found:
        rows, time = read_frames(data, found.end(), tree.width, file, fps, mended)
    else:
        rows, time = np.zeros((0, tree.width)), 1.0
    _rename(tree, mended)
    skeleton = _skeleton(tree, rows, time, file, name, unit, up, mended)
    mended.wrong.warn()
    return skeleton


def _skeleton(
    tree: Hierarchy,
    rows: Array,
    time: float,
    file: str | None,
    name: str,
    unit: float | None,
    up: Up | None,
    mended: Mended,
) -> SkeletonFile:
    nodes, notes = tree.joints, mended.notes
    if len(rows) * len(nodes) > _TURNS:
        raise ModelError(f"{len(rows)} frames of {len(nodes)} joints are too many to hold; cut the motion", file=file)
    tracks, tips = _tracks(tree, rows, file, mended), _tips(tree)
    parents, middles = [node.parent for node in nodes], [track.middle for track in tracks]
    bones = lengths(tree, middles, mended)
    reached = reach(parents, bones, tips)
    metres = unit
    if metres is None:
        size, whole = height(parents, bones, tips)
        metres, said = guessed(size, whole=whole)
        notes.append(f"BVH states no unit: {said}")
    places = _moved(nodes, tracks, _STILL * float(reached.max()), notes)
    for values in (*(track.middle for track in tracks), *places.values(), *(place for _, _, place in tips)):
        if not (metres * np.abs(values) <= LARGEST).all():
            raise ModelError(f"with a unit of {metres:g} m a length is too large; {BOUND}", file=file)
    turns = np.zeros((len(rows), len(nodes), 4))
    for i, track in enumerate(tracks):
        turns[:, i] = track.turn
    skeleton = SkeletonFile(
        name=name,
        joints=tuple(
            SkeletonJoint(
                name=node.name,
                parent=node.parent,
                offset=metres * track.middle,
                turns=any(what == "rotation" for _, what in node.channels or ()),
                line=node.line,
            )
            for node, track in zip(nodes, tracks, strict=True)
        ),
        ends=tuple((tip, joint, metres * place) for tip, joint, place in tips),
        times=time * np.arange(len(rows), dtype=np.float64),
        places={i: metres * place for i, place in places.items()},
        turns=continuous(turns),
        unit=metres,
        notes=tuple(notes),
        file=file,
    )
    return stood_up(skeleton, up, by_format=False)


@final
@dataclass(frozen=True, slots=True)
class _Track:
    """What the frames say of one joint, in the file's unit and axes."""

    middle: Array
    """(3,) where it stands in its parent: its offset, or the mean of its places there; of a root, its offset."""
    place: Array | None
    """(frames, 3) the places in its parent; None for an inner joint that is given none."""
    turn: Array
    """(frames, 4) unit quaternions w x y z, relative to its parent."""


def _tracks(tree: Hierarchy, rows: Array, file: str | None, mended: Mended) -> list[_Track]:
    positions, turns, start = list[Array | None](), list[Array](), 0
    for node in tree.joints:
        channels = node.channels or []
        columns = rows[:, start : start + len(channels)]
        start += len(channels)
        missing = unusable(columns)
        if missing.any():
            _report(node, missing, file, mended)
            columns = np.where(missing[:, None], 0.0, columns)
        positions.append(_positions(node, columns, missing))
        turns.append(_turn(channels, columns, missing))
    out = []
    for node, place, turn in zip(
        tree.joints, in_parents(tree.joints, positions, turns, mended.notes), turns, strict=True
    ):
        middle = np.array(node.offset)
        if place is not None and len(place) and node.parent >= 0:
            middle = place.mean(axis=0)
        out.append(_Track(middle, place, turn))
    return out


def _moved(nodes: list[Node], tracks: list[_Track], still: float, notes: list[str]) -> dict[int, Array]:
    """The places of roots, and of other joints that move farther than `still` against their parents."""
    places, loose, fixed = dict[int, Array](), list[str](), list[str]()
    for i, (node, track) in enumerate(zip(nodes, tracks, strict=True)):
        if track.place is None:
            continue
        if node.parent < 0:
            places[i] = track.place
        elif np.abs(track.place - track.middle).max(initial=0.0) > still:
            places[i] = track.place
            loose.append(node.name)
        else:
            fixed.append(node.name)
    if fixed:
        notes.append(f"{some_joints(fixed)}: given places that do not change; read as joints that only turn")
    if loose:
        notes.append(f"{some_joints(loose)}: moved against the parent; read as floating joints")
    return places


def _positions(node: Node, columns: Array, missing: Flags) -> Array | None:
    """(frames, 3) the places as the frames give them; None for an inner joint that is given none."""
    positions = [(k, "xyz".index(axis)) for k, (axis, what) in enumerate(node.channels or []) if what == "position"]
    if not positions and node.parent >= 0:
        return None
    place = np.tile(np.array(node.offset), (len(columns), 1))
    place[:, [axis for _, axis in positions]] = columns[:, [k for k, _ in positions]]
    return bridged(place, missing) if missing.any() else place


def _turn(channels: list[tuple[str, str]], columns: Array, missing: Flags) -> Array:
    """(frames, 4) the product of the turns in the order of the channels, unit quaternions w x y z."""
    turn = None
    for k, (axis, what) in enumerate(channels):
        if what == "rotation":
            half = 0.5 * np.radians(columns[:, k])
            about = np.zeros((len(columns), 4))
            about[:, 0], about[:, 1 + "xyz".index(axis)] = np.cos(half), np.sin(half)
            turn = about if turn is None else quaternion_product(turn, about)
    if turn is None:
        return np.tile([1.0, 0.0, 0.0, 0.0], (len(columns), 1))
    return bridged_turns(turn, missing) if missing.any() else turn


def _report(node: Node, missing: Flags, file: str | None, mended: Mended) -> None:
    if missing.all():
        raise ModelError(f"joint {node.name!r} has no frame whose numbers are all finite", file=file, line=node.line)
    many, first = int(missing.sum()), int(np.argmax(missing))
    frames = f"{many} frames, from {first} on" if many > 1 else f"frame {first}"
    mended.add("numbers that are not finite, bridged from the frames about", node.line, f"{frames} of {node.name!r}")


def _rename(tree: Hierarchy, mended: Mended) -> None:
    """Give joints names that are different."""
    originals = [joint.name for joint in tree.joints]
    renamed = list[str]()
    for joint, name in zip(tree.joints, numbered(originals, originals), strict=True):
        if name != joint.name:
            renamed.append(f"{joint.name!r} in line {joint.line} is {name!r}")
            joint.name = name
    if renamed:
        more = f" and {len(renamed) - 3} more" if len(renamed) > 3 else ""
        line = next(joint.line for joint, name in zip(tree.joints, originals, strict=True) if joint.name != name)
        mended.add("joints have names that were given before, and got numbers", line, ", ".join(renamed[:3]) + more)


def _tips(tree: Hierarchy) -> tuple[tuple[str, int, Array], ...]:
    """The ends of bones, each called after its joint."""
    taken, out = {joint.name for joint in tree.joints}, []
    numbers = [chain([""], map(str, count(2))) for _ in tree.joints]  # go on from end to end of a joint
    for end in tree.ends:
        stem = f"{tree.joints[end.parent].name}_end"
        name = next(name for k in numbers[end.parent] if (name := f"{stem}{k}") not in taken)
        taken.add(name)
        out.append((name, end.parent, np.array(end.offset)))
    return tuple(out)
