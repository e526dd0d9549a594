"""What a model keeps of what was prepared for it, the least recently used first."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from poise.model.model import Model

_CACHED: Final = 1024
"""Things that are kept for a model: one for each structure of tasks and the settings with them."""
_CACHE_KEY: Final = "what was prepared, the least recently used first"
_Made = TypeVar("_Made")


def cached(model: Model, key: Hashable, make: Callable[[], _Made]) -> _Made:
    """What the model keeps under the key, made now if it is none, in place of what was not used for the longest.

    Under what has no hash nothing is kept: it is made, and refused by name if it is no setting.
    """
    cache: OrderedDict[Any, _Made] | None = model.queries.get(_CACHE_KEY)
    if cache is None:
        cache = model.queries.setdefault(_CACHE_KEY, OrderedDict())
    try:
        found = cache.get(key)
    except TypeError:
        return make()
    if found is None:
        found = cache[key] = make()
    try:
        cache.move_to_end(key)
        while len(cache) > _CACHED:
            cache.popitem(last=False)
    except KeyError:  # another thread was first
        pass
    return found
