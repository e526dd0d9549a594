"""What a model looks like: one surface with colours for each frame in which there is anything to see.

A link is drawn as its file draws it.  Where a mesh of it is missing or broken, or the file draws no link at all, its
shapes that collide are drawn instead, and where it has none either, its part of the skeleton.  A link that is left out
by a file that draws others is meant to be unseen.
"""

import warnings
from typing import Final, Literal, TypeAlias, final

import numpy as np

from poise.common.errors import InvalidValue, ModelError, ModelWarning
from poise.geometry.meshes import MeshShape
from poise.geometry.shapes import Box, Capsule, ConvexHull, Cylinder, HalfSpace, Shape, Sphere
from poise.geometry.visuals import Ellipsoid, Surface, Visual
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.viewer.scene.parts import GREY, Colour, Part, Piece, merged
from poise.viewer.scene.skeleton import size_of, skeleton
from poise.viewer.scene.surface_cache import surface
from poise.viewer.scene.tessellation import Triangles, box, capsule, cylinder, ellipsoid, hull, sphere

Look = Literal["visual", "collision", "skeleton"]
Solid: TypeAlias = Shape | Ellipsoid
"""What is drawn from a few numbers."""
COLLISION: Final[Colour] = (222, 178, 108, 255)
"""Of shapes that collide."""
_PLATE: Final = 2.0
"""The edges of the plate that stands for a half-space, as a share of the length of the model."""
_NAMED: Final = 3
"""The most files that a warning names."""


def appearance(model: Model, *, look: Look | None = None) -> tuple[Part, ...]:
    """What is drawn of a model: for each frame, a link or "world", at most one part, the world first.

    `look` asks for what the file draws, for the shapes that collide, or for the skeleton alone; None: for the first of
    these that a link has, see `poise.viewer.scene.appearance`.  Meshes are opened here, and what is made of them is
    kept on disk, see POISE_CACHE_DIR.

    Warns once (ModelWarning) of meshes that are missing or broken.  Raises MissingExtra without the `viewer` extra, if
    there are meshes to open; ValueError for an unknown look.
    """
    if look not in (None, "visual", "collision", "skeleton"):
        raise InvalidValue("unknown-word", f"look must be 'visual', 'collision', 'skeleton' or None, got {look!r}")
    artist = _Artist(model)
    bones = skeleton(model) if look in (None, "skeleton") else {}
    drawn = bool(model.visuals.keys() - {WORLD})
    parts = []
    for link in dict.fromkeys((WORLD, *model.links)):
        match look:
            case "visual":
                pieces = artist.visuals(link)[0]
            case "collision":
                pieces = artist.shapes(link)
            case "skeleton":
                pieces = bones.get(link, [])
            case None:
                pieces, whole = artist.visuals(link)
                if not whole or (not pieces and not drawn):
                    pieces = artist.shapes(link) or pieces or bones.get(link, [])
        if pieces:
            parts.append(merged(link, pieces))
    artist.warn()
    return tuple(part for part in parts if len(part.faces))


@final
class _Artist:
    """Draws the links of a model, and remembers the meshes that it could not open."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.plate = _PLATE * size_of(model)
        self.broken: dict[str, str] = {}

    def visuals(self, link: str) -> tuple[list[Piece], bool]:
        """What the file draws of a link, and whether nothing is missing of it."""
        visuals = self.model.visuals.get(link, ())
        pieces = [piece for visual in visuals if (piece := self.piece(visual, GREY))]
        return pieces, len(pieces) == len(visuals)

    def shapes(self, link: str) -> list[Piece]:
        """The shapes of a link that collide."""
        shapes = map(Visual, self.model.shapes.get(link, ()))
        return [piece for shape in shapes if (piece := self.piece(shape, COLLISION))]

    def piece(self, visual: Visual, otherwise: Colour) -> Piece | None:
        """A visual, in a colour of `otherwise` where it has none; None if its mesh cannot be opened."""
        shape = visual.shape
        rgba = np.array(
            otherwise if visual.colour is None else np.multiply(visual.colour, 255.0).round(), dtype=np.uint8
        )
        if not isinstance(shape, MeshShape | Surface):
            return Piece(*_triangles(shape, self.plate), rgba)
        try:
            found = surface(shape)
        except ModelError as error:
            self.broken[error.file or self.model.name] = error.message
            return None
        own = Triangles(found.vertices, found.faces)
        placed = (own if isinstance(shape, Surface) else own.stretched(shape.scale)).placed(shape.pose)
        return Piece(*placed, np.where(found.colours[:, 3:] > 0, found.colours, rgba))

    def warn(self) -> None:
        """Warn once of all meshes that could not be opened, if there are any."""
        if not self.broken:
            return
        lines = [f"  {file}: {message}" for file, message in list(self.broken.items())[:_NAMED]]
        if len(self.broken) > _NAMED:
            lines.append(f"  and {len(self.broken) - _NAMED} more")
        files = f"{len(self.broken)} mesh{'es' if len(self.broken) > 1 else ''}"
        head = f"{self.model.name}: {files} cannot be drawn, other shapes of these links are drawn instead"
        warnings.warn("\n".join([head, *lines]), ModelWarning, stacklevel=3)


def _triangles(shape: Solid, plate: float) -> Triangles:
    """The surface of a shape in its link's frame; half-spaces are plates with edges of this length [m]."""
    match shape:
        case Sphere():
            return sphere(shape.radius).placed(shape.pose)
        case Capsule():
            return capsule(shape.radius, shape.length).placed(shape.pose)
        case Cylinder():
            return cylinder(shape.radius, shape.length).placed(shape.pose)
        case Box():
            return box(shape.size).placed(shape.pose)
        case HalfSpace():
            return box((plate, plate, 0.0)).placed(shape.pose)
        case Ellipsoid():
            return ellipsoid(shape.semi_axes).placed(shape.pose)
        case ConvexHull():
            return hull(np.asarray(shape.points), shape.radius).placed(shape.pose)
