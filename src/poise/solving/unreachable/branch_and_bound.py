"""Boxes that fill the ranges of all joints, in none of which the loop of a chain and its target closes.

A box that no reason empties is halved.  Joints are halved in the order of a plan, so that what is left of one tells of
the next, all of them to the first of some widths, then all to the next one.  A box that is as narrow as the last width
in every joint is as good as a solution, and there is no proof.
"""

from typing import Final

import numpy as np

from poise.common.array import Array
from poise.solving.unreachable.loop_features import Plan
from poise.solving.unreachable.verify import Loop, empty

_WIDTHS: Final = np.array([0.2, 0.03, 4e-3, 5e-4, 6e-5])
"""Half widths to which all joints are halved before any is halved further [rad, or a share of the loop's size]."""
_BUDGET: Final = 20_000_000
"""Numbers that bound what features measure: 3^k of each pair that k joints move, for each box."""
_TOGETHER: Final = 200
"""Those that are asked about together, the latest first: what is close to a solution is soon as narrow as can be."""


def bisected(loop: Loop, plan: Plan) -> tuple[Array, list[Array]] | None:
    """The tree and the reasons of a certificate; None where a box is left, or too many boxes would be."""
    axes = loop.chain.axes
    boxes = np.array([(axis.centre, axis.half) for axis in axes]).T[None]
    for reason in plan.always:
        if empty(loop, reason.rows, boxes)[0]:
            return np.array([-1]), [reason.rows]
    if not np.isfinite(boxes).all():
        return None
    order, scale = np.array(plan.order), np.array([loop.size if axis.slide else 1.0 for axis in axes])
    every = sorted((one for stage in plan.stages for one in stage), key=lambda one: one.joints.bit_count())
    later = {k: [one for one in every if one.joints >> k & 1] for k in plan.order}
    used: dict[int, int] = {}
    """By the reason's `id`, its number in the certificate."""
    reasons: list[Array] = []
    halved, ends = list[tuple[Array, Array]](), list[tuple[Array, int]]()
    waiting, count, spent = [(np.zeros(1, dtype=int), boxes)], 1, 0
    while waiting:
        ids, boxes = waiting.pop()
        if len(ids) > _TOGETHER:
            waiting.append((ids[:-_TOGETHER], boxes[:-_TOGETHER]))
            ids, boxes = ids[-_TOGETHER:], boxes[-_TOGETHER:]
        wide = ((boxes[:, 1, order] / scale[order])[..., None] > _WIDTHS).sum(axis=2)
        coarse = wide.max(axis=1)
        stages = np.argmax(wide == coarse[:, None], axis=1)
        if not coarse.all() or spent > _BUDGET:
            return None
        halved.append((ids, order[stages]))
        ids, boxes = count + np.arange(2 * len(ids)), _halves(boxes, order[stages])
        count += len(ids)
        stages, coarse, left = np.tile(stages, 2), np.tile(coarse, 2), np.ones(len(ids), dtype=bool)
        for s, first in sorted(set(zip(stages.tolist(), (coarse == len(_WIDTHS)).tolist(), strict=True))):
            active = np.flatnonzero((stages == s) & ((coarse == len(_WIDTHS)) == first))
            for reason in plan.stages[s] if first else later[plan.order[s]]:
                if not len(active):
                    break
                spent += len(active) * 3 ** reason.joints.bit_count()
                out = empty(loop, reason.rows, boxes[active])
                if out.any():
                    if id(reason) not in used:
                        used[id(reason)] = len(reasons)
                        reasons.append(reason.rows)
                    ends.append((ids[active[out]], ~used[id(reason)]))
                    left[active[out]], active = False, active[~out]
        if left.any():
            waiting.append((ids[left], boxes[left]))
    return _tree(count, halved, ends), reasons


def _halves(boxes: Array, joints: Array) -> Array:
    """(2 m, 2, n) the lower halves of boxes (m, 2, n), each in one of the joints (m,), then the upper ones."""
    rows, out = np.arange(len(boxes)), np.concatenate([boxes, boxes])
    for half, side in ((rows, -1.0), (rows + len(rows), 1.0)):
        out[half, 1, joints] *= 0.5
        out[half, 0, joints] += side * out[half, 1, joints]
    return out


def _tree(count: int, halved: list[tuple[Array, Array]], ends: list[tuple[Array, int]]) -> Array:
    """The numbers of the tree as a certificate has them: a box, then all of its lower half, then of its upper half."""
    what, lower, upper = np.zeros(count, dtype=np.int16), np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    made = 1
    for ids, joints in halved:
        what[ids], lower[ids] = joints, made + np.arange(len(ids))
        upper[ids], made = lower[ids] + len(ids), made + 2 * len(ids)
    for ids, end in ends:
        what[ids] = end
    out, left = [], [0]
    while left:
        node = left.pop()
        out.append(what[node])
        if what[node] >= 0:
            left += [int(upper[node]), int(lower[node])]
    return np.array(out, dtype=np.int16)
