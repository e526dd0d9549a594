"""A planar arm on a vehicle: which of the two moves first, with S and without."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.methods.das import DasSlotineSheridan
from poise.model.builder import ModelBuilder
from poise.model.model import Model
from poise.solving.tracker import Tracker
from poise.spatial import SE3, Array
from poise.tasks.pose import PositionTask

START: Final = (0.0, 0.0, 0.9, 0.8, -0.5)
FAR: Final = (30.0, 15.0, 0.0)
BETWEEN: Final = (1.5, 4.5, 0.0)
"""Targets [links]; the second is at a Q between Q_lim and 1."""
LIMIT: Final = 0.2
"""Q_lim."""
UPDATES: Final = 60


def truck() -> Model:
    """Two slides, and three unit links that turn about z."""
    builder = ModelBuilder("truck")
    builder.joint("x", "prismatic", parent="world", child="rail", axis=(1.0, 0.0, 0.0), limits=(-50.0, 50.0))
    builder.joint("y", "prismatic", parent="rail", child="link0", axis=(0.0, 1.0, 0.0), limits=(-50.0, 50.0))
    for i in range(3):
        origin = SE3.from_parts([0.0 if i == 0 else 1.0, 0.0, 0.0])
        builder.joint(
            f"joint{i}", "continuous", parent=f"link{i}", child=f"link{i + 1}", axis=(0.0, 0.0, 1.0), origin=origin
        )
    builder.frame("tool", link="link3", origin=SE3.from_parts([1.0, 0.0, 0.0]))
    return builder.build()


@final
@dataclass(frozen=True, slots=True)
class Drive:
    """The way to one target."""

    path: Array
    """(updates + 1, 5)"""
    error: float
    """What is left [links]."""

    @property
    def arm(self) -> float:
        """How far the arm's joints turn in the first update [rad], as a Euclidean length."""
        return float(np.linalg.norm((self.path[1] - self.path[0])[2:]))

    @property
    def vehicle(self) -> float:
        """Share of the way to its last place that the vehicle has gone after the first update."""
        start, one, last = self.path[0, :2], self.path[1, :2], self.path[-1, :2]
        return 1.0 - float(np.linalg.norm(last - one) / np.linalg.norm(last - start))


def drive(target: tuple[float, float, float], limit: float | None) -> Drive:
    """Follow one target for `UPDATES` updates."""
    model = truck()
    tracker = Tracker(
        model, PositionTask("tool"), DasSlotineSheridan(vehicle_limit=limit, max_step=np.inf), settle=False
    )
    way = tracker.rollout(START, np.tile(target, (UPDATES, 1, 1)))
    error = np.linalg.norm(model.pose("tool", way[-1]).xyz - target)
    return Drive(np.vstack([START, way]), float(error))
