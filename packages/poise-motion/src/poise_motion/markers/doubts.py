"""Markers that were mistaken for others or for none: what their distances from the fitted body say."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.extending import Array

_MANY: Final = 10.0
"""An outlier is farther from a marker's usual distance than so many times its usual spread..."""
_FAR: Final = 0.03
"""...and than this [m]."""
_SPREAD: Final = 1.4826
"""Of a normal distribution the standard deviation, against the median of absolute deviations."""
_LEAST_SPREAD: Final = 1e-3
"""Markers on skin do not stay nearer to their usual distance [m]."""
_SHARE: Final = 0.5
"""What is less of an outlier than this share of the worst in its frame is drawn along by that."""
_FALLS: Final = 0.6
"""Two markers are exchanged if that makes the sum of their squares fall below this share, and the objective too."""


@final
@dataclass(frozen=True, slots=True)
class Swap:
    """Two markers that fit better with their names exchanged, in frames from `first` to `last`, both included."""

    names: tuple[str, str]
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.names[0]} and {self.names[1]} are exchanged in {_frames(self.first, self.last)}"


@final
@dataclass(frozen=True, slots=True)
class Ghost:
    """A marker that is much farther off than it usually is, in frames from `first` to `last`, both included."""

    name: str
    first: int
    last: int
    distance: float
    """The largest there [m]."""

    def __str__(self) -> str:
        return f"{self.name} is {100.0 * self.distance:.3g} cm off in {_frames(self.first, self.last)}"


def outliers(residuals: Array) -> Array:
    """(frames, markers) which distances, NaN in gaps, are outliers against the marker's own history, as bool."""
    seen = ~np.isnan(residuals)
    known = np.where(seen.any(axis=0), residuals, 0.0)
    usual = np.nanmedian(known, axis=0)
    spread = np.maximum(_SPREAD * np.nanmedian(np.abs(known - usual), axis=0), _LEAST_SPREAD)
    beyond = np.where(seen, residuals - usual, 0.0)
    excess = beyond / spread
    worst = excess.max(axis=1, keepdims=True, initial=-np.inf)
    found: Array = (excess > _MANY) & (beyond > _FAR) & (excess >= _SHARE * worst)
    return found


def swaps(
    names: Sequence[str],
    points: Array,
    places: Array,
    doubtful: Array,
    exchanged: Callable[[int, int, int], bool],
) -> list[Swap]:
    """Pairs that fit better when they are exchanged; `exchanged` tells of a frame and a pair whether a new fit does."""
    found: dict[tuple[int, int], list[int]] = {}
    for f in np.flatnonzero(doubtful.any(axis=1)):
        apart = ((places[f][:, None] - points[f][None]) ** 2).sum(axis=2)  # of marker i and what was measured of j
        own = np.diag(apart)
        before, after = own[:, None] + own[None], apart + apart.T
        better = np.triu(after < _FALLS * before, k=1) & (doubtful[f][:, None] | doubtful[f][None])
        pairs = sorted(zip(*np.nonzero(better), strict=True), key=lambda pair: after[pair] - before[pair])
        taken: set[int] = set()
        for i, j in pairs:
            if not taken & {i, j} and exchanged(int(f), int(i), int(j)):
                found.setdefault((int(i), int(j)), []).append(int(f))
                taken |= {i, j}
    return [Swap((names[i], names[j]), first, last) for (i, j), frames in found.items() for first, last in runs(frames)]


def ghosts(names: Sequence[str], residuals: Array, doubtful: Array) -> list[Ghost]:
    """Outliers, run by run."""
    return [
        Ghost(names[k], first, last, float(np.nanmax(residuals[first : last + 1, k])))
        for k in range(len(names))
        for first, last in runs(np.flatnonzero(doubtful[:, k]).tolist())
    ]


def runs(frames: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of whole numbers, which grow."""
    for k, frame in enumerate(frames):
        if k == 0 or frames[k - 1] != frame - 1:
            first = frame
        if k + 1 == len(frames) or frames[k + 1] != frame + 1:
            yield first, frame


def _frames(first: int, last: int) -> str:
    return f"frame {first}" if first == last else f"frames {first} to {last}"
