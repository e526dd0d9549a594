"""Lists on the command line: names, what names stand for, configurations, which are nq numbers or a posture."""

import warnings
from collections.abc import Sequence

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue, NameNotFound
from poise.model.model import Model
from poise.model.units import units

_NOTED = 1e-9
"""A start that is farther beyond a limit than this is told of [rad or m]."""
_SHOWN = 4
"""Joints that a message names, at most."""


def names(words: Sequence[str]) -> list[str]:
    """The names in `words`: `a b`, `a,b` and `a, b` are the same."""
    return [name for word in words for name in word.replace(",", " ").split()]


def named(words: Sequence[str], option: str, example: str) -> list[str]:
    """The names in the words of an option; raises ValueError where there are none."""
    found = names(words)
    if not found:
        raise InvalidValue("empty", f"{option} names no joint: name some, as in {option} {example}, or leave it out")
    return found


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """What words `name=value` say, by name; raises ValueError for another word, and for a name that is there twice."""
    found = dict[str, str]()
    for word in words:
        name, mark, value = word.partition("=")
        if not mark:
            raise InvalidValue("wrong-format", f"{option} are of the form name=value, got {word!r}")
        if name in found:
            raise InvalidValue("duplicate", f"{option} state {name!r} twice, as {found[name]} and as {value}")
        found[name] = value
    return found


def number(word: str, option: str) -> float:
    """The number that a word is; raises ValueError for one that is none."""
    found = _number(word)
    if found is None:
        raise InvalidValue("not-a-number", f"{option}: {word!r} is no number")
    return found


def posture(model: Model, name: str) -> Array:
    """(nq,) a posture of the model, or `home` or `neutral`; raises NameNotFound."""
    known = {"home": model.home, "neutral": model.neutral} | dict(model.postures)
    if name not in known:
        raise NameNotFound(name, known, owner=model.name, noun="posture")
    return known[name]


def configuration(model: Model, words: Sequence[str], option: str) -> Array:
    """(nq,) what `words` say: the name of a posture, or numbers, with commas or without.

    Raises NameNotFound, and ValueError for words that are no numbers or not as many as the model has.
    """
    parts = names(words)
    if len(words) == 1 and (not parts or _number(parts[0]) is None):
        return posture(model, words[0])
    numbers = [_number(part) for part in parts]
    for part, number in zip(parts, numbers, strict=True):
        if number is None:
            raise InvalidValue(
                "not-a-number", f"{option}: {part!r} is no number; give {model.nq} numbers, or one name of a posture"
            )
    return model.check_q(np.array(numbers, dtype=np.float64), option.removeprefix("--"))


def start(model: Model, words: Sequence[str] | None, *, limits: bool = True, option: str = "--q0") -> Array | None:
    """(nq,) where to start, None for nowhere in particular; warns of what limits move. Raises as `configuration`."""
    if words is None:
        return None
    q = configuration(model, words, option)
    if limits:
        _warn_of_clipping(model, q, option)
    return q


def _warn_of_clipping(model: Model, q: Array, option: str) -> None:
    clipped = model.clip(model.normalize(q))
    moved = np.flatnonzero(np.abs(clipped - q) > _NOTED)
    if not moved.size:
        return
    unit = units(model)
    joints = [(i, model.coordinates[i]) for i in moved]
    shown = [f"{name} from {q[i]:g} to {clipped[i]:.4g} {unit[name]}" for i, name in joints[:_SHOWN]]
    more = f" and {len(joints) - _SHOWN} more" if len(joints) > _SHOWN else ""
    degrees = any(unit[name] == "rad" and abs(q[i]) > 2.0 * np.pi for i, name in joints)
    hint = "; were these degrees? poise takes radians" if degrees else ""
    warnings.warn(f"{option} is moved within the joint limits: {', '.join(shown)}{more}{hint}", stacklevel=3)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
