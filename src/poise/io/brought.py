"""Robots, readers and writers that packages beside poise bring."""

import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from poise.common.archive import members
from poise.common.beside import READERS, ROBOTS, WRITERS, loaded, offered, owner
from poise.common.errors import InvalidType, InvalidValue, MissingExtra, ModelError, nearest_names
from poise.io.installed import installed_robots
from poise.io.suffixes import EXTRA_SUFFIXES, ROBOT_SUFFIXES, SKELETON_SUFFIXES, TABLE_SUFFIXES
from poise.model.model import Model
from poise.robots import TEXTBOOK

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

EXTRA_FORMATS: Final = ("beyondmimic", "mjlab", "holosoma", "asap")
"""What the extra `motion` brings writers for."""


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
    tables = [suffix for suffix in TABLE_SUFFIXES if suffix != ".npz"]  # of which some are others', see is_table
    ours = (*ROBOT_SUFFIXES, *SKELETON_SUFFIXES, *tables)
    return {f".{name}": point for name, point in offered(READERS, [suffix[1:] for suffix in ours]).items()}


def brought_reader(file: Path) -> "EntryPoint | None":
    """What reads this file, by its suffix; None where no package does; raises as `is_table`."""
    return brought_suffixes().get(file.suffix.lower()) if file.suffix and not is_table(file) else None


def is_table(file: Path) -> bool:
    """Whether a file has numbers by name, which poise itself reads, by its suffix; an .npz must hold `q`.

    Raises ModelError for an .npz that cannot be read.
    """
    if file.suffix.lower() != ".npz":
        return file.suffix.lower() in TABLE_SUFFIXES
    try:
        return "q" in members(file, {"q"})
    except FileNotFoundError:
        raise ModelError("no such file", file=str(file)) from None
    except (OSError, ValueError) as error:
        why = "it is a folder; give a file in it" if file.is_dir() else getattr(error, "strerror", None) or error
        raise ModelError(f"the archive cannot be read: {why}", file=str(file)) from None


def refuse_absent(file: Path) -> None:
    """Raises MissingExtra for a file that no package reads, if the extra `motion` brings a reader for its suffix."""
    if file.suffix.lower() in EXTRA_SUFFIXES:
        raise MissingExtra(f"reading {file}", "poise-motion", "motion")


def read_brought(point: "EntryPoint", file: Path, given: Mapping[str, Any]) -> Any:
    """What the reader makes of a file, with those of the arguments that are not None.

    Raises PoiseError for a package that cannot be loaded, ValueError for an argument that its reader does not take, and
    what the reader raises.
    """
    read = loaded(point)
    return read(file, **_taken(read, given, f"{file}, which {owner(point)} reads"))


def write_brought(motion: object, file: Path, format: str, given: Mapping[str, Any]) -> None:
    """Let a package write a motion in its format, with those of the arguments that are not None.

    Raises ValueError for another word and for an argument that its writer does not take, MissingExtra for a format of
    the extra `motion` where that is absent, PoiseError for a package that cannot be loaded, and what the writer raises.
    """
    known = offered(WRITERS)
    point = known.get(format) if isinstance(format, str) else None
    if point is not None:
        write = loaded(point)
        write(motion, file, **_taken(write, given, f"format={format!r}, which {owner(point)} writes"))
        return
    if format in EXTRA_FORMATS:
        raise MissingExtra(f"format={format!r}", "poise-motion", "motion")
    near = nearest_names(format, known)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise InvalidValue("unknown-word", f"format must be one of {', '.join(known) or 'none'}, got {format!r}{hint}")


def _taken(function: Callable[..., Any], given: Mapping[str, Any], what: str) -> dict[str, Any]:
    """What is given of the arguments; raises ValueError where the function takes no such one."""
    given = {name: value for name, value in given.items() if value is not None}
    takes = inspect.signature(function).parameters
    others = any(each.kind is each.VAR_KEYWORD for each in takes.values())
    extra = [] if others else [name for name in given if name not in takes]
    if extra:
        are = "is" if len(extra) == 1 else "are"
        raise InvalidValue("conflict", f"{' and '.join(extra)} {are} not for {what}; leave out what it does not take")
    return given


def other_than(point: "EntryPoint", file: Path, found: object, wanted: str) -> InvalidType:
    """The error for a file of which the reader makes something else than is wanted."""
    return InvalidType("wrong-type", f"{owner(point)} reads {file} as a {type(found).__name__}, which is no {wanted}")
