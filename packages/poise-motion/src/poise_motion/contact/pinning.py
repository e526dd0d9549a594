"""Paths that stand still for a while: what a foot follows that is on the ground from one time to another."""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.extending import Array
from poise.quaternions import conjugate, part_of_turn, quaternion_product

_GENTLE: Final = 0.2
"""How long a part takes to be raised, and to be let down [s]."""
_GIVING: Final = 0.08
"""How long what gives takes to give all that it may, at least [s]: a centimetre at 0.125 m/s, where 0.3 is skating."""
Span: TypeAlias = tuple[int, int]
"""The first frame, and the frame after the last."""
Numbers: TypeAlias = npt.NDArray[np.intp]


def shares(spans: Sequence[Span], times: Array, ease: float, early: float | Array = 0.0) -> tuple[Array, Numbers]:
    """(frames,) how much each frame belongs to the span that is nearest: 1 within; outside, eased to 0 over `ease` [s];
    and (frames,) the number of that span.

    By 1 - 10 s^3 + 15 s^4 - 6 s^5, so that what is held comes to rest and leaves it without a jump of the velocity or
    the acceleration.  Between two spans, which do not overlap, it is eased over half of the time between, if they are
    near each other.  It begins to leave each so `early` before the end, one for all or (spans,) [s].
    """
    if not spans:
        return np.zeros(len(times)), np.zeros(len(times), dtype=np.intp)
    first, last, eased = _ends(spans, times, ease)
    which, sooner = np.searchsorted(last[:-1] + 0.5 * (first[1:] - last[:-1]), times), np.broadcast_to(early, len(last))
    before, ahead = (first[which] - times) / eased[which], sooner[which]
    after = (times - last[which] + ahead) / (eased[which + 1] + ahead)
    return _gone(np.maximum(np.maximum(before, after), 0.0)), which


def released(spans: Sequence[Span], gaps: Sequence[Array], times: Array, ease: float, most: Sequence[float]) -> Array:
    """(spans,) how early what is held may begin to leave each span [s]: at most `ease`, and half of its time.

    `gaps` are by span (frames, k) the ways from where it is held to where it goes.  Until the end it gets no farther
    than the span's `most`, and no faster than by that in 80 ms.  A span that ends with the motion is not left.
    """
    _, last, eased = _ends(spans, times, ease)
    out = np.zeros(len(spans))
    for k, ((start, stop), gap) in enumerate(zip(spans, gaps, strict=True)):
        left = last[k] - times[start:stop]
        for early in left[left <= min(ease, 0.5 * left[0])] if stop < len(times) else ():
            way = (1.0 - _gone(np.maximum(early - left, 0.0) / (eased[k + 1] + early)))[:, None] * gap
            steps = np.linalg.norm(np.diff(way, axis=0), axis=1)
            if np.linalg.norm(way, axis=1).max() <= most[k] and (steps * _GIVING <= most[k] * -np.diff(left)).all():
                out[k] = early  # the last one that is tried is 0, and then nothing moves
                break
    return out


def _ends(spans: Sequence[Span], times: Array, ease: float) -> tuple[Array, Array, Array]:
    """(spans,) the first and the last times of spans, and (spans + 1,) over how long it is eased before each and after
    the last of them [s]."""
    first, last = times[[start for start, _ in spans]], times[[stop - 1 for _, stop in spans]]
    eased = np.full(len(spans) + 1, ease)
    eased[1:-1] = np.minimum(0.5 * (first[1:] - last[:-1]), ease)
    return first, last, eased


def fading(times: Array, over: float) -> Array:
    """(frames,) from 1 at the first time to 0, without a jump of velocity or acceleration, `over` so many seconds."""
    return _gone((times - times[0]) / over)


def smoothed(values: Array, times: Array, half: float) -> Array:
    """(frames, k) the means of values (frames, k) over `half` [s] before and after, weighed by a cosine."""
    reach = frames_in(times, half)
    weights = 1.0 + np.cos(np.pi * np.arange(-reach, reach + 1) / (reach + 1))
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)
    mean: Array = windows @ (weights / weights.sum())
    return mean


def gently(needs: Array, times: Array) -> Array:
    """(frames,) no less than `needs` (frames,), and without jumps of its velocity."""
    reach = frames_in(times, _GENTLE)
    padded = np.pad(needs, reach, mode="edge")
    most = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).max(axis=1)
    return smoothed(most[:, None], times, _GENTLE)[:, 0]


def frames_in(times: Array, time: float) -> int:
    """The frames in that time."""
    frame = float(times[-1] - times[0]) / max(len(times) - 1, 1)
    return round(time / frame) if frame > 0.0 else 0


def _gone(share: Array) -> Array:
    """(n,) from 1 at a share (n,) of 0 to 0 where it is 1 or more."""
    s = np.minimum(share, 1.0)
    return 1.0 - s * s * s * (10.0 - s * (15.0 - 6.0 * s))


def pinned(
    path: Array, spans: Sequence[Span], places: Array, times: Array, ease: float, early: float | Array = 0.0
) -> Array:
    """(frames, k) a path (frames, k) [m] that stays at the place (spans, k) of each span; or that goes with places
    (spans, frames, k); `early` as of `shares`."""
    moved, share, near, there = _near(path, spans, places, times, ease, early)
    moved[near] += share[:, None] * (there - path[near])
    return moved


def pinned_turns(turns: Array, spans: Sequence[Span], stances: Array, times: Array, ease: float) -> Array:
    """(frames, 4) rotations (frames, 4) that stay at that (spans, 4) of each span, or go with those (spans, frames, 4);
    quaternions w x y z."""
    out, share, near, there = _near(turns, spans, stances, times, ease)
    way = quaternion_product(conjugate(turns[near]), there)
    out[near] = quaternion_product(turns[near], part_of_turn(way, share))
    return out


def _near(
    path: Array, spans: Sequence[Span], places: Array, times: Array, ease: float, early: float | Array = 0.0
) -> tuple[Array, Array, Numbers, Array]:
    """A copy of a path (frames, k); and of the n frames that belong to a span, (n,) how much, (n,) their numbers, and
    (n, k) where they are held, by the places (spans, k) or (spans, frames, k) of the spans."""
    share, which = shares(spans, times, ease, early)
    near = np.flatnonzero(share > 0.0)
    own = which[near]
    return path.copy(), share[near], near, places[own] if places.ndim == 2 else places[own, near]
