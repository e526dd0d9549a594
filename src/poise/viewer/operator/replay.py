"""A motion played in the scene, with a timeline."""

from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise.common.files import write_whole
from poise.model.model import Model
from poise.motion.clip import Motion
from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.table import TOWARDS, table_of
from poise.viewer.pages.page import Page
from poise.viewer.pages.recording import html_file, html_of_motion
from poise.viewer.panel.timeline import Timeline
from poise.viewer.scene.appearance import appearance
from poise.viewer.scene.played import Played
from poise.viewer.server.server import serve

PICTURES: Final = 30.0
"""A second."""


@final
class Replay(Page):
    """A robot that goes through a motion, over and over; leaving its `with` block closes it."""

    def __init__(
        self, model: Model, motion: Motion, *, host: str = "127.0.0.1", port: int = 8080, dark: bool = False,
        look: Any = None, ghost: Motion | None = None,
    ) -> None:  # fmt: skip
        self.model, self.motion = model, motion
        self._parts = appearance(model, look=look)
        super().__init__(serve(host=host, port=port, title=model.name), dark=dark)
        with self.making():
            self._add(motion, ghost, dark=dark)
        self.loop = self.begin_loop("replay", PICTURES, self._next)

    def _add(self, motion: Motion, ghost: Motion | None, *, dark: bool) -> None:
        """The robot, its way, its ghost and the timeline."""
        page = self.server.viser
        self.played = Played(page, motion, self._parts, ghost=ghost, dark=dark)
        self.timeline = Timeline(page.gui, self.played.duration, plays=True)
        roots = motion.positions([motion.model.links[0]])
        self._follow = page.gui.add_checkbox("follow", True, visible=bool(np.ptp(roots[..., :2], axis=0).max() > 0.0))
        if self.played.ghost is not None:
            if self.played.ghost.over:
                both = [Attempt.of(one, name) for one, name in ((motion, "robot"), (self.played.ghost.motion, "ghost"))]
                self.table = page.gui.add_markdown(table_of(both, without=TOWARDS, wait=True))
            aside, far = round(self.played.ghost.aside, 2), round(2.0 * self.played.ghost.height, 2)
            self._ghost = page.gui.add_checkbox("ghost", True)
            self._aside = page.gui.add_slider("ghost aside m", min=-far, max=far, step=0.01, initial_value=aside)

    def record(self, file: str | Path) -> Path:
        """Write the whole motion, played once, to an HTML file that needs no server; raises as `html_file` does."""
        to = html_file(Path(file))
        ghost = None if self.played.ghost is None else self.played.ghost.motion
        write_whole(to, html_of_motion(self.motion, self._parts, ghost=ghost))
        return to

    def _next(self) -> None:
        self.played.follow = self._follow.value
        if self.played.ghost is not None:
            self.played.ghost.figure.visible, self.played.ghost.aside = self._ghost.value, self._aside.value
        self.played.show(self.timeline.now())
