"""Loops beside a robot's file: which file they stand in, and what it says.

Two forms are read, as TOML or YAML, that of poise and that of the collection example-parallel-robots:

| poise | the collection | |
|---|---|---|
| `loops`, each a table with `first` and `second`, or a list | `closed_loop`, lists of two | two frames, or joints |
| `kind`, or the third of a list | `type`, for each or for all: `6d` a pose, `3d` a point | which joint was cut |
| `joints`, a table of kinds by names or patterns | `joint_name` beside `joint_type` | what are no hinges |
| `actuated` | `name_mot` | the joints with motors |
"""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from poise.common.errors import MissingExtra, ModelError, nearest_names
from poise.common.lazy import optional
from poise.io.elements import read_bytes
from poise.io.notes import Notes
from poise.model.loop import Loop
from poise.model.looped import LoopLike

BESIDE: Final = "beside"
Loops: TypeAlias = str | os.PathLike[str] | Iterable[LoopLike] | None
"""A file, the loops themselves, `BESIDE` for the file that stands beside the robot's, None for none."""
_YAML: Final = (".yaml", ".yml")
_ENDS: Final = (".loops.toml", *(f".loops{end}" for end in _YAML), *_YAML)
"""What the file beside `robot.urdf` is called after `robot`."""
_TELLS: Final = re.compile(rb"^[ \t]*[\"']?(closed_loop|loops)[\"']?[ \t]*:", re.MULTILINE)
"""A file of the robot's plain name may say anything; one that says this tells of loops."""
_OWN: Final = ("loops", "joints", "actuated")
_THEIRS: Final = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_FRAMES: Final = ("first", "second", "kind")
_TYPES: Final = {"6d": "pose", "3d": "point"}


class Stated(NamedTuple):
    """What is said of loops."""

    loops: list[LoopLike]
    joints: dict[str, str]
    actuated: list[str]
    file: str | None = None


def stated_loops(loops: Loops, robot: Path | None) -> Stated | None:
    """What is meant by `loops=`, of a robot in this file, if it is in one; None where nothing is said.

    Raises ModelError for a file that says no loops, MissingExtra where its format needs a package.
    """
    if loops is None:
        return None
    if loops == BESIDE:
        found = None if robot is None else find_loops(robot)
        if found is None:
            return None
        try:
            return read_loops(found)
        except MissingExtra as missing:
            notes = Notes(str(found))
            notes.add(f"it tells of loops, which are left open; {missing}; loops=None leaves them out", 1)
            notes.warn()
            return None
    if isinstance(loops, str | os.PathLike):
        return read_loops(Path(loops).expanduser())
    return Stated(list(loops), {}, [])


def find_loops(robot: Path) -> Path | None:
    """The file of loops beside a URDF or xacro file, `robot.loops.toml` or `robot.yaml` for `robot.urdf`."""
    name = robot.name.removesuffix(".xacro")
    if not name.lower().endswith(".urdf"):
        return None
    for end in _ENDS:
        path = robot.with_name(name[: -len(".urdf")] + end)
        if path.is_file() and (".loops" in end or _TELLS.search(read_bytes(path))):
            return path
    return None


def read_loops(path: Path) -> Stated:
    """What a file says, see the module; raises ModelError for one that is none, MissingExtra where YAML needs it."""
    file, suffix = str(path), path.suffix.lower()
    if suffix not in (".toml", *_YAML):
        raise ModelError("a file of loops ends in .toml or .yaml", file=file)
    data = read_bytes(path)
    content = _toml(data, file) if suffix == ".toml" else _yaml(data, file)
    if not isinstance(content, dict) or not (content.keys() & {"loops", "closed_loop"}):
        raise ModelError("the file says no loops; state them under loops, each with first and second", file=file)
    notes = Notes(file)
    known = _OWN if "loops" in content else _THEIRS
    for name in content:
        if name not in known:
            near = nearest_names(str(name), known)
            notes.add(f"{name!r} is passed over" + (f"; did you mean {near[0]!r}?" if near else ""), 1)
    found = _own(content, file) if "loops" in content else _theirs(content, file)
    notes.warn()
    return found


