"""Obstacles in the scene: their bodies, and the gizmo of the one that is selected."""

import math
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.geometry.clouds import Obstacle, PointCloud
from poise.geometry.height_map import HeightMap
from poise.geometry.shapes import Box, Capsule, ConvexHull, Cylinder, HalfSpace, Shape, Sphere
from poise.spatial import SE3
from poise.viewer.scene import tessellation
from poise.viewer.scene.hand import OBSTACLE, Phase, handle, on_pull
from poise.viewer.scene.nodes import node

KINDS: Final = ("sphere", "box", "capsule", "cylinder")
"""That a panel offers."""


@final
class Obstacles:
    """Shapes by name; `moved` is told of one that a hand moves: the phase, its name and its pose, 7 numbers.

    `paint` is called by one thread, and the rest by any.
    """

    def __init__(self, server: Any, size: float, moved: Callable[[Phase, str, list[float]], object]) -> None:
        self._server, self._size, self._moved = server, size, moved
        self._lock = threading.RLock()
        self._nodes: dict[str, Any] = {}
        self._shapes: dict[str, Obstacle] = {}
        self._gizmo: Any = None
        self._dragged = False
        self.selected: str | None = None
        """The one that has a gizmo."""
        self.on_select: Callable[[str | None], None] = lambda name: None
        """Told whenever another is selected, or none."""

    def paint(self, shapes: Mapping[str, Obstacle]) -> None:
        """Show these and no others."""
        with self._lock:
            for name in [name for name in self._nodes if name not in shapes]:
                self._nodes.pop(name).remove()
                del self._shapes[name]
                if name == self.selected:
                    self.select(None)
            for name, shape in shapes.items():
                known = self._shapes.get(name)
                if known is shape:
                    continue
                if known is None or resized(known, shape):
                    self._nodes[name] = self._body(name, shape)
                _place(self._nodes[name], shape.pose)
                if name == self.selected and not self._dragged:
                    _place(self._gizmo, shape.pose)
                self._shapes[name] = shape

    def select(self, name: str | None) -> None:
        """Give the gizmo to one of them, or to none."""
        with self._lock:
            if self._gizmo is not None:
                self._gizmo.remove()
            self._gizmo, self._dragged = None, False
            self.selected = name if name in self._shapes else None
            if self.selected is not None:
                self._gizmo = self._handle(self.selected)
        self.on_select(self.selected)

    def _handle(self, name: str) -> Any:
        gizmo = handle(self._server, "/obstacle", OBSTACLE, self._size)
        _place(gizmo, self._shapes[name].pose)

        def pulled(phase: Phase, pose: list[float]) -> None:
            self._dragged = phase != "end"
            self._moved(phase, name, pose)

        on_pull(gizmo, pulled)
        return gizmo

    def _body(self, name: str, shape: Obstacle) -> Any:
        if isinstance(shape, PointCloud):
            return self._server.scene.add_point_cloud(
                f"/obstacles/{node(name)}",
                shape.points.astype(np.float32),
                OBSTACLE.colour,
                point_size=0.5 * shape.radius,
            )
        body = body_of(shape, self._size)
        shown = self._server.scene.add_mesh_simple(
            f"/obstacles/{node(name)}", body.vertices.astype(np.float32), body.faces.astype(np.uint32),
            color=OBSTACLE.colour, opacity=0.25 if isinstance(shape, HalfSpace) else 0.7,
            flat_shading=isinstance(shape, Box | ConvexHull | HeightMap),
        )  # fmt: skip
        shown.on_click(lambda _: self.select(name))
        return shown


def _place(shown: Any, pose: SE3) -> None:
    numbers = pose.array.tolist()
    shown.position, shown.wxyz = tuple(numbers[:3]), tuple(numbers[3:])


def body_of(shape: Shape | HeightMap, size: float) -> tessellation.Triangles:
    """The surface of a shape in its own frame; a half-space is a plate of four times the robot's `size`."""
    if isinstance(shape, Sphere):
        return tessellation.sphere(shape.radius)
    if isinstance(shape, Capsule):
        return tessellation.capsule(shape.radius, shape.length)
    if isinstance(shape, Cylinder):
        return tessellation.cylinder(shape.radius, shape.length)
    if isinstance(shape, Box):
        return tessellation.box(shape.size)
    if isinstance(shape, ConvexHull):
        return tessellation.hull(shape.core.vertices, shape.radius)
    if isinstance(shape, HeightMap):
        return tessellation.terrain(shape.heights, shape.cell)
    return tessellation.box((4.0 * size, 4.0 * size, 1e-3 * size))


