"""Paths that stand still for a while: what a foot follows that is on the ground from one time to another."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from poise.quaternions import conjugate, part_of_turn, quaternion_product
from poise.spatial import Array

Span: TypeAlias = tuple[int, int]
"""The first frame, and the frame after the last."""


def shares(spans: Sequence[Span], times: Array, ease: float) -> Array:
    """(spans, frames) how much each frame belongs to each span: 1 within; outside, eased to 0 over `ease` [s].

    By 1 - 10 s^3 + 15 s^4 - 6 s^5, so that what is held comes to rest and leaves it without a jump of the velocity or
    the acceleration.  Between two spans that are near each other it is eased over half of the time between, and no
    frame belongs to two.
    """
    out = np.zeros((len(spans), len(times)))
    for k, (start, stop) in enumerate(spans):
        first, last = times[start], times[stop - 1]
        before = ease if k == 0 else min(ease, 0.5 * (first - times[spans[k - 1][1] - 1]))
        after = ease if k == len(spans) - 1 else min(ease, 0.5 * (times[spans[k + 1][0]] - last))
        near = slice(*np.searchsorted(times, (first - before, last + after)))
        at = times[near]
        away = np.where(at < first, (first - at) / before, np.where(at > last, (at - last) / after, 0.0))
        s = np.minimum(away, 1.0)
        out[k, near] = 1.0 - s * s * s * (10.0 - s * (15.0 - 6.0 * s))
    return out


def held(path: Array, spans: Sequence[Span], places: Array, times: Array, ease: float) -> Array:
    """(frames, 3) a path (frames, 3) [m] that stays at the place (spans, 3) of each span, which do not overlap; or that
    goes with places (spans, frames, 3)."""
    moved = path.copy()
    for share, place in zip(shares(spans, times, ease), places, strict=True):
        near = share > 0.0
        moved[near] += share[near, None] * (np.broadcast_to(place, path.shape)[near] - path[near])
    return moved


def held_turns(turns: Array, spans: Sequence[Span], stances: Array, times: Array, ease: float) -> Array:
    """(frames, 4) rotations (frames, 4) that stay at that (spans, 4) of each span, or go with those (spans, frames, 4);
    quaternions w x y z."""
    out = turns.copy()
    for share, stance in zip(shares(spans, times, ease), stances, strict=True):
        near = share > 0.0
        here = np.broadcast_to(stance, turns.shape)[near]
        way = quaternion_product(conjugate(turns[near]), here)
        out[near] = quaternion_product(turns[near], part_of_turn(way, share[near]))
    return out
