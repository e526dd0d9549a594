"""The world around a robot: named shapes that come, move and go, and those that a link carries."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

from poise.common.checks import finite, whole
from poise.common.errors import InvalidType, InvalidValue, ShapeError, ShapeNotFound
from poise.geometry.clouds import Obstacle
from poise.geometry.meshes import MeshShape
from poise.geometry.shapes import Point
from poise.spatial import SE3, one_pose

_SHOWN = 8
"""How many shapes a `repr` names."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A shape of a world."""

    name: str
    shape: Obstacle
    """Seen from the link, or from the world."""
    link: str | None = None
    """The link that carries it; None: it stands in the world."""
    allowed: frozenset[str] = frozenset()
    """Links that it may touch, besides its own."""
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    """(3,) how fast it moves along the axes of the world [m/s]."""


class Snapshot(NamedTuple):
    """What there was at one moment; none of it changes."""

    version: int
    structure: int
    entries: tuple[Entry, ...]


@final
class World:
    """Shapes by name that a robot must not touch, and shapes that its links carry.

    Empty, it has nothing to collide with but the robot itself.  Any thread may change it, and any thread may read it
    meanwhile: each change makes a new whole.  It can be copied and pickled; a copy goes its own way.

    >>> from poise import HalfSpace, Sphere
    >>> world = World({"floor": HalfSpace((0, 0, 0), (0, 0, 1))})
    >>> world.add("ball", Sphere((0.5, 0, 0.4), 0.1))
    >>> world.move("ball", SE3.from_parts((0.6, 0, 0.4)), velocity=(0.2, 0, 0))
    >>> world
    World(floor: HalfSpace, ball: Sphere)
    """

    def __init__(self, shapes: Mapping[str, Obstacle] | Sequence[Obstacle] = ()) -> None:
        """`shapes` by name; those of a sequence are called shape0, shape1 and so on.

        Raises as `add` does.
        """
        self._lock = threading.Lock()
        self._state = _State(0, 0, {})
        if not isinstance(shapes, Obstacle | Mapping | Sequence):
            raise InvalidType("not-a-sequence", f"shapes must be shapes by name or a sequence of them, got {shapes!r}")
        if isinstance(shapes, Obstacle):
            raise InvalidType(
                "not-a-sequence",
                f"shapes must be shapes by name or a sequence of them; put the {_kind(shapes)} in a list",
            )
        named = shapes.items() if isinstance(shapes, Mapping) else [(f"shape{i}", s) for i, s in enumerate(shapes)]
        for name, shape in named:
            self.add(name, shape)

    # Change ----------------------------------------------------------------------------------------------------------

    def add(self, name: str, shape: Obstacle, *, velocity: Point = (0.0, 0.0, 0.0)) -> None:
        """Put a shape into the world.

        `velocity` (3,) [m/s] is how fast it moves, and holds until it is moved again.  Raises ValueError for a name
        that is taken, TypeError for what is no shape, ShapeError or ValueError for a velocity that is not three
        finite numbers.
        """
        entry = Entry(name=_name(name), shape=_shape(shape), velocity=_velocity(velocity))
        with self._lock:
            self._refuse_taken(name)
            self._put(entry)

    def add_mesh(self, name: str, mesh: MeshShape, *, hulls: int = 1) -> tuple[str, ...]:
        """Put at most so many convex hulls into the world, which hold all of the surface of a mesh; their names.

        One has the name itself, several "NAME 0", "NAME 1" and so on.  To find one takes a second, several up to some
        minutes; they are kept on disk.  Raises ValueError for a name that is taken or less than one hull, MissingExtra
        without the `meshes` extra, and for several without `hulls`, ModelError for a file that is not there, cannot be
        read or holds no solid.
        """
        if not isinstance(mesh, MeshShape):
            raise InvalidType("not-a-shape", f"mesh must be a MeshShape, as in MeshShape('bin.stl'), got {mesh!r}")
        whole("hulls", hulls, 1)
        from poise.geometry.fit_cache import fit_of  # which takes a while to load

        shapes = [shape.placed(mesh.pose) for shape in fit_of(mesh, hulls=hulls, capsules=0).shapes]
        names = (name,) if len(shapes) == 1 else tuple(f"{name} {k}" for k in range(len(shapes)))
        entries = [Entry(name=_name(one), shape=shape) for one, shape in zip(names, shapes, strict=True)]
        with self._lock:
            for entry in entries:
                self._refuse_taken(entry.name)
            for entry in entries:
                self._put(entry)
        return names

    def attach(self, name: str, shape: Obstacle, link: str, *, allowed: Iterable[str] = ()) -> None:
        """Add a shape that `link` carries: seen from the link's frame, it moves along with it.

        It may touch that link and the links in `allowed`.  Raises as `add` does; a link that the robot does not have
        is refused where the world meets the robot.
        """
        entry = Entry(name=_name(name), shape=_shape(shape), link=_link(link), allowed=_links(allowed))
        with self._lock:
            self._refuse_taken(name)
            self._put(entry)

    def grasp(self, name: str, link: str, pose: SE3, *, allowed: Iterable[str] = ()) -> None:
        """Let `link`, which is at `pose` in the world now, carry a shape that stands there from now on.

        It may touch that link and the links in `allowed`, such as the fingers around it, which are links of their own.
        Raises KeyError for an unknown name, ValueError for a shape that a link carries already.
        """
        carrier, may_touch = _link(link), _links(allowed)
        with self._lock:
            entry = self._entry(name)
            if entry.link is not None:
                raise InvalidValue("conflict", f"{name!r} is on the link {entry.link!r} already; detach it first")
            shape = entry.shape.placed(_pose(pose).inverse())
            self._put(Entry(name=name, shape=shape, link=carrier, allowed=may_touch))

    def detach(self, name: str, pose: SE3) -> None:
        """Let go of a shape, which stays in the world where it is now that the link is at `pose`.

        Raises KeyError for an unknown name, ValueError for a shape that no link carries.
        """
        with self._lock:
            entry = self._entry(name)
            if entry.link is None:
                raise InvalidValue("needs", f"no link carries {name!r}; only what is attached can be detached")
            self._put(Entry(name=name, shape=entry.shape.placed(_pose(pose))))

    def move(self, name: str, pose: SE3, *, velocity: Point = (0.0, 0.0, 0.0)) -> None:
        """Bring the shape's own frame, its `pose`, to another place, and say how fast it moves there (3,) [m/s].

        The shape keeps its size; a shape that a link carries is placed in the link's frame, and has no velocity of its
        own.  Raises KeyError for an unknown name, otherwise as `add` does.
        """
        speed = _velocity(velocity)
        with self._lock:
            entry = self._entry(name)
            if entry.link is not None and any(speed):
                raise InvalidValue("conflict", f"{name!r} moves with the link {entry.link!r}; leave out its velocity")
            self._put(replace(entry, shape=entry.shape.at(_pose(pose)), velocity=speed))

    def replace(self, name: str, shape: Obstacle) -> None:
        """Give a name another shape, such as one of another size, at the place where that says that it is.

        What carries it, what it may touch and how fast it moves stay.  Raises KeyError for an unknown name, TypeError
        for what is no shape.
        """
        with self._lock:
            self._put(replace(self._entry(name), shape=_shape(shape)))

    def remove(self, name: str) -> None:
        """Take a shape away, wherever it is; raises KeyError for an unknown name."""
        with self._lock:
            self._entry(name)
            version, structure, entries = self._state
            rest = {key: entry for key, entry in entries.items() if key != name}
            self._state = _State(version + 1, structure + 1, rest)

    # Read ------------------------------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """Grows with each change."""
        return self._state.version

    @property
    def structure(self) -> int:
        """Grows with each change but those of places, sizes and speeds."""
        return self._state.structure

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shapes, in the order in which they came."""
        return tuple(self._state.entries)

    def snapshot(self) -> Snapshot:
        """All that there is at this moment."""
        version, structure, entries = self._state
        return Snapshot(version, structure, tuple(entries.values()))

    def __getitem__(self, name: str) -> Obstacle:
        return self._entry(name).shape

    def __contains__(self, name: object) -> bool:
        return name in self._state.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._state.entries)

    def __repr__(self) -> str:
        entries = self._state.entries.values()
        on = [f"{e.name}: {_kind(e.shape)}{f' on {e.link}' if e.link else ''}" for e in entries]
        more = [f"and {len(on) - _SHOWN} more"] if len(on) > _SHOWN else []
        return f"World({', '.join([*on[:_SHOWN], *more]) or 'empty'})"

    # Details ---------------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {"_state": self._state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = threading.Lock()
        self._state = state["_state"]

    def _entry(self, name: str) -> Entry:
        try:
            return self._state.entries[name]
        except KeyError:
            raise ShapeNotFound(name, self._state.entries, owner="the world") from None

    def _refuse_taken(self, name: str) -> None:
        if name in self._state.entries:
            raise InvalidValue(
                "duplicate", f"the world has a shape {name!r} already; replace or move it, or choose another name"
            )

    def _put(self, entry: Entry) -> None:
        """Under the lock: the next whole, with this entry in it."""
        version, structure, entries = self._state
        same = entry.name in entries and _structure(entries[entry.name]) == _structure(entry)
        self._state = _State(version + 1, structure + (not same), {**entries, entry.name: entry})


def a_world(world: Any) -> World:
    """The world; raises TypeError for what is none."""
    if isinstance(world, World):
        return world
    raise InvalidType(
        "wrong-type", f"world must be a World, as in World({{'ball': Sphere((0.5, 0, 0.5), 0.1)}}), got {world!r}"
    )


class _State(NamedTuple):
    """A whole, which is never changed but followed by the next: so that readers need no lock."""

    version: int
    structure: int
    entries: dict[str, Entry]


def _structure(entry: Entry) -> tuple[Any, ...]:
    core = entry.shape.core
    return core.kind, len(core.vertices), entry.link, entry.allowed


def _kind(shape: Obstacle) -> str:
    return type(shape).__name__


def _name(name: str) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidType("wrong-type", f"the name of a shape must be a str that is not empty, got {name!r}")
    return name


def _shape(shape: Obstacle) -> Obstacle:
    if not isinstance(shape, Obstacle):
        kinds = "a Sphere, Capsule, Cylinder, Box, HalfSpace, ConvexHull, PointCloud or HeightMap"
        raise InvalidType("not-a-shape", f"shape must be {kinds}, got {shape!r}")
    return shape


def _link(link: str) -> str:
    if not isinstance(link, str) or not link:
        raise InvalidType("wrong-type", f"link must be the name of a link, got {link!r}")
    return link


def _links(links: Iterable[str]) -> frozenset[str]:
    if isinstance(links, str):
        raise InvalidType("not-a-sequence", f"allowed must be a sequence of names of links; put {links!r} in a list")
    return frozenset(map(_link, links))


def _pose(pose: SE3) -> SE3:
    return one_pose("pose", pose)


def _velocity(velocity: Point) -> tuple[float, ...]:
    array = finite("velocity", velocity, 3)
    if array.ndim != 1:
        raise ShapeError(f"velocity must have shape (3,), got {array.shape}")
    return tuple(array.tolist())
