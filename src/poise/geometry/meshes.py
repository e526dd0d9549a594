"""Meshes in files, which are read when they are needed and not before."""

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidType, InvalidValue, ModelError
from poise.common.lazy import optional
from poise.geometry.enclosing import Ellipsoid
from poise.geometry.shapes import Point, Shape, checked_point, single
from poise.spatial import BOUND, LARGEST, SE3


@final
@dataclass(frozen=True, slots=True, eq=False)
class MeshShape:
    """What is within a mesh; its file is read when its distance is first asked for, see `poise.fit_shapes`."""

    file: str
    """Where it is, or what the robot's description calls it if it was not found there."""
    pose: SE3 = SE3.identity()
    """The frame in which the file has its numbers."""
    scale: Point = (1.0, 1.0, 1.0)
    """(3,) metres for each of the file's units along the axes of `pose`; negative ones mirror."""

    def __post_init__(self) -> None:
        if not isinstance(self.file, str) or not self.file:
            raise InvalidType("wrong-type", f"file must be the path of a mesh, as a str, got {self.file!r}")
        single(self.pose)
        object.__setattr__(self, "scale", checked_point("scale", self.scale))
        if not all(self.scale):
            raise InvalidValue("out-of-range", f"scale is {self.scale}; a mesh that is scaled by 0 is no solid")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeshShape) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return (self.file, *self.pose.array.tolist(), *self.scale)

    def placed(self, pose: SE3) -> "MeshShape":
        """The mesh seen from elsewhere: as it lies in a frame, which is at `pose`."""
        return MeshShape(self.file, single(pose) @ self.pose, self.scale)


LinkShape: TypeAlias = Shape | MeshShape | Ellipsoid
"""What a link may be made of."""
SHAPES: Final = (
    "a shape is a Sphere, a Capsule, a Cylinder, a Box, a HalfSpace, a ConvexHull, an Ellipsoid or a MeshShape"
)
"""For messages."""


LFS_POINTER: Final = (
    "this is a Git LFS pointer, not the file that it stands for; run 'git lfs pull' in its repository, "
    "or download the file itself"
)
"""For messages."""


def is_lfs_pointer(content: bytes) -> bool:
    """Whether a file is what Git keeps in the place of a large one that was not fetched."""
    return content.startswith(b"version https://git-lfs")


def is_pointer_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file, and it is such a pointer."""
    try:
        with open(path, "rb") as stream:
            return is_lfs_pointer(stream.read(64))
    except (OSError, ValueError):  # none there, or a name that no file can have
        return False


def read_mesh(mesh: MeshShape) -> bytes:
    """The content of the file; raises ModelError if there is none."""
    try:
        content = Path(mesh.file).read_bytes()
    except (OSError, ValueError) as error:
        reason = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        raise ModelError(f"{reason}; load the model with package_dirs that hold it", file=mesh.file) from None
    if is_lfs_pointer(content):
        raise ModelError(LFS_POINTER, file=mesh.file)
    return content


def mesh_triangles(mesh: MeshShape, content: bytes) -> Array:
    """(n, 3, 3) the triangles of a mesh in its own frame [m].

    Raises MissingExtra without the `meshes` extra, ModelError for what is no surface.
    """
    parts = mesh_parts(mesh.file, content, "fitting shapes to meshes", "meshes")
    triangles = np.concatenate([triangles for triangles, _ in parts]) * mesh.scale
    _refuse_far(triangles, mesh.file)
    return triangles


def mesh_parts(file: str, content: bytes, purpose: str, extra: str) -> list[tuple[Array, Any]]:
    """The parts of a mesh: triangles (n, 3, 3), in the units of the file, and what trimesh has made of each part.

    Raises MissingExtra, which says what trimesh is needed for, and ModelError for what is no surface.
    """
    kind = Path(file).suffix.lstrip(".").lower()
    trimesh = optional(purpose, "trimesh", extra, "trimesh", *(("collada",) if kind == "dae" else ()))
    try:
        plain = {"skip_materials": True} if kind == "obj" else {}  # whose textures it would look for
        scene = trimesh.load_scene(BytesIO(content), file_type=kind, process=False, **plain)
        placed = [(scene.graph[node][0], scene.geometry[scene.graph[node][1]]) for node in scene.graph.nodes_geometry]
        # Not `scene.to_mesh()`, which copies textures, and for them asks for more packages.
        parts = [
            ((part.triangles.reshape(-1, 3) @ place[:3, :3].T + place[:3, 3]).reshape(-1, 3, 3), part)
            for place, part in placed
            if isinstance(part, trimesh.Trimesh)
        ]
    except Exception as error:  # a reader of many formats raises anything
        raise ModelError(f"cannot be read by trimesh: {error}", file=file) from None
    if not any(len(triangles) for triangles, _ in parts):
        raise ModelError("has no triangles, and so no inside; remove it, or give the link another shape", file=file)
    for triangles, _ in parts:
        _refuse_far(triangles, file)
    return parts


def _refuse_far(triangles: Array, file: str) -> None:
    if not (np.abs(triangles) <= LARGEST).all():
        raise ModelError(f"has a corner that is not finite, or {BOUND}; export it anew", file=file)
