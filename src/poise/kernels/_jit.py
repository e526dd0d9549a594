"""The one decorator of every kernel, and where compiled kernels are kept."""

import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs

_FLAGS = {"contract", "reassoc", "arcp", "nsz"}
"""Fast arithmetic that keeps NaN and infinity visible."""

_INNER = type(numba.config.OPT)(1)
"""Optimisation of a kernel on its own; only enough to keep what its callers take in small."""

REAL, WHOLE = numba.types.float64, numba.types.int64
REALS, TABLE, BATCH = REAL[::1], REAL[:, ::1], REAL[:, :, ::1]
WHOLES, WHOLE_TABLE = WHOLE[::1], WHOLE[:, ::1]
FROZEN = numba.types.Array(REAL, 1, "C", readonly=True)
"""Types of the arguments at the border: numbers, and contiguous arrays of one, two and three axes."""

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


def kernel(function: _Function, *, inline: bool = False) -> _Function:
    """Compile `function`, which other kernels call, for this CPU; `inline` puts it into each of them.

    No interpreter lock, no exceptions from arithmetic, no allocation; and none of the wrappers that a call from
    Python would need, nor an optimisation of its own: its callers are optimised with it inside, so that doing so at
    every level would only multiply the time to compile.
    """
    compiled: Any = numba.njit(
        nogil=True,
        error_model="numpy",
        fastmath=_FLAGS,
        _nrt=False,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        forceinline=inline,
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


def border(*signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function that Python calls, with these argument types, like a kernel, and keep it on disk.

    It takes no others: a call with, say, a read-only array would otherwise compile the whole again; now it is a
    TypeError.  Nothing is compiled before `prepare`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(CACHE_FOLDER)
        try:
            compiled: Any = numba.njit(
                nogil=True, error_model="numpy", fastmath=_FLAGS, _nrt=False, no_cfunc_wrapper=True, cache=True
            )(function)
        finally:
            numba.config.CACHE_DIR = before
        if not numba.config.DISABLE_JIT:
            _SIGNATURES[compiled] = signature
        return cast(Callable[..., Any], compiled)

    return decorate


_SIGNATURES: dict[Any, tuple[Any, ...]] = {}
"""The argument types of the border functions that are not compiled yet."""
_LOCK = threading.Lock()


def prepare(function: Any) -> None:
    """Load or compile a border function; says so on stderr if it takes seconds."""
    if function not in _SIGNATURES:
        return
    with _LOCK:
        if function in _SIGNATURES:
            if not any(Path(function.stats.cache_path).glob(f"*.{function.py_func.__name__}-*.nbi")):
                _note()
            function.compile(_SIGNATURES[function])
            function.disable_compile()
            del _SIGNATURES[function]


@functools.cache
def _note() -> None:
    print("poise: compiling kernels for this CPU, once: about 20 s", file=sys.stderr, flush=True)
