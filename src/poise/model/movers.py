"""What of a scene joints move, as the kernels read it; of its links alone a model keeps it from scene to scene."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.geometry.shapes import Shape
from poise.model.levers import chains_of
from poise.model.pieces import Piece, pieces_of_links
from poise.model.records import records_of
from poise.model.tree import UnitArrays, carrying, unit_arrays

if TYPE_CHECKING:
    from poise.model.model import Model

_LINKS: Final = "links that move, and links that stand still"
"""Under this a model keeps those of the shapes that it was asked for last among its `queries`."""


@final
class Movers(NamedTuple):
    """Shapes that joints move; the arrays are shared and stay as they are."""

    pieces: Sequence[Piece]
    arrays: UnitArrays
    """Of the units that move them."""
    number: Mapping[int, int]
    """Of each of the model's units the one of `arrays`; of the world, -1, the same."""
    records: npt.NDArray[np.int64]
    """(n, words) see `SHAPE`."""
    vertices: Array
    """(packs, 3, 8)"""
    chains: npt.NDArray[np.int64]
    """(n, 3) first and last column and first lever of each shape."""
    columns: npt.NDArray[np.int64]
    levers: Array

    @staticmethod
    def of(model: "Model", pieces: Sequence[Piece]) -> "Movers":
        """Those of pieces on units that move."""
        units, number = carrying(model.tree, sorted({piece.unit for piece in pieces}))
        arrays = unit_arrays(units, set(range(len(units))))
        seen = [arrays.seen_from(number[piece.unit], piece.pose) for piece in pieces]
        chains, columns, levers = chains_of(units, arrays, number, model, pieces, seen)
        records, vertices = records_of([piece.core for piece in pieces], [number[x.unit] for x in pieces], seen)
        return Movers(
            pieces, arrays, number, records, vertices, np.array(chains, dtype=np.int64).reshape(-1, 3), columns, levers
        )


def links_of(model: "Model", shapes: Mapping[str, Sequence[Shape]]) -> tuple[Movers, list[Piece]]:
    """What of shapes of links moves, and what stands still."""
    found: tuple[Mapping[str, Sequence[Shape]], Movers, list[Piece]] | None = model.queries.get(_LINKS)
    if found is None or found[0] is not shapes:
        pieces = pieces_of_links(model, shapes)
        moving, still = [[x for x in pieces if (x.unit < 0) == stands] for stands in (False, True)]
        found = model.queries[_LINKS] = shapes, Movers.of(model, moving), still
    return found[1:]
