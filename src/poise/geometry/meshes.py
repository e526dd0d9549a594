"""Meshes in files, which are read when they are needed and not before."""

from dataclasses import dataclass
from typing import Final, TypeAlias, final

from poise.geometry.shapes import Point, Shape, checked_point, single
from poise.spatial import SE3


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
            raise TypeError(f"file must be the path of a mesh, as a str, got {self.file!r}")
        single(self.pose)
        object.__setattr__(self, "scale", checked_point("scale", self.scale))
        if not all(self.scale):
            raise ValueError(f"scale is {self.scale}; a mesh that is scaled by 0 is no solid")

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


LinkShape: TypeAlias = Shape | MeshShape
"""What a link may be made of."""
SHAPES: Final = "a shape is a Sphere, a Capsule, a Box, a HalfSpace, a ConvexHull or a MeshShape"
"""For messages."""
