"""`retarget`: the motion of a skeleton, carried to a robot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.model.model import Model, a_model
from poise.motion.clip import Motion
from poise.retargeting.bending import folding
from poise.retargeting.body import BodyMap
from poise.retargeting.contacts import Contacts, contacts
from poise.retargeting.following import follow
from poise.retargeting.parts import TOES
from poise.retargeting.proportions import Proportions
from poise.retargeting.soles import rounding, sole
from poise.retargeting.targets import Robot, Source, targets, toe
from poise.solving.inequalities import Limit
from poise.spatial import quaternion_product

_HIPS: Final = 0.53
"""How high hips stand, as a share of a body's height (Winter 2009, fig. 4.1)."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Retargeted:
    """What a robot does in place of a skeleton."""

    motion: Motion
    """Of the robot."""
    source: Motion
    body: BodyMap
    contacts: Contacts
    """When the feet stand, as found in the source."""
    notes: tuple[str, ...]


def retarget(
    motion: Motion,
    robot: Model,
    *,
    body: BodyMap | None = None,
    speed: float = 1.0,
    limits: Sequence[Limit] = (),
) -> Retargeted:
    """x"""
    body = BodyMap.found(motion, robot) if body is None else body
    proportions = Proportions.of(motion, robot, body)
    source = _source(motion, body, proportions)
    folds = folding(robot, body.robot)
    soles = {part: sole(robot, body.robot[part]) for part in source.contacts.parts}
    ankles = proportions.robot_points
    toes = {part: toe(points, proportions.robot_axes[part]) for part, points in soles.items()}
    machine = Robot(
        robot.with_limits(folds) if folds else robot,
        {part: body.robot[part] for part in body.parts},
        {**ankles, **toes},
        proportions.robot_axes,
        soles,
        {part: rounding(robot, body.robot[part]) for part in soles},
    )
    goals = targets(source, machine, proportions.scales["leg"], ankles)
    dt = motion.duration / max(len(motion) - 1, 1)
    done = follow(machine, source, goals, dt, limits=limits, speed=speed)
    q = done.q
    global LAST
    LAST = (machine, source, done)
    return Retargeted(Motion(robot, motion.times, q, name=motion.name), motion, body, source.contacts, ())


def _source(motion: Motion, body: BodyMap, proportions: Proportions) -> Source:
    """Where the parts of the skeleton are."""
    names = [body.source[part] for part in body.parts]
    poses = motion.model.poses(motion.q, names)
    places, turns = {}, {}
    for i, part in enumerate(body.parts):
        places[part] = poses[:, i].act(proportions.source_points[part])
        turns[part] = quaternion_product(poses.wxyz[:, i], np.broadcast_to(proportions.offsets[part], (len(motion), 4)))
    for ankle, toe in TOES.items():
        if ankle in places and toe not in places and toe in body.source:
            places[toe] = motion.positions([body.source[toe]])[:, 0]
    paths = {
        part: np.stack([places[point] for point in (part, TOES.get(part)) if point in places], axis=1)
        for part in body.contacts
    }
    size = 1.75 if proportions.standing is None else proportions.standing[0] / _HIPS
    return Source(motion.times, places, turns, contacts(paths, motion.times, size=size, steps=list(paths)))
