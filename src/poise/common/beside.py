"""What packages beside poise bring, found by the entry points in their metadata."""

import warnings
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from poise.common.errors import PoiseError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS: Final = "poise.commands"
"""Commands of `poise`, by their names."""
PAGES: Final = "poise.pages"
"""What makes the pages of things that `view` does not know."""
REFERENCES: Final = "poise.references"
"""What tells the papers that names of a package cite, as `cite` then does."""
ROBOTS: Final = "poise.robots"
"""What makes robots, by the names that `load` then knows."""
EXPERIMENTS: Final = ("poise-experiments", "experiments")
"""The package of published experiments, and the extra that brings it."""
READERS: Final = "poise.readers"
"""What reads files that `load` and `load_motion` do not know, by their suffixes without the dot."""
WRITERS: Final = "poise.writers"
"""What writes motions, by the words that `Motion.save` takes as `format`."""


def points(group: str) -> "list[EntryPoint]":
    """All that is offered in a group, by name; nothing of it is imported."""
    from importlib.metadata import entry_points  # which takes longer than a solve, and most programs never ask

    return sorted(entry_points(group=group), key=lambda point: (point.name, owner(point)))


def offered(group: str, ours: Collection[str] = ()) -> "dict[str, EntryPoint]":
    """`points` by their names; one that is of `ours`, or of a package before it, is left out and warned of."""
    found: dict[str, EntryPoint] = {}
    for point in points(group):
        if point.name in ours or point.name in found:
            whose = "poise" if point.name in ours else owner(found[point.name])
            _warn(f"{owner(point)} offers {point.name!r} in {group}, and {whose} has it too: it is left out")
        else:
            found[point.name] = point
    return found


def loaded(point: "EntryPoint") -> Any:
    """What it stands for; raises PoiseError, with the package and why, where that cannot be loaded."""
    try:
        return point.load()
    except Exception as error:  # whatever a stranger's module raises
        why = " ".join(str(error).split())
        raise PoiseError(
            f"{owner(point)} offers {point.name!r} to poise and cannot be loaded: {type(error).__name__}: {why}; "
            "update it, or uninstall it"
        ) from error


def brought(some: "Iterable[EntryPoint]") -> Iterator[tuple[str, Any]]:
    """Their names and what they stand for; what cannot be loaded is left out and warned of."""
    for point in some:
        try:
            found = loaded(point)
        except PoiseError as error:
            _warn(str(error))
        else:
            yield point.name, found


def owner(point: "EntryPoint") -> str:
    """The package that offers it."""
    return point.dist.name if point.dist is not None else point.module


def _warn(words: str) -> None:
    warnings.warn(words, stacklevel=3)
