"""The picture: what of a session is drawn in the scene, and how it keeps up with it."""

import math
import threading
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.spatial import SE3, pose_of
from poise.viewer.scene import tessellation
from poise.viewer.scene.figure import GHOST, Figure, crowd
from poise.viewer.scene.hand import TARGET, Phase, handle, on_pull
from poise.viewer.scene.nodes import node
from poise.viewer.scene.obstacles import Obstacles
from poise.viewer.scene.parts import Part
from poise.viewer.session.aims import gizmo_of, kind_of
from poise.viewer.session.guided import Guided, Seen
from poise.viewer.session.plane import in_plane, normal_of

AT_LIMIT: Final = (225, 50, 45)
_ASIDE: Final = 0.3
"""How far from the middle of the picture a robot stands beside the panel, as a share of its size."""
_LINES: Final = (((228, 228, 228), (196, 196, 196)), ((38, 38, 38), (64, 64, 64)))
"""Colours of the grid's lines, thin and thick, on a light page and on a dark one."""
_SINGULAR: Final = (120, 90, 200)


@final
class Stage:
    """The scene of a session.  `paint` is called by one thread; what the page does reaches the session directly."""

    def __init__(self, server: Any, session: Guided, parts: Sequence[Part], *, dark: bool = False) -> None:
        self.session, self._server, self.parts = session, server, tuple(parts)
        self._lock = threading.RLock()
        model = session.model
        self.size, self.grid, self.axes = ground(server, model, session.moment.q, self.parts, dark=dark)
        self.figure = Figure(server, "/robot", model, parts)
        self.ghost: Figure | None = None
        self._gizmos: list[Any] = []
        self._dragged: set[str] = set()
        self._structure = -1
        self.obstacles = Obstacles(server, self.size, self._move_obstacle)
        self._line: Any = None
        self._ellipsoid: Any = None
        self._crowd: Any = None
        self._link_marks: dict[str, list[Any]] = {}
        self.show_distance, self.show_ellipsoid, self.show_limits = True, False, True
        self._marks = self._limit_marks()
        self._marked: npt.NDArray[np.bool_] | None = None
        self._shown: tuple[object, ...] | None = None
        """What the picture was made of; None where it has to be made anew."""
        self.seconds = 0.0
        """That the last picture took here."""

    # Once ------------------------------------------------------------------------------------------------------------

    def _limit_marks(self) -> Any:
        """A ball at each joint, shown where the joint is at a limit."""
        self._mark_joints = [joint for joint in self.session.model.joints if joint.nq == 1]
        if not self._mark_joints:
            return None
        ball = tessellation.sphere(0.025 * self.size, 16)
        self._mark_places = [self.session.model.index(joint.name).start for joint in self._mark_joints]
        n = len(self._mark_joints)
        return self._server.scene.add_batched_meshes_simple(
            "/limits", ball.vertices.astype(np.float32), ball.faces.astype(np.uint32),
            np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (n, 1)), np.zeros((n, 3), dtype=np.float32),
            batched_scales=np.full(n, 1e-6, dtype=np.float32), batched_colors=AT_LIMIT, cast_shadow=False,
        )  # fmt: skip

    # Each picture ----------------------------------------------------------------------------------------------------

    def paint(self, moment: Seen) -> None:
        """Bring the scene to `moment`; at no cost where it shows that already."""
        with self._lock:
            shown = moment, self.session.world.version, self.show_distance, self.show_ellipsoid, self.show_limits
            if shown == self._shown:
                return
            self._shown = shown  # first, for a hand may let go meanwhile
            if moment.structure != self._structure:
                self._make_gizmos(moment)
            before = perf_counter()
            self.figure.place(moment.q)
            self.seconds = perf_counter() - before
            self._paint_ghost(moment)
            for k, gizmo in enumerate(self._gizmos):
                pose = None if gizmo is None or gizmo.name in self._dragged else self.session.gizmo_pose(k, moment)
                if pose is not None:
                    gizmo.position, gizmo.wxyz = tuple(pose[:3]), tuple(pose[3:])
            entries = self.session.world.snapshot().entries
            self.obstacles.paint({entry.name: entry.shape for entry in entries if entry.link is None})
            self._paint_distance(moment)
            self._paint_limits(moment)
            self._paint_ellipsoid(moment)

    def _paint_ghost(self, moment: Seen) -> None:
        if moment.ghost is not None:
            if self.ghost is None:
                self.ghost = Figure(self._server, "/ghost", self.session.model, self.parts, tint=GHOST)
            self.ghost.place(moment.ghost)
        if self.ghost is not None and self.ghost.visible != (moment.ghost is not None):
            self.ghost.visible = moment.ghost is not None

    # Targets ---------------------------------------------------------------------------------------------------------

    def _make_gizmos(self, moment: Seen) -> None:
        for gizmo in self._gizmos:
            if gizmo is not None:
                gizmo.remove()
        self._dragged.clear()
        self._gizmos = [self._gizmo(k, moment) for k in range(len(moment.tasks))]
        self._structure = moment.structure

    def _gizmo(self, k: int, moment: Seen) -> Any:
        task = moment.tasks[k]
        hand, pose = gizmo_of(task), self.session.gizmo_pose(k, moment)
        if hand is None or pose is None:
            return None
        name = f"/targets/{k} {kind_of(task)}"
        axes = in_plane(self.session.model, pose)
        gizmo = handle(self._server, name, TARGET, self.size, slides=hand.slides, turns=hand.turns, axes=axes)
        gizmo.position, gizmo.wxyz = tuple(pose[:3]), tuple(pose[3:])

        def pulled(phase: Phase, pose: list[float]) -> None:
            self._dragged.add(gizmo.name)
            self.session.drag(k, pose)
            if phase == "end":
                self.session.release()
                self._dragged.discard(gizmo.name)
                self._shown = None  # a pull that was refused leaves the moment as it was

        on_pull(gizmo, pulled)
        return gizmo

    def _move_obstacle(self, phase: Phase, name: str, pose: list[float]) -> None:
        session = self.session
        session.edit([name], lambda: session.reshape(name, session.world[name].at(SE3(pose))), held=True)
        if phase == "end":
            session.let_go()

    # What helps to understand ----------------------------------------------------------------------------------------

    def _paint_distance(self, moment: Seen) -> None:
        near = moment.nearest
        shown = self.show_distance and near is not None and math.isfinite(near.distance)
        if not shown or near is None:
            if self._line is not None:
                self._line.visible = False
            return
        points = near.points[None].astype(np.float32)
        if self._line is None:
            self._line = self._server.scene.add_line_segments(
                "/distance", points, colors=np.array([[AT_LIMIT, AT_LIMIT]], dtype=np.uint8), thickness=3.0,
                thickness_units="screen",
            )  # fmt: skip
        else:
            self._line.points, self._line.visible = points, True

    def _paint_limits(self, moment: Seen) -> None:
        if self._marks is None:
            return
        at = self.session.at_limit(moment.q)
        model = self.session.model
        here = at[self._mark_places] & self.show_limits
        if not here.any() and (self._marked is None or not self._marked.any()):
            return
        places = model.poses(moment.q, [joint.child for joint in self._mark_joints]).xyz
        self._marks.batched_positions = places.astype(np.float32)
        if self._marked is None or (self._marked != here).any():
            self._marks.batched_scales = np.where(here, 1.0, 1e-6).astype(np.float32)
        self._marked = here

    def _paint_ellipsoid(self, moment: Seen) -> None:
        found = self.session.jacobian(moment.q) if self.show_ellipsoid else None
        if found is None:
            if self._ellipsoid is not None:
                self._ellipsoid.visible = False
            return
        frame, jacobian = found
        axes, values, _ = np.linalg.svd(jacobian[:3])
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        sizes = np.zeros(3)
        sizes[: len(values)] = values  # along the other axes it is flat
        pose = SE3.from_matrix(
            np.block([[axes, self.session.model.pose(frame, moment.q).xyz[:, None]], [np.zeros((1, 3)), 1.0]])
        ).array
        if self._ellipsoid is None:
            ball = tessellation.sphere(1.0)
            self._ellipsoid = self._server.scene.add_mesh_simple(
                "/manipulability", ball.vertices.astype(np.float32), ball.faces.astype(np.uint32), color=_SINGULAR,
                opacity=0.25, cast_shadow=False,
            )  # fmt: skip
        scale = np.maximum(0.25 * sizes, 1e-3 * self.size)
        with self._server.atomic():
            self._ellipsoid.visible = True
            self._ellipsoid.scale = tuple(scale.tolist())
            self._ellipsoid.position, self._ellipsoid.wxyz = tuple(pose[:3]), tuple(pose[3:])

    def label_frames(self, shown: bool) -> None:
        """Write the names of the links beside them, or take them away."""
        self._beside_links("name", shown, lambda at, frame: self._server.scene.add_label(at, frame))

    def show_axes(self, shown: bool) -> None:
        """Draw the axes of each link, x red, y green and z blue, or take them away."""
        sizes = {"axes_length": 0.08 * self.size, "axes_radius": 0.003 * self.size}
        self._beside_links("axes", shown, lambda at, frame: self._server.scene.add_frame(at, **sizes))

    def _beside_links(self, what: str, shown: bool, add: Callable[[str, str], Any]) -> None:
        """Put something into the scene at each link, or take it away; `add` is called with a name and the link."""
        with self._lock:
            for there in self._link_marks.pop(what, []):
                there.remove()
            if shown:
                names = [(f"/robot/{i} {node(part.frame)}/{what}", part.frame) for i, part in enumerate(self.parts)]
                self._link_marks[what] = [add(*name) for name in names]

    def show_solutions(self, many: Array) -> None:
        """Ghosts at many configurations (n, nq); none for n = 0."""
        with self._lock:
            if self._crowd is not None:
                self._crowd.remove()
                self._crowd = None
            if len(many):
                self._crowd = crowd(self._server, "/solutions", self.session.model, self.parts, many, GHOST)


