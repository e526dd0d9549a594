"""Which comparisons around a loop say where its joints are, one after the other, at any target.

The chain from the base to the tip and back through the target is a loop of bodies.  What two of them carry, points or
directions, is compared both ways round: if no joint that is not known yet moves it, but one, that joint is in at most
two arcs.  A point that lies on an axis does not move with it, nor does a direction along it, nor a height over a plane
across it.  Such steps are what closed forms are made of: a wrist whose axes meet, three parallel axes.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import cos, sin
from typing import Final, NamedTuple

import numpy as np

from poise.kernels.machine.layout import PRISMATIC, REVOLUTE
from poise.model.tree import Unit
from poise.spatial import Array

_STILL: Final = 1e-6
"""A share of the chain's size, or an angle [rad], by which a joint moves what it does not move."""
_LEVER: Final = 1e-2
"""The same by which it has to move what is to tell of it."""
_APART: Final = 0.5
"""The sine of the angle between two comparisons that tell two arcs of a joint apart."""
_ALIKE: Final = 1e-9
"""Two points of a body that are no farther apart are one [m]."""


class Carried(NamedTuple):
    """A point or a direction that a body carries."""

    body: int
    local: Array
    """(4,) in its frame: with 1 behind a point, 0 behind a direction."""
    levers: list[float]
    """How far each joint, from 1 on, moves it for a radian or a metre; of a point as a share of the chain's size."""
    angles: list[float]
    """Where it is about the axis of each [rad]."""
    moved: int
    """The bits of those joints that move it at all, and first of a turn of the target."""

    @property
    def point(self) -> bool:
        """Whether it is a point."""
        return bool(self.local[3])


class Comparison(NamedTuple):
    """What leaves a joint at most two arcs, as soon as the joints whose bits are in `needs` are known."""

    joint: int
    needs: int
    lever: float
    """How well it tells of the joint."""
    one: Carried
    two: Carried

    @property
    def row(self) -> Array:
        """(11,) as a certificate has it."""
        return np.concatenate([[self.joint, self.one.body, self.two.body], self.one.local, self.two.local])

    @property
    def phase(self) -> float:
        """The angle about the joint's axis from one to the other [rad]."""
        return self.two.angles[self.joint] - self.one.angles[self.joint]


def comparisons(units: Sequence[Unit], tip: Array, *, posed: bool) -> tuple[Array, int] | None:
    """The rows of a certificate (k, 11), and the joint that is split or -1; None if none tell of every joint.

    `tip` (4, 4) is how the frame hangs on the last unit; unless it is `posed`, its rotation is free.
    """
    if any(unit.kind not in (REVOLUTE, PRISMATIC) for unit in units):
        return None
    found = sorted(_compared(units, tip), key=lambda one: -one.lever)
    every = 2 ** (len(units) + 1) - 2
    for split in (0, *range(len(units), 0, -1)):
        rows: list[Array] = []
        known = int(posed) | (1 << split if split else 0)
        while known & every != every:
            ready = [one for one in found if not known >> one.joint & 1 and not one.needs & ~known]
            if not ready:
                break
            best, *rest = ready
            same = [one for one in rest if one.joint == best.joint and abs(sin(one.phase - best.phase)) > _APART]
            rows += [one.row for one in (best, *same[:1])]
            known |= 1 << best.joint
        else:
            return np.array(rows), split - 1
    return None


def _compared(units: Sequence[Unit], tip: Array) -> Iterator[Comparison]:
    """All comparisons, for each set of joints that is enough for one."""
    n = len(units)
    for one, two in combinations(_carried(units, tip), 2):
        b, p = one.body, two.body
        if b == p:
            continue
        through, around = [*range(b + 1, p + 1)], [*range(b, -1, -1), *range(n, p, -1)]
        for way, other in ((through, around), (around, through)):
            least = _fewest({_moving(other[:k], one) | _moving(other[k:], two) for k in range(len(other) + 1)})
            for k, i in enumerate(way):
                lever = _lever(units, i, one, two) if i else 0.0
                if lever > _LEVER:
                    own = _moving(way[:k], one) | _moving(way[k + 1 :], two)
                    yield from (Comparison(i, own | needs, lever, one, two) for needs in least)


