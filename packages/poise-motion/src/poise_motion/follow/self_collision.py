"""Robots whose shapes are kept apart while they follow a body: what their feet stand on, and what came near.

A foot that stands touches the ground, so a floor of a world is no obstacle to it: where feet stand is the affair of
their tasks.  All else, shins, hands and trunk, is kept from it; a shin only where the foot is a link of its own.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Final

import numpy as np

from poise import SE3, CollisionLimit, InvalidValue, Model, PoseTask, World
from poise.extending import Array, ByPair, broken_along, near_along
from poise_motion.anatomy.contact_schedule import Contact, Flags
from poise_motion.follow.task_stack import Standing
from poise_motion.reference.bodies import Robot, Source, Targets

_TOUCH: Final = 0.01
"""What a sole that stands where it shall is nearer to than this, it stands on [m]."""
_TOUCHING: Final = CollisionLimit(min_distance=0.0)
"""For which a model keeps its shapes packed."""
_SHOWN: Final = 3
"""Pairs that a note names."""


def standing(limit: CollisionLimit, robot: Robot, source: Source, targets: Targets) -> CollisionLimit:
    """The limit, in which feet may touch the shapes of its world on which one of them stands."""
    if limit.world is None or robot.fixed_base:
        return limit
    feet = [link for part in robot.soles for link in what_stands(robot, part)]
    wide = replace(limit, min_distance=max(limit.min_distance, _TOUCH))
    for contact in source.contacts.intervals:
        part, middle = contact.part, (contact.start + contact.stop) // 2
        task = PoseTask(robot.frames[part], offset=SE3.from_parts(robot.points[part]))
        there = SE3(np.concatenate([targets.places[part][middle], targets.turns[part][middle]]))
        found = wide.at_target(robot.model, task, there)
        if found is not None and found[0].distance < wide.min_distance:
            ground = next(name for name in found[0].pair if name in limit.world.names)
            pairs = [(link, ground) for link in feet]
            limit, wide = (replace(one, allowed=[*one.allowed, *pairs]) for one in (limit, wide))
    return limit


def with_ground(
    limit: CollisionLimit | None, world: World, *, min_distance: float, self_collision: bool
) -> CollisionLimit:
    """A limit that keeps the robot out of the shapes of a world too; its numbers are those of `limit`, if there is one.

    Raises ValueError for a name that is in both worlds.
    """
    if limit is None:
        return CollisionLimit(world, min_distance=min_distance, self_collision=self_collision)
    own = World() if limit.world is None else copy(limit.world)
    for name in world.names:
        if name in own:
            raise InvalidValue(
                "duplicate",
                f"{name!r} is a shape of ground and of the world of a CollisionLimit: give one of them another name",
            )
        own.add(name, world[name])
    return replace(limit, world=own)


def touching(limit: CollisionLimit, robot: Robot, stances: Iterable[Contact | Standing]) -> CollisionLimit:
    """The limit, in which feet may touch the shapes of the ground on which they stand.

    How deep a foot may be there its tasks say; hands and knees stand at the least distance.
    """
    stood_on = {(one.part, name) for one in stances if one.part not in robot.props for name in one.shapes}
    pairs = [(link, name) for part, name in sorted(stood_on) for link in what_stands(robot, part)]
    return replace(limit, allowed=[*limit.allowed, *pairs]) if pairs else limit


def what_stands(robot: Robot, part: str) -> list[str]:
    """The links with shapes of what stands: a foot that is a link of its own and what is fixed beneath it, or else all
    that is one body with it."""
    model, own = robot.model, robot.model.frame(robot.frames[part]).link
    links = model.tree.links
    rigid = [link for link in model.fitted_shapes if links[link][0] == links[own][0]]
    beneath = [link for link in rigid if link == own or own in (joint.parent for joint in model.root_path(link))]
    return beneath or rigid


def collision_notes(limit: CollisionLimit, robot: Robot, path: Array) -> list[str]:
    """In sentences, which pairs were at their least distance along a path (frames, nq), and how often; and which are
    nearer, those apart that have a finger.

    Links that are built near are left out where they are so all the time.
    """
    at, over = near_along(limit, robot.model, path)
    fingers = _fingers(robot)
    at = {pair: share for pair, share in at.items() if fingers.isdisjoint(pair)}
    body = {pair: depth for pair, depth in over.items() if fingers.isdisjoint(pair)}
    closed = {pair: depth for pair, depth in over.items() if pair not in body}
    out = []
    if at:
        names = [f"{_both(pair)} in {share:.1%}" for pair, share in at.items()]
        more = f", and {len(names) - _SHOWN} pairs more" if len(names) > _SHOWN else ""
        out.append(f"at the least distance that they keep: {', '.join(names[:_SHOWN])} of the frames{more}")
    if body:
        out.append(f"nearer than they may be: {_deepest(body)}; no posture was found that keeps them apart")
    if closed:
        out.append(
            f"fingers are nearer than they may be, for they do not move for a CollisionLimit: {_deepest(closed)}"
        )
    return out


def meeting(model: Model, path: Array) -> Flags:
    """(frames,) whether links of a robot are in one another along a path (frames, nq), those apart that are built so.

    Of a model without shapes none is.  Raises ModelError and MissingExtra for meshes that cannot be read.
    """
    if not any(model.fitted_shapes.values()):
        return np.zeros(len(path), dtype=bool)
    return broken_along(_TOUCHING, model, path)


def _both(pair: tuple[str, str]) -> str:
    return " and ".join(pair)


def _deepest(depths: ByPair) -> str:
    """The first of these pairs, and by how much they are nearer than they may be [m]."""
    names = [f"{_both(pair)} by up to {1e3 * depth:.3g} mm" for pair, depth in depths.items()]
    return ", ".join(names[:_SHOWN]) + (f", and {len(names) - _SHOWN} pairs more" if len(names) > _SHOWN else "")


def _fingers(robot: Robot) -> set[str]:
    """The links that the joints of fingers carry."""
    model, own = robot.model, set(robot.fingers)
    return {link for link in model.links if any(model.follows(joint)[0] in own for joint in model.root_path(link))}