def ground(
    server: Any, model: Model, q: Array, parts: Sequence[Part], *, dark: bool = False, panel: bool = True
) -> tuple[float, Any, Any]:
    """Lay a grid under a robot at `q` (nq,), and the world's axes, and look at it; its size [m], and the two nodes.

    With a `panel` at the right of the picture, the robot stands left of the middle.
    """
    low, high = bounds(model, q, parts)
    size = float((high - low).max())
    cell = 10.0 ** round(math.log10(size / 4.0))
    grid = server.scene.add_grid(
        "/grid", width=20 * cell, height=20 * cell, cell_size=cell / 2, section_size=cell, infinite_grid=True,
        fade_distance=8 * size, shadow_opacity=0.2, position=(0.0, 0.0, min(0.0, float(low[2]))),
    )  # fmt: skip
    shade(grid, dark=dark)
    axes = server.scene.add_frame("/axes", axes_length=0.15 * size, axes_radius=0.004 * size)
    middle = 0.5 * (low + high)
    away = outlook(model)
    right = np.array([-away[1], away[0], 0.0]) / math.hypot(away[0], away[1])
    seen = middle + (_ASIDE * size * right if panel else 0.0)
    server.initial_camera.position = tuple(seen + size * away)
    server.initial_camera.look_at = tuple(seen)
    return size, grid, axes


