"""The decorators of all kernels, and how a compiled one is called."""

import functools
import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from time import thread_time
from types import CodeType
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from poise.kernels.library import Ahead, library, symbol_of
from poise.kernels.machine.cache import FOLDER
from poise.kernels.machine.notice import NOTICE
from poise.kernels.machine.numba_internals import (
    KEEPS,
    compiler_lock,
    entry_address,
    inner_options,
    is_missing,
    keep,
    known,
    quickly,
)
from poise.kernels.machine.reads import Reads
from poise.kernels.machine.view_types import NARROW, WIDE

_FLAGS = {"contract", "reassoc", "arcp", "nsz"}
"""Fast arithmetic that keeps NaN and infinity visible."""

REAL, WHOLE = numba.types.float64, numba.types.int64
REALS, TABLE, BATCH = REAL[::1], REAL[:, ::1], REAL[:, :, ::1]
WHOLES, WHOLE_TABLE = WHOLE[::1], WHOLE[:, ::1]
FROZEN = numba.types.Array(REAL, 1, "C", readonly=True)
FROZEN_TABLE = numba.types.Array(REAL, 2, "C", readonly=True)
"""Types of the arguments of entry points: numbers, and contiguous arrays of one, two and three axes."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


CACHE_FOLDER = FOLDER
"""Where compiled kernels are kept."""


def kernel(function: _Function, *, inline: bool = False) -> _Function:
    """Compile `function`, which other kernels call, for this CPU; `inline` puts it into each of them.

    No interpreter lock, no exceptions from arithmetic, no allocation.  Its callers are optimised with it inside, and
    only they become machine code: to do so at every level would multiply the time to compile.
    """
    return cast(
        _Function,
        numba.njit(nogil=True, error_model="numpy", fastmath=_FLAGS, **inner_options(inline=inline))(function),
    )


def entry_point(*signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function that Python calls, with these argument types, like a kernel, and keep it on disk.

    It takes no others: a call with, say, a read-only array would otherwise compile the whole again; now it is a
    TypeError.  Nothing is compiled before `prepare`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if numba.config.DISABLE_JIT:
            return np.errstate(all="ignore")(function)  # compiled arithmetic says nothing either
        compiled = _cached(function, no_cfunc_wrapper=True)
        SIGNATURES[compiled] = signature
        return cast(Callable[..., Any], compiled)

    return decorate


def routine(function: _Function) -> _Function:
    """Compile a function without a result, which kernels `call` through its `address`, and keep it on disk.

    A loop around the methods would otherwise be compiled with all of them inside, and anew for each of its forms; so
    each method is compiled alone, when it is first used, and the loops once for all.
    """
    return cast(_Function, _cached(function, no_cpython_wrapper=True))


def passing(function: Callable[..., Any]) -> Any:
    """A routine of a user's, which is not kept on disk: nobody would notice an edit of what it calls."""
    if numba.config.DISABLE_JIT:
        return function
    options = known(_nrt=False, no_cpython_wrapper=True)
    return numba.njit(nogil=True, error_model="numpy", fastmath=_FLAGS, **options)(function)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function of what may be a function of Numba's."""
    inner: Callable[..., Any] = getattr(function, "py_func", function)
    return inner


