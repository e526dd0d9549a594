"""Robots and readers that packages beside poise bring."""

import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.common.beside import READERS, ROBOTS, loaded, offered, owner
from poise.common.errors import InvalidType, InvalidValue
from poise.io.installed import installed_robots
from poise.io.suffixes import ROBOT_SUFFIXES, SKELETON_SUFFIXES, TABLE_SUFFIXES
from poise.model.model import Model
from poise.robots import TEXTBOOK

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def brought_robots() -> "dict[str, EntryPoint]":
    """Robots of packages by their names; nothing is imported."""
    return offered(ROBOTS, {*TEXTBOOK, *installed_robots()})


def brought_robot(name: str) -> Model | Path | None:
    """The model of this name, or its file; None where no package has it.

    Raises PoiseError for a package that cannot be loaded, TypeError for one that makes something else.
    """
    point = brought_robots().get(name)
    if point is None:
        return None
    made = loaded(point)()
    if isinstance(made, str | os.PathLike):
        return Path(made)
    if not isinstance(made, Model):
        raise InvalidType(
            "not-a-model",
            f"the robot {name!r} of {owner(point)} must be a Model or the path of a file, got {type(made).__name__}",
        )
    return made


def brought_suffixes() -> "dict[str, EntryPoint]":
    """Readers of packages by the suffixes of the files that they read; nothing is imported."""
    ours = (*ROBOT_SUFFIXES, *SKELETON_SUFFIXES, *TABLE_SUFFIXES)
    return {f".{name}": point for name, point in offered(READERS, [suffix[1:] for suffix in ours]).items()}


def brought_reader(file: Path) -> "EntryPoint | None":
    """What reads this file, by its suffix; None where no package does."""
    return brought_suffixes().get(file.suffix.lower()) if file.suffix else None


def read_brought(point: "EntryPoint", file: Path, given: Mapping[str, Any]) -> Any:
    """What the reader makes of a file, with those of the arguments that are not None.

    Raises PoiseError for a package that cannot be loaded, ValueError for an argument that its reader does not take, and
    what the reader raises.
    """
    read = loaded(point)
    given = {name: value for name, value in given.items() if value is not None}
    takes = inspect.signature(read).parameters
    others = any(each.kind is each.VAR_KEYWORD for each in takes.values())
    extra = [] if others else [name for name in given if name not in takes]
    if extra:
        raise InvalidValue(
            "conflict",
            f"{' and '.join(extra)} {'is' if len(extra) == 1 else 'are'} not for {file}, which {owner(point)} reads; "
            "leave out what its reader does not take",
        )
    return read(file, **given)


def other_than(point: "EntryPoint", file: Path, found: object, wanted: str) -> InvalidType:
    """The error for a file of which the reader makes something else than is wanted."""
    return InvalidType("wrong-type", f"{owner(point)} reads {file} as a {type(found).__name__}, which is no {wanted}")
