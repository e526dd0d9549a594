"""Every name that poise promises."""

from collections.abc import Iterator
from inspect import ismodule
from operator import attrgetter
from typing import Any

import poise as pz


def public() -> Iterator[str]:
    """What may follow `pz.`: names at the top, modules of names, and the names of these."""
    for name in dir(pz):
        yield name
        room = getattr(pz, name)
        if ismodule(room):
            yield from (f"{name}.{each}" for each in dir(room) if not each.startswith("_"))


def named(name: str) -> Any:
    """What stands under a public name."""
    return attrgetter(name)(pz)
