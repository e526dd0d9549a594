"""What tells of the joints of a chain that its target is out of reach, and in which order they are asked.

A feature, a point, a direction or a plane, stays where it is as a joint moves on whose axis the point lies, or along
which the direction goes, or which the plane is square to.  Two features around the loop of chain and target measure the
same both ways round.  If few joints move what they measure, it tells of these alone: a wrist whose axes meet of the
joints before it, an axis that is parallel to others of all but these.  That is what closed forms are made of; where
there is none, some joints are asked without knowing, and the others tell.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from poise.common.array import Array
from poise.solving.problem.chain import Chain
from poise.solving.unreachable.verify import DIRECTION, MOST, PLANE, POINT, carried, in_frame

_STILL: Final = 1e-7
"""A share of the chain's size, or an angle [rad], by which a joint moves what it does not move."""
_LEVER: Final = 1e-2
"""The same by which it has to move what is to tell of it."""
_SEPARATED: Final = 0.5
"""The sine of the angle between two measures that tell two arcs of a joint apart."""
_ALIKE: Final = 1e-9
"""Two points that are no farther apart are one [m], and two directions."""
_EACH: Final = 2
"""Reasons that tell of a joint by the same joints."""
_ALL: Final = 8
"""Reasons that tell of a joint."""


class Reason(NamedTuple):
    """Two features around the loop."""

    rows: Array
    """(2, 7) as a certificate has them."""
    joints: int
    """The bits of the joints that move what they measure, the first one's 1."""
    levers: list[float]
    """How well it tells of each joint."""
    phases: list[float]
    """The angle about each joint's axis from one feature to the other, in some posture [rad]."""


class Plan(NamedTuple):
    """In which order joints are asked, and what then tells of them."""

    order: list[int]
    stages: list[list[Reason]]
    """For each joint in this order, reasons that need but it and those before it."""
    always: list[Reason]
    """Those that no joint moves."""


def plan(chain: Chain, *, posed: bool, placed: bool = True) -> Plan:
    """The plan for a chain; unless it is `posed`, the rotation of the frame is free, unless `placed` its place."""
    by_joints: dict[int, list[Reason]] = {}
    for reason in _reasons(chain, posed=posed, placed=placed):
        by_joints.setdefault(reason.joints, []).append(reason)
    best = {
        (joints, k): _best(some, k)
        for joints, some in by_joints.items()
        for k in range(len(chain.axes))
        if joints >> k & 1
    }

    def determined(known: int) -> dict[int, float]:
        """By joint that is told by others that are known, how well it is."""
        found: dict[int, float] = {}
        for (joints, k), some in best.items():
            if joints & ~known == 1 << k and some:
                found[k] = max(found.get(k, 0.0), some[0].levers[k])
        return found

    def after(k: int) -> int:
        """How many joints are known as soon as joint k is."""
        all_known = known | 1 << k
        while more := determined(all_known):
            for j in more:
                all_known |= 1 << j
        return all_known.bit_count()

    out, known, unknown = Plan([], [], by_joints.get(0, [])), 0, set(range(len(chain.axes)))
    while unknown:
        ready = determined(known)
        k = max(ready, key=lambda j: ready[j]) if ready else max(unknown, key=lambda j: (after(j), j))
        known |= 1 << k
        unknown.remove(k)
        some = [one for (joints, j), few in best.items() if j == k and not joints & ~known for one in few]
        out.order.append(k)
        out.stages.append(sorted(some, key=lambda one: (one.joints.bit_count(), -one.levers[k]))[:_ALL])
    return out


def _best(some: list[Reason], k: int) -> list[Reason]:
    """A few that tell of joint k best, with phases that differ."""
    out: list[Reason] = []
    for one in sorted(some, key=lambda one: -one.levers[k]):
        separated = all(abs(np.sin(one.phases[k] - other.phases[k])) > _SEPARATED for other in out)
        if one.levers[k] > _LEVER and separated and len(out) < _EACH:
            out.append(one)
    return out


def _reasons(chain: Chain, *, posed: bool, placed: bool) -> Iterator[Reason]:
    """All pairs of features that few joints move, and each feature with itself that none moves."""
    n, found = len(chain.axes), _features(chain)
    if not placed:
        found = [row for row in found if row[0] == DIRECTION]
    looked = [(row, _look(chain, row)) for row in found]
    still = [(one, one) for one in looked if one[0][1] == 0 and one[0][2] == n]
    for (one, (levers, angles)), (two, (others, turned)) in [*still, *combinations(looked, 2)]:
        kinds = {int(one[0]), int(two[0])}
        if kinds not in ({POINT}, {DIRECTION}, {POINT, PLANE}):
            continue
        rows = np.array(sorted([one, two], key=lambda row: (row[1], row[2])))
        if rows[0, 2] > rows[1, 2]:
            continue
        rows[0, 2] = min(rows[0, 2], rows[1, 1])
        moving = [*range(int(rows[0, 2]), int(rows[1, 1])), *range(int(rows[1, 2]), n), *range(int(rows[0, 1]))]
        if len(moving) <= MOST and (posed or _is_tip(chain, rows[1])):
            together = [a * b for a, b in zip(levers, others, strict=True)]
            phases = [b - a for a, b in zip(angles, turned, strict=True)]
            yield Reason(rows, sum(1 << k for k in moving), together, phases)


