"""Fits that were made before: a file each, among the caches.

A file is named after the content of the mesh, the settings and the text that fits.  Whatever is wrong with it counts as
not kept.
"""

import contextlib
import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from poise.geometry.fitting import Fit
from poise.geometry.kept import keep
from poise.geometry.shapes import Capsule, ConvexHull, Sphere
from poise.kernels.machine.places import cache_home
from poise.spatial import SE3

_TEXTS: Final = ("fitting", "hull", "kept_fits", "meshes", "smallest", "triangles")
"""The files of this folder that a fit depends on."""


def kept(content: bytes, settings: str, make: Callable[[], Fit]) -> Fit:
    """The fit of a mesh with this content, made if there is none."""
    name = hashlib.sha256(_text() + settings.encode() + b"\0" + content).hexdigest()[:32]
    file = cache_home() / "fits" / f"{name}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return _read(json.loads(file.read_text(encoding="utf-8")))
    fit = make()
    keep(file, json.dumps(_written(fit)).encode())
    return fit


@functools.cache
def _text() -> bytes:
    """What changes with the text that fits."""
    folder = Path(__file__).parent
    return hashlib.sha256(b"\0".join((folder / f"{name}.py").read_bytes() for name in _TEXTS)).digest()


def _written(fit: Fit) -> dict[str, Any]:
    shapes: list[list[Any]] = []
    for shape in fit.shapes:
        match shape:
            case Sphere():
                shapes.append(["sphere", shape.centre, shape.radius])
            case Capsule():
                shapes.append(["capsule", shape.start, shape.end, shape.radius])
            case ConvexHull():
                shapes.append(["hull", np.asarray(shape.points).tolist(), shape.radius])
    return {
        "shapes": shapes,
        "closed": fit.closed,
        "volume": fit.volume,
        "fitted": fit.fitted,
        "protrusion": fit.protrusion,
    }


def _read(found: dict[str, Any]) -> Fit:
    """Raises ValueError, KeyError or TypeError for what was not written here."""
    shapes = tuple(_SHAPES[kind](*numbers) for kind, *numbers in found["shapes"])
    numbers = [float(found[key]) for key in ("volume", "fitted", "protrusion")]
    return Fit(shapes, bool(found["closed"]), *numbers)


_SHAPES: Final[dict[str, Callable[..., Capsule | Sphere | ConvexHull]]] = {
    "sphere": Sphere,
    "capsule": Capsule,
    "hull": lambda points, radius: ConvexHull.of_corners(points, radius, pose=SE3.identity()),
}
