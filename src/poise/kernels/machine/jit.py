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
import numpy as np
import platformdirs
from llvmlite import ir
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic

_FLAGS = {"contract", "reassoc", "arcp", "nsz"}
"""Fast arithmetic that keeps NaN and infinity visible."""

_INNER = type(numba.config.OPT)(1)
"""Optimisation of a kernel on its own; only enough to keep what its callers take in small."""

REAL, WHOLE = numba.types.float64, numba.types.int64
REALS, TABLE, BATCH = REAL[::1], REAL[:, ::1], REAL[:, :, ::1]
WHOLES, WHOLE_TABLE = WHOLE[::1], WHOLE[:, ::1]
FROZEN = numba.types.Array(REAL, 1, "C", readonly=True)
FROZEN_TABLE = numba.types.Array(REAL, 2, "C", readonly=True)
"""Types of the arguments at the border: numbers, and contiguous arrays of one, two and three axes."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _cache_folder() -> Path:
    """A folder named after the text of every kernel, and of the tasks, which have kernels of their own.

    Numba's own cache looks at the file of the function alone, and would miss an edit in a kernel that it calls.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    house = Path(__file__).parents[2]
    for file in sorted(file for room in ("kernels", "tasks") for file in (house / room).rglob("*.py")):
        digest.update(file.relative_to(house).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    home = os.environ.get("POISE_CACHE_DIR") or platformdirs.user_cache_dir("poise", appauthor=False)
    return Path(home) / digest.hexdigest()[:16]


CACHE_FOLDER = _cache_folder()


class _Library(JITCodeLibrary):
    """What a kernel's callers link: neither optimised nor machine code, for with its callers it will be both."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedOnly(NativeLowering):
    """Lower a kernel for its callers alone."""

    _name = "poise_linked_only"

    def run_pass(self, state: Any) -> bool:
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # Numba knows a compiled function by a built-in one, which is called from Python: never, here.
        never_called = list[Any]().append
        state.cr = state.cr._replace(cfunc=never_called)
        state.targetctx.insert_user_function(never_called, state.cr.fndesc, [state.library])
        return True


class _InnerCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [(_LinkedOnly if p is NativeLowering else p, text) for p, text in manager.passes]
        manager.finalize()
        return [manager]


def kernel(function: _Function, *, inline: bool = False) -> _Function:
    """Compile `function`, which other kernels call, for this CPU; `inline` puts it into each of them.

    No interpreter lock, no exceptions from arithmetic, no allocation.  Its callers are optimised with it inside, and
    only they become machine code: to do so at every level would multiply the time to compile.
    """
    return cast(
        _Function,
        numba.njit(
            nogil=True,
            error_model="numpy",
            fastmath=_FLAGS,
            _nrt=False,
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
            forceinline=inline,
            pipeline_class=_InnerCompiler,
        )(function),
    )


def border(*signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function that Python calls, with these argument types, like a kernel, and keep it on disk.

    It takes no others: a call with, say, a read-only array would otherwise compile the whole again; now it is a
    TypeError.  Nothing is compiled before `prepare`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = _kept(function, no_cfunc_wrapper=True)
        if not numba.config.DISABLE_JIT:
            _SIGNATURES[compiled] = signature
        return cast(Callable[..., Any], compiled)

    return decorate


def routine(function: _Function) -> _Function:
    """Compile a function without a result, which kernels `call` through its `address`, and keep it on disk.

    A loop around the methods would otherwise be compiled with all of them inside, and anew for each of its forms; so
    each method is compiled alone, when it is first used, and the loops once for all.
    """
    return cast(_Function, _kept(function, no_cpython_wrapper=True))


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function of what may be a function of Numba's."""
    inner: Callable[..., Any] = getattr(function, "py_func", function)
    return inner


@functools.lru_cache(maxsize=64)
def from_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function that is written with the primitives of `lanes`, for Python to call with arrays."""
    made: Callable[..., Any] = numba.njit(error_model="numpy", fastmath=_FLAGS)(plain(function))
    return made


@functools.lru_cache(maxsize=64)
def adopt(function: Callable[..., Any], *signature: Any) -> Any:
    """Compile a user's function of two or three arguments, the last an output that it writes, like a routine.

    An output that is an array is zeros before, and NaN where the function raises; one of rows is the function's alone.
    Nothing is kept on disk; whoever uses the `address` of what is returned keeps that too.  Raises what Numba raises
    for a function that it cannot compile.
    """
    inner = function
    if not numba.config.DISABLE_JIT:
        inner = numba.njit(nogil=True, error_model="numpy", fastmath=_FLAGS, no_cpython_wrapper=True)(function)
        inner.compile(signature)

    def guarded(given: Any, out: Any) -> None:
        out[:] = 0.0
        try:
            inner(given, out)
        except Exception:
            out[:] = np.nan

    def guarded_two(given: Any, numbers: Any, out: Any) -> None:
        out[:] = 0.0
        try:
            inner(given, numbers, out)
        except Exception:
            out[:] = np.nan

    def trusted(given: Any, numbers: Any, out: Any) -> None:
        inner(given, numbers, out)

    chosen: Callable[..., None] = guarded if len(signature) == 2 else guarded_two
    if not isinstance(signature[-1], numba.types.Array):
        chosen = trusted
    if numba.config.DISABLE_JIT:
        return chosen
    adopted = numba.njit(nogil=True, error_model="numpy", fastmath=_FLAGS, no_cpython_wrapper=True)(chosen)
    adopted.compile(signature)
    return adopted


def _kept(function: Callable[..., Any], **options: bool) -> Any:
    """A function that will be kept on disk when it is compiled."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        return numba.njit(nogil=True, error_model="numpy", fastmath=_FLAGS, _nrt=False, cache=True, **options)(function)
    finally:
        numba.config.CACHE_DIR = before


_SIGNATURES: dict[Any, tuple[Any, ...]] = {}
"""The argument types of the border functions that are not compiled yet."""
_PLAIN: list[Any] = []
"""The routines that have an address, un-jitted: it is the place in this list."""
_LOCK = threading.RLock()


def prepare(function: Any) -> None:
    """Load or compile a border function; says so on stderr if it takes seconds."""
    if function not in _SIGNATURES:
        return
    with _LOCK:
        if function in _SIGNATURES:
            _compile(function, _SIGNATURES[function])
            function.disable_compile()
            del _SIGNATURES[function]


def address(function: Any, *signature: Any) -> int:
    """Where a routine for these argument types is; loads or compiles it, and says so on stderr if it takes seconds."""
    with _LOCK:
        if numba.config.DISABLE_JIT:
            if function not in _PLAIN:
                _PLAIN.append(function)
            return _PLAIN.index(function)
        if signature not in function.overloads:
            _compile(function, signature)
        compiled = function.overloads[signature]
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


def _compile(function: Any, signature: tuple[Any, ...]) -> None:
    """Load or compile a function that is kept on disk."""
    files = Path(function.stats.cache_path).glob(f"*.{function.py_func.__name__}-*.nbc")
    if len(list(files)) <= len(function.overloads):
        _note()
    function.compile(signature)


def _plain_call(place: int, *arguments: Any) -> None:
    """Run the routine at this address."""
    _PLAIN[place](*arguments)


@intrinsic
def _call(typing: Any, place: Any, *arguments: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [builder.extract_value(args[1], i) for i in range(len(arguments))]
        kind = ir.FunctionType(context.get_value_type(types.none), [context.get_value_type(t) for t in arguments])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), values)
        return context.get_dummy_value()

    return types.none(place, types.StarArgTuple(arguments)), emit


call = _plain_call if numba.config.DISABLE_JIT else _call


@functools.cache
def _note() -> None:
    print("poise: compiling kernels for this CPU, once: 5 to 20 s", file=sys.stderr, flush=True)
