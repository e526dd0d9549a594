"""Many more problems than one call takes: Arrow tables in, Arrow tables out; on one machine, or on many with Ray.

`solve_table` solves the rows of a table, `map_batches` those of a Ray dataset; `poise batch` streams files.
"""

import importlib
from typing import TYPE_CHECKING, Any

from poise.errors import MissingExtra

if TYPE_CHECKING:
    from poise.scale.cluster import map_batches as map_batches
    from poise.scale.table import solve_table as solve_table

_HOME = {"map_batches": "poise.scale.cluster", "solve_table": "poise.scale.table"}
"""Where each name lives; these modules import pyarrow."""

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'poise.scale' has no attribute {name!r}")
    require_arrow()
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


def require_arrow() -> None:
    """Raises MissingExtra without pyarrow, which the other files of this room stand on."""
    try:
        importlib.import_module("pyarrow")
    except ImportError:
        raise MissingExtra("reading and writing tables", "pyarrow", "data") from None
