"""The shapes of a scene: what carries each of them, and which pairs need no look."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, final

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
class Piece(NamedTuple):
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


def pieces_of_links(model: "Model", shapes: Mapping[str, Sequence[Shape]]) -> list[Piece]:
    """The shapes of links."""
    pieces = []
    for link, some in shapes.items():
        unit, hangs = model.tree.links[link]
        pieces += [_allowed(Piece(link, x.core, unit, hangs @ x.core.pose, ("link", link))) for x in some]
    return pieces


def piece_of(model: "Model", entry: Entry, drift: Array | None = None) -> Piece:
    """A shape of the world, by so much farther along the axes of the world (3,) [m]."""
    core, unit, pose = entry.shape.core, -1, entry.shape.core.pose
    if entry.link is not None:
        frame = model.frame(entry.link)
        unit, hangs = model.tree.links[frame.link]
        pose = hangs @ frame.origin @ pose
    if drift is not None:
        pose = SE3.from_parts(drift) @ pose
    return _allowed(Piece(entry.name, core, unit, pose, ("world", entry.name), entry))


def _allowed(piece: Piece) -> Piece:
    """The piece; raises ValueError for one without bounds that a joint carries."""
    if piece.core.kind in UNBOUNDED and piece.unit >= 0:
        kind, instead = _INSTEAD[piece.core.kind]
        raise InvalidValue(
            "not-supported",
            f"the {kind} of {piece.name!r} is carried by a joint; a {kind} must stand still: make it {instead}",
        )
    return piece


def exclusions(
    groups: Sequence[tuple[str, str]],
    pieces: Sequence[Piece],
    excluded: frozenset[frozenset[str]] | None,
    allowed: frozenset[frozenset[str]],
) -> npt.NDArray[np.int64]:
    """(groups, groups) 1 where two groups need no look."""
    unit = {piece.group: piece.unit for piece in pieces}
    units = np.array([unit[group] for group in groups], dtype=np.int64)
    out = np.asarray(units[:, None] == units, dtype=np.int64)  # one body, or both stand still
    place = {group: i for i, group in enumerate(groups)}
    links = {name: i for (kind, name), i in place.items() if kind == "link"}
    at = np.array([*links.values()], dtype=np.intp)
    out[at[:, None], at] |= _among_links(tuple(links), excluded)
    pairs = [
        (one, other)
        for pair in allowed
        for one in groups
        for other in groups
        if one != other and {one[1], other[1]} == pair
    ]
    pairs += [
        (piece.group, ("link", link))
        for piece in pieces
        for link in (piece.entry.allowed if piece.entry else ())
        if link in links
    ]
    for one, other in pairs:
        out[place[one], place[other]] = out[place[other], place[one]] = 1
    return out


@lru_cache
def _among_links(links: Sequence[str], excluded: frozenset[frozenset[str]] | None) -> npt.NDArray[np.int64]:
    """(links, links) 1 where two need no look, for those that are excluded."""
    found = [[excluded is None or {one, other} in excluded for other in links] for one in links]
    return np.array(found, dtype=np.int64).reshape(len(links), len(links))


def between_links(groups: Sequence[tuple[str, str]], numbers: Mapping[frozenset[str], float]) -> Array:
    """(groups, groups) the numbers of pairs of links; 0 of all others."""
    out = np.zeros((len(groups), len(groups)))
    place = {name: i for i, (kind, name) in enumerate(groups) if kind == "link"}
    for (one, other), number in ((tuple(pair), number) for pair, number in numbers.items()):
        if one in place and other in place:
            out[place[one], place[other]] = out[place[other], place[one]] = number
    return out
