"""ASF and AMC, Acclaim's texts of a skeleton and of its motion, as CMU's motion capture database has them.

The .asf has bones: where each points in the world at rest and how long it is, the axes about which it turns, and which
of them it turns about.  The .amc has, frame by frame, a line of angles for each.  A bone with axes C and angles M is
turned by C M C^-1 against the one before, and the next begins at its end (Lander, "Working with Motion Capture File
Formats", Game Developer 1998).  Turns are about axes that stand still, in the order that is stated.  y is up unless the
motion stands along z, the unit is found by the size of the body, and no file states a rate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, final

import numpy as np

from poise import ModelError, Motion
from poise.extending import Array, SkeletonFile, SkeletonJoint, continuous, guessed, height, of_skeleton, stood_up
from poise.quaternions import conjugate, quaternion_exp, quaternion_product
from poise.spatial import BOUND, LARGEST
from poise_motion.files.arrays import bytes_of

_FPS: Final = 120.0
"""Frames a second of CMU's database."""
_SKELETON: Final = 2**24
_FILE: Final = 2**29
"""The largest files that are read [bytes]."""
_BONES: Final = 4096
_TURNS: Final = 2**26
"""The most rotations of all bones in all frames: 2 GiB."""
_ROOT: Final = "root"


@final
@dataclass(slots=True)
class _Bone:
    name: str
    line: int
    direction: Array = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: Array = field(default_factory=lambda: np.zeros(3))
    """(3,) angles of the axes about which it turns, in the file's unit."""
    order: str = "xyz"
    """Of these angles."""
    dof: tuple[str, ...] = ()
    """What a line of the motion has: `rx`, `ty` and the like."""
    parent: str = ""


@final
class _Text:
    """The lines of a file that say something, in words, with their numbers."""

    def __init__(self, path: Path, most: int) -> None:
        self.file = str(path)
        self.lines = bytes_of(path, most).decode("utf-8", errors="replace").splitlines()

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        for number, line in enumerate(self.lines, 1):
            words = line.partition("#")[0].split()
            if words:
                yield number, words

    def error(self, line: int, message: str) -> ModelError:
        return ModelError(message, file=self.file, line=line)

    def numbers(self, line: int, words: Sequence[str], what: str, many: int) -> Array:
        """So many finite numbers."""
        try:
            array = np.array([float(word) for word in words], dtype=np.float64)
        except ValueError:
            array = np.full(many, np.nan)
        if array.shape != (many,) or not (np.abs(array) <= LARGEST).all():
            raise self.error(line, f"{what} needs {many} number{'s' if many > 1 else ''}, got {' '.join(words)[:60]!r}")
        return array


def read(
    path: Path, *, unit: float | None = None, up: Literal["y", "z"] | None = None, fps: float | None = None
) -> Motion:
    """The motion in an .amc, of the skeleton in the .asf that goes with it: of its name, of the part of the name before
    the last `_`, or the only one in the folder.

    `unit` is the metres that one unit of length is, without it the size of the skeleton tells; `up` is the axis that is
    up, without it the motion tells; `fps` are frames a second, 120 without it, which a note says.

    Raises ModelError, with file and line, for what is no such file, was cut off or does not go together.
    """
    motion, beside = _Text(path, _FILE), _beside(path)
    skeleton = _Text(beside, _SKELETON)
    bones, degrees = _bones(skeleton)
    notes = [f"the skeleton is that of {beside.name}"]
    if fps is None:
        notes.append(f"an .amc states no rate; {_FPS:g} frames a second are taken, as of CMU; fps says another")
    rows = _rows(motion, bones, degrees)
    frames = len(next(iter(rows.values()))[0])
    names = list(bones)
    tips = [bone.length * bone.direction for bone in bones.values()]
    parents = [names.index(bone.parent) if bone.parent else -1 for bone in bones.values()]
    offsets = [np.zeros(3) if parent < 0 else tips[parent] for parent in parents]
    ends = [(f"{name}_end", i, tips[i]) for i, name in enumerate(names) if i not in parents and tips[i].any() and i > 0]
    if unit is None:
        size, whole = height(parents, offsets, ends)
        unit, said = guessed(size, whole=whole)
        notes.append(f"an .asf states no unit of use: {said}")
    place = unit * rows[_ROOT][1]
    if not max(np.abs(place).max(), *(unit * np.abs(tip).max() for tip in tips)) <= LARGEST:
        raise ModelError(f"with a unit of {unit:g} m a length is too large; {BOUND}", file=str(path))
    turns = np.zeros((frames, len(names), 4))
    for i, name in enumerate(names):
        turns[:, i] = rows[name][0]
    file = SkeletonFile(
        name=path.stem,
        joints=tuple(
            SkeletonJoint(
                name=name, parent=parent, offset=unit * offset, turns=bool(bones[name].dof), line=bones[name].line
            )
            for name, parent, offset in zip(names, parents, offsets, strict=True)
        ),
        ends=tuple((name, i, unit * tip) for name, i, tip in ends),
        times=np.arange(frames, dtype=np.float64) / (fps or _FPS),
        places={0: place},
        turns=continuous(turns),
        unit=unit,
        notes=tuple(notes),
        file=str(beside),
    )
    return of_skeleton(stood_up(file, up, by_format=False))


