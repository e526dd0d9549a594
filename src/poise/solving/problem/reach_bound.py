"""How far a frame can be from a point of its base, at most: what a length rules out needs no search.

Two neighbouring axes are fixed to the link between them, so any point of one keeps its distance to any point of the
other.  A walk from axis to axis is therefore no shorter than the way from its first point to its last, wherever the
joints stand.  Each axis may be touched where it makes the walk shortest: between its neighbours' points, by Heron's
mirror.  A slide adds what it travels.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.solving.problem.chain import Chain, chain_of
from poise.spatial import SE3

_SWEEPS: Final = 50
"""Over all axes; each makes the walk shorter, and any walk is a bound."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class ReachBound:
    """The `point` of a frame is never farther than `radius` from `centre`."""

    centre: Array
    """(3,) in the base [m]."""
    radius: float
    """[m]; inf if a slide without limits carries the frame."""
    point: Array
    """(3,) in the frame [m]."""
    heights: Array
    """(n,) where the walk touches each of the axes, along it [m]."""


def reach_bound(model: Model, frame: str, *, limits: bool, of_pose: bool) -> ReachBound:
    """The span in the world of the frame's origin, or with `of_pose` of a point of the last axis: see `walk`."""
    return walk(chain_of(model, frame, None, SE3.identity(), limits=limits), of_pose=of_pose, shortest=True)


def walk(chain: Chain, *, of_pose: bool, shortest: bool) -> ReachBound:
    """The span of the frame's origin, or with `of_pose` of that point of the last axis for which it is smallest.

    Such a point keeps its place in the frame, so where a whole pose would put it is known.  Unless the walk is to be
    the `shortest`, it goes from origin to origin.
    """
    axes, last = chain.axes, len(chain.axes) - 1
    turns = [axis.matrix[:3, :3] for axis in axes]
    places = [
        axis.matrix[:3, 3] + axis.slides * axis.centre * turn[:, 2] for axis, turn in zip(axes, turns, strict=True)
    ]
    heights = np.zeros(len(axes))

    def on_axis(i: int) -> Array:
        """The point of axis i that the walk touches, in the body before."""
        return np.asarray(places[i] + heights[i] * turns[i][:, 2])

    def after(i: int) -> Array | None:
        """Where the walk goes from axis i, in the body that it carries."""
        return on_axis(i + 1) if i < last else None if of_pose else chain.hang[:3, 3]

    def before(i: int) -> Array | None:
        """Where the walk comes from, as joint i sees it before it moves."""
        return None if i == 0 else np.asarray((np.array([0.0, 0.0, heights[i - 1]]) - places[i]) @ turns[i])

    for _ in range(_SWEEPS if shortest else 0):
        for i, axis in enumerate(axes):
            if not axis.ball and axis.half > 0.0:
                heights[i] = _mirror([p for p in (before(i), after(i)) if p is not None], heights[i])
    length = sum(np.linalg.norm(p - [0.0, 0.0, heights[i]]) for i in range(last + 1) if (p := after(i)) is not None)
    travels = sum(abs(axis.slides) * axis.half for axis in axes if axis.slides)
    point = np.linalg.solve(chain.hang, [0.0, 0.0, heights[last], 1.0])[:3] if of_pose else np.zeros(3)
    return ReachBound(on_axis(0), float(length + travels), point, heights)


def _mirror(neighbours: list[Array], height: float) -> float:
    """The height on the z axis from which the ways to one or two points are shortest together."""
    away = [float(np.hypot(p[0], p[1])) for p in neighbours]
    if len(neighbours) == 1:
        return float(neighbours[0][2])
    if sum(away) == 0.0:
        return float(np.clip(height, *sorted(p[2] for p in neighbours)))
    return float(neighbours[0][2] * away[1] + neighbours[1][2] * away[0]) / sum(away)
