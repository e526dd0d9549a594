"""What solvers have prepared for a model and a structure of tasks, so that the next call does not pay for it again."""

from collections import OrderedDict
from contextlib import suppress
from threading import RLock
from typing import Any, Final
from weakref import WeakKeyDictionary

from poise.kernels.machine.jit import hold_over_forks
from poise.model.model import Model

_CACHED: Final = 1024
"""Structures of tasks that are kept for a model."""
_PREPARED: "WeakKeyDictionary[Model, OrderedDict[Any, Any]]" = WeakKeyDictionary()
"""What was prepared for each model, the least recently used first."""
_LOCK = RLock()
hold_over_forks(_LOCK)


def recall(model: Model, key: Any) -> Any:
    """What was kept under the key, or None."""
    prepared = _prepared_of(model)
    found = prepared.get(key)
    if found is not None:
        with suppress(KeyError):  # another thread was first
            prepared.move_to_end(key)
    return found


def keep(model: Model, key: Any, made: Any) -> None:
    """Keep what was made, in place of what was not used for the longest if there is too much."""
    prepared = _prepared_of(model)
    prepared[key] = made
    while len(prepared) > _CACHED:
        with suppress(KeyError):
            prepared.popitem(last=False)


def _prepared_of(model: Model) -> "OrderedDict[Any, Any]":
    found = _PREPARED.get(model)
    if found is None:
        with _LOCK:
            found = _PREPARED.setdefault(model, OrderedDict())
    return found