def refuse_asf(path: Path) -> Motion:
    """Raises ModelError: a skeleton alone is no motion."""
    raise ModelError("this is a skeleton without a motion; give the .amc, beside which it is found", file=str(path))


def _beside(path: Path) -> Path:
    """The .asf of an .amc."""
    try:
        there = {file.name.lower(): file for file in path.parent.iterdir() if file.suffix.lower() == ".asf"}
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", file=str(path)) from None
    for stem in (path.stem, path.stem.rpartition("_")[0]):
        if f"{stem}.asf".lower() in there:
            return there[f"{stem}.asf".lower()]
    if len(there) == 1:
        return next(iter(there.values()))
    found = f"{len(there)} others are there" if there else "none is there"
    raise ModelError(f"its skeleton, {path.stem}.asf, is not beside it, and {found}; put it there", file=str(path))


# The skeleton --------------------------------------------------------------------------------------------------------


def _bones(text: _Text) -> tuple[dict[str, _Bone], bool]:
    """The bones by name, parents before children, the root first; and whether angles are in degrees."""
    root, made = _Bone(_ROOT, 1, dof=("tx", "ty", "tz", "rx", "ry", "rz")), dict[str, _Bone]()
    below: dict[str, list[str]] = {}
    section, bone, degrees = "", None, True
    for line, words in text:
        key, rest = words[0].lower(), words[1:]
        if key.startswith(":"):
            section, bone = key, None
        elif section == ":units" and key == "angle":
            degrees = not rest or not rest[0].lower().startswith("rad")
        elif section == ":root":
            _of_root(text, line, key, rest, root)
        elif section == ":bonedata":
            if key == "begin":
                bone = _Bone("", line)
            elif key == "end":
                if bone is None or not bone.name:
                    raise text.error(line, "a bone ends that has no name")
                if bone.name in made or bone.name == _ROOT:
                    raise text.error(bone.line, f"the name {bone.name!r} is there already")
                made[bone.name] = bone
                bone = None
            elif bone is not None:
                _of_bone(text, line, key, rest, bone)
        elif section == ":hierarchy" and key not in ("begin", "end"):
            below.setdefault(words[0], []).extend(rest)
            for name in words:
                if name not in made and name != _ROOT:
                    raise text.error(line, f"the hierarchy has {name!r}, which is no bone")
    if bone is not None:
        raise text.error(bone.line, f"the bone {bone.name!r} has no end; the file is cut off")
    if not made or not below:
        raise ModelError("this is no .asf: it has no :bonedata, or no :hierarchy", file=text.file)
    if len(made) > _BONES:
        raise ModelError(f"it has {len(made)} bones; no skeleton has more than {_BONES}", file=text.file)
    out, pending = {_ROOT: root}, [(name, _ROOT) for name in reversed(below.get(_ROOT, []))]
    while pending:
        name, parent = pending.pop()
        if name in out:
            raise text.error(made[name].line if name in made else 1, f"{name!r} hangs on two bones, or on itself")
        made[name].parent = parent
        out[name] = made[name]
        pending += [(other, name) for other in reversed(below.get(name, []))]
    return out, degrees


def _of_root(text: _Text, line: int, key: str, rest: list[str], root: _Bone) -> None:
    if key == "order":
        root.dof = tuple(word.lower() for word in rest)
        root.line = line
        if sorted(root.dof) != ["rx", "ry", "rz", "tx", "ty", "tz"]:
            raise text.error(line, f"the root's order must have TX TY TZ RX RY RZ, got {' '.join(rest)[:60]!r}")
    elif key == "axis":
        root.order = _order(text, line, rest)
    elif key == "position":
        root.direction = text.numbers(line, rest, "position", 3)
    elif key == "orientation":
        root.axis = text.numbers(line, rest, "orientation", 3)


