"""Animals on robots with four legs.

An animal's trunk bends where a robot's is rigid: the robot's follows the line from the hips to the shoulders, and each
paw goes on as the animal's does under a trunk of that shape.  An animal's leg bends more than once between the trunk
and the paw, forwards at the stifle and backwards at the hock, and a robot's bends once: its knee is that joint of the
animal's which bends to the same side.  An animal stands on its paws, the ends of its limbs, below hock and carpus.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.motion.clip import Motion
from poise.quaternions import matrix_quaternion, unit_vectors
from poise.retargeting.anatomy.foot_geometry import ball
from poise.retargeting.anatomy.parts import HIPS, LIMBS
from poise.retargeting.reference.targets import Robot, Source
from poise.retargeting.reference.within_reach import SHOULDERS, Leg
from poise.solving.arguments.lru_cache import kept

BOLD: Final = 2.0
"""How much larger than its hips are high an animal counts where it is looked for what stands: it is faster for its
size than a person, and its paws roll."""
_STRETCH: Final = 0.88
"""How straight an animal's leg is that the robot's comes up to when it is straight: how far its paw is from the trunk,
as a share of its bones; or, of one with straighter legs, as far as it is in so many of its frames:"""
_MOST: Final = 0.8
_LOW: Final = 0.3
"""How much higher than its feet a body has its hands that goes on them too, at most, as a share of its arms."""
_BENT: Final = 0.05
"""Least mean sine of a bend that shows to which side a limb bends."""


def on_four(source: Motion | Model, frames: Mapping[str, str]) -> bool:
    """Whether a body whose parts have these frames goes on its hands as on its feet, in most of its frames."""
    if not all(part in frames for limb in LIMBS.values() for part in (limb[0], limb[2])):
        return False
    ends = _places(source, [frames[limb[2]] for limb in LIMBS.values()])
    is_arm = np.array([name.endswith("arm") for name in LIMBS])
    above = ends[:, is_arm, 2].mean(axis=1) - ends[:, ~is_arm, 2].mean(axis=1)
    arms = [chain for name, chain in _chains(source, frames).items() if name.endswith("arm")]
    return float(np.median(np.abs(above))) < _LOW * float(np.mean([_length(source, chain) for chain in arms]))


def on_paws(source: Motion | Model, frames: Mapping[str, str], robot: Model, own: Mapping[str, str]) -> dict[str, str]:
    """The frames of an animal's parts, of which ankles and wrists are its paws, and each knee and elbow the joint that
    bends to the same side as the robot's, whose parts have the frames `own`."""
    out = dict(frames)
    for name, chain in _chains(source, frames).items():
        inner, middle, outer = LIMBS[name]
        out[outer] = chain[-1]
        wanted = _bends(robot, own, [own[part] for part in (inner, middle, outer)])
        bends = [wanted * _bends(source, frames, [chain[0], joint, chain[-1]]) for joint in chain[1:-1]]
        if bends and (middle not in frames or (abs(wanted) > _BENT and max(bends) > _BENT * abs(wanted))):
            out[middle] = chain[1 + int(np.argmax(bends))]
    return {part: frame for part, frame in out.items() if not part.endswith("toe")}


def on_four_legs(robot: Robot, source: Motion | Model, frames: Mapping[str, str]) -> Robot:
    """A robot that follows an animal whose parts have these frames: its size is told by all bones of its legs, which
    do not go round and stand on the balls at their ends."""
    points, soles, roundings = dict(robot.points), dict(robot.soles), dict(robot.roundings)
    for part in robot.soles:
        found = ball(robot.model, robot.frames[part])
        if found is not None:
            points[part], roundings[part] = found
            soles[part] = (points[part] - roundings[part] * robot.axes[part][:, 2])[None]
    made = replace(
        robot,
        model=kept(robot.model, (_within_a_turn, *robot.soles), partial(_within_a_turn, robot)),
        points=points,
        soles=soles,
        roundings=roundings,
    )
    own = [Leg.of(made, *parts).longest for parts in LIMBS.values()]
    chains = list(_chains(source, frames).values())
    lengths = np.array([_length(source, chain) for chain in chains])
    ends = [_places(source, [chain[0], chain[-1]]) for chain in chains]
    far = [np.linalg.norm(places[:, 1] - places[:, 0], axis=-1) for places in ends]
    most = np.array([np.quantile(path, _MOST) for path in far])
    stretch = max(_STRETCH, float(np.mean(most / lengths)))
    size = sum(own) / (stretch * float(lengths.sum()))
    return replace(made, scale=size)


