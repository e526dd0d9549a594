"""Frozen dataclasses that stay what they are: settled when they are made, and read field by field."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from poise.tasks.fields import IMMUTABLE, PLAIN, frozen_value


class Value:
    """A frozen dataclass that stays frozen when it is copied or pickled, and the same to the last bit."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return again, (type(self), _contents(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={x!r}' for name, x in _contents(self).items())})"


def _contents(value: Any) -> dict[str, Any]:
    """The fields of a frozen dataclass; mappings as they were given."""
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {name: dict(x) if isinstance(x, Mapping) else x for name, x in pairs}


def again(kind: Any, values: Mapping[str, Any]) -> Any:
    """The value of these fields; its constructor would check and round them once more."""
    value = object.__new__(kind)
    for name, content in values.items():
        object.__setattr__(value, name, content)
    freeze(value)
    return value


def freeze(value: Any, names: Sequence[str] = ()) -> None:
    """Give a frozen dataclass copies that nobody can change of what a caller could, in these fields, or in all."""
    for name in names or names_of(value.__class__):
        content = getattr(value, name)
        if type(content) not in IMMUTABLE:
            object.__setattr__(value, name, frozen_value(content))


@cache
def names_of(kind: Any) -> tuple[str, ...]:
    """The names of the fields of a kind of value."""
    return tuple(f.name for f in fields(kind))


@cache
def all_but_target(kind: Any) -> Callable[[Any], tuple[Any, ...]]:
    """What reads the fields of a task of this kind but its target."""
    return attrgetter(*(name for name in names_of(kind) if name != "target"))


class Usual(NamedTuple):
    """The fields of a kind of task whose defaults need no check: what reads them, and these; and the other fields."""

    read: Callable[[Any], tuple[Any, ...]]
    defaults: tuple[Any, ...]
    others: tuple[str, ...]


@cache
def usual(kind: Any) -> Usual | None:
    """The usual fields of a kind of the library's; None for a user's, which is looked at whatever it holds."""
    if kind.__module__.partition(".")[0] != "poise":
        return None
    plain = {f.name: f.default for f in fields(kind) if f.name != "target" and type(f.default) in PLAIN}
    others = tuple(name for name in names_of(kind) if name not in plain)
    return Usual(attrgetter(*plain), tuple(plain.values()), others)
