"""The meshes of a URDF: where they are, and remarks on those that are not there."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import final

from poise.geometry.meshes import is_pointer_file
from poise.io.elements import Element
from poise.io.notes import Notes
from poise.io.packages import Packages, is_remote, package_of


@final
class Meshes:
    """Where the meshes of a document are; each is looked for once."""

    def __init__(self, packages: Packages | None) -> None:
        self.packages = packages
        self.known: dict[str, tuple[Path | None, tuple[Path, ...]]] = {}

    def look(self, uri: str) -> tuple[Path | None, tuple[Path, ...]]:
        """The file, or None, and the paths that were tried."""
        if uri not in self.known:
            nowhere: tuple[Path | None, tuple[Path, ...]] = (None, ())
            self.known[uri] = nowhere if self.packages is None or is_remote(uri) else self.packages.file(uri)
        return self.known[uri]

    def find(self, uri: str) -> str:
        """The path of the file, or its name in the document where that is not found."""
        found, _ = self.look(uri)
        return uri if found is None else os.path.abspath(found)

    def note_missing(self, root: Element, notes: Notes) -> None:
        """Remark on the meshes that are not where the document says."""
        shapes = [shape for link in root.all("link") for tag in ("visual", "collision") for shape in link.all(tag)]
        for mesh in (m for shape in shapes for geometry in shape.all("geometry") for m in geometry.all("mesh")):
            uri = mesh.attributes.get("filename", "")
            found, tried = self.look(uri)
            if found is not None and is_pointer_file(found):
                notes.add(
                    "mesh is a Git LFS pointer, which kinematics does not mind; run 'git lfs pull' for it",
                    mesh.line,
                    str(found),
                )
            if self.packages is None or found is not None or is_remote(uri) or not uri:
                continue
            remark, package = "mesh not found, which kinematics does not need", package_of(uri)
            if package is not None and self.packages.find(package) is None:
                holders = self.packages.holders
                paths, remark = _few(holders), f"{remark}; give package_dirs= the folder that holds {package!r}"
                notes.add(remark, mesh.line, f"{uri!r}, looked in {paths}" if holders else repr(uri))
            elif tried:
                notes.add(remark, mesh.line, f"{uri!r}, tried {_few(tried)}")
            else:
                notes.add(f"{remark}; a text has no folder to look in: give package_dirs=", mesh.line, repr(uri))


def _few(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths[:3])) + (", ..." if len(paths) > 3 else "")
