"""What happens in a scene, kept in one HTML file that plays without a server."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise.errors import PoiseError
from poise.geometry.shapes import Shape
from poise.model.model import Model
from poise.motion.clip import Motion
from poise.spatial import Array
from poise.viewer.figure import Figure
from poise.viewer.obstacles import Obstacles
from poise.viewer.parts import Part
from poise.viewer.server import serve
from poise.viewer.stage import ground

PICTURES: Final = 30.0
"""Of a motion a second."""


def html_of_motion(
    model: Model, parts: Sequence[Part], times: Array, q: Array, shapes: Mapping[str, Shape] | None = None
) -> str:
    """A page that plays q (n, nq) over `times` (n,) [s] among shapes, without a server.

    What makes the page is a server of its own, which nobody is told of, so no window sees it being made.
    """
    motion = Motion(model, times, q)
    with serve(port=0, title=model.name) as server:
        page = server.viser
        size, *_ = ground(page, model, q[0], parts, panel=False)
        figure = Figure(page, "/robot", model, parts)
        Obstacles(page, size, lambda name, pose: None).paint(dict(shapes or {}))
        trail(page, model, q)
        figure.place(q[0])
        messages = page.get_scene_serializer()
        for time in np.arange(0.0, motion.duration + 0.5 / PICTURES, 1.0 / PICTURES):
            figure.place(motion.at(motion.times[0] + time))
            messages.insert_sleep(1.0 / PICTURES)
        text: str = messages.as_html()
    return text


def trail(page: Any, model: Model, q: Array) -> None:
    """Draw the way of the tip along q (n, nq)."""
    places = model.poses(q, [model.tip]).xyz[:, 0]
    if len(places) > 1 and np.ptp(places, axis=0).max() > 1e-6:
        page.scene.add_line_segments(
            "/trail", np.stack([places[:-1], places[1:]], axis=1).astype(np.float32), colors=TRAIL, thickness=2.0,
            thickness_units="screen",
        )  # fmt: skip


TRAIL: Final = (47, 111, 222)


def html_file(file: Path) -> Path:
    """The file, if a page can be written to it; raises PoiseError if not."""
    if file.suffix.lower() not in (".html", ".htm"):
        raise PoiseError(f"{file}: a recording is one HTML file; give it a name that ends in .html")
    if file.is_dir():
        raise PoiseError(f"{file} is a folder; name a file in it")
    if not file.parent.is_dir():
        raise PoiseError(f"{file}: there is no folder {file.parent}; make it, or name another")
    try:
        with _aside(file).open("wb"):
            pass
        _aside(file).unlink()
    except OSError as error:
        raise PoiseError(f"{file} cannot be written: {error.strerror}; name another folder") from None
    return file


def _aside(file: Path) -> Path:
    return file.with_name(f".{file.name}.part")


def write_aside(file: Path, text: str) -> Path:
    """Write a file aside, and then to its place."""
    aside = _aside(file)
    aside.write_text(text, encoding="utf-8")
    aside.replace(file)
    return file


@final
class Recording:
    """Of the scene of a viser server, from now on; the panel is not in it.

    Raises PoiseError for a file that cannot be written, before anything is recorded.
    """

    def __init__(self, server: Any, file: Path, period: float) -> None:
        self.file, self._period = html_file(file), period
        self._messages = server.get_scene_serializer()
        self.pictures = 0

    def next_picture(self) -> None:
        """What comes now is a picture later."""
        self._messages.insert_sleep(self._period)
        self.pictures += 1

    def write(self) -> Path:
        """Write the file, aside and then to its place; once."""
        return write_aside(self.file, self._messages.as_html())
