"""What `dir` and `help` show of a task."""

from dataclasses import fields, is_dataclass
from typing import Final

_OWN: Final = frozenset(("rows", "unit", "lanes", "inequality", "vector"))
"""What a task of your own states beside its fields, and what may be asked of one of ours."""


class Stated(type):
    """The type of every class of tasks: `dir` and `help` show what one states, and not what solving asks of it."""

    def __dir__(cls) -> list[str]:
        """The fields, what a task of your own has, and what Python calls."""
        stated = {field.name for field in fields(cls) if field.init} if is_dataclass(cls) else set[str]()
        inner = {name for kind in cls.__mro__ if kind.__module__.startswith("poise.tasks") for name in vars(kind)}
        return [
            name
            for name in super().__dir__()
            if name.startswith("_") or name in stated or name in _OWN or name not in inner
        ]
