"""Where compiled code is kept: one file a function and signature, in a folder named after the text of all kernels.

No damage, no full disk and no other process can do more than cost a compilation: a file opens with a digest of itself
and its key, it is written under another name and then moved to its own, and whatever goes wrong in reading counts as
not kept.
"""

import contextlib
import errno
import functools
import hashlib
import os
import re
import secrets
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import llvmlite
import numba

from poise.kernels.machine.places import cache_home

PACKAGE: Final = Path(__file__).parent.parent.parent
ROOMS: Final = ("kernels", "methods", "tasks")
"""The folders of the package in which kernels stand."""

_NAME: Final = re.compile("kernels-[0-9a-f]{16}")
_SUFFIX: Final = ".compiled"
_DAY: Final = 86400.0
_UNUSED_DAYS: Final = 30
_FOLDERS: Final = 8
"""A folder that no process has used for so many days is removed, and beyond so many folders after one day."""


def digest(package: Path) -> str:
    """What changes with the text of any kernel, Numba, LLVM or Python, and not with the place of the package.

    Numba's own cache looks at the file of the function alone, and would miss an edit in a kernel that it calls.
    """
    tag = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    sum_ = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {tag}\0".encode())
    for room in ROOMS:
        for file in sorted((package / room).rglob("*.py")):
            sum_.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return sum_.hexdigest()[:16]


def folder() -> Path:
    """The folder for the text as it stands, where POISE_CACHE_DIR says or among the user's caches."""
    return cache_home() / f"kernels-{digest(PACKAGE)}"


FOLDER = folder()


def covers(file: str) -> bool:
    """Whether the digest changes with the text of this file."""
    return any(Path(file).is_relative_to(PACKAGE / room) for room in ROOMS) and Path(file).is_file()


def has(key: str) -> bool:
    """Whether there is a file for this key."""
    for place in (_usual, _temporary):
        with contextlib.suppress(OSError):
            if (place() / _file(key)).is_file():
                return True
    return False


def load(key: str) -> bytes | None:
    """What is kept under this key, or None."""
    for place in (_usual, _temporary):
        with contextlib.suppress(OSError):
            at = place()
            whole = (at / _file(key)).read_bytes()
            found = whole[32:]
            if whole[:32] == _checksum(key, found):
                _mark_used(at)
                return found
    return None


def save(key: str, found: bytes) -> None:
    """Keep this under the key; one line on stderr says where, or that nowhere, if not in `FOLDER`."""
    whole = _checksum(key, found) + found
    try:
        _write(_usual(), key, whole)
    except OSError as error:
        why = f"poise: {FOLDER} cannot be written ({error.strerror}), so compiled kernels are"
        way = "POISE_CACHE_DIR may name another folder"
        try:
            _write(_temporary(make=True), key, whole)
        except OSError:
            _say_once(f"{why} not kept and every process compiles its own; {way}")
        else:
            _say_once(f"{why} kept in {_temporary()} for now; {way}")


def _usual() -> Path:
    """Raises OSError where the user has no home."""
    if not FOLDER.is_absolute():
        raise FileNotFoundError(errno.ENOENT, "the user has no home folder", str(FOLDER))
    return FOLDER


def _temporary(*, make: bool = False) -> Path:
    """A folder of this user alone among the temporary files.

    What it holds is run, so OSError is raised unless only the user can have written it.
    """
    user = str(os.getuid()) if hasattr(os, "getuid") else ""
    home = Path(tempfile.gettempdir()) / f"poise-{user}"
    if make:
        with contextlib.suppress(FileExistsError):
            home.mkdir(mode=0o700)
    about = home.lstat()
    if user and (not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o022):
        raise PermissionError(errno.EACCES, "others can write there", str(home))
    return home / FOLDER.name


def _checksum(key: str, found: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + found).digest()


def _file(key: str) -> str:
    """The name of the file for this key, whose first word it repeats."""
    word = re.sub(r"\W", "", key.partition(" ")[0])
    return f"{word}-{hashlib.sha256(key.encode()).hexdigest()[:24]}{_SUFFIX}"


def _write(at: Path, key: str, whole: bytes) -> None:
    new = not at.is_dir()
    at.mkdir(parents=True, exist_ok=True)
    if new:
        _prune(at)
    draft = at / f"{_file(key)}.{secrets.token_hex(8)}"
    try:
        draft.write_bytes(whole)
        draft.replace(at / _file(key))
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def _mark_used(at: Path) -> None:
    """Let the folder look used today."""
    with contextlib.suppress(OSError):
        if time.time() - at.stat().st_mtime > _DAY / 2:
            os.utime(at)


def _prune(newest: Path) -> None:
    """Remove the folders beside this one that nobody seems to need any more."""
    ages: dict[Path, float] = {}
    with contextlib.suppress(OSError):
        for other in newest.parent.iterdir():
            if other != newest and _NAME.fullmatch(other.name) and not other.is_symlink():
                ages[other] = time.time() - other.stat().st_mtime
    for place, other in enumerate(sorted(ages, key=lambda other: ages[other]), start=1):
        if ages[other] > _UNUSED_DAYS * _DAY or (place >= _FOLDERS and ages[other] > _DAY):
            with contextlib.suppress(OSError):
                for file in other.glob(f"*{_SUFFIX}*"):
                    file.unlink(missing_ok=True)
                other.rmdir()


@functools.cache
def _say_once(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
