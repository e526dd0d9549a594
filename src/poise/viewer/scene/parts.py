"""What is drawn in one frame: surfaces with a colour each, merged into one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

Colour = tuple[int, int, int, int]
"""Red, green, blue and alpha, 0 to 255."""
GREY: Final[Colour] = (200, 204, 210, 255)
"""Of a visual that is given no colour."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """All that is drawn in one frame, a link's or the world's, as one surface."""

    frame: str
    vertices: npt.NDArray[np.float32]
    """(n, 3) in the frame [m]; shared by the triangles between which the surface is smooth."""
    faces: npt.NDArray[np.uint32]
    """(m, 3) triangles that turn left seen from outside, as places in `vertices`."""
    colours: npt.NDArray[np.uint8]
    """(n, 4) red, green, blue and alpha of the vertices."""


class Piece(NamedTuple):
    """A surface with a colour."""

    vertices: npt.NDArray[np.floating[Any]]
    """(n, 3)"""
    faces: npt.NDArray[np.integer[Any]]
    """(m, 3)"""
    colour: Colour | npt.NDArray[np.uint8]
    """One, or one for each vertex (n, 4)."""


def merged(frame: str, pieces: Iterable[Piece]) -> Part:
    """The pieces, one or more, as one part."""
    pieces = list(pieces)
    counts = [len(piece.vertices) for piece in pieces]
    starts = np.cumsum([0, *counts[:-1]])
    return Part(
        frame,
        np.concatenate([piece.vertices.astype(np.float32) for piece in pieces]),
        np.concatenate([(p.faces + start).astype(np.uint32) for p, start in zip(pieces, starts, strict=True)]),
        np.concatenate([_each(piece.colour, n) for piece, n in zip(pieces, counts, strict=True)]),
    )


def _each(colour: Colour | npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.uint8]:
    return np.broadcast_to(np.asarray(colour, dtype=np.uint8), (count, 4))
