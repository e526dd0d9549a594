"""An MJCF compiled without the mesh files that it names, where they are not there.

A small mesh takes the place of each that is missing.  Two such models, with placeholders of two sizes, tell what
depends on them: whatever differs.  Bodies, joints and sites never do.  Textures are not looked for at all, for poise
draws none.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from poise.geometry.meshes import is_pointer_file

_CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 4.0))
_FACES = (0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3)
_SIZES = (0.5, 1.0)
"""Of the placeholders, along their edges [m]."""
_OPENING = re.compile(r"[Ee]rror opening file '(.*?)'")


@final
@dataclass(frozen=True, slots=True)
class Compiled:
    """MuJoCo's model of a file, and what of it means nothing, because files are missing."""

    model: Any
    missing: tuple[str, ...]
    """Where the files were looked for."""
    pointers: int
    """How many of them are there as Git LFS pointers."""
    geoms: npt.NDArray[np.bool_]
    """(geoms,) whether its size or its place depends on a missing file."""
    bodies: npt.NDArray[np.bool_]
    """(bodies,) whether its mass does."""


def whole(model: Any) -> Compiled:
    """A model of which no file is missing."""
    return Compiled(model, (), 0, np.zeros(model.ngeom, bool), np.zeros(model.nbody, bool))


def compiled_without(parse: Callable[[], Any], folder: Path | None) -> Compiled:
    """The model that `parse` makes a `MjSpec` of, each time anew, with placeholders for the files that are missing.

    Relative names are those of files in `folder`; without one they are all missing.  Raises ValueError, as MuJoCo
    does, for what is wrong otherwise.
    """
    models = []
    for size in _SIZES:
        spec = parse()
        files = _Files(spec, folder, size)
        models.append(files.compiled())
        if not files.missing:
            return whole(models[0])
    first, second = models
    geoms = _differ(first, second, ("geom_size", "geom_pos", "geom_quat", "geom_rbound"))
    bodies = _differ(first, second, ("body_mass", "body_ipos", "body_inertia"))
    return Compiled(first, tuple(files.missing), files.pointers, geoms, bodies)


def _differ(first: Any, second: Any, fields: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Which elements have other numbers in the second model than in the first."""
    pairs = [(getattr(first, field), getattr(second, field)) for field in fields]
    return np.any([(a != b).any(axis=tuple(range(1, a.ndim))) for a, b in pairs], axis=0)


@final
class _Files:
    """The files that a spec names, and those of them that are missing."""

    def __init__(self, spec: Any, folder: Path | None, size: float) -> None:
        self.spec, self.folder, self.size = spec, folder, size
        self.missing: dict[str, None] = {}
        self.pointers = 0
        for texture in spec.textures:
            texture.file, texture.cubefiles = "", [""] * 6
            texture.builtin, texture.width, texture.height = 1, 8, 8 if texture.type == 0 else 48
        for element, path in list(self.elements()):
            if not os.path.isabs(path):
                self.leave_out(element, path)
            elif is_pointer_file(path):
                self.pointers += 1
                self.leave_out(element, path)

    def compiled(self) -> Any:
        while True:
            try:
                return self.spec.compile()
            except ValueError as error:
                found = _OPENING.search(str(error))
                lost = [] if found is None else [e for e, _ in self.elements() if _ends(found[1], e.file)]
                if found is None or not lost:
                    raise
                for element in lost:
                    self.leave_out(element, os.path.join((self.folder or Path()).absolute(), found[1]))

    def elements(self) -> Iterator[tuple[Any, str]]:
        """The meshes, height fields and skins that have files, and where these are to be."""
        for element in (*self.spec.meshes, *self.spec.hfields, *self.spec.skins):
            if element.file:
                inside = os.path.join(self.spec.meshdir, element.file)
                yield element, inside if self.folder is None else os.path.join(self.folder.absolute(), inside)

    def leave_out(self, element: Any, path: str) -> None:
        self.missing[path] = None
        if element in self.spec.skins:
            self.spec.delete(element)
            return
        element.name = element.name or Path(element.file).stem  # as MuJoCo names it
        element.file = ""
        if element in self.spec.hfields:
            element.nrow, element.ncol, element.userdata = 2, 2, [0.0] * 4
        else:
            element.scale = [1.0] * 3
            element.uservert = [self.size * x for corner in _CORNERS for x in corner]
            element.userface = list(_FACES)


def _ends(path: str, file: str) -> bool:
    """Whether a path that MuJoCo tried is that of a file, of which it may have left out the folders."""
    return path == file or path.endswith((f"/{file}", f"/{os.path.basename(file)}")) or path == os.path.basename(file)
