"""Whether a certificate proves a pose out of reach: by NumPy and by where a model's axes lie.  Nothing here solves.

A box is an arc for every joint, of centre `c` and half width `w`; boxes are rows.  Within its arc a joint that turns
moves what is r away from its axis by r min(w, 2) at most; several joints by the sum, each with the others at `c`.
"""

from typing import Any, NamedTuple

import numpy as np

from poise.kernels.machine.layout import BALL_AXES, PRISMATIC, REVOLUTE
from poise.quaternions import rotate

_ROUNDING, _FULL, _FAR, _NEVER, _MOST = 1e-9, 2.0 * np.pi, 1e6, 1e12, 5_000
_TRIED = (0.0, 0.5 * np.pi, np.pi), (0.0, 1.0, 2.0)
"""Where a function of a joint that turns, or slides, is measured: three numbers tell all of it."""


def proves(model: Any, proof: Any) -> bool:
    """Whether a `Certificate` holds of a model: see there what its `kind` and `numbers` say."""
    if proof.kind == "lengths":
        sides = polygon(model, proof)
        return sides is not None and bool(sides.open(proof.target.array[None])[0])
    units, hang, ends, c, w = _chain(model, proof)
    sound = _fair(proof) and all(_sound(row, len(units)) for row in proof.numbers)
    return sound and _empty(units, hang, proof, ends, c, w)


def _chain(model: Any, proof: Any) -> Any:
    """The units that carry the frame, how what is led hangs on the last, and each one's range, its middle and half."""
    frame = model.frame(proof.frame)
    unit, hangs = model.tree.links[frame.link]
    units, hang = [model.tree.units[i] for i in model.tree.path(unit)], (hangs @ frame.origin @ proof.offset).matrix()
    ranges = [(model.lower[u.iq], model.upper[u.iq]) if proof.limits else (-_NEVER, _NEVER) for u in units]
    held = [np.clip(r, -_NEVER, _NEVER) * u.multiplier + u.offset for r, u in zip(ranges, units, strict=True)]
    ends = np.array(held)
    return units, hang, ends, ends.mean(axis=1), 0.5 * np.abs(ends[:, 1] - ends[:, 0]) + _ROUNDING


def _fair(proof: Any) -> bool:
    """Whether all of its numbers are some that can be reckoned with."""
    tolerances = proof.position_tolerance, proof.rotation_tolerance
    return bool((np.abs(proof.numbers) < _FAR).all() and min(tolerances) >= 0.0)


class Polygon(NamedTuple):
    """The points of "lengths" on the axes of a chain, and the sides between them; a target adds the one that closes."""

    first: Any
    """(3,) in the world [m]."""
    last: Any
    """(3,) in the frame [m]; None: its origin."""
    longest: float
    total: float
    """Of the sides [m]."""
    slack: float
    """By how much tolerances and slides may change them [m]."""

    def open(self, targets: Any) -> Any:
        """(n,) whether one of the sides is longer than all the others together, at targets (n, 7): place, unit wxyz.

        A target that is not finite is none, and nothing is said of it.
        """
        places = targets[:, :3] if self.last is None else targets[:, :3] + rotate(targets[:, 3:], self.last)
        with np.errstate(invalid="ignore", over="ignore"):
            side = np.linalg.norm(places - self.first, axis=1)
            total = self.total + side
            return 2.0 * np.maximum(self.longest, side) - total > self.slack + _ROUNDING * total


def polygon(model: Any, proof: Any) -> Polygon | None:
    """The one with the heights `numbers` on the axes, whatever the target; None if they are no such heights."""
    units, hang, _, c, w = _chain(model, proof)
    if not _fair(proof) or proof.numbers.shape != (len(units),):
        return None
    rates, posed = [1.0 if u.kind == PRISMATIC else u.pitch for u in units], proof.rotation_tolerance < np.pi
    z = np.where([u.kind >= BALL_AXES for u in units], 0.0, proof.numbers)
    up = [x + (rate and rate * middle) for x, rate, middle in zip(z, rates, c, strict=True)]
    into = [(u.matrix @ [0.0, 0.0, x, 1.0])[:3] for u, x in zip(units, up, strict=True)]
    last = np.linalg.solve(hang, [0.0, 0.0, z[-1], 1.0])[:3]
    sides = [np.linalg.norm(p - [0.0, 0.0, x]) for p, x in zip(into[1:], z[:-1], strict=True)]
    sides += [np.linalg.norm(last) * (not posed)]
    slack = proof.position_tolerance + proof.rotation_tolerance * posed * np.linalg.norm(last) + np.abs(rates) @ w
    return Polygon(into[0], last if posed else None, float(max(sides)), float(sum(sides)), float(slack))


