"""Settings as the kernels read them: the record of a dataclass follows from the types of its fields."""

import dataclasses
import math
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from poise.kernels.machine.record import Record


def record_of(kind: type[Any]) -> Record:
    """The record of a dataclass of settings.

    `float` is a real number, and None in place of one is infinity; `int`, `bool` and `Literal` are whole numbers, a
    choice of the last its place among the choices.  Fields of other types are left out.
    """
    hints = _hints(kind)
    whole = [name for name, hint in hints.items() if hint in (int, bool) or get_origin(hint) is Literal]
    real = [name for name, hint in hints.items() if hint is float or set(get_args(hint)) == {float, NoneType}]
    return Record(f"{kind.__module__}.{kind.__qualname__}", " ".join(whole), " ".join(real))


def numbers_of(settings: Any) -> dict[str, float]:
    """The fields of that record."""
    hints = _hints(type(settings))
    found: dict[str, float] = {}
    for name in record_of(type(settings)).fields:
        value = getattr(settings, name)
        if get_origin(hints[name]) is Literal:
            value = get_args(hints[name]).index(value)
        found[name] = math.inf if value is None else value
    return found


def _hints(kind: type[Any]) -> dict[str, Any]:
    """The types of the fields."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
