"""Capsules, spheres and convex hulls in place of the meshes of a model's links."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast, final

import numpy as np

from poise.common.errors import FrameNotFound, InvalidValue, ModelError
from poise.common.progress import bar, on_terminal
from poise.geometry.enclosing import Ellipsoid
from poise.geometry.fit_cache import fit_of
from poise.geometry.fitting import Fit
from poise.geometry.meshes import LinkShape, MeshShape
from poise.geometry.shapes import Shape

if TYPE_CHECKING:
    from poise.model.model import Model

_SECONDS: Final = 2.0
"""Fits that take longer have a bar."""


@final
@dataclass(frozen=True, slots=True)
class MeshFit:
    """What stands in place of one mesh."""

    link: str
    mesh: MeshShape
    shapes: tuple[LinkShape, ...]
    """In the frame of the link."""
    closed: bool
    """Whether the mesh has an inside.  If not, its volume here is that of its convex hull."""
    volume: float
    """Of the mesh [m^3]."""
    fitted: float
    """Of the union of the shapes [m^3], to about 1 % where there are several."""
    protrusion: float
    """How far the shapes stand out of the mesh at most [m]."""

    @property
    def excess(self) -> float:
        """The volume that the shapes add [m^3]."""
        return self.fitted - self.volume


@final
@dataclass(frozen=True, slots=True)
class ShapeFit:
    """A model without meshes, and what was fitted; printed, it is a table."""

    model: "Model"
    meshes: tuple[MeshFit, ...]

    @property
    def excess(self) -> Mapping[str, float]:
        """The volume that the shapes of each link add to its meshes [m^3]."""
        links = dict.fromkeys(fit.link for fit in self.meshes)
        return {link: sum(fit.excess for fit in self.meshes if fit.link == link) for link in links}

    @property
    def protrusion(self) -> float:
        """How far a shape stands out of its mesh at most [m]."""
        return max((fit.protrusion for fit in self.meshes), default=0.0)

    def __str__(self) -> str:
        head = ("link", "shapes", "mesh [l]", "fit [l]", "stands out [mm]", "")
        rows = [head]
        for fit in self.meshes:
            numbers = (f"{1e3 * fit.volume:.3f}", f"{1e3 * fit.fitted:.3f}", f"{1e3 * fit.protrusion:.1f}")
            rows.append((fit.link, _count(fit.shapes), *numbers, "" if fit.closed else "open"))
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def measured(model: "Model", *, within: bool = False) -> Mapping[str, tuple[Shape, ...]]:
    """The shapes by link that distances are measured to: convex hulls in place of meshes, and shapes around ellipsoids,
    or hulls `within` them."""
    if has_meshes(model):
        model = model.shape_fit.model
    if not any(isinstance(shape, Ellipsoid) for shapes in model.shapes.values() for shape in shapes):
        return cast("Mapping[str, tuple[Shape, ...]]", model.shapes)
    solids = {link: tuple(_solid(shape, within) for shape in shapes) for link, shapes in model.shapes.items()}
    return MappingProxyType(solids)


def has_meshes(model: "Model") -> bool:
    """Whether a link is made of a mesh."""
    return any(isinstance(shape, MeshShape) for shapes in model.shapes.values() for shape in shapes)


def _solid(shape: LinkShape, within: bool) -> Shape:
    assert not isinstance(shape, MeshShape)
    return (shape.within if within else shape.around) if isinstance(shape, Ellipsoid) else shape


def fit_shapes(
    model: "Model", *, capsules: int = 4, hulls: bool | int = False, links: Iterable[str] | None = None
) -> ShapeFit:
    """Put at most `capsules` capsules and spheres, or `hulls` convex hulls, around each mesh of the links; True is one.

    Where a mesh is far from convex, several hulls are nearer to it, and as many more to measure distances to.

    No point of a mesh is left outside, see `poise.geometry.fitting`, and of an open one no point of its surface.  A
    fit takes about a second and is kept on disk, see POISE_CACHE_DIR; on a terminal a bar on stderr says how far many
    are.  `links` are those whose meshes are fitted; None: all.

    Raises FrameNotFound for an unknown link, MissingExtra without the `meshes` extra, and for several hulls without the
    extra `hulls`, ModelError for a file that is not
    there, cannot be read or holds no solid.
    """
    if isinstance(capsules, bool) or not isinstance(capsules, int) or capsules < 1:
        raise InvalidValue("out-of-range", f"capsules must be 1 or more for each mesh, got {capsules!r}")
    if not isinstance(hulls, int) or hulls < 0:
        raise InvalidValue(
            "out-of-range", f"hulls must be True, False or how many for each mesh at most, got {hulls!r}"
        )
    wanted = set(model.shapes if links is None else links)
    for link in sorted(wanted - {*model.links, *model.shapes}):
        raise FrameNotFound(link, model.links, owner=model.name)
    every = [(link, shape) for link, those in model.shapes.items() for shape in those]
    meshes = sum(isinstance(shape, MeshShape) and link in wanted for link, shape in every)
    shapes: dict[str, list[LinkShape]] = {}
    fits: list[MeshFit] = []
    with bar("fitting meshes", meshes, shown=on_terminal(), after=_SECONDS) as update:
        for link, shape in every:
            if isinstance(shape, MeshShape) and link in wanted:
                fit = _fit(link, shape, int(hulls), capsules)
                placed = tuple(part.placed(shape.pose) for part in fit.shapes)
                fits.append(MeshFit(link, shape, placed, fit.closed, fit.volume, fit.fitted, fit.protrusion))
                shapes.setdefault(link, []).extend(placed)
                update(len(fits))
            else:
                shapes.setdefault(link, []).append(shape)
    return ShapeFit(model.with_shapes(shapes), tuple(fits))


def _fit(link: str, mesh: MeshShape, hulls: int, capsules: int) -> Fit:
    """The fit of a link's mesh in its own frame, see `fit_of`."""
    try:
        return fit_of(mesh, hulls=hulls, capsules=capsules)
    except ModelError as error:
        raise ModelError(f"the mesh of link {link!r} {error.message}", file=error.file) from None


def _count(shapes: tuple[LinkShape, ...]) -> str:
    names, counts = np.unique([type(shape).__name__ for shape in shapes], return_counts=True)
    return ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
