"""xacro: URDF with macros, expanded by the tools of the `xacro` extra.

Expressions in a xacro file are Python and run as it is read: read only files that you trust.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from poise.errors import MissingExtra, ModelError
from poise.io.elements import read_bytes
from poise.io.packages import PackageDirs
from poise.io.srdf import find_srdf
from poise.io.urdf import parse_urdf
from poise.model.builder import Base
from poise.model.model import Model


def read_xacro(
    path: str | os.PathLike[str],
    *,
    base: Base = "fixed",
    package_dirs: PackageDirs = (),
    arguments: Mapping[str, str] | None = None,
) -> Model:
    """The robot of a xacro file; `arguments` are the values of its `<xacro:arg>`.

    Otherwise as `read_urdf`; lines in messages are those of the expanded document.  Raises MissingExtra without the
    `xacro` extra, ModelError for what xacro cannot expand.
    """
    path, dirs = Path(path), [os.fspath(folder) for folder in package_dirs]
    read_bytes(path)  # says what is wrong with the file itself better than xacro
    document = _expand(path, dirs, dict(arguments or {}))
    return parse_urdf(
        document,
        file=f"{path} (expanded)",
        base=base,
        folder=path.parent,
        package_dirs=dirs,
        srdf=find_srdf(path),
    )


def _expand(path: Path, package_dirs: list[str], arguments: dict[str, str]) -> str:
    try:
        packages, xacro = import_module("xacrodoc.packages"), import_module("xacro")
    except ImportError:
        raise MissingExtra("reading xacro files", "xacrodoc", "xacro") from None
    packages.walk_up_from(path)
    if package_dirs:
        packages.look_in(package_dirs)
    try:
        # Not XacroDoc.from_file: it loses the path, and with it includes relative to the file.
        return str(xacro.process_file(str(path), mappings=arguments).toprettyxml(indent="  "))
    except Exception as error:  # the file's own expressions may raise anything
        place = [file for file in xacro.filestack or () if file]
        raise ModelError(f"xacro cannot expand it: {error}", file=place[-1] if place else str(path)) from None
