"""Textbook mechanisms that ship as code, so that nothing need be downloaded to start."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from poise.model.model import Model
from poise.robots.arms import iiwa14 as iiwa14
from poise.robots.arms import panda as panda
from poise.robots.arms import puma560 as puma560
from poise.robots.arms import stanford as stanford
from poise.robots.buss import double_y as double_y
from poise.robots.buss import y as y
from poise.robots.planar import planar as planar
from poise.robots.universal import ur3e as ur3e
from poise.robots.universal import ur5e as ur5e
from poise.robots.universal import ur10e as ur10e
from poise.robots.universal import ur16e as ur16e

__all__ = [
    "TEXTBOOK",
    "double_y",
    "iiwa14",
    "panda",
    "planar",
    "puma560",
    "stanford",
    "ur3e",
    "ur5e",
    "ur10e",
    "ur16e",
    "y",
]

_NAMED = (panda, iiwa14, ur3e, ur5e, ur10e, ur16e, puma560, stanford, y, double_y)
TEXTBOOK: Mapping[str, Callable[[], Model]] = MappingProxyType(
    {make.__name__: make for make in _NAMED} | {f"planar{n}": partial(planar, n) for n in range(2, 31)}
)
"""What `poise.load` finds by name: a function that makes the model, by name."""
