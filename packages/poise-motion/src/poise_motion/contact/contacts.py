"""When a body stands on the ground: found in the paths of its feet, by height and speed with hysteresis.

A point stands where it is slow and low.  It is slow below a speed at which it comes to stand, and stays so up to a
higher one at which it leaves; likewise it is low within a height of the ground.  Where the ground is not given, it is
where the points are lowest; a foot may also stand higher, on a step or a box: in a hollow of its path, from a way down
to a way up.  If the motion begins or ends there, or if it is a shelf, from which the way down goes on, it stands while
no other part stands lower and bears the body.  Speeds are those of the path averaged over 50 ms, so that frames a
second make no difference.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np

from poise import InvalidValue, ShapeError
from poise.extending import Array, ArrayLike, broken_rule, finite
from poise_motion.anatomy.contact_schedule import Contact, Contacts, Flags, borne, runs
from poise_motion.anatomy.median import median

Ground: TypeAlias = float | Callable[[Array], ArrayLike]
"""The height of the ground [m], or a function of places (n, 3) [m] that gives (n,) heights beneath them."""

_BODY: Final = 1.75
"""The height of a body [m] to which these thresholds belong; they grow with it."""
_SLOW, _FAST = 0.25, 0.4
"""Speeds [m/s]: to come to stand, and to leave."""
_LOW, _HIGH = 0.04, 0.06
"""Heights above where a point stands [m]: to come to stand, and to leave."""
_RISE: Final = 0.02
"""How much a foot comes down to a step, and goes up from it [m]."""
_STEP: Final = 0.15
"""The least time on a step, or at one of several places of a contact [s]."""
_LEVEL: Final = 0.05
"""On a shelf it goes up and down no faster than this [m/s], ..."""
_LONG: Final = 0.2
"""... averaged over this time [s], ..."""
_SHELF: Final = 0.4
"""... for as long as this at least [s]."""
_ANKLE: Final = 0.12
"""The height over the ground at which a point of a foot that stands is, at most [m]."""
_STRAY: Final = 0.03
"""How far a point that stands may get from the place where it does [m]."""
_CALM: Final = 0.12
"""Mean speed over the next 100 ms below which a point has come to the place where it stands [m/s]."""
_WINDOW: Final = 0.05
"""Over which paths are averaged [s]."""
_FAR: Final = 0.1
"""A foot that stands is not farther from where it came to stand [m]; heights count twice."""
_LEAST: Final = 0.06
"""Shorter contacts, and shorter gaps between two of them, are none [s]."""
_LOWEST: Final = 5.0
"""The percentile of the heights of slow frames that counts as lowest."""


def contacts(
    places: Mapping[str, ArrayLike],
    times: ArrayLike,
    *,
    ground: Ground | None = None,
    size: float = _BODY,
    steps: Collection[str] | None = None,
) -> Contacts:
    """When each part stands, from `places`: by part, the paths (frames, points, 3) of its points [m], z up.

    The points of a foot are its ankle and its toe, in the same order for all parts.  `times` (frames,) grow [s], evenly
    or not; `size` is the height of the body [m].  Of one frame all that is low stands.

    Without `ground` it is taken to be where the points are lowest, and those parts that are named in `steps` may also
    stand higher: without it all whose name ends in "ankle".  With it nothing stands elsewhere.

    Raises ShapeError for arrays that do not fit, ValueError for times that do not grow and numbers that are not finite.
    """
    when = np.array(finite("times", times))
    if when.ndim != 1 or not len(when):
        raise ShapeError(f"times must have shape (frames,) with at least one frame, got {when.shape}")
    if (np.diff(when) <= 0.0).any():
        raise InvalidValue(
            "inconsistent", f"times must grow; times[{int(np.argmax(np.diff(when) <= 0.0)) + 1}] does not"
        )
    if not 0.0 < size < np.inf:
        raise InvalidValue(
            broken_rule(size, "not-positive"), f"size must be the height of the body, more than 0 [m], got {size!r}"
        )
    paths = {part: _path(part, path, len(when)) for part, path in places.items()}
    stepping = [part for part in paths if part.endswith("ankle")] if steps is None else steps
    if unknown := [part for part in stepping if part not in paths]:
        raise InvalidValue(
            "no-such-part", f"steps names {unknown[0]!r}, which has no place; these have: {', '.join(paths)}"
        )
    scale = size / _BODY
    floors = {part: _floor(ground, path) for part, path in paths.items()}
    heights = {part: path[..., 2] - floors[part] for part, path in paths.items()}
    speeds = _speeds(paths, when)
    levels = _levels(heights, speeds, scale, known=ground is not None)
    above = {part: heights[part] - levels[part] for part in paths}
    standing = {part: _low(above[part], speeds[part], scale) for part in paths}
    if ground is None:
        _step_up(standing, above, speeds, when, scale, stepping)
    found = _found(paths, standing, when, scale)
    placed = []
    for one in found.intervals:
        span, part = slice(one.start, one.stop), one.part
        those = found.points[part][span]
        if ground is None:
            height = median(above[part][span][those])
            height = height if height > _HIGH * scale else 0.0
        else:
            height = median(floors[part][span][those])
        placed.append(replace(one, ground=height))
    return replace(found, intervals=tuple(placed))


def touching(places: Mapping[str, Array], distances: Mapping[str, Array], times: Array, *, size: float) -> Contacts:
    """When each part stands on a thing that moves, which is ground of any shape.

    `places` are by part the paths (frames, points, 3) of its points as the thing sees them, `distances` (frames,
    points) how far these are from its surface [m]; `times` (frames,) grow [s], `size` is the height of the body [m].
    """
    scale = size / _BODY
    speeds = _speeds(places, times)
    near = {part: _low(distances[part], speeds[part], scale) for part in places}
    return _found(places, near, times, scale)


def _found(paths: Mapping[str, Array], standing: Mapping[str, Flags], times: Array, scale: float) -> Contacts:
    """The contacts of parts whose points stand (frames, points), on ground at height 0."""
    on = np.zeros((len(times), len(paths)), dtype=bool)
    points, found = {}, []
    for i, part in enumerate(paths):
        whole = lasting(np.asarray(standing[part].any(axis=1)), times)
        calm = _steady(paths[part], standing[part], times, scale)
        stances = [
            (start + first, start + last)
            for start, stop in _stances(paths[part], standing[part], whole, times, scale)
            for first, last in runs(lasting(calm[start:stop], times[start:stop]))
        ]
        for start, stop in stances:
            on[start:stop, i] = True
        points[part] = standing[part] & on[:, i, None]
        for start, stop in stances:
            found.append(Contact(part, start, stop, borne(points[part][start:stop]), 0.0))
    return Contacts(tuple(paths), on, points, tuple(found))


def _speeds(paths: Mapping[str, Array], times: Array) -> dict[str, Array]:
    """By part, (frames, points) how fast its points are [m/s]."""
    if not paths:
        return {}
    x, y, z = np.moveaxis(velocities(np.concatenate([*paths.values()], axis=1), times), -1, 0)
    ends = np.cumsum([path.shape[1] for path in paths.values()])[:-1]
    return dict(zip(paths, np.split(np.sqrt(x * x + y * y + z * z), ends, axis=1), strict=True))


def velocities(paths: Array, times: Array, window: float = _WINDOW) -> Array:
    """(frames, ...) velocities [m/s] of paths (frames, ...) [m] at `times` (frames,) [s].

    They are the differences of the means over the `window` before and after each time, through this time; at both ends
    of the motion, and in a shorter one, those nearest to that.
    """
    if len(times) == 1:
        return np.zeros_like(paths)
    window = min(window, 0.5 * float(times[-1] - times[0]))
    middle = np.clip(times, times[0] + window, times[-1] - window)
    before, here, after = _integrals(paths, times, [middle - window, middle, middle + window])
    return (after - 2.0 * here + before) / window**2


def _integrals(paths: Array, times: Array, until: Sequence[Array]) -> Iterator[Array]:
    """(n, ...) each the integrals of paths, which are straight from frame to frame, from the first time on `until`
    each of (n,)."""
    steps = np.diff(times).reshape(-1, *[1] * (paths.ndim - 1))
    whole = np.concatenate([np.zeros((1, *paths.shape[1:])), np.cumsum(0.5 * steps * (paths[1:] + paths[:-1]), axis=0)])
    for at in until:
        k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
        past = (at - times[k]).reshape(-1, *[1] * (paths.ndim - 1))
        yield whole[k] + past * paths[k] + 0.5 * past**2 / steps[k] * (paths[k + 1] - paths[k])


def _path(part: str, path: ArrayLike, frames: int) -> Array:
    array = finite(f"places of {part}", path, 3)
    if array.ndim != 3 or len(array) != frames or not array.shape[1]:
        raise ShapeError(f"the places of {part} must have shape ({frames}, points, 3), got {array.shape}")
    return np.array(array)


def _floor(ground: Ground | None, path: Array) -> Array:
    """(frames, points) the height of the ground beneath; 0 where it is not known."""
    if ground is None or not callable(ground):
        return np.full(path.shape[:2], 0.0 if ground is None else float(ground))
    heights = finite("the ground", ground(path.reshape(-1, 3)))
    if heights.shape != (path.shape[0] * path.shape[1],):
        raise ShapeError(f"ground must give one height for each place, ({path.shape[0] * path.shape[1]},)")
    return np.array(heights).reshape(path.shape[:2])


def _levels(
    heights: Mapping[str, Array], speeds: Mapping[str, Array], scale: float, *, known: bool
) -> dict[str, Array]:
    """By part, (points,) the heights at which its points are when it stands on the lowest ground.

    Parts of one body are much alike, so what is never about as low as another's does not stand where it is lowest.
    """
    lowest = {}
    for part, height in heights.items():
        still = speeds[part] < _FAST * scale
        slow = [height[still[:, k], k] for k in range(height.shape[1])]
        lowest[part] = np.array([np.percentile(own, _LOWEST) if len(own) else np.inf for own in slow])
    out = {}
    for part, own in lowest.items():
        alike = np.array([min(level[k] for level in lowest.values() if k < len(level)) for k in range(len(own))])
        out[part] = np.where(own < alike + _HIGH * scale, own, alike)
        if known:
            out[part] = np.minimum(out[part], _ANKLE * scale)
    return out


def _low(above: Array, speed: Array, scale: float) -> Flags:
    """(frames, points) which points stand on the lowest ground, from heights above where they do and their speeds."""
    enter = (speed < _SLOW * scale) & (above < _LOW * scale)
    stay = (speed < _FAST * scale) & (above < _HIGH * scale)
    return np.stack([hysteresis(enter[:, k], stay[:, k]) for k in range(above.shape[1])], axis=1)


def _step_up(
    standing: dict[str, Flags],
    above: Mapping[str, Array],
    speeds: Mapping[str, Array],
    times: Array,
    scale: float,
    parts: Collection[str],
) -> None:
    """Let parts also stand on what is higher than the lowest ground."""
    doubtful: list[tuple[str, int, slice]] = []
    for part in parts:
        elsewhere = ~standing[part].any(axis=1)  # than on the lowest ground, on which the other point of a foot is too
        for k in range(standing[part].shape[1]):
            height, speed = above[part][:, k], speeds[part][:, k]
            slow = elsewhere & hysteresis(speed < _SLOW * scale, speed < _FAST * scale)
            if not slow.any():
                continue
            for lowest, inside in _hollows(height, _RISE * scale):
                for rest in _bottom(lowest, np.abs(height - height[lowest]) < _LOW * scale, slow, times):
                    if inside:
                        standing[part][rest, k] = True
                    else:
                        doubtful.append((part, k, rest))
            shelves = _shelves(height, slow & ~standing[part][:, k], times, scale)
            doubtful += [(part, k, rest) for rest in shelves]
    borne = {part: np.where(standing[part], above[part], np.inf).min(axis=1) for part in standing}
    for part, k, rest in doubtful:
        others = [heights[rest] for other, heights in borne.items() if other != part]
        lower = median(above[part][rest, k]) - _HIGH * scale
        if (np.min(others, axis=0, initial=np.inf) < lower).mean() < 0.5:
            standing[part][rest, k] = True


def hysteresis(enter: Flags, stay: Flags) -> Flags:
    """(frames,) the runs of frames that may hold a stance in which there is one that may begin it."""
    out = np.zeros(len(enter), dtype=bool)
    for start, stop in runs(stay):
        out[start:stop] = enter[start:stop].any()
    return out


def _bottom(frame: int, low: Flags, slow: Flags, times: Array) -> list[slice]:
    """The times over which a point is slow while it is about as low as at a frame."""
    start, stop = next((start, stop) for start, stop in runs(low) if start <= frame < stop)
    found = [slice(start + a, start + b) for a, b in runs(slow[start:stop])]
    return [rest for rest in found if times[rest.stop - 1] - times[rest.start] >= _STEP]


def _hollows(height: Array, rise: float) -> list[tuple[int, bool]]:
    """The frames at which heights (frames,) turn from going down to going up, by `rise` both times.

    Whether both are seen comes with each: the motion may begin on the way down, or end before it goes up.
    """
    out = []
    heights = height.tolist()
    lowest = highest = heights[0]
    at = way = 0
    for i, z in enumerate(heights):
        if z < lowest:
            lowest, at = z, i
        highest = max(highest, z)
        if way <= 0 and z > lowest + rise:
            out.append((at, way < 0))
            way, highest = 1, z
        elif way >= 0 and z < highest - rise:
            way, lowest, at = -1, z, i
    if way < 0:
        out.append((at, False))
    return out


def _shelves(height: Array, slow: Flags, times: Array, scale: float) -> list[slice]:
    """The times over which a slow point stays at one height, and does not go back to where it came from."""
    out = []
    level = slow & (np.abs(velocities(height, times, _LONG)) < _LEVEL * scale)
    for start, stop in runs(level):
        if times[stop - 1] - times[start] < _SHELF:
            continue
        here, rise = median(height[start:stop]), _RISE * scale
        sides = []
        for way in (height[:start][::-1], height[stop:]):
            left = np.flatnonzero(np.abs(way - here) > rise)
            sides.append(bool(way[left[0]] > here) if len(left) else None)
        if sides in ([True, False], [False, True]):
            out.append(slice(start, stop))
    return out


def _stances(path: Array, points: Flags, on: Flags, times: Array, scale: float) -> list[tuple[int, int]]:
    """The times over which a part stands, anew where all points that stand are far from where they began to.

    Where it is at one of several places for a moment only, or goes up or down all the time, it does not stand.
    """
    out = []
    for start, stop in runs(on):
        begin = start
        while begin < stop:
            here = points[begin:stop]
            first = begin + np.argmax(here, axis=0)
            way = path[begin:stop] - path[first, np.arange(len(first))]
            near = here & (np.hypot(np.hypot(way[..., 0], way[..., 1]), 2.0 * way[..., 2]) < _FAR * scale)
            left = np.flatnonzero(here.any(axis=1) & ~near.any(axis=1))
            end = begin + int(left[0]) if len(left) else stop
            last = min(end, stop - 1)
            rise, lasts = float(np.abs(way[last - begin, :, 2]).min()), times[last] - times[begin]
            if (begin, end) == (start, stop) or (lasts >= _STEP and rise <= _LEVEL * scale * lasts):
                out.append((begin, end))
            begin = end
    return out


def _steady(path: Array, standing: Flags, times: Array, scale: float) -> Flags:
    """(frames,) when any of the points stands, without the times at which it goes on, slowly, to another place.

    Of several points, that counts which stands longest, as the toe while the heel is lifted.
    """
    out: Flags = np.array(standing.any(axis=1))
    for start, stop in runs(out):
        which = int(np.argmax(standing[start:stop].sum(axis=0)))
        here, when = path[start:stop, which], times[start:stop]
        after = np.minimum(np.searchsorted(when, when + 2.0 * _WINDOW), len(when) - 1)
        at = np.minimum(np.arange(len(when)), np.searchsorted(when, when[-1] - 2.0 * _WINDOW))
        duration = np.maximum(when[after] - when[at], 1e-9)
        calm = np.linalg.norm(here[after] - here[at], axis=1) < _CALM * scale * duration + 1e-12
        first = 0
        while first < len(here):
            if not calm[first]:
                out[start + first] = False
                first += 1
                continue
            count = np.arange(1, len(here) - first + 1)[:, None]
            mean = np.cumsum(here[first:], axis=0) / count
            away = np.linalg.norm(here[first:] - mean, axis=1)
            gone = np.flatnonzero(away > _STRAY * scale)
            if not len(gone):
                break
            last = int(gone[0])
            near = np.flatnonzero(
                np.linalg.norm(here[first : first + last] - mean[last // 2], axis=1) < 0.5 * _STRAY * scale
            )
            until = int(near[-1]) + 1 if len(near) else 1
            out[start + first + until : start + first + last] = False
            out[start + first + last] = False
            first += last + 1
    return out


def lasting(flags: Flags, times: Array) -> Flags:
    """(frames,) without gaps and then without runs that are too short; those that touch an end may go on beyond it."""
    out = flags.copy()
    frame = float(times[-1] - times[0]) / max(len(times) - 1, 1)
    for wanted in (False, True):
        for start, stop in runs(out == wanted):
            short = times[stop - 1] - times[start] + frame < _LEAST - 1e-9
            if short and start > 0 and stop < len(out):
                out[start:stop] = not wanted
    return out
