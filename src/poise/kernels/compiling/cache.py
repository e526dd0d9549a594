"""Where compiled code is kept: one file a function and signature, in a folder named after what compiles.

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

from poise.kernels.compiling.identity import compiler
from poise.kernels.machine.cache_home import cache_home

_NAME: Final = re.compile("kernels-[0-9a-f]{16}")
_LANGUAGE: Final = (Path(__file__).parent, Path(__file__).parents[1] / "machine")
"""Where it is said how kernels are compiled, and what they are written with."""
_SUFFIX: Final = ".compiled"
_DAY: Final = 86400.0
_UNUSED_DAYS: Final = 30
_FILES: Final = 2000
"""A file that no process has used for so many days is removed, and beyond so many files after one day."""


def folder() -> Path:
    """The folder for what compiles here, where POISE_CACHE_DIR says or among the user's caches."""
    return cache_home() / f"kernels-{compiler(file for at in _LANGUAGE for file in at.rglob('*.py'))}"


FOLDER = folder()


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
            file = place() / _file(key)
            whole = file.read_bytes()
            found = whole[32:]
            if whole[:32] == _checksum(key, found):
                _mark_used(file)
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
    _prune(at.parent)
    at.mkdir(parents=True, exist_ok=True)
    draft = at / f"{_file(key)}.{secrets.token_hex(8)}"
    try:
        draft.write_bytes(whole)
        draft.replace(at / _file(key))
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def _mark_used(file: Path) -> None:
    """Let a file look used today."""
    with contextlib.suppress(OSError):
        if time.time() - file.stat().st_mtime > _DAY / 2:
            os.utime(file)


@functools.cache
def _prune(home: Path) -> None:
    """Remove what nobody seems to need any more, once a process."""
    ages: dict[Path, float] = {}
    with contextlib.suppress(OSError):
        folders = [at for at in home.iterdir() if _NAME.fullmatch(at.name) and at.is_dir() and not at.is_symlink()]
        for file in (file for at in folders for file in at.glob(f"*{_SUFFIX}*")):
            with contextlib.suppress(OSError):
                ages[file] = time.time() - file.stat().st_mtime
    for place, file in enumerate(sorted(ages, key=lambda file: ages[file])):
        if ages[file] > _UNUSED_DAYS * _DAY or (place >= _FILES and ages[file] > _DAY):
            with contextlib.suppress(OSError):
                file.unlink()
                file.parent.rmdir()  # where it was the last


@functools.cache
def _say_once(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