def _within_a_turn(robot: Robot) -> Model:
    """The model, whose hinges that go all the way round go half a turn from home, and aside a quarter."""
    model, ahead = robot.model, robot.rest(HIPS[0]).xyz - robot.rest(SHOULDERS[0]).xyz
    limits = {}
    for name in {joint.name for part in robot.soles for joint in model.root_path(model.frame(robot.frames[part]).link)}:
        joint = model.joint(name)
        if joint.nq == 1 and joint.upper[0] - joint.lower[0] > 2.0 * np.pi:
            axis = model.pose(joint.child, model.neutral).rotation.act(np.array(joint.axis))
            aside = abs(float(axis @ ahead)) > 0.5**0.5 * float(np.linalg.norm(ahead))
            home, most = float(model.home[model.index(name)][0]), 0.5 * np.pi if aside else np.pi
            limits[name] = (max(joint.lower[0], home - most), min(joint.upper[0], home + most))
    return model.with_limits(limits) if limits else model


def on_rigid_trunk(source: Source, robot: Robot) -> Source:
    """The animal if its trunk were as the robot's is, which goes on where the animal's does, along the line from the
    hips to the shoulders, with limbs that are held alike: the paws are farther apart, or nearer, by as much as the
    robot's hips and shoulders are."""
    corners = (*HIPS, *SHOULDERS)
    rest = {part: robot.rest(part, robot.root).xyz for part in corners}
    own, between = _trunk({part: place[None] for part, place in rest.items()})
    axes, middle = _trunk({part: source.places[part] for part in corners})
    back = np.swapaxes(axes, -1, -2)
    places, turns = dict(source.places), dict(source.turns)
    for inner, knee, outer in LIMBS.values():
        there = own[0].T @ (rest[inner] - between[0]) / robot.scale
        seen = np.median(np.einsum("fij,fj->fi", back, source.places[inner] - middle), axis=0)
        places[inner] = middle + axes @ there
        places[knee] = places[inner] + source.places[knee] - source.places[inner]
        places[outer] = source.places[outer] + (axes @ (there - seen)) * (1.0, 1.0, 0.0)
    places[robot.root] = middle
    turns[robot.root] = matrix_quaternion(axes @ own[0].T)
    return replace(source, places=places, turns=turns)


def _trunk(places: Mapping[str, Array]) -> tuple[Array, Array]:
    """(frames, 3, 3) forward, left and up as columns of a trunk, and (frames, 3) its middle, from the places
    (frames, 3) of hips and shoulders."""
    hips, shoulders = (np.mean([places[part] for part in pair], axis=0) for pair in (HIPS, SHOULDERS))
    forward = unit_vectors(shoulders - hips)
    across = [unit_vectors(places[left] - places[right]) for left, right in (HIPS, SHOULDERS)]
    left = np.sum(across, axis=0)
    left = unit_vectors(left - forward * np.sum(left * forward, axis=-1, keepdims=True))
    return np.stack([forward, left, np.cross(forward, left)], axis=-1), 0.5 * (hips + shoulders)


def _chains(source: Motion | Model, frames: Mapping[str, str]) -> dict[str, list[str]]:
    """By limb, the frames at its joints from the trunk to its end, the farthest from its ankle or wrist that hangs on
    it."""
    model = source.model if isinstance(source, Motion) else source
    out = {}
    for name, (inner, _, outer) in LIMBS.items():
        first, link = (model.frame(frames[part]).link for part in (inner, outer))
        beyond = [frame for frame in model.frames if _hangs(model, frame, link)]
        places = _places(source, [frames[outer], *beyond])
        far = np.median(np.linalg.norm(places[:, 1:] - places[:, :1], axis=-1), axis=0)
        tip = beyond[int(np.argmax(far))] if far.max() > 0.0 else frames[outer]
        carried = [joint.child for joint in model.root_path(model.frame(tip).link)]
        links = carried[carried.index(first) + 1 :]
        out[name] = [frames[inner], *(link for link in links if link != tip), tip]
    return out


def _hangs(model: Model, frame: str, link: str) -> bool:
    """Whether a frame is on a link, or is carried by it."""
    own = model.frame(frame).link
    return own == link or any(joint.child == link for joint in model.root_path(own))


def _length(source: Motion | Model, chain: list[str]) -> float:
    """From frame to frame along a chain [m]."""
    return float(np.median(np.linalg.norm(np.diff(_places(source, chain), axis=1), axis=-1), axis=0).sum())


def _bends(source: Motion | Model, frames: Mapping[str, str], bones: list[str]) -> float:
    """The mean sine of the bend between two bones, given by three frames, about the left of the body; more than 0 where
    the middle one is in front."""
    sides = [frames[part] for part in HIPS]
    places = _places(source, [*sides, *bones])
    left = unit_vectors(places[:, 0] - places[:, 1])
    first, second = unit_vectors(places[:, 3] - places[:, 2]), unit_vectors(places[:, 4] - places[:, 3])
    return float(np.mean(np.sum(np.cross(first, second) * left, axis=-1)))


def _places(source: Motion | Model, names: list[str]) -> Array:
    """(frames, k, 3) where frames are: of a motion, or of a model at `home` [m]."""
    if isinstance(source, Motion):
        return source.positions(names)
    return source.poses(source.home[None], names).xyz
