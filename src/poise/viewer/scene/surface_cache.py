"""Meshes that were decoded before: a file each, among the caches.

A file is named after the content of the mesh, its format and the text that decodes, and holds a checksum.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from poise.geometry import meshes, triangles
from poise.geometry.disk_cache import disk_cached
from poise.geometry.meshes import MeshShape, read_mesh
from poise.geometry.visuals import Surface
from poise.viewer.scene import surfaces
from poise.viewer.scene.surfaces import ColouredSurface, decoded, drawable

_CODE: Final = tuple(Path(str(file)) for file in (meshes.__file__, triangles.__file__, surfaces.__file__, __file__))
"""The files that a surface depends on."""
_SUM: Final = 16
"""Bytes of a checksum."""


def surface(mesh: MeshShape | Surface) -> ColouredSurface:
    """A mesh as it is drawn, in the units of its file, decoded if it is not kept; raises as `decoded`, `read_mesh`."""
    if isinstance(mesh, Surface):
        content = mesh.vertices.tobytes() + mesh.faces.tobytes()
        none = np.zeros((len(mesh.faces), 3, 4), dtype=np.uint8)
        return _cached(f"{len(mesh.vertices)} vertices", content, lambda: drawable(mesh.vertices[mesh.faces], none))
    content = read_mesh(mesh)
    return _cached(Path(mesh.file).suffix.lower(), content, lambda: decoded(mesh, content))


def _cached(kind: str, content: bytes, make: Callable[[], ColouredSurface]) -> ColouredSurface:
    """The surface of a mesh with this content, made if there is none."""
    return disk_cached("surfaces", _CODE, kind.encode() + b"\0" + content, make, write=_written, read=_read)


def _written(found: ColouredSurface) -> bytes:
    """A checksum, the numbers of vertices and of faces, then the arrays."""
    counts = np.array([len(found.vertices), len(found.faces)], dtype="<u8")
    arrays = (counts, found.vertices.astype("<f4"), found.faces.astype("<u4"), found.colours)
    rest = b"".join(array.tobytes() for array in arrays)
    return _checksum(rest) + rest


def _read(content: bytes) -> ColouredSurface:
    """Raises ValueError for what was not written here."""
    rest = memoryview(content)[_SUM:]
    if content[:_SUM] != _checksum(rest) or len(rest) < 16:
        raise ValueError("the file is damaged")
    n, m = np.frombuffer(rest, dtype="<u8", count=2).tolist()
    numbers = np.frombuffer(rest, dtype="<f4", offset=16, count=3 * n)
    places = np.frombuffer(rest, dtype="<u4", offset=16 + 12 * n, count=3 * m)
    colours = np.frombuffer(rest, dtype=np.uint8, offset=16 + 12 * (n + m), count=4 * n)
    return ColouredSurface(numbers.reshape(-1, 3), places.reshape(-1, 3), colours.reshape(-1, 4))


def _checksum(rest: bytes | memoryview) -> bytes:
    return hashlib.blake2b(rest, digest_size=_SUM).digest()
