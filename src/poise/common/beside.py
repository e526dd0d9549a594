"""What packages beside poise bring, found by the entry points in their metadata."""

import warnings
from collections.abc import Iterator
from typing import Any, Final

COMMANDS: Final = "poise.commands"
"""Commands of `poise`, by their names."""
PAGES: Final = "poise.pages"
"""What makes the pages of things that `view` does not know."""


def brought(group: str) -> Iterator[tuple[str, Any]]:
    """The names in a group of entry points and what they stand for; what cannot be loaded is left out and warned of."""
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            found = point.load()
        except Exception as error:  # whatever a stranger's module raises, poise's own commands go on
            owner = point.dist.name if point.dist is not None else point.module
            why = " ".join(str(error).split())
            warnings.warn(
                f"{owner} offers {point.name!r} to poise and cannot be loaded: {type(error).__name__}: {why}; update "
                "it, or uninstall it",
                stacklevel=2,
            )
            continue
        yield point.name, found
