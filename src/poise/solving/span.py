"""How far a frame can be from a point of the world, at most: what a length rules out needs no search.

Two neighbouring axes are fixed to the link between them, so any point of one keeps its distance to any point of the
other.  A walk from axis to axis is therefore no shorter than the way from its first point to its last, wherever the
joints stand.  Each axis may be touched where it makes the walk shortest: between its neighbours' points, by Heron's
mirror.  A slide adds what it travels.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.kernels.machine.layout import BALL_AXES, BALL_TURN, PRISMATIC
from poise.model.model import Model
from poise.model.tree import Unit
from poise.quaternions import quaternion_matrix
from poise.spatial import SE3, Array

_SWEEPS: Final = 50
"""Over all axes; each makes the walk shorter, and any walk is a bound."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """The `point` of a frame is never farther than `radius` from `centre`."""

    centre: Array
    """(3,) in the world [m]."""
    radius: float
    """[m]; inf if a slide without limits carries the frame."""
    point: Array
    """(3,) in the frame [m]."""
    heights: Array
    """(n,) where the walk touches each of the axes, along it [m]."""


def span(
    model: Model, frame: str, *, limits: bool, of_pose: bool, offset: SE3 | None = None, shortest: bool = True
) -> Span:
    """The span of the frame's origin, or with `of_pose` of that point of the last axis for which it is smallest.

    Such a point keeps its place in the frame, so where a whole pose would put it is known.  The frame is that of a tool
    at `offset`, if there is one.  Unless the walk is to be the `shortest`, it goes from origin to origin.
    """
    unit, hangs = model.tree.links[model.frame(frame).link]
    tool = hangs @ model.frame(frame).origin @ (SE3.identity() if offset is None else offset)
    units = [model.tree.units[i] for i in model.tree.path(unit)]
    middles, travels = np.array([_stroke(model, u, limits=limits) for u in units]).T
    turns = [quaternion_matrix(u.placement.wxyz) for u in units]
    places = [u.placement.xyz + s * turn[:, 2] for u, s, turn in zip(units, middles, turns, strict=True)]
    heights, last = np.zeros(len(units)), len(units) - 1

    def on_axis(i: int) -> Array:
        """The point of axis i that the walk touches, in the frame of the unit before."""
        return places[i] + heights[i] * turns[i][:, 2]

    def after(i: int) -> Array | None:
        """Where the walk goes from axis i, in the frame of its unit."""
        return on_axis(i + 1) if i < last else None if of_pose else tool.xyz

    def before(i: int) -> Array | None:
        """Where the walk comes from, in the frame of unit i before it moves."""
        return None if i == 0 else (np.array([0.0, 0.0, heights[i - 1]]) - places[i]) @ turns[i]

    for _ in range(_SWEEPS if shortest else 0):
        for i, u in enumerate(units):
            if u.kind not in (BALL_AXES, BALL_TURN):
                heights[i] = _mirror([p for p in (before(i), after(i)) if p is not None], heights[i])
    walk = sum(np.linalg.norm(p - [0.0, 0.0, heights[i]]) for i in range(last + 1) if (p := after(i)) is not None)
    held = tool.inverse().act([0.0, 0.0, heights[last]]) if of_pose else np.zeros(3)
    return Span(on_axis(0), float(walk + travels.sum()), held, heights)


def _stroke(model: Model, unit: Unit, *, limits: bool) -> tuple[float, float]:
    """The middle of what a unit slides, and how far it goes from there [m]; 0 and inf if nothing ends it."""
    slide = 1.0 if unit.kind == PRISMATIC else unit.pitch
    if slide == 0.0:
        return 0.0, 0.0
    if unit.multiplier == 0.0:
        return slide * unit.offset, 0.0
    ends = slide * (np.array([model.lower[unit.iq], model.upper[unit.iq]]) * unit.multiplier + unit.offset)
    if not (limits and np.isfinite(ends).all()):
        return 0.0, np.inf
    return float(ends.mean()), float(np.abs(ends[1] - ends[0])) / 2.0


def _mirror(neighbours: list[Array], height: float) -> float:
    """The height on the z axis from which the ways to one or two points are shortest together."""
    away = [float(np.hypot(p[0], p[1])) for p in neighbours]
    if len(neighbours) == 1:
        return float(neighbours[0][2])
    if sum(away) == 0.0:
        return float(np.clip(height, *sorted(p[2] for p in neighbours)))
    return float(neighbours[0][2] * away[1] + neighbours[1][2] * away[0]) / sum(away)
