"""The settings of a method as a panel offers them, read from the fields of its dataclass."""

import math
import types
import typing
from collections.abc import Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache
from typing import Any, Final, Literal, final

from poise.common.checks import one_of
from poise.methods.base import Method
from poise.methods.damping import RULES, Constant, DampingRule

_SAMPLE: Final = 0.1
"""What a rule begins with that has no default."""


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: what it is called, what it is now, and what it may be."""

    path: tuple[str, ...]
    """Its name, and before it those of the settings that it is part of."""
    value: bool | float | int | str
    kind: Literal["switch", "number", "whole", "choice"]
    choices: tuple[str, ...] = ()
    optional: bool = False
    """Whether a number may be left out; `value` is then infinite."""

    @property
    def label(self) -> str:
        """Its name for people."""
        return " ".join(self.path).replace("_", " ")


def settings_of(method: Method) -> list[Setting]:
    """All that a panel can offer of a method: switches, numbers, choices, and the damping rule with its own."""
    return _settings(method, ())


def changed(method: Method, path: Sequence[str], value: Any) -> Method:
    """The method with another value of a setting; raises ValueError and TypeError as its constructor does."""
    made: Method = _changed(method, tuple(path), value)
    return made


def _settings(of: Any, path: tuple[str, ...]) -> list[Setting]:
    found: list[Setting] = []
    for field in fields(of):
        if not field.init:
            continue
        value, here = getattr(of, field.name), (*path, field.name)
        allowed = _allowed(type(of), field)
        literals = tuple(a for kind in allowed if typing.get_origin(kind) is Literal for a in typing.get_args(kind))
        if bool in allowed and isinstance(value, bool):
            found.append(Setting(here, value, "switch"))
        elif DampingRule in allowed:
            rule = _rule(value)
            found.append(Setting(here, type(rule).__name__, "choice", (*rules(),)))
            found += _settings(rule, here)
        elif literals and isinstance(value, str):
            found.append(Setting(here, value, "choice", tuple(map(str, literals))))
        elif int in allowed and float not in allowed and isinstance(value, int):
            found.append(Setting(here, value, "whole"))
        elif float in allowed and (value is None or isinstance(value, int | float)):
            number = math.inf if value is None else float(value)
            found.append(Setting(here, number, "number", (), type(None) in allowed or math.isinf(number)))
    return found


def _changed(of: Any, path: tuple[str, ...], value: Any) -> Any:
    name, rest = path[0], path[1:]
    allowed = _allowed(type(of), next(field for field in fields(of) if field.name == name))
    if rest:
        value = _changed(_rule(getattr(of, name)), rest, value)
    elif DampingRule in allowed:
        now = _rule(getattr(of, name))
        known = {**rules(), type(now).__name__: now}
        one_of(name, value, tuple(known))
        value = known[value]
    elif isinstance(value, float) and math.isinf(value) and type(None) in allowed:
        value = None
    return replace(of, **{name: value})


def _rule(value: float | DampingRule) -> DampingRule:
    return value if isinstance(value, DampingRule) else Constant(value)


def rules() -> dict[str, DampingRule]:
    """The damping rules that need nothing more than their defaults, by name."""
    rules_by_name: dict[str, Any] = dict(RULES)
    return {
        name: kind(**{field.name: _SAMPLE for field in fields(kind) if field.init and field.default is MISSING})
        for name, kind in rules_by_name.items()
    }


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _allowed(kind: type, field: Field[Any]) -> tuple[Any, ...]:
    """The types that a field may have, unions taken apart."""
    hint = _hints(kind)[field.name]
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)