def outlook(model: Model) -> Array:
    """(3,) from where a robot is looked at, seen from its middle, in its sizes.

    What moves in a plane is seen from above that, a little from below in the picture, for the way up there is z.
    """
    normal = normal_of(model)
    if normal is None:
        return np.array([0.9, -1.0, 0.45])
    upright = math.hypot(normal[0], normal[1]) > abs(normal[2])
    return 1.2 * normal + np.array([0.0, 0.0, 0.2] if upright else [0.0, -0.25, 0.0])


def shade(grid: Any, *, dark: bool) -> None:
    """Give the lines of a grid the colours of a light page or of a dark one."""
    grid.cell_color, grid.section_color = _LINES[bool(dark)]


def bounds(model: Model, q: Array, parts: Sequence[Part]) -> tuple[Array, Array]:
    """(3,) the least and the largest coordinates of what is drawn of a robot at `q` [m]; a metre where that is less."""
    links = [part for part in parts if part.frame != WORLD]
    poses = model.poses(q, [part.frame for part in links])
    seen = [pose_of(pose).act(part.vertices) for pose, part in zip(poses.array, links, strict=True)]
    places = np.concatenate([np.zeros((1, 3)), *seen, model.poses(q).xyz.reshape(-1, 3)])
    low, high = places.min(axis=0), places.max(axis=0)
    return (low, high) if (high - low).max() > 1e-6 else (low - 0.5, high + 0.5)
