"""What the builder compiled ahead: one library beside this package, with a set of functions for each level of CPUs.

It counts only where its text is the text here, so an edit of a kernel leaves all to Numba until it is built again.
`POISE_CPU` names another level than the best that this CPU has, or `native`: all is compiled by Numba, for this CPU.
"""

import ctypes
import operator
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise.kernels.machine.whole import CutShort, check_whole

PACKAGE: Final = Path(__file__).parents[2]
SEAL: Final = PACKAGE / "compiled" / "sealed"
"""A file of wheels alone: their library was put beside the text that it was compiled of, which nobody edits there."""
FOLDERS: Final = ("kernels", "methods", "tasks")
"""The folders of the package in which kernels stand."""
CONTENTS: Final = "poise_contents"
"""The symbol of the library's text: the digest of what it was compiled of, its levels, then a line a function."""
BEST: Final = "poise_best_level"
"""The symbol of the function that finds the best of the levels for the CPU which runs it: its place, or -1."""
NATIVE: Final = "native"

_NUMBERS: Final = {"q": (ctypes.c_int64, operator.index, np.int64), "d": (ctypes.c_double, float, np.float64)}
_RESULTS: Final = {"q": ctypes.c_int64, "d": ctypes.c_double, "v": None}


def machine() -> str:
    """The machine and the system that this is, as targets of the builder are called."""
    names = {"amd64": "x86_64", "arm64": "aarch64"}
    found = platform.machine().lower()
    return f"{names.get(found, found)}-{sys.platform.removesuffix('32')}"


def place(target: str = "") -> Path:
    """Where the library for a target is looked for, by default for this machine; `wasm32` is a page's."""
    return PACKAGE / "compiled" / ("poise.wasm" if target == "wasm32" else f"poise-{target or machine()}.so")


@cache
def digest() -> str:
    """What changes with any file in which kernels stand, or what calls them in C."""
    import hashlib

    sum_ = hashlib.sha256()
    kernels = (file for folder in FOLDERS for file in (PACKAGE / folder).rglob("*.py"))
    for file in sorted((*kernels, *(PACKAGE / "build").glob("*.[ch]"))):
        sum_.update(f"{file.relative_to(PACKAGE).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return sum_.hexdigest()


def symbol_of(place: str, *, wide: bool) -> str:
    """What the compiled function of a module and a name is called, and that it is for lanes alone."""
    return re.sub(r"\W", "_", place.replace("poise.kernels.", "poise.")) + "_wide" * wide


@final
class Library:
    """A library, and the level of its functions that are called."""

    def __init__(self, file: Path, level: str = "") -> None:
        """`level` is by default the best for this CPU.

        Raises OSError for a file that is no such library, or was cut short, and ValueError for a level that it does not
        have or that asks more than this CPU has.
        """
        check_whole(file)
        self.file, self._loaded = file, ctypes.CDLL(str(file))
        try:
            contents = ctypes.c_char_p(ctypes.addressof(ctypes.c_char.in_dll(self._loaded, CONTENTS))).value or b""
            best = int(getattr(self._loaded, BEST)())
        except (ValueError, AttributeError) as error:
            raise OSError(f"{file} is no library of poise's: {error}") from error
        self.digest, levels, *lines = contents.decode().splitlines()
        self.levels = tuple(levels.split())
        """What it has functions for, the least first."""
        self.usable = self.levels[: best + 1]
        """Those whose instructions this CPU has."""
        if level and level not in self.usable:
            raise ValueError(
                f"{level!r} is no level of {file.name} that this CPU has the instructions of: they are "
                f"{', '.join(self.usable) or 'none'}"
            )
        self.level = level or (self.usable[-1] if self.usable else "")
        self._kinds = dict(line.split(" ", 1) for line in lines)

    def get(self, symbol: str) -> "Ahead | None":
        """The function of this name, if it has one."""
        kinds = self._kinds.get(symbol)
        return None if kinds is None else Ahead(self._loaded[f"{symbol}_{self.level}"], kinds)


@final
class Ahead:
    """A function that was compiled ahead."""

    __slots__ = ("_kinds", "_pointer", "address")

    def __init__(self, pointer: Any, kinds: str) -> None:
        """`kinds` are those of its result and its arguments, see `poise.build.lowering`."""
        self._pointer, self._kinds = pointer, kinds.split()
        self.address = int(ctypes.cast(pointer, ctypes.c_void_p).value or 0)

    def function(self) -> Callable[..., Any]:
        """What Python calls, with numbers and contiguous arrays that can be written to; TypeError for other arrays."""
        result, *kinds = self._kinds
        called = self._pointer
        called.restype, called.argtypes = _RESULTS[result], [each for kind in kinds for each in _flat(kind)]
        if not any(kind[1:] for kind in kinds):
            return called
        return _spread(called, [(_NUMBERS[kind[0]], kind[1:]) for kind in kinds])


def _flat(kind: str) -> list[Any]:
    """What an argument is in C."""
    return [ctypes.c_void_p, *[ctypes.c_int64] * int(kind[1])] if kind[1:] else [_NUMBERS[kind][0]]


def _spread(called: Any, kinds: list[tuple[Any, str]]) -> Callable[..., Any]:
    """A function of numbers and arrays for one of numbers, addresses and extents."""

    def call(*args: Any) -> Any:
        flat: list[Any] = []
        for x, ((_, number, dtype), axes) in zip(args, kinds, strict=True):
            if not axes:
                flat.append(number(x))
                continue
            flags = x.flags
            if x.dtype != dtype or x.ndim != int(axes) or not (flags.c_contiguous and flags.writeable):
                raise TypeError(f"an array of {x.dtype} and {x.ndim} axes is not what a kernel takes, or read-only")
            flat.append(x.ctypes.data)
            flat += x.shape
        return called(*flat)

    return call


def library() -> Library | None:
    """The library of this process; None where there is none for this machine and this text.

    Raises ValueError for a `POISE_CPU` that there is no library for.
    """
    return chosen()[0]


@cache
def chosen() -> tuple[Library | None, str]:
    """The library of this process, or why there is none; raises as `library` does."""
    wanted, file = os.environ.get("POISE_CPU", ""), place()
    if wanted == NATIVE:
        return None, f"POISE_CPU is {NATIVE}"
    try:
        found = Library(file, wanted)
        if not SEAL.is_file() and found.digest != digest():
            why = f"{file} was compiled of other kernels than these"
        elif not found.level:
            why = f"this CPU lacks instructions of {found.levels[0]}"
        else:
            return found, ""
    except CutShort as error:
        why = str(error)
        if not wanted:
            warnings.warn(f"{why}; until then Numba compiles all kernels", RuntimeWarning, stacklevel=2)
    except OSError as error:
        why = str(error) if file.is_file() else f"there is no {file}"
    if wanted:
        raise ValueError(
            f"POISE_CPU={wanted} asks for what was compiled ahead, and {why}: run python -m poise.build, or let "
            f"POISE_CPU be {NATIVE}"
        )
    return None, why
