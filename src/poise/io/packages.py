"""Where the files that a robot description refers to are: `package://`, `file://`, relative and absolute names."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

PackageDirs = Iterable[str | os.PathLike[str]]
"""Folders that hold packages, or that are packages themselves."""

_REMOTE = re.compile(r"https?://", re.IGNORECASE)
_PACKAGED = re.compile(r"(?:package|model)://+([^/]+)/(.*)", re.DOTALL)
_DRIVE = re.compile(r"^/(?=[A-Za-z]:)")


def is_remote(uri: str) -> bool:
    """Whether the file is on the web, where it is not looked for."""
    return _REMOTE.match(uri) is not None


def find_file(uri: str, folder: Path, package_dirs: PackageDirs = ()) -> tuple[Path | None, tuple[Path, ...]]:
    """The file that a description in `folder` calls `uri`, or None; and the paths that were tried, in order.

    A package is looked for in `package_dirs`, `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH`, then upwards from `folder`,
    as a folder of its name or as the folder itself, whatever that is called.
    """
    tried = []
    for path in _candidates(uri, folder, package_dirs):
        tried.append(path)
        if os.path.isfile(path):  # unlike Path.is_file, says no to names that no file can have
            return path, tuple(tried)
    return None, tuple(tried)


def _candidates(uri: str, folder: Path, package_dirs: PackageDirs) -> Iterator[Path]:
    packaged = _PACKAGED.fullmatch(uri)
    if packaged is None:
        name = _DRIVE.sub("", unquote(uri.removeprefix("file://"))) if uri.startswith("file://") else uri
        yield folder / name
        return
    package, inside = packaged.groups()
    holders = [Path(p) for p in package_dirs] + _environment("ROS_PACKAGE_PATH")
    holders += [prefix / "share" for prefix in _environment("AMENT_PREFIX_PATH")]
    here = folder.absolute()
    for holder in [*holders, here, *here.parents]:
        yield holder / package / inside
        yield holder / inside


def _environment(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
