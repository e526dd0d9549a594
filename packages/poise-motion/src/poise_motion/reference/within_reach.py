"""How high a trunk on four legs is: as the animal's, but where legs that bend once cannot follow.

The knee of a leg is where its two bones meet, on the side to which it folds, in the plane of the foot and the way
ahead.  Where an animal sits, the hips of a robot whose knees point back are higher, so that neither these nor the trunk
are in the ground; likewise the shoulders.  That is told before a robot follows, so that what it follows can be.
"""

from dataclasses import dataclass, replace
from typing import Final, Self, final

import numpy as np

from poise import SE3, Model, PoseTask, PositionTask, Tracker
from poise.extending import Array
from poise.quaternions import matrix_quaternion, quaternion_matrix, rotate, unit_vectors
from poise_motion.anatomy.foot_geometry import around
from poise_motion.anatomy.parts import HIPS, LIMBS, SIDES
from poise_motion.reference.bodies import Robot, Targets

SHOULDERS: Final = tuple(f"{side}_shoulder" for side in SIDES)
_LEGS: Final = tuple(LIMBS[f"{side}_{limb}"] for limb in ("leg", "arm") for side in SIDES)
"""The hind legs, then those in front."""
_LOOKS: Final = 181
_HEIGHTS: Final = 101
"""Heights that are tried, up to the length of a leg."""
_PASSES: Final = 4
_STEPS: Final = 200
"""From the robot's home to its first posture."""
_EASE: Final = 0.12
"""Over which a height changes [s]."""


@final
@dataclass(frozen=True, slots=True)
class Leg:
    """A leg that bends once."""

    thigh: float
    shin: float
    """The lengths of its bones [m]."""
    shortest: float
    longest: float
    """How far its foot may be from the hip [m]."""
    ahead: float
    """1 if the knee points forward, -1 if it points back."""
    radius: float
    """How far the thigh goes on beyond the knee [m]."""
    thickness: float
    """How far it goes from its bone to the side to which the leg folds [m]."""
    above: float
    """How high its hip is over the ground, at least [m]."""

    @classmethod
    def of(cls, robot: Robot, inner: str, middle: str, outer: str) -> Self:
        """That of a robot, by its parts."""
        model, frames = robot.model, [robot.frames[part] for part in (inner, middle, outer)]
        hinge = model.root_path(model.frame(frames[1]).link)[-1]
        q = np.repeat(model.home[None], _LOOKS, axis=0)
        q[:, model.index(hinge.name)] = np.linspace(hinge.lower[0], hinge.upper[0], _LOOKS)[:, None]
        poses = model.poses(q, frames)
        hip, foot = (poses[:, k].act(robot.points[part]) for k, part in ((0, inner), (2, outer)))
        far = np.linalg.norm(foot - hip, axis=1)
        home = model.poses(model.home, [*frames, *(robot.frames[part] for part in HIPS)])
        a, b, c = (home[k].act(robot.points[part]) for k, part in enumerate((inner, middle, outer)))
        left = home[3].act(robot.points[HIPS[0]]) - home[4].act(robot.points[HIPS[1]])
        bone = robot.rest(middle, inner).xyz
        corners = around(model, frames[0])
        along = (corners - robot.points[inner]) @ unit_vectors(bone)
        aside = (home[0].act(corners) - a) @ unit_vectors(np.cross(b - a, left))
        return cls(
            robot.bone(middle, inner),
            robot.bone(outer, middle),
            float(far.min()),
            float(far.max()),
            float(np.sign(np.cross(b - a, c - b) @ left)),
            float(along.max(initial=0.0)) - float(np.linalg.norm(bone)) if len(along) else 0.0,
            float(np.abs(aside).max(initial=0.0)),
            max(0.0, -float(along.min(initial=0.0))),
        )

    def knee(self, hip: Array, foot: Array, forward: Array) -> Array:
        """(..., 3) where the knee is, from the places (..., 3) of hip and foot and the way ahead (..., 3)."""
        way = foot - hip
        far = np.linalg.norm(way, axis=-1, keepdims=True)
        along = way / np.maximum(far, 1e-9)
        side = unit_vectors(forward - along * np.sum(forward * along, axis=-1, keepdims=True))
        far = np.clip(far, self.shortest, self.longest)
        share = (self.thigh**2 - self.shin**2 + far**2) / (2.0 * far)
        bend = np.sqrt(np.maximum(self.thigh**2 - share**2, 0.0))
        out: Array = hip + along * share + self.ahead * side * bend
        return out


def within_reach(wanted: Targets, robot: Robot, times: Array) -> Targets:
    """The targets of a robot with four legs at `times` (frames,), its trunk raised so that its legs can follow."""
    root, legs = robot.root, [Leg.of(robot, *parts) for parts in _LEGS]
    rest = np.array([robot.rest(inner, root).xyz for inner, _, _ in _LEGS])
    box = _trunk(robot)
    feet = np.stack([wanted.places[outer] for _, _, outer in _LEGS], axis=1)
    rises = np.zeros((len(times), 2))
    for _ in range(_PASSES):
        places, turns = _moved(wanted, root, rest, rises)
        rises = rises + _rises(legs, rest, box, places, turns, feet)
    places, turns = _moved(wanted, root, rest, _smoothed(rises, times))
    moved = dict(wanted.places) | {root: places}
    forward = _forward(turns, rest)
    for (inner, middle, outer), leg, offset in zip(_LEGS, legs, rest, strict=True):
        moved[inner] = places + rotate(turns, offset)
        moved[middle] = leg.knee(moved[inner], wanted.places[outer], forward)
    return replace(wanted, places=moved, turns=dict(wanted.turns) | {root: turns})


