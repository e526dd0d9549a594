"""Corners of a polyline of poses, rounded: straight lines, and between two of them a curve that leaves no corner.

A corner is a Bezier curve of the fifth degree, with three control points on either line, so that its curvature begins
and ends at 0.  It leaves the line at a length L before the corner, and passes that at 23/96 L |e - d|, where d and e
are the directions of the lines.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.model.model import Model
from poise.quaternions import conjugate, quaternion_exp, quaternion_log, quaternion_product
from poise.solving.path.waypoints import goals_of
from poise.tasks.base import Task
from poise.tasks.pose import PoseTask, PositionTask

_NEAREST: Final = 1.005 * 23.0 / 96.0
"""How far the curve passes the corner, in terms of L |e - d|, and a little more, which the rows of a path cut off."""
_WAY: Final = 0.01
"""How far a tool goes from a row to the next, at most [m]."""
_TURN: Final = 0.05
"""How far it turns, at most [rad]."""
_PARTS: Final = 12
"""Rows of a curve, at least."""
_CONTROL: Final = np.array([1.0, 2.0 / 3.0, 1.0 / 3.0])
"""How far the control points are from the corner, in terms of L."""
_BINOMIAL: Final = np.array([1.0, 5.0, 10.0, 10.0, 5.0, 1.0])


def rounded(model: Model, tasks: Sequence[Task], poses: Any, blend: float) -> Array:
    """(m, 7) poses, or (m, 3) places, along the lines between those of one task, corners passed within `blend` [m].

    Raises ValueError for tasks that are not one PoseTask or PositionTask, and for what is no target.
    """
    if len(tasks) != 1 or not isinstance(tasks[0], PoseTask | PositionTask):
        raise InvalidValue(
            "not-supported",
            f"blend rounds the corners of a way of one frame, and the tasks are {', '.join(x.label for x in tasks)}: "
            "give one PoseTask or PositionTask, or leave blend out and give poses that are rounded already",
        )
    (goals,) = goals_of(model, tasks, poses)
    xyz = goals[:, :3]
    turns = goals[:, 3:] if isinstance(tasks[0], PoseTask) else np.tile([1.0, 0.0, 0.0, 0.0], (len(goals), 1))
    ways = np.diff(xyz, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    along = ways / np.maximum(lengths, 1e-300)[:, None]
    rooms = np.zeros(len(goals))
    bends = np.linalg.norm(np.diff(along, axis=0), axis=1)
    rooms[1:-1] = np.minimum(blend / np.maximum(_NEAREST * bends, 1e-3), 0.5 * np.minimum(lengths[:-1], lengths[1:]))
    places, rotations = [xyz[:1]], [turns[:1]]
    for k in range(len(goals) - 1):
        turn = quaternion_log(quaternion_product(conjugate(turns[k]), turns[k + 1]))
        size = max(float(lengths[k]), 1e-300)
        first, last = rooms[k] / size, 1.0 - rooms[k + 1] / size
        parts = 1 + int(max((last - first) * lengths[k] / _WAY, (last - first) * np.linalg.norm(turn) / _TURN))
        share = np.linspace(first, last, parts + 1)[1:, None]
        places.append(xyz[k] + share * ways[k])
        rotations.append(quaternion_product(turns[k], quaternion_exp(share * turn)))
        if rooms[k + 1] > 0.0:
            ahead = quaternion_log(quaternion_product(conjugate(turns[k + 1]), turns[k + 2]))
            onward = rooms[k + 1] / lengths[k + 1]
            weights = _weights(_PARTS + int(2.0 * rooms[k + 1] / _WAY))
            places.append(xyz[k + 1] + rooms[k + 1] * (weights @ _points(-along[k], along[k + 1])))
            bent = weights @ _points(-(1.0 - last) * turn, onward * ahead)
            rotations.append(quaternion_product(turns[k + 1], quaternion_exp(bent)))
    rows = np.concatenate([np.concatenate(places), np.concatenate(rotations)], axis=1)
    return np.ascontiguousarray(rows if isinstance(tasks[0], PoseTask) else rows[:, :3])


def _points(back: Array, on: Array) -> Array:
    """(6, 3) control points from the end of one vector (3,) by the corner, 0, to the end of the other."""
    return np.concatenate([_CONTROL[:, None] * back, _CONTROL[::-1, None] * on])


def _weights(parts: int) -> Array:
    """(parts, 6) Bernstein polynomials of the fifth degree, at the ends of so many even parts."""
    x, power = np.linspace(0.0, 1.0, parts + 1)[1:, None], np.arange(6)
    return np.asarray(_BINOMIAL * x**power * (1.0 - x) ** (5 - power), dtype=np.float64)
