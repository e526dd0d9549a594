"""A motion that is laid over the robot: a figure of one colour that one sees through, and the way of a frame."""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from poise.model.model import Model
from poise.motion.clip import Motion
from poise.viewer.scene.figure import Figure
from poise.viewer.scene.parts import Part

Tint = tuple[int, int, int]


@final
class Overlaid:
    """One place in the scene for such motions, one after the other; `show` is called for each picture."""

    def __init__(self, server: Any, name: str, model: Model, parts: Sequence[Part], frame: str, tint: Tint) -> None:
        self._server, self._name, self._frame, self._tint = server, name, frame, tint
        self.figure = Figure(server, name, model, parts, tint=tint)
        self._motion: Motion | None = None
        self._way: list[Any] = []
        self.figure.visible = False

    def show(self, motion: Motion | None, time: float) -> None:
        """Show a motion `time` after its first frame [s], or none."""
        if motion is not self._motion:
            self._motion = motion
            for line in self._way:
                line.remove()
            self._way = (
                [] if motion is None else trail(self._server, f"{self._name}-way", motion, self._frame, self._tint)
            )
        if self.figure.visible != (motion is not None):
            self.figure.visible = motion is not None
        if motion is not None:
            self.figure.place(motion.at(motion.times[0] + time))


def trail(server: Any, name: str, motion: Motion, frame: str, tint: Tint) -> list[Any]:
    """The way of a frame, if it moves."""
    places = motion.positions([frame])[:, 0]
    if len(places) < 2 or np.ptp(places, axis=0).max() <= 1e-6:
        return []
    lines = np.stack([places[:-1], places[1:]], axis=1).astype(np.float32)
    return [server.scene.add_line_segments(name, lines, colors=tint, thickness=2.0, thickness_units="screen")]