def _is_tip(chain: Chain, row: Array) -> bool:
    """Whether a feature is the frame's origin, whose place is known though its rotation is not."""
    n, x = len(chain.axes), row[3:]
    for axis in chain.axes[int(row[1]) : int(row[2])]:
        x = np.linalg.inv(axis.matrix) @ x
    return bool(row[0] == POINT and row[2] == n and np.abs(x - chain.hang[:, 3]).max() < _ALIKE)


def _features(chain: Chain) -> list[Array]:
    """(7,) rows of what bodies carry: points on their axes, directions along and across these, planes, and the tip."""
    heights, n, out = _heights(chain), len(chain.axes), list[Array]()
    for b in range(n + 1):
        own = [(np.eye(4), heights[b - 1] if b else [])]
        own += [(chain.axes[b].matrix, heights[b])] if b < n else [(chain.hang, [0.0])]
        for pose, some in own:
            ways = [pose[:, k] for k in range(3)]
            out += [_spanned(chain, POINT, b, pose @ [0.0, 0.0, x, 1.0]) for x in some]
            out += [_spanned(chain, DIRECTION, b, way) for way in ways]
            out += [_spanned(chain, PLANE, b, np.append(way[:3], -way @ pose[:, 3])) for way in ways]
    return [row for k, row in enumerate(out) if not any(_same(row, other) for other in out[:k])]


def _same(one: Array, two: Array) -> bool:
    """Whether two rows are one feature, but for the sign of a direction."""
    near = [np.abs(one[3:] - sign * two[3:]).max() < _ALIKE for sign in ((1.0,) if one[0] == POINT else (1.0, -1.0))]
    return bool((one[:3] == two[:3]).all() and any(near))


def _spanned(chain: Chain, kind: int, body: int, x: Array) -> Array:
    """(7,) the row of what a body carries at x (4,), with all bodies in which it keeps its place."""
    first = last = body
    there = x
    while first > 0 and _stays(chain, first - 1, kind, x):
        x, first = in_frame(kind, chain.axes[first - 1].matrix) @ x, first - 1
    while last < len(chain.axes):
        there = in_frame(kind, np.linalg.inv(chain.axes[last].matrix)) @ there
        if not _stays(chain, last, kind, there):
            break
        last += 1
    return np.array([kind, first, last, *x])


def _stays(chain: Chain, k: int, kind: int, x: Array) -> bool:
    """Whether x (4,) in the frame of a joint keeps its place as this moves."""
    axis, size = chain.axes[k], chain.size if kind == POINT else 1.0
    if axis.turns and not np.linalg.norm(x[: 3 if axis.ball else 2]) < _STILL * size:
        return False
    return not axis.slides or kind == DIRECTION or (kind == PLANE and abs(x[2]) < _STILL)


def _heights(chain: Chain) -> list[list[float]]:
    """On each axis its origin, and the points that are nearest to its neighbours [m]."""
    out = [[0.0] for _ in chain.axes]
    for k, axis in enumerate(chain.axes[1:]):
        along, place = axis.matrix[:3, 2], axis.matrix[:3, 3]
        if np.hypot(along[0], along[1]) < _STILL:
            out[k].append(float(place[2]))
        else:
            s, t = np.linalg.lstsq(np.column_stack([[0.0, 0.0, 1.0], -along]), place, rcond=None)[0]
            out[k].append(float(s))
            out[k + 1].append(float(t))
    return out


def _look(chain: Chain, row: Array) -> tuple[list[float], list[float]]:
    """How far each joint moves a feature for a radian or a metre, of a point as a share of the chain's size, in the one
    of some postures in which it is least; and where it is about each axis [rad]."""
    kind, draw, levers, angles = int(row[0]), np.random.default_rng(0), [], list[float]()
    size = (
        sum(float(np.linalg.norm(pose[:3, 3])) for pose in (chain.hang, *(axis.matrix for axis in chain.axes))) or 1.0
    )
    for _ in range(3):
        bodies = [np.eye(4)]
        for axis, x in zip(chain.axes, draw.uniform(0.3, 2.5, len(chain.axes)), strict=True):
            bodies.append(bodies[-1] @ axis.matrix @ carried(axis, x))
        there = [in_frame(kind, np.linalg.inv(body) @ bodies[int(row[1])]) @ row[3:] for body in bodies[1:]]
        slid = [(1.0, 0.0, abs(float(x[2])))[kind] for x in there]
        turned = [float(np.hypot(x[0], x[1])) / (size if kind == POINT else 1.0) for x in there]
        levers.append(
            [b if a.hinge else s if a.slide else 0.0 for a, b, s in zip(chain.axes, turned, slid, strict=True)]
        )
        angles = [float(np.arctan2(x[1], x[0])) for x in there]
    return np.min(levers, axis=0).tolist(), angles
