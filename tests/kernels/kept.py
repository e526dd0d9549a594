"""Functions of tests that Numba compiles, kept on disk as the library keeps its own.

What they are kept under is a digest of their code and of all that it reaches, so that an edit of a kernel compiles anew
those that call it, and nothing else does.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba

from poise.kernels.compiling import identity
from poise.kernels.compiling.numba_internals import keep

_MODULES: set[str] = set()
"""Whose functions are kept."""
_LIBRARYS = identity.is_own


def _is_own(function: FunctionType) -> bool:
    return function.__module__ in _MODULES or _LIBRARYS(function)


identity.is_own = _is_own


def kept(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with these options, for functions of a module."""

    def compiled(function: Callable[..., Any]) -> Any:
        _MODULES.add(function.__module__)
        made = numba.njit(**options)(function)
        keep(made, lambda: None)
        disk: Any = getattr(made, "_cache", None)
        if hasattr(disk, "key"):
            librarys = disk.key

            def key(signature: Any) -> str | None:
                found = librarys(signature)
                return None if found is None else f"{found} {sorted(options.items())}"

            disk.key = key
        return made

    return compiled
