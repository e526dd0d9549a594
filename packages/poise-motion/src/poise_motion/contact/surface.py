"""What a body moves over: boxes, stairs and terrain that stand in the world, and the floor at height 0.

How high it is beneath a place is found from above, by balls that fall as far as they are from everything (sphere
tracing, Hart 1996): so the shapes may be of any kind, and what is above a place, as a table, is no ground of it.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, Self, final

import numpy as np

from poise import (
    SE3,
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    HalfSpace,
    InvalidType,
    InvalidValue,
    Model,
    ModelBuilder,
    Sphere,
    World,
)
from poise.clouds import HeightMap, PointCloud
from poise.extending import Array
from poise.quaternions import unit_vectors
from poise.results import Proximity
from poise_motion.anatomy.contact_schedule import Contact, Contacts
from poise_motion.anatomy.parts import KNEES
from poise_motion.contact.contacts import contacts

FLOOR: Final = "floor"
"""What the floor at height 0 is called among the shapes."""
_PROBE: Final = 1e-3
"""The radius of the balls with which distances are measured [m]."""
_WITHIN: Final = 0.1
"""A place may be so deep in what is its ground [m]: recorded feet are."""
_FALLS: Final = 400
"""Of a ball, at most ..."""
_LEAST: Final = 2e-3
"""... of so much at least, for beside a wall it would fall by little [m]."""
_NEAR: Final = 1e-4
"""Where it is as near as this it has come down [m]."""
_BESIDE: Final = 0.05
"""Half of the width over which the ground beneath a foot or a hand is level or slopes [m], ..."""
_PLANE: Final = 0.01
"""... where it is no farther than this from a plane [m]; elsewhere, as at an edge, it is level."""
_BEARS: Final = 0.015
"""What is no farther than this from a place on the ground bears what stands there [m]."""


@final
class Surface:
    """The ground beneath any place."""

    def __init__(self, world: World) -> None:
        """Of the shapes of a world that no link carries, and of the floor."""
        self.world = World({x.name: x.shape for x in world.snapshot().entries if x.link is None})
        if FLOOR not in self.world:
            self.world.add(FLOOR, HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)))

    @classmethod
    def of(cls, ground: "World | HeightMap | Model | None") -> Self | None:
        """Of a world, a height map, or a model of which nothing moves.

        Raises TypeError for anything else, ValueError for a model with joints that move and for ground below 0.
        """
        match ground:
            case None:
                return None
            case HeightMap():
                world = World({"ground": ground})
            case Model():
                world = _standing(ground)
            case World():
                world = ground
            case _:
                raise InvalidType(
                    "wrong-type",
                    f"ground must be a World, a HeightMap of poise.clouds or a Model of fixed joints, got {ground!r}",
                )
        for name in world.names:
            shape = world[name]
            if isinstance(shape, HeightMap) and shape.pose.xyz[2] + np.nanmin(shape.heights, initial=0.0) < 0.0:
                raise InvalidValue(
                    "out-of-range",
                    f"ground[{name!r}] goes below height 0, where the floor is; raise it, and the motion, by what it "
                    "goes below",
                )
        return cls(world)

    def scaled(self, scale: float) -> "Surface":
        """The same, so many times as large, seen from the origin."""
        return Surface(World({name: _scaled(self.world[name], scale) for name in self.world.names}))

    @property
    def key(self) -> Hashable:
        """By which what was prepared for the same ground is found again."""
        return tuple((name, self.world[name]) for name in self.world.names)

    def __call__(self, places: Array) -> Array:
        """(n,) how high the ground is beneath places (n, 3) [m]."""
        at = np.array(places)
        at[:, 2] += _WITHIN
        falling = np.arange(len(at))
        for _ in range(_FALLS):
            far = distances(self.world, at[falling])
            at[falling, 2] -= np.where(far > 0.0, np.maximum(far, _LEAST), far)
            falling = falling[far > _LEAST + _NEAR] if len(falling) else falling
            if not len(falling):
                break
        heights: Array = at[:, 2] - np.minimum(distances(self.world, at), _LEAST)
        return heights

    def normal(self, place: Array) -> Array:
        """(3,) the unit vector out of the ground beneath a place (3,)."""
        beside = np.array([[x, y, 0.0] for x, y in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))]) * _BESIDE
        middle, east, west, north, south = self(place + beside).tolist()
        bent = max(abs(east + west - 2.0 * middle), abs(north + south - 2.0 * middle))
        if bent > _PLANE:
            return np.array([0.0, 0.0, 1.0])
        slope = np.array([west - east, south - north, 2.0 * _BESIDE])
        return unit_vectors(slope)

    def under(self, stance: Contact, path: Array) -> Contact:
        """The stance of a part whose points go on a path (frames, points, 3), with what it stands on."""
        middle = path[stance.start : stance.stop].mean(axis=(0, 1))
        x, y, z = self.normal(middle).tolist()
        alone = ((name, World({name: self.world[name]})) for name in self.world.names)
        middle[2] = stance.ground
        bears = tuple(name for name, one in alone if distances(one, middle[None])[0] < _BEARS)
        return replace(stance, normal=(x, y, z), shapes=bears)


def found_on(
    ground: "Surface | None",
    paths: Mapping[str, Array],
    times: Array,
    *,
    size: float,
    props: Collection[str],
) -> Contacts:
    """When parts with these paths (frames, points, 3) stand: feet, and hands and knees, which are `props`.

    Of one kind parts are much alike, so each is looked for by itself; `size` is the height of the body [m].  Without
    ground feet stand where they are lowest and on what they come down on, and hands and knees on the floor.
    """
    feet = [part for part in paths if part not in props]
    hands, knees = (
        [part for part in paths if part in props and (part in KNEES) == is_knee] for is_knee in (False, True)
    )
    found = [contacts({part: paths[part] for part in feet}, times, ground=ground, size=size, steps=feet)]
    for kind in (hands, knees):
        if kind:
            floor = 0.0 if ground is None else ground
            found.append(contacts({part: paths[part] for part in kind}, times, ground=floor, size=size))
    stances = [one for some in found for one in some.intervals]
    return Contacts(
        tuple(part for some in found for part in some.parts),
        np.concatenate([some.on for some in found], axis=1),
        {part: points for some in found for part, points in some.points.items()},
        tuple(stances if ground is None else (ground.under(one, paths[one.part]) for one in stances)),
    )


def distances(world: World, places: Array) -> Array:
    """(...) how far places (..., 3) are from the shapes of a world [m]; negative within."""
    q = np.tile(_probe().neutral, (places.size // 3, 1))
    q[:, :3] = places.reshape(-1, 3)
    far = _probe().distance(q, world, self_collision=False).distance
    return np.reshape(far, places.shape[:-1]) + _PROBE


def nearest(world: World, point: Array) -> tuple[Array, Array]:
    """(3,) and (3,) the point of the shapes of a world that is nearest to a point (3,), and the way out there."""
    q = _probe().neutral.copy()
    q[:3] = point
    near = _probe().distance(q, world, self_collision=False)
    assert isinstance(near, Proximity)
    other = 1 - near.pair.index("point")
    return near.points[other], near.normal if other == 0 else -near.normal


def shapes_of(model: Model, links: Iterable[str], seen_from: SE3) -> World:
    """What links are made of at neutral, seen from a pose; meshes by what they are measured to."""
    return World(
        [
            shape.placed(seen_from.inverse() @ model.pose(link, model.neutral))
            for link in links
            for shape in model.fitted_shapes.get(link, ())
        ]
    )


@cache
def _probe() -> Model:
    """A ball that may be anywhere."""
    builder = ModelBuilder("point")
    builder.joint("place", "floating", parent="world", child="point")
    builder.shape("point", Sphere((0.0, 0.0, 0.0), _PROBE))
    return builder.build()


def _standing(model: Model) -> World:
    """The shapes of a model of which nothing moves."""
    if model.nv:
        raise InvalidValue(
            "not-supported",
            f"ground is the model {model.name!r}, of which {model.nv} velocities move, and ground stands still; lock() "
            "holds joints",
        )
    return shapes_of(model, model.fitted_shapes, SE3.identity())


def _scaled(shape: Any, scale: float) -> Any:
    """A shape so many times as large, seen from the origin."""
    pose = SE3.from_parts(scale * shape.pose.xyz, shape.pose.rotation)
    match shape:
        case Sphere():
            return Sphere(pose.xyz, scale * shape.radius)
        case Capsule():
            start, end = scale * np.array([shape.start, shape.end])
            return Capsule(start, end, scale * shape.radius)
        case Cylinder():
            return Cylinder(pose, scale * shape.radius, scale * shape.length)
        case Box():
            return Box(pose, scale * np.array(shape.size))
        case HalfSpace():
            return HalfSpace(pose.xyz, shape.normal)
        case ConvexHull():
            return ConvexHull(scale * np.array(shape.points), scale * shape.radius, pose=pose)
        case HeightMap():
            return HeightMap(scale * shape.heights, scale * shape.cell, pose=pose)
        case _:
            return PointCloud(scale * shape.points, scale * shape.radius, pose=pose)
