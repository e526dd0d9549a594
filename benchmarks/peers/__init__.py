"""One adapter a library, all of one shape, so that only `solve` is timed and each library is given its own types."""

import importlib
import importlib.metadata
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from judge import Array
from robots import Robot

RESTARTS = 100
"""Most random starts a problem, the caller's own first; the same for every library that takes a number."""


class Peer(Protocol):
    """A library prepared for one robot, on one thread, at the settings that serve it best."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        """Load the robot; answers are wanted within `tolerance` [m] and [rad] of the targets, inside the limits."""

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The arguments of `solve` for (K, 4, 4) targets and a start (nq,), in the library's own types; not timed."""

    def solve(self, *arguments: Any) -> Any:
        """One call as a user would make it; timed."""

    def unpack(self, answer: Any) -> Array | None:
        """The (nq,) configuration in the judge's order, or None if the library says it failed; not timed."""


PEERS = {
    "poise": ("poise", "peers.poise:Prepared"),
    "poise.solve": ("poise", "peers.poise:OneCall"),
    "cartan": ("cartan-bindings", "peers.cartan:Cartan"),
    "optik": ("optik-py", "peers.optik:Optik"),
    "pytracik": ("pytracik", "peers.pytracik:TracIK"),
    "roboticstoolbox": ("roboticstoolbox-python", "peers.roboticstoolbox:Toolbox"),
    "pin": ("pin", "peers.pinocchio:DampedLoop"),
    "mink": ("mink", "peers.mink:Mink"),
    "placo": ("placo", "peers.placo:Placo"),
}
"""Name in the tables: the distribution on PyPI, and the adapter."""


def load(name: str) -> type[Peer]:
    """The adapter `name`; raises ImportError if its library is not installed."""
    module, _, attribute = PEERS[name][1].partition(":")
    adapter: type[Peer] = getattr(importlib.import_module(module), attribute)
    return adapter


def version(name: str) -> str:
    """The installed version of the library behind `name`."""
    return importlib.metadata.version(PEERS[name][0])


def starts(robot: Robot, q0: Array) -> Iterator[Array]:
    """`q0`, then random ones with the same floating base: restarts for libraries that have none of their own."""
    yield q0
    random = np.random.default_rng(0)
    bounded = np.isfinite(robot.judge.lower)
    for _ in range(RESTARTS - 1):
        q = q0.copy()
        q[bounded] = random.uniform(robot.judge.lower[bounded], robot.judge.upper[bounded])
        yield q
