"""What happens in a scene, kept in one HTML file that plays without a server."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise.common.errors import PoiseError
from poise.common.files import refuse_place, write_whole
from poise.geometry.shapes import Shape
from poise.model.model import Model
from poise.motion.clip import Motion
from poise.viewer.pages.live import dragged_too
from poise.viewer.scene.obstacles import Obstacles
from poise.viewer.scene.parts import Part
from poise.viewer.scene.played import Played
from poise.viewer.server.server import serve

PICTURES: Final = 30.0
"""Of a motion a second."""


def html_of_motion(
    motion: Motion, parts: Sequence[Part], shapes: Mapping[str, Shape] | None = None, *, ghost: Motion | None = None
) -> str:
    """A page that plays a motion among shapes, or with a ghost beside it, without a server; the robot can be dragged.

    What makes the page is a server of its own, which nobody is told of, so no window sees it being made.
    """
    with serve(port=0, title=motion.model.name) as server:
        page = server.viser
        played = Played(page, motion, parts, ghost=ghost, panel=False)
        played.follow = not shapes  # which stand still
        Obstacles(page, played.size, lambda phase, name, pose: None).paint(dict(shapes or {}))
        messages = page.get_scene_serializer()
        for time in np.arange(0.0, played.duration + 0.5 / PICTURES, 1.0 / PICTURES):
            played.show(time)
            messages.insert_sleep(1.0 / PICTURES)
        text: str = messages.as_html()
    return dragged_too(text, motion.model, parts, motion.q[0])


def html_file(file: Path) -> Path:
    """The file, if a page can be written to it; raises PoiseError for another kind, OSError for another place."""
    if file.suffix.lower() not in (".html", ".htm"):
        raise PoiseError(f"{file}: a recording is one HTML file; give it a name that ends in .html")
    refuse_place(file)
    return file


@final
class Recording:
    """Of the scene of a viser server, in which a model is drawn as `parts`, from now on; the panel is not in it.

    Raises as `html_file` does, before anything is recorded.
    """

    def __init__(self, server: Any, file: Path, period: float, model: Model, parts: Sequence[Part]) -> None:
        self.file, self._period, self._model, self._parts = html_file(file), period, model, parts
        self._messages = server.get_scene_serializer()
        self.pictures = 0

    def next_picture(self) -> None:
        """What comes now is a picture later."""
        self._messages.insert_sleep(self._period)
        self.pictures += 1

    def write(self) -> Path:
        """Write the file, once."""
        write_whole(self.file, dragged_too(self._messages.as_html(), self._model, self._parts, self._model.home))
        return self.file
