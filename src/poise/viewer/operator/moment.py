"""The operator's program at one moment."""

from dataclasses import dataclass
from typing import final

from poise.common.array import Array
from poise.solving.arguments.twist import Twist
from poise.spatial import SE3
from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.setup import Setup
from poise.viewer.session.guided import Seen


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot(Seen):
    """The program at one moment; nothing of it changes, and its arrays are read-only."""

    time: float
    """That has been led, without pauses [s]."""
    ticks: int
    velocity: Array
    """(nv,) of the last tick [rad/s or m/s]."""
    target: SE3
    hand: SE3
    """Where the effector is."""
    position_error: float
    """[m]"""
    rotation_error: float
    """[rad], whether or not rotations are followed."""
    drive: Twist
    """What is held."""
    paused: bool
    recording: str | None
    """The name of the attempt that is being recorded."""
    setup: Setup
    attempts: tuple[Attempt, ...]
    committed: str | None
    """The name of the attempt that was chosen."""
    trouble: str | None
    """Why the last tick moved nothing, as a sentence; None where it went well."""
