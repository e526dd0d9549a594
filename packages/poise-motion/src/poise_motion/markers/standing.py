"""Where a descent begins that knows of no frame before: the body turned as a whole, and put where the markers are."""

import itertools
from typing import Final

import numpy as np

from poise import JointKind, Model
from poise.extending import WORLD, Array, MarkerDescent
from poise.quaternions import quaternion_exp, quaternion_product
from poise_motion.markers.off import offs, root_mean_square

_QUARTER: Final = 0.5 * np.pi
_ENOUGH: Final = 0.04
"""Root mean square of what is off with which the first descent is believed [m]: a body that stands the wrong way round
has several times as much, and one that is scaled ill less."""
_TRIED: Final = 4
"""Of the turned bodies, how many descend: those nearest to the markers."""


def begin(descent: MarkerDescent, goals: Array, aims: Array, home: Array) -> Array:
    """(nq,) where to begin with a first frame, goals (1, width) and aims (1, n).

    It is `home`, put where the markers are, if a descent from there comes near to what was measured; else of several
    such bodies, turned by right angles, that from which one comes nearest.
    """
    model, frames = descent.model, descent.frames
    points = goals[0, : 3 * len(frames)].reshape(-1, 3)
    seen = ~np.isnan(points[:, 0])
    if np.isnan(goals).all():
        return home
    base = _base(model, (*frames, *descent.sensors))
    first = _put(model, home, base, frames, points, seen)
    cost, off = _descend(descent, goals, aims, first)
    if off < _ENOUGH:
        return first
    others = [_put(model, q, base, frames, points, seen) for q in _turned(model, home, base)]
    others.sort(key=lambda q: _descend(descent, goals, aims, q, most=0)[0])
    best = first
    for q in others[:_TRIED]:
        found, _ = _descend(descent, goals, aims, q)
        if found < cost:
            best, cost = q, found
    return best


def _descend(descent: MarkerDescent, goals: Array, aims: Array, start: Array, most: int = 200) -> tuple[float, float]:
    """What a descent comes to, and the root mean square of how far all are off there [m]."""
    path, answers = np.empty((1, len(start))), np.empty((1, 2))
    found = np.empty((1, len(descent.frames) + len(descent.sensors), 3))
    descent.follow(goals, aims, path, found, answers, start, most)
    return float(answers[0, 0]), float(root_mean_square(np.concatenate(offs(descent, goals, found), axis=1))[0])


def _base(model: Model, frames: tuple[str, ...]) -> list[str]:
    """The joints that carry all of these frames, from the world on."""
    carrier = {joint.child: joint for joint in model.joints}
    ways = []
    for link in {model.frame(name).link for name in frames}:
        way = []
        while link != WORLD and link in carrier:
            way.append(carrier[link].name)
            link = carrier[link].parent
        ways.append(way[::-1])
    common = [names[0] for names in itertools.takewhile(lambda names: len(set(names)) == 1, zip(*ways, strict=False))]
    return [name for name in common if model.joint(name).nq]


def _turned(model: Model, home: Array, base: list[str]) -> list[Array]:
    """The body turned as a whole by right angles, each orientation once."""
    turning = [name for name in base if model.joint(name).kind in (JointKind.REVOLUTE, JointKind.CONTINUOUS)][:3]
    found: dict[tuple[float, ...], Array] = {}
    for turns in itertools.product(range(4), repeat=3):
        q = home.copy()
        for name, k in zip(turning, turns, strict=False):
            q[model.index(name)] += _QUARTER * (k if k < 3 else -1)
        for name in base:
            joint = model.joint(name)
            if joint.quaternion_at is not None:
                at = model.index(name).start + joint.quaternion_at
                q[at : at + 4] = quaternion_product(_quarters(turns), q[at : at + 4])
        body = model.pose(model.joint(base[-1]).child, q) if base else None
        key = () if body is None else tuple(np.round(body.rotation.matrix().ravel(), 3) + 0.0)
        found.setdefault(key, q)
    return [model.clip(q) for q in found.values()]


def _put(model: Model, q: Array, base: list[str], frames: tuple[str, ...], points: Array, seen: Array) -> Array:
    """q with the joints of the base slid so that the middle of the markers is where it was measured."""
    sliding = []
    for name in base:
        joint, at = model.joint(name), model.index(name).start
        if joint.kind is JointKind.PRISMATIC:
            sliding.append(at)
        elif joint.kind is JointKind.FLOATING:
            sliding += [at, at + 1, at + 2]
        elif joint.kind is JointKind.PLANAR:
            sliding += [at, at + 1]
    if not sliding or not seen.any():
        return q
    some = [name for name, there in zip(frames, seen, strict=True) if there]

    def middle(at: Array) -> Array:
        here: Array = model.poses(at, some).xyz.mean(axis=0)
        return here

    now, unit = middle(q), np.eye(model.nq)
    slopes = np.column_stack([middle(q + unit[at]) - now for at in sliding])
    out = q.copy()
    out[sliding] += np.linalg.lstsq(slopes, points[seen].mean(axis=0) - now, rcond=None)[0]
    return model.clip(out)


def _quarters(turns: tuple[int, ...]) -> Array:
    """The quaternion of right angles about x, then y, then z."""
    out = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, k in zip(np.eye(3), turns, strict=True):
        out = quaternion_product(quaternion_exp(_QUARTER * k * axis), out)
    return out