def _toml(data: bytes, file: str) -> Any:
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise ModelError("this is no TOML: its lists are nested too deep", file=file) from None
    except ValueError as error:
        raise ModelError(f"this is no TOML: {error}", file=file) from None


def _yaml(data: bytes, file: str) -> Any:
    yaml = optional("reading loops from YAML", "PyYAML", "yaml", "yaml")
    try:
        return yaml.safe_load(data)
    except RecursionError:
        raise ModelError("this is no YAML: its lists are nested too deep", file=file) from None
    except (yaml.YAMLError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        text = str(getattr(error, "problem", None) or error)
        raise ModelError(f"this is no YAML: {text}", file=file, line=None if line is None else line + 1) from None


def _own(content: Mapping[str, Any], file: str) -> Stated:
    given, joints = content["loops"], content.get("joints") or {}
    if not isinstance(given, list):
        raise ModelError(f"loops must be a list, got {given!r}", file=file)
    loops: list[LoopLike] = []
    for k, one in enumerate(given):
        if isinstance(one, Mapping):
            wrong = [name for name in one if name not in _FRAMES]
            if wrong or not {"first", "second"} <= one.keys():
                raise ModelError(f"loops[{k}] must have first and second, and may have kind; got {one!r}", file=file)
            one = [one[name] for name in _FRAMES if name in one]
        loops.append(_words(one, f"loops[{k}]", file))
    if not isinstance(joints, Mapping):
        raise ModelError(f"joints must be a table of kinds by names, got {joints!r}", file=file)
    kinds = {str(name): kind for name, kind in joints.items()}
    return Stated(loops, kinds, _words(content.get("actuated") or [], "actuated", file), file)


def _theirs(content: Mapping[str, Any], file: str) -> Stated:
    pairs = content["closed_loop"]
    if not isinstance(pairs, list):
        raise ModelError(f"closed_loop must be a list of pairs, got {pairs!r}", file=file)
    types = content.get("type", "6d")
    types = types if isinstance(types, list) else [types] * len(pairs)
    names, kinds = (_words(content.get(key) or [], key, file) for key in ("joint_name", "joint_type"))
    for one, other, what in ((pairs, types, "closed_loop and type"), (names, kinds, "joint_name and joint_type")):
        if len(one) != len(other):
            raise ModelError(f"{what} stand side by side, and are {len(one)} and {len(other)}", file=file)
    loops: list[LoopLike] = []
    for k, (pair, kind) in enumerate(zip(pairs, types, strict=True)):
        word = _TYPES.get(str(kind).lower())
        if word is None:
            raise ModelError(f"type[{k}] is {kind!r}; it is 6d or 3d", file=file)
        loops.append(Loop(*_pair(pair, f"closed_loop[{k}]", file), word))  # type: ignore[arg-type]
    return Stated(
        loops,
        {name: _kind(kind, file) for name, kind in zip(names, kinds, strict=True)},
        _words(content.get("name_mot") or [], "name_mot", file),
        file,
    )


def _kind(word: str, file: str) -> str:
    """What the collection calls a joint, as poise calls it."""
    lower = word.lower()
    if lower == "spherical":
        return lower
    if lower.startswith("ujoint_"):
        return lower.replace("ujoint", "universal")
    raise ModelError(f"joint_type has {word!r}; it is SPHERICAL or UJOINT with two axes, such as UJOINT_XY", file=file)


def _words(given: Any, what: str, file: str) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        raise ModelError(f"{what} must be a list of names, got {given!r}", file=file)
    return given


def _pair(given: Any, what: str, file: str) -> tuple[str, str]:
    words = _words(given, what, file)
    if len(words) != 2:
        raise ModelError(f"{what} must be two names, got {given!r}", file=file)
    return words[0], words[1]
