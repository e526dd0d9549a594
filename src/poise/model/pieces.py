"""The shapes of a scene: what carries each of them, and which pairs need no look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.geometry.shapes import Core, Shape
from poise.geometry.world import Entry
from poise.kernels.machine.layout import CLOUD, HALF_SPACE, HEIGHTS
from poise.spatial import SE3

if TYPE_CHECKING:
    from poise.model.model import Model

UNBOUNDED: Final = (HALF_SPACE, HEIGHTS, CLOUD)
"""Cores that no sphere holds, or none that is of use; they must stand still."""
_INSTEAD: Final = {
    HALF_SPACE: ("half-space", "a Box"),
    HEIGHTS: ("height map", "a Box"),
    CLOUD: ("cloud", "a ConvexHull"),
}
"""What they are called, and what may move in their place."""


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """A shape of a scene."""

    name: str
    """Of its link, or of the world's shape."""
    core: Core
    unit: int
    """The model's unit that carries it; -1: it stands still."""
    pose: SE3
    """Of the core in the unit's own frame."""
    group: tuple[str, str]
    """The kind, "link" or "world", and the name; whether two groups may meet is said once."""
    entry: Entry | None = None


def carried_by(model: "Model", entry: Entry) -> tuple[int, SE3]:
    """The unit that carries a shape of the world, and the pose of the shape's core in its frame."""
    if entry.link is None:
        return -1, entry.shape.core.pose
    frame = model.frame(entry.link)
    unit, hangs = model.tree.links[frame.link]
    return unit, hangs @ frame.origin @ entry.shape.core.pose


def pieces_of(model: "Model", shapes: Mapping[str, Sequence[Shape]], entries: Sequence[Entry]) -> list[Piece]:
    """All shapes: those that move, those that stand still, and those without bounds."""
    pieces = []
    for link, some in shapes.items():
        unit, hangs = model.tree.links[link]
        pieces += [Piece(link, x.core, unit, hangs @ x.core.pose, ("link", link)) for x in some]
    for entry in entries:
        unit, pose = carried_by(model, entry)
        pieces.append(Piece(entry.name, entry.shape.core, unit, pose, ("world", entry.name), entry))
    for piece in pieces:
        if piece.core.kind in UNBOUNDED and piece.unit >= 0:
            kind, instead = _INSTEAD[piece.core.kind]
            raise InvalidValue(
                "not-supported",
                f"the {kind} of {piece.name!r} is carried by a joint; a {kind} must stand still: make it {instead}",
            )
    return sorted(pieces, key=lambda piece: (piece.unit < 0, piece.core.kind in UNBOUNDED))


def exclusions(
    groups: Sequence[tuple[str, str]],
    pieces: Sequence[Piece],
    excluded: frozenset[frozenset[str]] | None,
    allowed: frozenset[frozenset[str]],
) -> npt.NDArray[np.int64]:
    """(groups, groups) 1 where two groups need no look."""
    unit = {piece.group: piece.unit for piece in pieces}
    units = np.array([unit[group] for group in groups], dtype=np.int64)
    place = {group: i for i, group in enumerate(groups)}
    out = np.asarray(units[:, None] == units, dtype=np.int64)  # one body, or both stand still
    links = [name for kind, name in groups if kind == "link"]
    pairs = {
        (("link", a), ("link", b))
        for i, a in enumerate(links)
        for b in links[:i]
        if excluded is None or {a, b} in excluded
    }
    pairs |= {
        (one, other)
        for pair in allowed
        for one in groups
        for other in groups
        if one != other and {one[1], other[1]} == pair
    }
    pairs |= {
        (piece.group, ("link", link))
        for piece in pieces
        for link in (piece.entry.allowed if piece.entry else ())
        if ("link", link) in place
    }
    for one, other in pairs:
        out[place[one], place[other]] = out[place[other], place[one]] = 1
    return out


def between_links(groups: Sequence[tuple[str, str]], numbers: Mapping[frozenset[str], float]) -> Array:
    """(groups, groups) the numbers of pairs of links; 0 of all others."""
    out = np.zeros((len(groups), len(groups)))
    place = {name: i for i, (kind, name) in enumerate(groups) if kind == "link"}
    for (one, other), number in ((tuple(pair), number) for pair, number in numbers.items()):
        if one in place and other in place:
            out[place[one], place[other]] = out[place[other], place[one]] = number
    return out
