"""The arguments of a xacro file: values by name, as callers give them and as xacro takes them."""

import os
from collections.abc import Mapping
from typing import TypeAlias, final

import numpy as np

from poise.common.errors import InvalidType

XacroArgs: TypeAlias = Mapping[str, str | bool | float | os.PathLike[str]]
"""Values of `<xacro:arg>` by name; xacro is told True and False as "true" and "false"."""


def written(arguments: XacroArgs) -> dict[str, str]:
    """The arguments as xacro takes them."""
    if not isinstance(arguments, Mapping):
        raise InvalidType(
            "wrong-type", f"xacro_args is a mapping of names to values, got {type(arguments).__name__}: {arguments!r}"
        )
    values = {}
    for name, value in arguments.items():
        if not isinstance(name, str):
            raise InvalidType("wrong-type", f"xacro_args has the name {name!r}; names are str")
        if isinstance(value, (bool, np.bool_)):
            values[name] = "true" if value else "false"
        elif isinstance(value, (str, int, float, np.integer, np.floating, os.PathLike)):
            values[name] = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
        else:
            raise InvalidType(
                "wrong-type", f"xacro_args has {name}={value!r}; a value is a str, a number, a bool or a path"
            )
    return values


@final
class Arguments(dict[str, str]):
    """Values of arguments by name; remembers which the document asks for."""

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.asked: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        self.asked[str(name)] = None
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked[name] = None
        return super().__getitem__(name)
