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

from poise import Model, Motion
from poise.extending import Array, cached
from poise.quaternions import matrix_quaternion, unit_vectors
from poise_motion.anatomy.foot_geometry import ball
from poise_motion.anatomy.four_legs import chains_of, length_of, places_of
from poise_motion.anatomy.parts import HIPS, LIMBS
from poise_motion.reference.bodies import Robot, Source
from poise_motion.reference.within_reach import SHOULDERS, Leg

BOLD: Final = 2.0
"""How much larger than its hips are high an animal counts where it is looked for what stands: it is faster for its
size than a person, and its paws roll."""
_STRETCH: Final = 0.88
"""How straight an animal's leg is that the robot's comes up to when it is straight: how far its paw is from the trunk,
as a share of its bones; or, of one with straighter legs, as far as it is in so many of its frames:"""
_MOST: Final = 0.8


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
        model=cached(robot.model, (_within_a_turn, *robot.soles), partial(_within_a_turn, robot)),
        points=points,
        soles=soles,
        roundings=roundings,
    )
    own = [Leg.of(made, *parts).longest for parts in LIMBS.values()]
    chains = list(chains_of(source, frames).values())
    lengths = np.array([length_of(source, chain) for chain in chains])
    ends = [places_of(source, [chain[0], chain[-1]]) for chain in chains]
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