def _sound(row: Any, n: int) -> bool:
    """Whether a row is a step: a joint i, bodies b < p, which are the base, 0, and the n units, and on each a point or
    a direction, with 1 or 0 behind it."""
    carried = row[3:].reshape(-1, 4) if len(row) == 11 else np.full((1, 4), np.nan)
    whole = [p[3] == 1.0 or (p[3] == 0.0 and abs(np.linalg.norm(p) - 1.0) < _ROUNDING) for p in carried]
    return all(whole) and 1 <= row[0] <= n and 0 <= row[1] < row[2] <= n and not (row[:3] % 1.0).any()


def _empty(units: Any, hang: Any, proof: Any, ends: Any, c: Any, w: Any) -> bool:
    """Whether no box is left, after each of the steps `numbers`, and the same again in halves of the joint `split`."""
    slides = np.array([u.kind == PRISMATIC for u in units])
    if any(u.kind not in (REVOLUTE, PRISMATIC) for u in units) or max(w[slides], default=0.0) > _FAR:
        return False
    whole = ~slides & (w >= np.pi)
    c, w = np.where(whole, 0.0, c)[None], np.where(whole, np.pi, w)[None]
    lengths = [np.linalg.norm(x) for x in (hang[:3, 3], proof.target.xyz, *(u.matrix[:3, 3] for u in units))]
    size = 2.0 * float(sum(lengths) + np.abs(ends[slides]).sum()) + proof.position_tolerance
    for _ in range(proof.rounds):
        for step in proof.numbers:
            c, w = _narrowed(units, slides, hang, proof, size, step, c, w)
            if not 0 < len(c) < _MOST:
                return len(c) == 0
        half = 0.5 * w * (np.arange(len(units)) == proof.split)
        c, w = np.concatenate([c - half, c + half]), np.concatenate([w - half, w - half])
    return False


def _narrowed(units: Any, slides: Any, hang: Any, proof: Any, size: float, step: Any, c: Any, w: Any) -> Any:
    """The boxes that are left: base, joints and target are a loop, and what two bodies carry fits both ways round it.

    The distance of two points, the height of a point over a plane, the angle of two directions is
    known one way round; the other way i brings it about.
    """
    (i, b, p), u, v, n, m = step[:3].astype(int), step[3:7], step[7:], len(units), len(c)
    frames = [np.tile(np.eye(4), (m, 1, 1))]
    for unit, slide, x in zip(units, slides, c.T, strict=True):
        frames.append(frames[-1] @ unit.matrix @ _screws(slide, x))
    shift = proof.target.matrix() @ np.linalg.inv(frames[n] @ hang)  # from there to where the target's side of it is
    one, two = frames[b] @ u, frames[p] @ v
    two_there, one_there = (shift @ two[..., None])[..., 0], np.linalg.solve(shift, one[..., None])[..., 0]
    size += float(np.linalg.norm(u[:3] * u[3]) + np.linalg.norm(v[:3] * v[3]))

    def moves(k: int, x: Any, other: float) -> Any:
        """(m,) how far joint k, or with 0 the tolerances, moves x against a point, or a direction."""
        far = size if other > x[0, 3] else 1.0
        axis = frames[k][:, :3, 2]
        off = x[:, :3] - x[:, 3:] * (frames[k][:, :3, 3] if k else proof.target.xyz)
        if k == 0:
            near = proof.position_tolerance * max(other, x[0, 3])
            return near + far * proof.rotation_tolerance * np.linalg.norm(off, axis=1)
        if slides[k - 1]:
            return w[:, k - 1] * (1.0 if x[0, 3] else other * np.abs((axis * x[:, :3]).sum(1)))
        across = off - axis * (axis * off).sum(1, keepdims=True)
        return far * np.linalg.norm(across, axis=1) * np.minimum(w[:, k - 1], 2.0)

    def slack(way: list[int]) -> Any:
        """(m,) how far the joints on a way move its ends against each other: some move one, the others the other."""
        by_one = [moves(k, one if k <= p else one_there, v[3]) for k in way]
        by_two = [moves(k, two if k > b else two_there, u[3]) for k in way]
        cuts = [way.index(i)] if i in way else range(len(way) + 1)
        return np.min([sum(by_one[:k]) + sum(by_two[k + (i in way) :]) for k in cuts], axis=0)

    def measured(shifted: Any) -> Any:
        """(m,) the square of the distance, the height, or the cosine of the angle, where v is shifted."""
        there = (shifted @ two[..., None])[..., 0][:, :3]
        if u[3] and v[3]:
            return ((there - one[:, :3]) ** 2).sum(1)
        origin = (shifted @ frames[p])[:, :3, 3] if u[3] else frames[b][:, :3, 3]
        return ((one[:, :3] - origin) * there).sum(1) if u[3] else (one[:, :3] * (there - v[3] * origin)).sum(1)

    between = b < i <= p
    ways, back = ([*range(b + 1, p + 1)], [*range(b, -1, -1), *range(n, p, -1)]), np.linalg.inv(frames[i])
    room, seen = slack(ways[0]) + slack(ways[1]) + _ROUNDING * (size if u[3] or v[3] else 1.0), []
    for x in _TRIED[bool(slides[i - 1])]:
        turned = frames[i] @ _screws(slides[i - 1], np.full(m, x if between else -x)) @ back
        seen.append(measured(turned if between else turned @ shift if i <= b else shift @ turned))
    known = measured(shift if between else frames[0])
    if u[3] and v[3]:
        known, edge = np.sqrt(known), 1e-12 * size**2
        low, high = np.maximum(known - room, 0.0) ** 2 - edge, (known + room) ** 2 + edge
    else:
        low, high = known - room, known + room
    square = bool(u[3] and v[3])
    middle, first, last = _strokes(seen, low, high, square) if slides[i - 1] else _arcs(seen, low, high)
    return _cut(i - 1, bool(slides[i - 1]), middle, first, last, c, w)


