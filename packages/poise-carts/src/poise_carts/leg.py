"""A leg of a way: the base goes along arcs and lines, and all other joints go evenly from one end to the other."""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import poise as pz
from poise.extending import Array, PathRows
from poise_carts.arcs import moved

OFF: Final = 1e-6
"""How far the straight steps of a path leave the arcs that its rows lie on, at most [m]."""
FAR: Final = 1e4
"""How long a way may be at most [m]: a longer one is rather a mistake of units, and takes too many looks."""
_RESERVE: Final = 1e-3
"""What straight steps keep for what is between two looks, and for an arc that is looked at roughly [m]."""
_ROUNDING: Final = 1e-9
"""How far a row may be beyond a limit of a joint [m or rad]."""
Corners: TypeAlias = npt.NDArray[np.bool_]


class Leg(NamedTuple):
    """From `start` to `end`; `base` are the numbers of the planar joint in q."""

    start: Array
    """(nq,)"""
    end: Array
    """(nq,)"""
    lengths: Array
    """(k,) of its parts [m], negative backwards."""
    turns: Array
    """(k,) [rad]"""
    sizes: Array
    """(k,) how long each part is [m], a turn on the spot too."""
    base: slice
    straight: bool
    """Whether the base goes evenly like the other joints, and its parts only say how far."""

    @property
    def size(self) -> float:
        """How long it is [m]."""
        return float(self.sizes.sum())

    @property
    def moves(self) -> bool:
        """Whether anything moves on it."""
        return self.size > 0.0 or not np.array_equal(self.start, self.end)

    def at(self, model: pz.Model, shares: Array) -> Array:
        """(n, nq) configurations at shares (n,) of the leg, from 0 to 1."""
        q = model.interpolate(self.start, self.end, shares)
        if not self.straight:
            q[:, self.base] = along(self.start[self.base], self.lengths, self.turns, self.sizes, shares)
        return q

    def part(self, model: pz.Model, begin: float, end: float) -> "Leg":
        """The leg from one share of it to another."""
        first, last = self.at(model, np.array([begin, end]))
        done = _gone(self.sizes, np.array([begin, end]))
        kept = done[1] - done[0]
        return self._replace(
            start=first, end=last, lengths=kept * self.lengths, turns=kept * self.turns, sizes=kept * self.sizes
        )

    def rows(self, model: pz.Model, off: float, least: int = 1) -> tuple[Array, Corners]:
        """(n, nq) rows on the arcs, so close that a straight step leaves its arc by `off` [m] at most, and so many
        steps at least; and (n,) whether a part ends at each.

        Of an arc of the length l that turns by t, in n pieces, each leaves its chord by l t / (8 n^2).
        """
        some = np.flatnonzero(self.sizes > 0.0)
        ends = np.cumsum(self.sizes[some]) / max(self.size, 1e-300)
        shares, corners, begin = [np.zeros(1)], [np.ones(1, dtype=np.bool_)], 0.0
        for k, end in zip(some, ends, strict=True):
            bent = abs(self.lengths[k] * self.turns[k])
            pieces = max(least if bent > 0.0 else 1, int(np.ceil(np.sqrt(bent / (8.0 * off)))))
            shares.append(begin + (end - begin) * np.arange(1, pieces + 1) / pieces)
            corners.append(np.arange(1, pieces + 1) == pieces)
            begin = end
        if not len(some):
            shares, corners = [*shares, np.ones(1)], [*corners, np.ones(1, dtype=np.bool_)]
        return self.at(model, np.concatenate(shares)), np.concatenate(corners)


def along(start: Array, lengths: Array, turns: Array, sizes: Array, shares: Array) -> Array:
    """(..., 3) poses of the base at shares (...) of ways that begin at `start` (..., 3), with parts (..., k)."""
    gone = _gone(sizes, shares)
    return moved(start, gone * lengths, gone * turns)


def on_way(model: pz.Model, way: Sequence[Leg], at: npt.NDArray[np.int64], shares: Array) -> Array:
    """(n, nq) configurations at shares (n,) of those legs of a way that `at` (n,) numbers; all have as many parts."""
    starts, ends, lengths, turns, sizes = (np.stack(some)[at] for some in list(zip(*way, strict=True))[:5])
    q, base = model.interpolate(starts, ends, shares), way[0].base
    if not way[0].straight:
        q[:, base] = along(starts[:, base], lengths, turns, sizes, shares)
    return q


def _gone(sizes: Array, shares: Array) -> Array:
    """(..., k) the share of each part that is behind, at shares (...) of the whole."""
    begins = np.cumsum(sizes, axis=-1) - sizes
    gone = (shares[..., None] * sizes.sum(axis=-1, keepdims=True) - begins) / np.where(sizes > 0.0, sizes, 1.0)
    return np.where(sizes > 0.0, np.clip(gone, 0.0, 1.0), 0.0)


def size_of(way: Sequence[Leg]) -> float:
    """How long a way is [m]."""
    return sum(leg.size for leg in way)


def rows_of(model: pz.Model, way: Sequence[Leg], off: float, least: int = 1) -> tuple[Array, Corners]:
    """The rows of legs one after the other, and whether a part ends at each, see `Leg.rows`; the angle of the base is
    counted on from leg to leg."""
    rows, corners = way[0].rows(model, off, least)
    for leg in way[1:]:
        more, ends = leg.rows(model, off, least)
        angle = leg.base.stop - 1
        more[:, angle] += 2.0 * np.pi * np.round((rows[-1, angle] - more[0, angle]) / (2.0 * np.pi))
        rows, corners = np.concatenate([rows, more[1:]]), np.concatenate([corners, ends[1:]])
    return rows, corners


def free(held: PathRows, rows: Array) -> bool:
    """Whether all holds at rows (n, nq) and on the straight steps between them, limits of joints too."""
    if np.abs(held.clip(rows) - rows).max() > _ROUNDING:
        return False
    least = float(held.slack(rows[[0, -1]]).min())
    return least >= 0.0 and bool(held.on_steps(rows).min(initial=np.inf) >= min(_RESERVE, least))
