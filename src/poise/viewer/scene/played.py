"""A robot that goes through a motion over a ground that slides beneath it, and a ghost beside it."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.motion.clip import Motion
from poise.viewer.scene.appearance import appearance
from poise.viewer.scene.figure import GHOST, Figure
from poise.viewer.scene.overlaid import trail
from poise.viewer.scene.parts import Part
from poise.viewer.scene.stage import bounds, ground

TRAIL: Final = (47, 111, 222)
_ASIDE: Final = 0.6
"""How far beside the robot its ghost is at first, as a share of the ghost's height."""


@final
class Played:
    """What is seen of a motion; `show` is called for each picture."""

    def __init__(
        self,
        server: Any,
        motion: Motion,
        parts: Sequence[Part],
        *,
        ghost: Motion | None = None,
        over: bool | None = None,
        dark: bool = False,
        panel: bool = True,
    ) -> None:
        """The ghost stands `over` the robot or beside it; None: over it if it is the same robot."""
        self.motion, self._server = motion, server
        self.size, *below = ground(server, motion.model, motion.q[0], parts, dark=dark, panel=panel)
        self.figure = Figure(server, "/robot", motion.model, parts)
        self._ground, self._lie = below, [np.array(node.position) for node in below]
        self._way = trail(server, "/trail", motion, motion.model.tip, TRAIL)
        self._start, self._slid = _root(motion.model, motion.q[0]), np.zeros(3)
        self.ghost: Ghost | None = None
        if ghost is not None:
            same = ghost.model.coordinates == motion.model.coordinates
            self.ghost = Ghost(server, ghost, over=same if over is None else over)
        self.follow = True
        """Whether the robot stays in the middle, and the ground slides beneath it."""
        self.show(0.0)

    def play(self, motion: Motion, ghost: Motion | None = None) -> None:
        """Go through another motion of the same robot, and of the same ghost, from now on."""
        for way in self._way:
            way.remove()
        self.motion, self._start = motion, _root(motion.model, motion.q[0])
        self._way = trail(self._server, "/trail", motion, motion.model.tip, TRAIL)
        if self.ghost is not None and ghost is not None:
            self.ghost.motion = ghost

    @property
    def duration(self) -> float:
        """Of what is played [s]: of the longer one, where the ghost is laid over the robot."""
        over = self.ghost is not None and self.ghost.over
        return max(self.motion.duration, self.ghost.motion.duration if over and self.ghost is not None else 0.0)

    def show(self, time: float) -> None:
        """Show it `time` after its first frame [s]."""
        q = self.motion.at(self.motion.times[0] + time)
        root = _root(self.motion.model, q)
        slid = (self._start - root) * [1.0, 1.0, 0.0] if self.follow else np.zeros(3)
        with self._server.atomic():
            if (slid != self._slid).any():
                self._slid = slid
                for node, place in zip(self._ground, self._lie, strict=True):
                    node.position = tuple(place + slid)
                for way in self._way:
                    way.position = tuple(slid)
                self.figure.move(slid)
            self.figure.place(q)
            if self.ghost is not None:
                self.ghost.show(time, slid, slid + root)


@final
class Ghost:
    """A second motion, such as that of the human whom the robot follows; one sees through it.

    One that is laid `over` the robot is where it is in its world, with the way of its tip.  Another stays beside the
    robot: its first link is by `aside` [m] further along y.  Heights are as they are.
    """

    def __init__(self, server: Any, motion: Motion, *, over: bool) -> None:
        self.motion, self.over = motion, over
        parts = appearance(motion.model)
        self.figure = Figure(server, "/ghost", motion.model, parts, tint=GHOST, opacity=0.8)
        if self.over:
            trail(server, "/ghost/way", motion, motion.model.tip, GHOST)
        low, high = bounds(motion.model, motion.q[0], parts)
        self.height = float(high[2] - low[2])
        self.aside = 0.0 if self.over else _ASIDE * self.height

    def show(self, time: float, slid: Array, beside: Array) -> None:
        """Show it `time` after its first frame [s], over a ground that has `slid` (3,), or beside a robot that is seen
        at `beside` (3,) [m]."""
        q = self.motion.at(self.motion.times[0] + time)
        shift = slid if self.over else beside - _root(self.motion.model, q)
        self.figure.move(np.array([shift[0], shift[1] + self.aside, 0.0]))
        self.figure.place(q)


def _root(model: Model, q: Array) -> Array:
    """(3,) where the first link is [m]."""
    return np.array(model.pose(model.links[0], q).xyz)
