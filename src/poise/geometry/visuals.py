"""What a link looks like: shapes with a colour, as its robot's file draws them.

Besides the shapes that may collide there are those which are only seen.  A mesh in a file is a reference here, and is
opened by whoever draws it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from poise.common.checks import finite
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.geometry.enclosing import Ellipsoid as Ellipsoid
from poise.geometry.meshes import LinkShape
from poise.spatial import SE3


@final
@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """A mesh in memory, for readers whose format keeps it nowhere else."""

    pose: SE3
    """The frame in which the vertices are seen."""
    vertices: npt.NDArray[np.float32]
    """(n, 3) [m]"""
    faces: npt.NDArray[np.uint32]
    """(m, 3) triangles that turn left seen from outside, as places in `vertices`."""


VisualShape: TypeAlias = LinkShape | Surface
"""What may be drawn."""
VISUALS: Final = "a visual is a Visual, of a shape, or of a poise.geometry Ellipsoid or Surface"
"""For messages."""


@final
@dataclass(frozen=True, slots=True)
class Visual:
    """A shape that is drawn, in the frame of its link.

    >>> Visual(Ellipsoid(SE3.identity(), (0.1, 0.2, 0.3)), (1, 0, 0)).colour
    (1.0, 0.0, 0.0, 1.0)
    """

    shape: VisualShape
    colour: Sequence[float] | None = None
    """Red, green, blue and how opaque it is, 0 to 1; kept as four numbers.

    None where the file gives none: then the colours of a mesh, if it has any, or whatever the viewer chooses.  Those of
    a mesh go before this one.
    """

    def __post_init__(self) -> None:
        if not isinstance(self.shape, VisualShape):
            raise InvalidType("not-a-shape", f"shape is {self.shape!r}; {VISUALS}")
        if self.colour is None:
            return
        written = tuple(self.colour)
        if len(written) not in (3, 4):
            raise ShapeError(f"colour must have 3 or 4 numbers, red, green, blue and alpha, got {len(written)}")
        numbers = tuple(finite("colour", (*written, 1.0)[:4], 4).tolist())
        if not all(0.0 <= number <= 1.0 for number in numbers):
            raise InvalidValue(
                "out-of-range", f"colour is {written}; red, green, blue and alpha are numbers from 0 to 1"
            )
        object.__setattr__(self, "colour", numbers)
