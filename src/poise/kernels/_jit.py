"""The one decorator of every kernel, and where compiled kernels are kept."""

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs

_FLAGS = {"contract", "reassoc", "arcp", "nsz"}
"""Fast arithmetic that keeps NaN and infinity visible."""

_INNER = type(numba.config.OPT)(1)
"""Optimisation of a kernel on its own; only enough to keep what its callers take in small."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _cache_folder() -> Path:
    """A folder named after every kernel's text.

    Numba's own cache looks at the file of the function alone, and would miss an edit in a kernel that it calls.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    home = os.environ.get("POISE_CACHE_DIR") or platformdirs.user_cache_dir("poise", appauthor=False)
    return Path(home) / digest.hexdigest()[:16]


CACHE_FOLDER = _cache_folder()


def kernel(function: _Function) -> _Function:
    """Compile `function`, which other kernels call, for this CPU.

    No interpreter lock, no exceptions from arithmetic, no allocation; and none of the wrappers that a call from
    Python would need, nor an optimisation of its own: its callers are optimised with it inside, so that doing so at
    every level would only multiply the time to compile.
    """
    compiled: Any = numba.njit(
        nogil=True, error_model="numpy", fastmath=_FLAGS, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)
    if not numba.config.DISABLE_JIT:
        compile_now = compiled.compile

        def compile_plainly(signature: Any) -> Any:
            level, numba.config.OPT = numba.config.OPT, _INNER
            try:
                return compile_now(signature)
            finally:
                numba.config.OPT = level

        compiled.compile = compile_plainly
    return cast(_Function, compiled)


def border(function: _Function) -> _Function:
    """Compile `function`, which Python calls, like a kernel, and keep it on disk."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        compiled: Any = numba.njit(
            nogil=True, error_model="numpy", fastmath=_FLAGS, _nrt=False, no_cfunc_wrapper=True, cache=True
        )(function)
    finally:
        numba.config.CACHE_DIR = before
    if not numba.config.DISABLE_JIT:
        compile_now = compiled.compile

        def compile_with_note(signature: Any) -> Any:
            if not any(CACHE_FOLDER.rglob(f"*.{function.__name__}-*.nbi")):
                _note()
            return compile_now(signature)

        compiled.compile = compile_with_note
    return cast(_Function, compiled)


@functools.cache
def _note() -> None:
    print("poise: compiling kernels for this CPU, once: about 15 s", file=sys.stderr, flush=True)
