"""A robot in the scene: one node for each link that has a look, placed by one pass over the tree."""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.viewer.scene.nodes import Nodes, node
from poise.viewer.scene.parts import Part

GHOST = (90, 140, 235)
"""What a second robot is painted in."""


@final
class Figure:
    """A robot that stands at one configuration; with a `tint` it is a ghost of that colour that one sees through."""

    def __init__(
        self,
        server: Any,
        name: str,
        model: Model,
        parts: Sequence[Part],
        *,
        tint: tuple[int, int, int] | None = None,
        opacity: float = 0.6,
    ) -> None:
        self.model = model
        self._frames = [part.frame for part in parts]
        self._root = server.scene.add_frame(name, show_axes=False)
        handles = []
        for i, part in enumerate(parts):
            place = f"{name}/{i} {node(part.frame)}"
            if tint is None:
                handles.append(_painted(server, place, part))
            else:
                handles.append(
                    server.scene.add_mesh_simple(
                        place, part.vertices, part.faces, color=tint, opacity=opacity, cast_shadow=False
                    )
                )
        self._nodes, self._handles = Nodes(server, handles), handles

    def on_click(self, callback: Callable[[str], object]) -> None:
        """Call `callback` with the name of a link that is clicked."""
        for handle, frame in zip(self._handles, self._frames, strict=True):
            handle.on_click(lambda _, frame=frame: callback(frame))

    def place(self, q: Array) -> int:
        """Show the robot at `q` (nq,); how many links moved."""
        return self._nodes.place(self.model.poses(q, self._frames).array)

    def move(self, place: Array) -> None:
        """Let the origin of its world be at `place` (3,) [m]."""
        self._root.position = tuple(place.tolist())

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return bool(self._root.visible)

    @visible.setter
    def visible(self, shown: bool) -> None:
        self._root.visible = shown

    def remove(self) -> None:
        """Take it out of the scene."""
        self._root.remove()


def _painted(server: Any, place: str, part: Part) -> Any:
    """A mesh in its own colours."""
    colours = np.unique(part.colours, axis=0)
    if len(colours) == 1:
        red, green, blue, alpha = colours[0].tolist()
        return server.scene.add_mesh_simple(
            place, part.vertices, part.faces, color=(red, green, blue), opacity=None if alpha == 255 else alpha / 255.0
        )
    import trimesh

    return server.scene.add_mesh_trimesh(
        place, trimesh.Trimesh(part.vertices, part.faces, vertex_colors=part.colours, process=False)
    )


def crowd(server: Any, name: str, model: Model, parts: Sequence[Part], many: Array, tint: tuple[int, int, int]) -> Any:
    """The node of ghosts at many configurations (n, nq): a mesh a link, drawn n times."""
    root = server.scene.add_frame(name, show_axes=False)
    poses = model.poses(many, [part.frame for part in parts]).array
    for i, part in enumerate(parts):
        server.scene.add_batched_meshes_simple(
            f"{name}/{i} {node(part.frame)}", part.vertices, part.faces, poses[:, i, 3:].astype(np.float32),
            poses[:, i, :3].astype(np.float32), batched_colors=tint, opacity=0.45, cast_shadow=False,
        )  # fmt: skip
    return root
