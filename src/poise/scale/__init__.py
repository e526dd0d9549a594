"""Many more problems than one call takes: Arrow tables in, Arrow tables out; on one machine, or on many with Ray.

`solve_table` solves the rows of a table, `map_batches` those of a Ray dataset; `poise batch` streams files.
"""

from typing import Any

from poise.common.lazy import attach, optional

_named, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        require_arrow()
    return _named(name)


def require_arrow() -> None:
    """Raises MissingExtra without pyarrow, which the other files of this room stand on."""
    optional("reading and writing tables", "pyarrow", "data", "pyarrow")
