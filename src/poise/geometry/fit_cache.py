"""Fits that were made before: a file each, among the caches.

A file is named after the content of the mesh, the settings and the text that fits.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from poise.geometry.disk_cache import disk_cached
from poise.geometry.fitting import Fit, fit_capsules, fit_hulls
from poise.geometry.meshes import MeshShape, mesh_triangles, read_mesh
from poise.geometry.shapes import Capsule, ConvexHull, Sphere
from poise.spatial import SE3

_TEXTS: Final = ("decomposition", "fitting", "hull", "fit_cache", "meshes", "smallest", "triangles")
"""The files of this folder that a fit depends on."""
_CODE: Final = tuple(Path(__file__).with_name(f"{name}.py") for name in _TEXTS)


def fit_of(mesh: MeshShape, *, hulls: int, capsules: int) -> Fit:
    """The fit of a mesh in its own frame, made if there is none: at most so many hulls, or where that is 0 capsules.

    Raises MissingExtra without the `meshes` extra, and for several hulls without `hulls`, ModelError for a file that is
    not there, cannot be read or holds no solid.
    """
    content = read_mesh(mesh)
    settings = f"{mesh.file.rpartition('.')[2].lower()} {mesh.scale} {f'{hulls} hulls' if hulls else capsules}"

    def make() -> Fit:
        triangles = mesh_triangles(mesh, content)
        return fit_hulls(triangles, hulls) if hulls else fit_capsules(triangles, capsules)

    return cached_fit(content, settings, make)


def cached_fit(content: bytes, settings: str, make: Callable[[], Fit]) -> Fit:
    """The fit of a mesh with this content, made if there is none."""
    return disk_cached("fits", _CODE, settings.encode() + b"\0" + content, make, write=_written, read=_read)


def _written(fit: Fit) -> bytes:
    shapes: list[list[Any]] = []
    for shape in fit.shapes:
        match shape:
            case Sphere():
                shapes.append(["sphere", shape.centre, shape.radius])
            case Capsule():
                shapes.append(["capsule", shape.start, shape.end, shape.radius])
            case ConvexHull():
                shapes.append(["hull", np.asarray(shape.points).tolist(), shape.radius])
    numbers = {name: getattr(fit, name) for name in ("closed", "volume", "fitted", "protrusion")}
    return json.dumps({"shapes": shapes, **numbers}).encode()


def _read(content: bytes) -> Fit:
    """Raises ValueError, KeyError or TypeError for what was not written here."""
    found = json.loads(content)
    shapes = tuple(_SHAPES[kind](*numbers) for kind, *numbers in found["shapes"])
    numbers = [float(found[key]) for key in ("volume", "fitted", "protrusion")]
    return Fit(shapes, bool(found["closed"]), *numbers)


_SHAPES: Final[dict[str, Callable[..., Capsule | Sphere | ConvexHull]]] = {
    "sphere": Sphere,
    "capsule": Capsule,
    "hull": lambda points, radius: ConvexHull.of_corners(points, radius, pose=SE3.identity()),
}