def from_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function that is written with the primitives of `lanes`, for Python to call with arrays."""
    return _from_python(plain(function), Reads(plain(function)))


@functools.lru_cache(maxsize=64)
def _from_python(function: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    renew(reads)
    made: Callable[..., Any] = numba.njit(error_model="numpy", fastmath=_FLAGS)(function)
    return made


def adopt(function: Callable[..., Any], *signature: Any) -> Any:
    """Compile a user's function of two or three arguments, the last an output that it writes, like a routine.

    An output that is an array is NaN where the function raises.  Before, that of two arguments is zeros, and that of
    three NaN, for all of it must be written.  One of rows is the function's alone.
    Nothing is kept on disk; whoever uses the `address` of what is returned keeps that too.  It is compiled anew if what
    it reads around it has changed.  Raises what Numba raises for a function that it cannot compile.

    LLVM's engine does not let go of what it has compiled, and its types and constants stay in any case: over a
    megabyte for each function, for good.  So a function that is made anew time and again is warned of.
    """
    return _adopt(function, Reads(function), *signature)


@functools.lru_cache(maxsize=64)
def _adopt(function: Callable[..., Any], reads: Reads, *signature: Any) -> Any:
    _warn_of_remaking(function)
    renew(reads)
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
        out[:] = np.nan
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


def renew(reads: Reads) -> None:
    """Let the functions of Numba's that a user's function calls be compiled with what they read as it is now."""
    for helper in reads.helpers:
        now = Reads(helper)
        if helper.overloads and _COMPILED.get(helper) != now:
            helper.recompile()
        _COMPILED[helper] = now


def watched(entry: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    """An entry point that raises RuntimeError if what was compiled for it has read what is no longer so; the entry
    point itself if nothing was read."""
    if not reads or numba.config.DISABLE_JIT:
        return entry

    def call(*arguments: Any) -> Any:
        changed = reads.changed()
        if changed is not None:
            raise RuntimeError(
                f"{changed}; compiled code keeps what it reads around it.  Make this Solver or Tracker anew, or let "
                "what changes be a field of the task, or its target, which every call may give"
            )
        return entry(*arguments)

    return call


def _warn_of_remaking(function: Callable[..., Any]) -> None:
    code = function.__code__
    _ADOPTED[code] += 1
    if _ADOPTED[code] == _OFTEN:
        warnings.warn(
            f"{function.__qualname__} ({code.co_filename}:{code.co_firstlineno}) has been made {_OFTEN} times, and "
            "each was compiled and keeps over a megabyte of memory for good: make it once, outside the loop, and "
            "use it again; what changes in the loop is a field or a target, not what is around the function",
            RuntimeWarning,
            stacklevel=4,
        )


def _cached(function: Callable[..., Any], **options: bool) -> Any:
    """A function that will be kept on disk when it is compiled."""
    options = known(_nrt=False, **options)
    compiled = numba.njit(nogil=True, error_model="numpy", fastmath=_FLAGS, **options)(function)
    keep(compiled, functools.partial(NOTICE.begins, _name(function)))
    return compiled


_ADOPTED: Counter[CodeType] = Counter()
"""How often a function of this text was adopted."""
_OFTEN = 8
_COMPILED: "WeakKeyDictionary[Any, Reads]" = WeakKeyDictionary()
"""What users' functions of Numba's read when they were last compiled here."""
SIGNATURES: dict[Any, tuple[Any, ...]] = {}
"""The argument types of the entry points."""
_READY: dict[Any, Callable[..., Any]] = {}
"""What is called in the place of each entry point that is loaded or compiled."""
_PLAIN: list[Any] = []
"""The routines that have an address, un-jitted: it is the place in this list."""
_LOCK = threading.RLock()


def prepare(function: Any) -> Callable[..., Any]:
    """Load or compile an entry point, which says so on stderr if it takes seconds; what to call in its place."""
    return _READY.get(function) or _prepare(function)


def _prepare(function: Any) -> Callable[..., Any]:
    if function not in SIGNATURES:
        return cast(Callable[..., Any], function)
    with _LOCK:
        if function not in _READY:
            ahead = _ahead(function, SIGNATURES[function])
            if ahead is None:
                _compile(function, SIGNATURES[function])
                function.disable_compile()
            _READY[function] = function if ahead is None else ahead.function()
        return _READY[function]


def _ahead(function: Any, signature: tuple[Any, ...]) -> Ahead | None:
    """This function for these argument types, where the package's library has it."""
    found = library()
    return None if found is None else found.get(symbol(function, signature))


def symbol(function: Any, signature: tuple[Any, ...]) -> str:
    """What a function for these argument types is called in a library."""
    return symbol_of(plain(function), wide=WIDE in signature and NARROW not in signature)


def address(function: Any, *signature: Any) -> int:
    """Where a routine for these argument types is; loads or compiles it, and says so on stderr if it takes seconds."""
    with _LOCK:
        if numba.config.DISABLE_JIT:
            if function not in _PLAIN:
                _PLAIN.append(function)
            return _PLAIN.index(function)
        ahead = _ahead(function, signature)
        if ahead is not None:
            return ahead.address
        if signature not in function.overloads:
            _compile(function, signature)
        return entry_address(function.overloads[signature])


def _compile(function: Any, signature: tuple[Any, ...]) -> None:
    """Load or compile; in both cases under the lock."""
    begun = thread_time()
    if not KEEPS:
        NOTICE.begins(_name(function))
    with quickly():
        function.compile(signature)
    NOTICE.ends(thread_time() - begun)


def _name(function: Any) -> str:
    """What a kernel is called in lines for people."""
    named = plain(function)
    return f"{named.__module__.rpartition('.')[2]}.{named.__qualname__}"


def ready(function: Any, *signature: Any) -> None:
    """Load or compile an entry point, or a routine for these argument types."""
    if signature:
        address(function, *signature)
    else:
        prepare(function)


def waiting() -> list[Any]:
    """The library's entry points that are neither loaded nor compiled yet, those that most likely take longest first:
    a whole search takes the address of a record and no more.
    """
    found = [f for f in SIGNATURES if f not in _READY and f.__module__.startswith("poise.")]
    return sorted(found, key=lambda function: len(SIGNATURES[function]))


def missing(function: Any, *signature: Any) -> bool:
    """Whether `ready` would compile, and keep what it compiles."""
    signature = signature or SIGNATURES.get(function, ())
    if not signature or numba.config.DISABLE_JIT or signature in function.overloads:
        return False
    return _ahead(function, signature) is None and is_missing(function, signature)


def hold_over_forks(lock: Any) -> None:
    """A fork waits for this lock, and its child begins with a free one: of several, the last given is waited for first.

    A lock that is held while another is taken must be given after that.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


# A process forked while another thread compiles would have Numba and LLVM for ever in the middle of it.
hold_over_forks(NOTICE.lock)
hold_over_forks(compiler_lock)
hold_over_forks(_LOCK)


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