def _of_bone(text: _Text, line: int, key: str, rest: list[str], bone: _Bone) -> None:
    if key == "name":
        bone.name = " ".join(rest)
    elif key == "direction":
        bone.direction = text.numbers(line, rest, "direction", 3)
    elif key == "length":
        bone.length = text.numbers(line, rest, "length", 1).item()
    elif key == "axis":
        bone.axis = text.numbers(line, rest[:3], "axis", 3)
        bone.order = _order(text, line, rest[3:])
    elif key == "dof":
        bone.dof = tuple(word.lower() for word in rest)
        if unknown := {*bone.dof} - {"rx", "ry", "rz"}:
            raise text.error(line, f"{bone.name!r} has dof {min(unknown)!r}; rx, ry and rz are read")


def _order(text: _Text, line: int, words: list[str]) -> str:
    order = (words[0] if words else "XYZ").lower()
    if sorted(order) != ["x", "y", "z"]:
        raise text.error(line, f"axis needs an order such as XYZ, got {order!r}")
    return order


# The motion ----------------------------------------------------------------------------------------------------------


def _rows(text: _Text, bones: dict[str, _Bone], degrees: bool) -> dict[str, tuple[Array, Array]]:
    """By bone, (frames, 4) how it is turned against the one before, and (frames, 3) the place that it is given."""
    in_file, found, frame, at = degrees, {name: list[Array]() for name in bones}, 0, 0
    for line, words in text:
        if words[0].startswith(":"):
            degrees = {":degrees": True, ":radians": False}.get(words[0].lower(), degrees)
        elif len(words) == 1 and words[0].isdigit():
            if frame:
                _complete(text, at, frame, found, bones)
            frame, at = frame + 1, line
            if frame * len(bones) > _TURNS:
                raise text.error(line, f"{frame:,} frames are too many to hold; cut the motion")
        elif words[0] not in bones:
            raise text.error(line, f"{words[0][:60]!r} is no bone of the skeleton")
        elif len(found[words[0]]) != frame - 1:
            raise text.error(line, f"{words[0]!r} is there twice in a frame" if frame else "no frame has begun")
        else:
            found[words[0]].append(text.numbers(line, words[1:], repr(words[0]), len(bones[words[0]].dof)))
    if not frame:
        raise ModelError("this is no .amc: it has no frame", file=text.file)
    _complete(text, at, frame, found, bones)
    out = {}
    for name, bone in bones.items():
        numbers = np.array(found[name], dtype=np.float64).reshape(-1 if bone.dof else frame, len(bone.dof))
        columns = dict(zip(bone.dof, numbers.T, strict=True))
        place = np.stack([columns.get(f"t{axis}", np.zeros(frame)) for axis in "xyz"], axis=1)
        axes = _turn(np.tile(bone.axis, (frame, 1)), bone.order, degrees=in_file)
        angles = np.stack([columns[d] for d in bone.dof if d[0] == "r"] or [np.zeros(frame)], axis=1)
        order = "".join(d[1] for d in bone.dof if d[0] == "r") or "x"
        turned = _turn(angles, order, degrees=degrees)
        turn = quaternion_product(quaternion_product(axes, turned), conjugate(axes))
        out[name] = turn, place + (bone.direction if name == _ROOT else 0.0)
    return out


def _complete(text: _Text, line: int, frame: int, found: dict[str, list[Array]], bones: dict[str, _Bone]) -> None:
    missing = next((name for name, bone in bones.items() if bone.dof and len(found[name]) < frame), None)
    if missing is not None:
        raise text.error(line, f"this frame has no line for {missing!r}; the file is cut off, or of another skeleton")


def _turn(angles: Array, order: str, *, degrees: bool) -> Array:
    """(frames, 4) turns by angles (frames, n) about axes that stand still, the first in the order first."""
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (len(angles), 1))
    for column, axis in zip((np.radians(angles) if degrees else angles).T, order, strict=True):
        about = np.zeros((len(angles), 3))
        about[:, "xyz".index(axis)] = column
        turn = quaternion_product(quaternion_exp(about), turn)
    return turn
