"""Where the parts of a body are, in a skeleton and in a robot: found, printed, and kept in a file that people edit."""

import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self, final

from poise import FrameNotFound, InvalidValue, Model, Motion
from poise.extending import NameNotFound, Value, aligned, freeze, html, write_whole
from poise_motion.anatomy.fingers import fingers_of, on_hand
from poise_motion.anatomy.four_legs import on_four, on_paws
from poise_motion.anatomy.matching import Anatomy, anatomy
from poise_motion.anatomy.parts import ENDS, FINGERS, PARENTS, STANDING, parts_of_bones

_COLUMNS: Final = ("part", "skeleton", "robot", "stands")
_PARTS: Final = (*PARENTS, *FINGERS)
_FILE: Final = """\
# Which joint of the skeleton is which part of a body, and which frame of the robot.
# A part that only one of them has is left out when motions are carried over.
"""


@final
@dataclass(frozen=True, slots=True, eq=False)
class BodyMap(Value):
    """Which joint of a skeleton is which part of a body, and which frame of a robot.

    The parts are `pelvis`, `chest` and `head`, and with `left_` or `right_` before it `hip`, `knee`, `ankle`, `toe`,
    `shoulder`, `elbow` and `wrist`; of a body with four legs the arms are those in front.  The fingers of a hand are
    parts too, `thumb`, `index`, `middle`, `ring` and `pinky`, each by the first of its joints.  Not all need be there.

    Raises ValueError for a joint or frame that is two parts, NameNotFound for an unknown part.
    """

    source: Mapping[str, str]
    """By part, the joint of the skeleton."""
    robot: Mapping[str, str]
    """By part, the frame of the robot."""
    contacts: tuple[str, ...] = ()
    """The parts among ankles, wrists and knees that stand on the ground: both ankles of a humanoid, all four ends of a
    body with four legs."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """By part that was looked for and not found, where and why, in words."""

    def __post_init__(self) -> None:
        freeze(self)
        for name, column in (("source", self.source), ("robot", self.robot)):
            _check_parts(column, name, _PARTS, "")
            twins = [part for part, frame in column.items() if list(column.values()).count(frame) > 1]
            if twins:
                raise InvalidValue(
                    "duplicate",
                    f"{name} has {column[twins[0]]!r} twice, as {twins[0]} and as {twins[1]}; leave out one of them",
                )
        _check_parts(self.contacts, "contacts", STANDING, "")

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that both have, parents before children, but for fingers."""
        return tuple(part for part in PARENTS if part in self.source and part in self.robot)

    @property
    def fingers(self) -> tuple[str, ...]:
        """The fingers that both have, on wrists that both have."""
        both = (part for part in FINGERS if part in self.source and part in self.robot)
        return tuple(part for part in both if f"{part.partition('_')[0]}_wrist" in self.parts)

    @classmethod
    def found(cls, source: Motion | Model, robot: Model) -> Self:
        """The map from a motion, or a skeleton, to a robot, found from names and, where they fail, from structure.

        A motion whose file says which joint is which bone, its `bones`, has its parts from there and from nowhere else.
        Ankles that both have stand on the ground, and wrists too where the robot has four legs.  `missing` says what
        was not found.  Raises ValueError where nothing is a part of both.
        """
        skeleton = source.model if isinstance(source, Motion) else source
        named = source.bones if isinstance(source, Motion) else {}
        bones = {bone: skeleton.joint(joint).child for bone, joint in named.items()}
        human, machine = _of_bones(bones) if bones else anatomy(skeleton), anatomy(robot)
        frames = human.frames
        if machine.four_legs and on_four(source, frames):
            frames = on_paws(source, frames, robot, machine.frames)
        missing = {
            part: "; ".join(
                f"{owner}: {those.missing[part]}"
                for owner, found, those in (
                    (_name(skeleton, "skeleton"), frames, human),
                    (_name(robot, "robot"), machine.frames, machine),
                )
                if part in those.missing and part not in found
            )
            for part in PARENTS
            if (part in human.missing and part not in frames) or part in machine.missing
        }
        if not human.frames.keys() & machine.frames.keys():
            raise InvalidValue(
                "inconsistent",
                f"no part of a body was found in both {_name(skeleton, 'the skeleton')} and {_name(robot, 'the robot')}"
                "; state the map: BodyMap(source={'right_wrist': ...}, robot={'right_wrist': ...})",
            )
        those = parts_of_bones(bones)[1] if bones else fingers_of(skeleton, frames)
        others = {} if machine.four_legs else fingers_of(robot, machine.frames)
        missing |= _missing_fingers(skeleton, robot, those, others)
        made = cls({**frames, **those}, {**machine.frames, **others}, missing=missing)
        standing = ENDS if machine.four_legs else ENDS[:2]
        return cls(made.source, made.robot, tuple(part for part in standing if part in made.parts), missing)

    def check(self, source: Motion | Model | None = None, robot: Model | None = None) -> None:
        """Raises FrameNotFound, with the nearest names, for a joint or frame that is not there, ValueError for a finger
        that its wrist does not carry."""
        self._check(source, robot, "")

    def _check(self, source: Motion | Model | None, robot: Model | None, place: str) -> None:
        skeleton = source.model if isinstance(source, Motion) else source
        for name, column, model in (("source", self.source, skeleton), ("robot", self.robot, robot)):
            for part, frame in column.items() if model is not None else ():
                if model is not None and frame not in model.frames:
                    raise FrameNotFound(frame, model.frames, owner=f"{place}{name}.{part}: {model.name}")
            for part in FINGERS if model is not None else ():
                wrist = column.get(f"{part.partition('_')[0]}_wrist")
                if model is not None and part in column and wrist and not on_hand(model, column[part], wrist):
                    raise InvalidValue(
                        "inconsistent",
                        f"{place}{name}.{part} is {column[part]!r}, which is not beneath {wrist!r}, its wrist in "
                        f"{model.name}; name the first joint of a finger of that hand, or leave it out",
                    )

    # Files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as a TOML file, to be edited and read by `load`.  Raises ValueError for another suffix."""
        file = _file(path)
        lines = [_FILE, f"contacts = [{', '.join(map(json.dumps, self.contacts))}]"]
        for name, column in (("source", self.source), ("robot", self.robot)):
            lines += ["", f"[{name}]"]
            lines += [f"{part} = {_quoted(column[part])}" for part in _PARTS if part in column]
        if self.missing:
            lines += ["", *(f"# {_line(note)}" for note in self._notes())]
        write_whole(file, "\n".join(lines) + "\n")

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], source: Motion | Model | None = None, robot: Model | None = None
    ) -> Self:
        """The map of a file, with its names looked up in the skeleton and the robot, where these are given.

        Raises ValueError that says which entry of the file is wrong, FrameNotFound and NameNotFound with the nearest
        names, OSError for a file that cannot be read.
        """
        file = _file(path)
        content = _read(file)
        for name in content:
            if name not in ("source", "robot", "contacts"):
                raise NameNotFound(name, ["source", "robot", "contacts"], owner=str(file), noun="field")
        columns = {name: _column(file, content, name) for name in ("source", "robot")}
        contacts = content.get("contacts", [])
        if not isinstance(contacts, list) or not all(isinstance(part, str) for part in contacts):
            raise InvalidValue(
                "not-a-sequence", f'{file}: contacts must be a list of parts such as ["left_ankle"], got {contacts!r}'
            )
        _check_parts(contacts, "contacts", STANDING, f"{file}: ")
        try:
            made = cls(columns["source"], columns["robot"], tuple(contacts))
        except ValueError as error:
            raise InvalidValue(getattr(error, "code", "inconsistent"), f"{file}: {error}") from None
        made._check(source, robot, f"{file}: ")
        return made

    # What is shown -----------------------------------------------------------------------------------------------

    def _rows(self) -> list[tuple[str, ...]]:
        shown = [part for part in PARENTS if part in self.source or part in self.robot] + list(self.fingers)
        return [
            (part, self.source.get(part, ""), self.robot.get(part, ""), "yes" if part in self.contacts else "")
            for part in shown
        ]

    def __str__(self) -> str:
        """The map as a table, and what was not found."""
        return "\n".join([aligned(_COLUMNS, self._rows()), *self._notes()])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        title = f"{len(self.parts)} parts are in both"
        return html.together(html.table(_COLUMNS, self._rows(), title), *map(html.paragraph, self._notes()))

    def _notes(self) -> list[str]:
        """What was not found, and why."""
        reasons: dict[str, list[str]] = {}
        for part, why in self.missing.items():
            reasons.setdefault(why, []).append(part)
        return [f"no {', '.join(parts)}: {why}" for why, parts in reasons.items()]


