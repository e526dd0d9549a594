"""What a CollisionLimit says of a path as a whole, and models that share what it has found of their shapes."""

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.model.model import Model
from poise.model.proximity import excluded_pairs, meetings
from poise.solving.requirements.clearance import Clearance
from poise.solving.requirements.collision import AT_DISTANCE, SAID, CollisionLimit

ByPair: TypeAlias = Mapping[tuple[str, str], float]
"""A number by two names, of links or of shapes of a world."""
_BROKEN: Final = 1e-5
"""A distance that is less than the least by more is told of [m]."""


def near_along(limit: CollisionLimit, model: Model, path: Array) -> tuple[ByPair, ByPair]:
    """By pair, the share of the frames of a path (frames, nq) in which it is at its least distance, and by how much it
    is nearer than that at most [m]; the largest first.

    Links that are built near are left out of the first where they are so all the time.
    """
    scene = limit.scene(model)
    count = len(scene.groups)
    near, deepest = np.zeros((count, count)), np.zeros((count, count))
    margin = np.array([limit.min_distance + AT_DISTANCE])
    for q in path:
        _, least = meetings(scene, q[None], margin)
        near += least < margin
        deepest = np.maximum(deepest, limit.min_distance - least)
    shares, depths = dict[tuple[str, str], float](), dict[tuple[str, str], float]()
    for i, j in zip(*np.nonzero(np.triu(near)), strict=True):
        one, other = scene.groups[i][1], scene.groups[j][1]
        share, depth = float(near[i, j] / len(path)), float(deepest[i, j])
        if share < 1.0 or limit.least(model, one, other) == limit.min_distance:
            shares[one, other] = share
        if depth > _BROKEN:
            depths[one, other] = depth
    return _falling(shares), _falling(depths)


def broken_along(limit: CollisionLimit, model: Model, path: Array) -> npt.NDArray[np.bool_]:
    """(frames,) whether some pair is nearer than it may be, along a path (frames, nq)."""
    with Clearance.borrowed(model, limit) as clearance:
        assert clearance is not None
        return clearance(np.array(path)) < -_BROKEN


def _falling(values: ByPair) -> ByPair:
    """The largest first."""
    return dict(sorted(values.items(), key=lambda one: -one[1]))


def as_looked_at(model: Model, other: Model) -> Model:
    """A model of the same links, with the shapes and the pairs of `other` that are looked at: neither is found anew,
    and what was said of one is not said of the other again."""
    made = model.with_shapes(other.fitted_shapes, [(a, b) for a, b in map(sorted, excluded_pairs(other))])
    made.queries[SAID] = other.queries.setdefault(SAID, set())
    return made
