"""Where the files that a robot description refers to are: `package://`, `file://`, relative and absolute names."""

import ntpath
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias, final
from urllib.parse import unquote

from poise.common.errors import InvalidType, InvalidValue

PackageDirs: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A folder, or several, that hold packages or are packages themselves."""

_REMOTE = re.compile(r"https?://", re.IGNORECASE)
_PACKAGED = re.compile(r"(?:package|model)://+(?:([^/]+)/)?(.*)", re.DOTALL)
"""Some exporters leave the name of the package out, and give the file alone."""
_DRIVE = re.compile(r"^/(?=[A-Za-z]:)")
_NAME = re.compile(rb"<name>\s*([^<\s]+)\s*</name>")
_DEPTH = 4
"""How deep below a given folder packages are looked for; workspaces of ROS have them two or three folders down."""


def package_folders(package_dirs: PackageDirs) -> tuple[Path, ...]:
    """The folders that were given; raises ValueError for one that is not there, TypeError for what is no folder."""
    one = isinstance(package_dirs, (str, os.PathLike))
    if not one and not isinstance(package_dirs, Iterable):
        raise InvalidType(
            "wrong-type", f"package_dirs is a folder, or several, got {package_dirs!r}; leave it out for none"
        )
    given: tuple[str | os.PathLike[str], ...] = (package_dirs,) if one else tuple(package_dirs)  # type: ignore[assignment, arg-type]
    folders = tuple(Path(folder).expanduser() for folder in given)
    for folder in folders:
        if not os.path.isdir(folder):
            what = "is a file" if os.path.exists(folder) else "is not there"
            where = "" if folder.is_absolute() else f" (in {Path.cwd()})"
            raise InvalidValue(
                "not-a-file",
                f"package_dirs has {str(folder)!r}{where}, which {what}; "
                "give the folder that holds the package, or that of the package itself",
            )
    return folders


def is_remote(uri: str) -> bool:
    """Whether the file is on the web, where it is not looked for."""
    return _REMOTE.match(uri) is not None


def package_of(uri: str) -> str | None:
    """The package of a `package://` or `model://` name."""
    packaged = _PACKAGED.fullmatch(uri)
    return packaged[1] if packaged else None


@final
class Packages:
    """The packages and files that a description in `folder` can name; one given as text has no folder.

    A package is looked for in the given folders, in `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH`, then upwards from
    `folder`: as a folder of its name, or as that folder itself; below given folders and those of `ROS_PACKAGE_PATH`
    also by the name in a `package.xml`.
    """

    def __init__(self, folder: Path | None, package_dirs: PackageDirs = ()) -> None:
        self.folder = folder
        self._given = [*package_folders(package_dirs), *_environment("ROS_PACKAGE_PATH")]
        self._below: dict[str, Path] | None = None

    @property
    def holders(self) -> list[Path]:
        """The folders in which packages are looked for, in order."""
        upwards: list[Path] = []
        if self.folder is not None:
            here = self.folder.absolute()
            upwards = [here, *here.parents]
        return [*self._given, *(prefix / "share" for prefix in _environment("AMENT_PREFIX_PATH")), *upwards]

    def find(self, package: str) -> Path | None:
        """The folder of a package."""
        for holder in self.holders:
            if os.path.isdir(holder / package):
                return (holder / package).absolute()
            if holder.absolute().name == package or _package_name(holder) == package:
                return holder.absolute()
        return self._nested(package)

    def file(self, uri: str) -> tuple[Path | None, tuple[Path, ...]]:
        """The file that the description calls `uri`, or None; and the paths that were tried, in order."""
        tried = []
        for path in self._candidates(uri):
            tried.append(path)
            if os.path.isfile(path):  # unlike Path.is_file, says no to names that no file can have
                return path, tuple(tried)
        return None, tuple(tried)

    def _candidates(self, uri: str) -> Iterator[Path]:
        packaged = _PACKAGED.fullmatch(uri)
        if packaged is None:
            name = _DRIVE.sub("", unquote(uri.removeprefix("file://"))) if uri.startswith("file://") else uri
            absolute = os.path.isabs(name) or ntpath.splitdrive(name)[0] != ""
            if self.folder is not None or absolute:
                yield Path(self.folder or "") / name
            if not absolute:  # it may be named from the root of its package
                beside = None if self.folder is None else self.folder.absolute()
                yield from (holder / name for holder in self.holders if holder != beside)
            return
        package, inside = packaged.groups()
        for holder in self.holders:
            if package is not None:
                yield holder / package / inside
            yield holder / inside
        nested = None if package is None else self._nested(package)
        if nested is not None:
            yield nested / inside

    def _nested(self, package: str) -> Path | None:
        """The folder of a package somewhere below the given folders."""
        if self._below is None:
            self._below = {}
            for top in self._given:
                for name, folder in _packages_below(top, _DEPTH):
                    self._below.setdefault(name, folder)
        return self._below.get(package)


def _packages_below(folder: Path, depth: int) -> Iterator[tuple[str, Path]]:
    """Name and folder of each package in `folder` and below it; packages are not looked for in packages."""
    name = _package_name(folder)
    if name is not None:
        yield name, folder.absolute()
    elif depth:
        try:
            inside = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
        except OSError:  # a folder that may not be read
            return
        for path in inside:
            if not os.path.basename(path).startswith("."):
                yield from _packages_below(Path(path), depth - 1)


def _package_name(folder: Path) -> str | None:
    """The name in the `package.xml` of a folder."""
    try:
        with (folder / "package.xml").open("rb") as stream:
            found = _NAME.search(stream.read(65536))
    except (OSError, ValueError):  # none there, or a name that no file can have
        return None
    return found[1].decode(errors="replace") if found else None


def _environment(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
