"""Which columns move each shape of a scene, and how far each of them can take it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import BALL_AXES, BALL_TURN, COLUMN, FRAME, PRISMATIC, REVOLUTE, STILL
from poise.kernels.machine.packing import joined
from poise.model.pieces import Piece
from poise.model.tree import Unit, UnitArrays, unit_columns
from poise.spatial import SE3

if TYPE_CHECKING:
    from poise.model.model import Model

FAR: Final = 1e3
"""How far a slide without limits takes what hangs on it [m], where a lever is asked for."""


def chains_of(
    units: Sequence[Unit],
    arrays: UnitArrays,
    number: Mapping[int, int],
    model: "Model",
    pieces: Sequence[Piece],
    seen: Sequence[SE3],
) -> tuple[list[list[int]], npt.NDArray[np.int64], Array]:
    """Of each shape, `seen` from its unit, its first and last column and its first lever; the columns of all units; the
    levers.

    A lever is how far a unit of its velocity can take a point of the shape, wherever the joints between are [m]: the
    way along the tree from the axis to the shape, and across that.
    """
    lengths = [_length(unit, arrays, i, model) for i, unit in enumerate(units)]
    found: dict[int, tuple[int, int, list[float]]] = {-1: (0, 0, [])}
    whole: list[npt.NDArray[np.int64]] = []
    real: list[Array] = []
    chains: list[list[int]] = []
    levers: list[float] = []
    at = 0
    for piece, pose in zip(pieces, seen, strict=True):
        u = number[piece.unit]
        if u not in found:
            path: list[int] = []
            k = u
            while k >= 0:
                path, k = [k, *path], units[k].parent
            made = unit_columns(units, [(i, 1.0) for i in path])
            velocities = np.array(made.velocities, dtype=np.int64)
            raw = made.raw.copy()
            raw[:, 3] = velocities[np.where(raw[:, 3] < 0, -1 - raw[:, 3], raw[:, 3])] if len(raw) else raw[:, 3]
            # From the axis of each column on to the end of the path.
            ways = [sum(lengths[m] for m in path[path.index(int(axis) // FRAME) + 1 :]) for axis in raw[:, 0]]
            found[u] = at, at + len(raw), ways
            whole.append(raw)
            real.append(made.scales)
            at += len(raw)
        first, last, ways_of = found[u]
        chains.append([first, last, len(levers)])
        if last > first:
            raw, scales = np.concatenate(whole)[first:last], np.concatenate(real)[first:last]
            across = float(np.linalg.norm(pose.xyz)) + piece.core.bound
            for way, kind, (scale, pitch) in zip(ways_of, raw[:, 2], scales, strict=True):
                own = 1.0 if kind == PRISMATIC else way + across + abs(pitch)
                levers.append(abs(scale) * own)
    columns = joined(COLUMN, np.concatenate(whole) if whole else (), np.concatenate(real) if real else ())
    return chains, columns, np.array(levers)


def _length(unit: Unit, arrays: UnitArrays, i: int, model: "Model") -> float:
    """How far the origin of a unit's frame can be from that of its parent's [m]."""
    place = arrays.places[i]
    pitch, lift = place[14], place[15]
    across, along = (abs(place[0]), place[3]) if arrays.numbers[i, 4] else (float(np.linalg.norm(place[9:12])), 0.0)
    slide = 0.0
    if unit.kind not in (REVOLUTE, BALL_AXES, BALL_TURN, STILL):
        low, high = model.lower[unit.iq], model.upper[unit.iq]
        if unit.function is None:
            ends = np.array([low, high]) * place[12] * pitch
        else:
            ends = np.array(unit.function.image(float(low), float(high))) * pitch
        slide = float(np.abs(np.clip(ends, -FAR, FAR) + lift + along).max())
        along = 0.0
    return across + abs(along) + slide