def _moving(way: list[int], what: Carried) -> int:
    """The bits of the joints on a way that move it."""
    return sum(1 << k for k in way) & what.moved


def _fewest(sets: set[int]) -> list[int]:
    """Those sets of bits that hold none of the others."""
    return [one for one in sets if not any(other != one and other & one == other for other in sets)]


def _lever(units: Sequence[Unit], i: int, one: Carried, two: Carried) -> float:
    """How well a comparison tells of joint i."""
    if units[i - 1].kind == REVOLUTE:
        return one.levers[i] * two.levers[i]
    return 0.0 if not (one.point or two.point) else min(one.levers[i] * two.levers[i], 1.0)


def _carried(units: Sequence[Unit], tip: Array) -> list[Carried]:
    """What bodies carry: points on their axes, directions along and across these, and the tip; body after body."""
    draw, bodies = np.random.default_rng(0), range(len(units) + 1)
    size = sum(float(np.linalg.norm(m[:3, 3])) for m in (tip, *(u.matrix for u in units))) or 1.0
    postures = [_frames(units, draw.uniform(0.3, 2.5, len(units))) for _ in range(2)]
    heights = _heights(units)
    out = []
    for b in bodies:
        own = [(np.eye(4), heights[b - 1])] if b else []
        nexts = [(units[b].matrix, heights[b])] if b < len(units) else []
        found = [m @ np.eye(4)[k] for m, _ in own + nexts for k in range(3)]
        found += [m @ [0.0, 0.0, h, 1.0] for m, some in own + nexts for h in some]
        found += [tip[:, 3]] if b == bodies[-1] else []
        distinct = [x for k, x in enumerate(found) if all(np.abs(x - y).max() > _ALIKE for y in found[:k])]
        out += [_seen(units, [(p, (p[-1] @ tip)[:3, 3]) for p in postures], size, b, x) for x in distinct]
    return out


def _heights(units: Sequence[Unit]) -> list[list[float]]:
    """On each axis its origin, and the points that are nearest to its neighbours [m]."""
    out = [[0.0] for _ in units]
    for k, unit in enumerate(units[1:]):
        along, place = unit.matrix[:3, 2], unit.matrix[:3, 3]
        if np.hypot(along[0], along[1]) < _STILL:
            out[k].append(float(place[2]))
        else:
            s, t = np.linalg.lstsq(np.column_stack([[0.0, 0.0, 1.0], -along]), place, rcond=None)[0]
            out[k].append(float(s))
            out[k + 1].append(float(t))
    return out


def _frames(units: Sequence[Unit], q: Array) -> list[Array]:
    """(4, 4) poses of the base and of all units where they stand at q (n,)."""
    out = [np.eye(4)]
    for unit, x in zip(units, q.tolist(), strict=True):
        move = np.eye(4)
        if unit.kind == PRISMATIC:
            move[2, 3] = x
        else:
            move[:2, :2] = [[cos(x), -sin(x)], [sin(x), cos(x)]]
        out.append(out[-1] @ unit.matrix @ move)
    return out


def _seen(units: Sequence[Unit], postures: list[tuple[list[Array], Array]], size: float, b: int, x: Array) -> Carried:
    """What body b carries at x (4,), by how it lies to all axes and to the tip in some postures."""
    point, levers, angles = x[3], np.full(len(units) + 1, np.inf), []
    moved = np.zeros(len(units) + 1)
    for frames, tip in postures:
        there, angles = frames[b] @ x, [0.0]
        turns = [float(np.linalg.norm(there[:3] - tip)) / size if point else 1.0]
        for unit, frame in zip(units, frames[1:], strict=True):
            off = frame[:3, :3].T @ (there[:3] - point * frame[:3, 3])
            far = float(np.hypot(off[0], off[1])) / (size if point else 1.0)
            turns.append(far if unit.kind == REVOLUTE else 1.0 if point else abs(float(off[2])))
            angles.append(float(np.arctan2(off[1], off[0])))
        levers, moved = np.minimum(levers, turns), np.maximum(moved, turns)
    return Carried(b, x, levers.tolist(), angles, sum(1 << k for k, way in enumerate(moved) if way > _STILL))