def resized(one: Obstacle, other: Obstacle) -> bool:
    """Whether they differ in more than their place; what a move rounds does not count."""
    if type(one) is not type(other):
        return True
    if one.core.tree is not None:
        return one.core.tree is not other.core.tree
    sizes = [[*measures(shape).values(), shape.core.radius, len(shape.core.vertices)] for shape in (one, other)]
    return not np.allclose(sizes[0], sizes[1], rtol=1e-9, atol=1e-12)


def measures(shape: Obstacle) -> Mapping[str, float]:
    """The sizes that a panel offers, by name [m]."""
    if isinstance(shape, Sphere):
        return {"radius": shape.radius}
    if isinstance(shape, Capsule | Cylinder):
        return {"radius": shape.radius, "length": shape.length}
    if isinstance(shape, Box):
        return dict(zip(("x", "y", "z"), map(float, shape.size), strict=True))
    return {}


def measured(shape: Obstacle, sizes: Mapping[str, float]) -> Sphere | Capsule | Cylinder | Box:
    """A sphere, capsule, cylinder or box with other sizes, where it is; raises ValueError for sizes that are none."""
    pose = shape.pose
    if isinstance(shape, Sphere):
        return Sphere(tuple(pose.xyz.tolist()), sizes["radius"])
    if isinstance(shape, Box):
        return Box(pose, (sizes["x"], sizes["y"], sizes["z"]))
    if isinstance(shape, Cylinder):
        return Cylinder(pose, sizes["radius"], sizes["length"])
    if not isinstance(shape, Capsule):
        raise InvalidValue("not-supported", f"a {type(shape).__name__} has no sizes")
    half = 0.5 * sizes["length"] * pose.rotation.act(np.array([0.0, 0.0, 1.0]))
    return Capsule(tuple((pose.xyz - half).tolist()), tuple((pose.xyz + half).tolist()), sizes["radius"])


def beside(shape: Shape, there: Iterable[Obstacle], way: Array) -> Shape:
    """The shape, or it so many steps of `way` (3,) farther on that the boxes around it and around each other are apart.

    Half-spaces and clouds have no box, and do not count.
    """
    boxes = [_box(other) for other in there if math.isfinite(other.core.bound)]
    low, high = _box(shape)
    steps = 0
    while met := [far for near, far in boxes if ((low + steps * way < far) & (high + steps * way > near)).all()]:
        steps = max(steps + 1, *(math.ceil((far - low) @ way / (way @ way)) for far in met))
    place = shape.pose
    return shape.at(SE3.from_parts(place.xyz + steps * way, place.rotation))


def _box(shape: Obstacle) -> tuple[Array, Array]:
    """(3,) the least and the largest coordinates of a shape, or a little beyond [m]."""
    core = shape.core
    turn = core.pose.rotation.matrix()
    corners = core.pose.xyz + (core.vertices @ turn.T if len(core.vertices) else np.zeros((1, 3)))
    reach = np.abs(turn) @ core.half * (not len(core.vertices)) + core.radius
    return corners.min(axis=0) - reach, corners.max(axis=0) + reach


def rounded(length: float) -> float:
    """A length to two digits, however small."""
    return float(f"{length:.1e}")


def made(kind: str, place: tuple[float, float, float], size: float) -> Sphere | Capsule | Cylinder | Box:
    """A "sphere", "box", "capsule" or "cylinder" at a place, as large as suits a robot of this `size` [m]."""
    if kind == "sphere":
        return Sphere(place, rounded(0.08 * size))
    if kind == "box":
        edge = rounded(0.15 * size)
        return Box(SE3.from_parts(place), (edge, edge, edge))
    if kind == "cylinder":
        return Cylinder(SE3.from_parts(place), rounded(0.05 * size), rounded(0.3 * size))
    x, y, z = place
    return Capsule((x, y, z - 0.15 * size), (x, y, z + 0.15 * size), rounded(0.05 * size))
