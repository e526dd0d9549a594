"""One adapter a library, all of one shape, so that only `solve` is timed and each library is given its own types."""

import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from judge import Array
from motion import Motion
from robots import Robot
from scenes import Scene

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


class Crowd(Protocol):
    """A library prepared to solve many problems of one robot in one call, on all cores."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        """Load the robot; answers are wanted as from a `Peer`."""

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """The arguments of `solve` for (n, K, 4, 4) targets and (n, nq) starts; not timed."""

    def solve(self, *arguments: Any) -> Any:
        """All problems; timed."""

    def unpack(self, answer: Any) -> Array:
        """(n, nq) configurations in the judge's order, NaN where the library says it failed; not timed."""


class Follower(Protocol):
    """A library prepared for a motion with levels, standing at its stance; it keeps its own last configuration."""

    def __init__(self, motion: Motion) -> None:
        """Load the robot and aim the feet, which stay; joint and velocity limits are on."""

    def pack(self, centre: Array, hands: Array) -> tuple[Any, ...]:
        """The arguments of `step` for a centre of mass (3,) and hands (2, 4, 4), in the library's own types."""

    def step(self, *arguments: Any) -> None:
        """Set the targets and take one step, as a user would; timed."""

    def last(self) -> Array:
        """A copy of the (nq,) configuration in the judge's order; not timed."""


class Guard(Protocol):
    """A library prepared for a scene, standing at its start; it keeps its own last configuration."""

    def __init__(self, scene: Scene) -> None:
        """Load the arm, its shapes and the obstacles; joint and velocity limits are on, and the least distance."""

    def pack(self, goal: Array) -> tuple[Any, ...]:
        """The arguments of `step` for a pose (4, 4) of the hand, in the library's own types."""

    def step(self, *arguments: Any) -> None:
        """Take one step towards the pose, as a user would; timed."""

    def last(self) -> Array:
        """A copy of the (7,) configuration; not timed."""


PEERS = {
    "poise": ("poise", "peers.poise:Prepared"),
    "poise.solve": ("poise", "peers.poise:OneCall"),
    "cartan": ("cartan-bindings", "peers.cartan:Cartan"),
    "optik": ("optik-py", "peers.optik:Optik"),
    "pytracik": ("pytracik", "peers.pytracik:TracIK"),
    "roboticstoolbox": ("roboticstoolbox-python", "peers.roboticstoolbox:Toolbox"),
    "pin": ("pin", "peers.pinocchio:DampedLoop"),
    "mink": ("mink", "peers.mink:Mink"),
    "pink": ("pin-pink", "peers.pink:Steps"),
    "ikpy": ("ikpy", "peers.ikpy:Ikpy"),
    "placo": ("placo", "peers.placo:Placo"),
}
"""Name in the tables: the distribution on PyPI, and the adapter."""
FOLLOWERS = {
    "poise": ("poise", "peers.poise:Levels"),
    "mink": ("mink", "peers.mink:Levels"),
    "pink": ("pin-pink", "peers.pink:Levels"),
    "embodik": ("embodik", "peers.embodik:Levels"),
    "placo": ("placo", "peers.placo:Levels"),
}
"""The same of those that follow a motion with levels."""
GUARDS = {
    "poise": ("poise", "peers.poise:Guarded"),
    "mink": ("mink", "peers.mink:Guarded"),
    "pink": ("pin-pink", "peers.pink:Guarded"),
    "embodik": ("embodik", "peers.embodik:Guarded"),
    "drake": ("drake", "peers.drake:Guarded"),
}
"""The same of those that keep an arm from obstacles."""
CROWDS = {
    "poise": ("poise", "peers.poise:Batch"),
    "poise, first": ("poise", "peers.poise:BatchFirst"),
    "poise, one thread": ("poise", "peers.poise:BatchOneThread"),
    "poise, loop": ("poise", "peers.poise:Loop"),
    "cartan": ("cartan-bindings", "peers.cartan:Threads"),
    "pyroki": ("almond-pyroki", "peers.pyroki:PyRoki"),
    "newton": ("newton", "peers.newton:Newton"),
    "pytorch-kinematics": ("pytorch-kinematics", "peers.pytorch_kinematics:PytorchKinematics"),
    "eaik": ("EAIK", "peers.eaik:Eaik"),
    "ssik": ("ssik", "peers.ssik:Ssik"),
}
"""The same of those that solve many problems in one call."""


def load(name: str, among: Mapping[str, tuple[str, str]] = PEERS) -> Any:
    """The adapter `name`; raises ImportError if its library is not installed."""
    module, _, attribute = among[name][1].partition(":")
    return getattr(importlib.import_module(module), attribute)


def version(name: str, among: Mapping[str, tuple[str, str]] = PEERS) -> str:
    """The installed version of the library behind `name`."""
    return importlib.metadata.version(among[name][0])


def starts(robot: Robot, q0: Array) -> Iterator[Array]:
    """`q0`, then random ones with the same floating base: restarts for libraries that have none of their own."""
    yield q0
    random = np.random.default_rng(0)
    bounded = np.isfinite(robot.judge.lower)
    for _ in range(RESTARTS - 1):
        q = q0.copy()
        q[bounded] = random.uniform(robot.judge.lower[bounded], robot.judge.upper[bounded])
        yield q