def _of_bones(bones: Mapping[str, str]) -> Anatomy:
    """The parts of a body whose bones are links that are known."""
    body, _ = parts_of_bones(bones)
    missing = {part: "the file names no such bone" for part in PARENTS if part not in body}
    return Anatomy(body, {part: (joint,) for part, joint in body.items()}, missing)


def _missing_fingers(
    skeleton: Model, robot: Model, those: Mapping[str, str], others: Mapping[str, str]
) -> dict[str, str]:
    """By finger that one of them lacks, which of the two and why."""
    out = {}
    for owner, own, other in ((_name(skeleton, "skeleton"), those, others), (_name(robot, "robot"), others, those)):
        for part in FINGERS:
            side = part.partition("_")[0]
            if part in other and part not in own:
                some = any(name.startswith(side) for name in own)
                out[part] = f"{owner}: no joint is called so" if some else f"{owner}: the {side} hand has no fingers"
    return out


def _check_parts(parts: Iterable[str], name: str, known: Iterable[str], place: str) -> None:
    for part in parts:
        if part not in known:
            raise NameNotFound(part, known, owner=f"{place}{name}", noun="part of a body")


def _file(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.suffix.lower() != ".toml":
        raise InvalidValue("wrong-format", f"{file} is no file of a map; its name must end in .toml")
    return file


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise OSError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidValue("wrong-format", f"{file} is no text in UTF-8; save it in that encoding") from None
    except RecursionError:
        raise InvalidValue(
            "wrong-format", f"{file} is nested too deeply; it needs two tables, [source] and [robot]"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidValue("wrong-format", f"{file}: {error}") from None


def _column(file: Path, content: dict[str, Any], name: str) -> dict[str, str]:
    """A table of the file: a name by part."""
    column = content.get(name)
    if not isinstance(column, dict):
        raise InvalidValue(
            "wrong-format", f"{file} has no table [{name}]; under it each line is a part, such as pelvis = {'Hips'!r}"
        )
    _check_parts(column, name, _PARTS, f"{file}: ")
    for part, frame in column.items():
        if not isinstance(frame, str):
            raise InvalidValue("wrong-type", f"{file}: {name}.{part} must be a name in quotation marks, got {frame!r}")
    return column


def _quoted(name: str) -> str:
    """A string of TOML; JSON's is one, but for the letter that deletes."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line(text: str) -> str:
    return " ".join(text.split())


def _name(model: Model, what: str) -> str:
    return model.name or what