def posture(robot: Robot, wanted: Targets) -> Array:
    """(nq,) that of a robot with four legs in the first frame, with its knees where they should be."""
    model, root = robot.model, robot.root
    trunk = PoseTask(robot.frames[root], offset=SE3.from_parts(robot.points[root]))
    parts = [part for limb in _LEGS for part in limb[1:]]
    places = [PositionTask(robot.frames[part], priority=1, offset=SE3.from_parts(robot.points[part])) for part in parts]
    loop = Tracker(model, [trunk, *places], "priority", dt=None)
    goals = np.zeros((1 + len(parts), 7))
    goals[:, :3] = [wanted.places[part][0] for part in (root, *parts)]
    goals[0, 3:], goals[1:, 3] = wanted.turns[root][0], 1.0
    loop.targets = goals
    q = np.array(model.home)
    for _ in range(_STEPS):
        loop.step(q, out=q)
    return q


def _trunk(robot: Robot) -> Array:
    """(n, 3) the corners of the boxes around the trunk, and around what is between it and the thighs, as at home."""
    model, trunk = robot.model, robot.frames[robot.root]
    links = {link for inner, _, _ in _LEGS for link in _between(model, trunk, robot.frames[inner])}
    there = model.pose(trunk, model.home).inverse()
    parts = [(there @ model.pose(link, model.home)).act(around(model, link)) for link in sorted(links)]
    return np.concatenate([around(model, trunk), *parts]) - robot.points[robot.root]


def _between(model: Model, above: str, below: str) -> list[str]:
    """The links that joints carry between two frames."""
    carried = [joint.child for joint in model.root_path(model.frame(below).link)]
    return carried[len(model.root_path(model.frame(above).link)) : -1]


def _forward(turns: Array, rest: Array) -> Array:
    """(frames, 3) where a trunk with these turns (frames, 4) points, whose hips and shoulders rest there (4, 3)."""
    out: Array = rotate(turns, unit_vectors(rest[2:].mean(axis=0) - rest[:2].mean(axis=0)))
    return out


def _moved(wanted: Targets, root: str, rest: Array, rises: Array) -> tuple[Array, Array]:
    """(frames, 3) and (frames, 4) the trunk, whose hips and shoulders are higher by (frames, 2) [m]."""
    place, turn = wanted.places[root], wanted.turns[root]
    back, front = rest[:2].mean(axis=0), rest[2:].mean(axis=0)
    middle = 0.5 * (back + front)
    axes = quaternion_matrix(turn)
    own = axes @ (front - back)
    risen = own + (rises[:, 1] - rises[:, 0])[:, None] * (0.0, 0.0, 1.0)
    swung = _swings(unit_vectors(own), unit_vectors(risen)) @ axes
    at = place + axes @ middle + rises.mean(axis=1)[:, None] * (0.0, 0.0, 1.0)
    return at - swung @ middle, matrix_quaternion(swung)


def _swings(one: Array, other: Array) -> Array:
    """(n, 3, 3) the least turns that take unit directions (n, 3) to others, less than half a turn away."""
    axis, cosine = np.cross(one, other), np.sum(one * other, axis=-1)[:, None, None]
    cross = np.zeros((len(one), 3, 3))
    cross[:, [2, 0, 1], [1, 2, 0]], cross[:, [1, 2, 0], [2, 0, 1]] = axis, -axis
    return np.asarray(np.eye(3) + cross + cross @ cross / (1.0 + cosine))


def _rises(legs: list[Leg], rest: Array, box: Array, places: Array, turns: Array, feet: Array) -> Array:
    """(frames, 2) by how much hips and shoulders have to be higher [m]."""
    forward = _forward(turns, rest)
    out = np.zeros((len(places), 2))
    corners = places[:, None] + np.einsum("fij,cj->fci", quaternion_matrix(turns), box)
    ahead = box @ (rest[2:].mean(axis=0) - rest[:2].mean(axis=0)) > 0.0
    for pair in (0, 1):
        low = np.zeros(len(places))
        for k in (2 * pair, 2 * pair + 1):
            hip = places + rotate(turns, rest[k])
            low = np.maximum(low, _least(legs[k], hip, feet[:, k], forward))
            low = np.maximum(low, legs[k].above - hip[:, 2])
        those = corners[:, ahead if pair else ~ahead, 2]
        out[:, pair] = np.maximum(low, -those.min(axis=1, initial=0.0))
    return out


def _least(leg: Leg, hip: Array, foot: Array, forward: Array) -> Array:
    """(frames,) by how much a hip must be higher, at least, for knee and thigh to be over the ground [m]."""
    heights = np.linspace(0.0, leg.thigh + leg.shin, _HEIGHTS)
    there = np.repeat(hip[None], _HEIGHTS, axis=0)
    there[..., 2] += heights[:, None]
    knee = leg.knee(there, foot, forward)[..., 2]
    steep = np.clip((there[..., 2] - knee) / leg.thigh, -1.0, 1.0)
    fits = knee >= np.maximum(leg.radius, leg.radius * steep + leg.thickness * np.sqrt(1.0 - steep**2))
    fits &= np.linalg.norm(foot - there, axis=-1) >= leg.shortest
    return np.where(fits.any(axis=0), heights[np.argmax(fits, axis=0)], 0.0)


def _smoothed(rises: Array, times: Array) -> Array:
    """(frames, k) heights that change no faster than legs do: what is farthest within `_EASE`, averaged."""
    if len(times) < 2:
        return rises
    reach = max(1, round(_EASE / float(np.median(np.diff(times)))))
    for step in (np.max, np.mean):
        padded = np.pad(rises, ((reach, reach), (0, 0)), mode="edge")
        rises = step(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0), axis=-1)
    return rises