def _screws(slides: bool, x: Any) -> Any:
    """(m, 4, 4) of turns about z, or slides along it, by x (m,)."""
    out = np.tile(np.eye(4), (len(x), 1, 1))
    if slides:
        out[:, 2, 3] = x
    else:
        out[:, 0, 0], out[:, 0, 1], out[:, 1, 0], out[:, 1, 1] = np.cos(x), -np.sin(x), np.sin(x), np.cos(x)
    return out


def _arcs(seen: list[Any], low: Any, high: Any) -> Any:
    """Where a + b cos(x - x0), known at 0, pi/2 and pi, is from low to high: x0, and |x - x0| from first to last."""
    start, quarter, half = seen
    a, cos = 0.5 * (start + half), 0.5 * (start - half)
    b = np.maximum(np.hypot(cos, quarter - a), 1e-12)
    first, last = (high - a) / b, (low - a) / b
    none = (first < -1.0) | (last > 1.0)
    return (
        np.arctan2(quarter - a, cos),
        np.where(none, _NEVER, np.arccos(np.clip(first, -1.0, 1.0))),
        np.arccos(np.clip(last, -1.0, 1.0)),
    )


def _strokes(seen: list[Any], low: Any, high: Any, square: bool) -> Any:
    """The same of a slide, known at 0, 1 and 2: x^2 and a line if it is a square, else a line."""
    start, one, two = seen
    if square:
        x0 = -(one - 0.75 * start - 0.25 * two)
        first, last = x0**2 - start + low, x0**2 - start + high
        return x0, np.where(last < 0.0, _NEVER, np.sqrt(np.maximum(first, 0.0))), np.sqrt(np.maximum(last, 0.0))
    slope = np.where(np.abs(one - start) < 1e-12, 1e-12, one - start)
    return (0.5 * (low + high) - start) / slope, np.zeros(len(start)), 0.5 * (high - low) / np.abs(slope)


def _cut(j: int, slides: bool, x0: Any, first: Any, last: Any, c: Any, w: Any) -> Any:
    """The parts of the boxes in which joint j is from first to last away from c + x0, on either side of it."""
    near, opposite, whole = first <= 0.0, (last >= np.pi) & (not slides), (w[:, j] >= np.pi) & (not slides)
    half = np.where(near, last, np.where(opposite, np.pi - first, 0.5 * (last - first))) + _ROUNDING
    away = np.where(near, 0.0, np.where(opposite, np.pi, 0.5 * (first + last)))
    rows, centres, widths = [], [], []
    for side in (away, -away):
        at = x0 + side if slides else np.remainder(x0 + side + np.pi, _FULL) - np.pi
        for turn in (0.0,) if slides else (0.0, _FULL, -_FULL):
            start = np.where(whole, at - half, np.maximum(at + turn - half, -w[:, j]))
            end = np.where(whole, at + half, np.minimum(at + turn + half, w[:, j]))
            there = (first <= last) & (start <= end) & ~(whole & (turn != 0.0))
            rows.append(np.flatnonzero(there & ~((near | opposite) & (side is not away))))
            centres.append((c[:, j] + 0.5 * (start + end))[rows[-1]])
            widths.append((0.5 * (end - start))[rows[-1]])
    chosen = np.concatenate(rows)
    c, w = c[chosen], w[chosen]
    c[:, j], w[:, j] = np.concatenate(centres), np.concatenate(widths)
    return c, w
