"""Kernels and a user's functions as Numba compiles them."""

import functools
import re
import warnings
from collections import Counter
from collections.abc import Callable
from time import perf_counter, thread_time
from types import CodeType
from typing import Any, Final
from weakref import WeakKeyDictionary

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target
from numba.core.typing.templates import builtin_registry
from numba.extending import intrinsic

from poise.kernels.compiling import lanes, views
from poise.kernels.compiling.numba_internals import (
    KEEPS,
    entry_address,
    inner_options,
    is_missing,
    keep,
    known,
    quickly,
)
from poise.kernels.compiling.types import TYPES
from poise.kernels.machine import kinds
from poise.kernels.machine.jit import LOCK, Kernel, Primitive, Role, name, plain
from poise.kernels.machine.notice import NOTICE
from poise.kernels.machine.reads import Reads

# Kernels ------------------------------------------------------------------------------------------------------------


def dispatcher(kernel: Any) -> Any:
    """The function of Numba's for a kernel, or for what is one already."""
    if not isinstance(kernel, Kernel):
        return kernel
    found = vars(kernel).get("dispatcher")
    return vars(kernel).setdefault("dispatcher", _made(kernel.py_func, kernel.role)) if found is None else found


def _made(function: Callable[..., Any], role: Role) -> Any:
    cached = role in (Role.ENTRY, Role.ROUTINE)
    if cached or role is Role.OWN:
        options = known(_nrt=False, **{"no_cfunc_wrapper" if role is Role.ENTRY else "no_cpython_wrapper": True})
    else:
        options = inner_options(inline=role is Role.INLINED)
    made = numba.njit(nogil=True, error_model="numpy", fastmath=set(lanes.FLAGS), **options)(function)
    if cached:
        keep(made, functools.partial(NOTICE.begins, name(function)))
    return made


def type_of(kernel: Kernel) -> Any:
    """The type of a kernel as a global of another."""
    return types.Dispatcher(dispatcher(kernel))


@functools.cache
def type_of_primitive(primitive: Primitive) -> Any:
    """The type of a primitive as a global of a kernel."""
    intrinsic = _INTRINSICS[plain(primitive).__name__]
    return next(kind for value, kind in builtin_registry.globals if value is intrinsic)


def refresh() -> None:
    """Let Numba, which is in the middle of a compilation, know the types that are defined here."""
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def typed(signature: tuple[str, ...]) -> tuple[Any, ...]:
    """Numba's types of these kinds."""
    return tuple(TYPES[kind] for kind in signature)


def entry(kernel: Kernel, signature: tuple[str, ...]) -> Callable[..., Any]:
    """An entry point loaded or compiled, which takes no other arguments."""
    made = dispatcher(kernel)
    with LOCK:
        if not made.overloads:
            _compile(made, typed(signature))
            made.disable_compile()
    return made


def address(function: Any, signature: tuple[str, ...]) -> int:
    """Where a routine, or a user's adopted function, is for these kinds of arguments; loaded or compiled."""
    made, taken = dispatcher(function), typed(signature)
    with LOCK:
        if taken not in made.overloads:
            _compile(made, taken)
        return entry_address(made.overloads[taken])


def missing(function: Any, signature: tuple[str, ...]) -> bool:
    """Whether it would be compiled, and then kept."""
    made, taken = dispatcher(function), typed(signature)
    return taken not in made.overloads and is_missing(made, taken)


def _compile(made: Any, signature: tuple[Any, ...]) -> None:
    """Load or compile; in both cases under the lock."""
    begun, clock = thread_time(), perf_counter()
    if not KEEPS:
        NOTICE.begins(name(made))
    with quickly():
        made.compile(signature)
    NOTICE.ends(thread_time() - begun, perf_counter() - clock)


@intrinsic
def call(typing: Any, place: Any, *arguments: Any) -> Any:
    """Call what is at an address, with these arguments."""

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [builder.extract_value(args[1], i) for i in range(len(arguments))]
        kind = ir.FunctionType(ir.VoidType(), [context.get_value_type(t) for t in arguments])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), values)
        return context.get_dummy_value()

    return types.none(place, types.StarArgTuple(arguments)), emit


_INTRINSICS: Final = {**vars(lanes), **vars(views), "call": call}


# A user's functions -------------------------------------------------------------------------------------------------


def fault(routine: Kernel, signature: tuple[str, ...]) -> str:
    """What Numba says of a user's routine that it cannot compile for these kinds of arguments; "" where it can."""
    try:
        dispatcher(routine).compile(typed(signature))
    except numba.core.errors.NumbaError as error:
        return heart(error)
    return ""


def from_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function that is written with the primitives of `lanes`, for Python to call with arrays."""
    return _from_python(plain(function), Reads(plain(function)))


@functools.lru_cache(maxsize=64)
def _from_python(function: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    renew(reads)
    made: Callable[..., Any] = numba.njit(error_model="numpy", fastmath=set(lanes.FLAGS))(function)
    return made


def adopt(function: Callable[..., Any], *signature: str) -> Any:
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
def _adopt(function: Callable[..., Any], reads: Reads, *signature: str) -> Any:
    _warn_of_remaking(function)
    renew(reads)
    inner = _compiled(function, signature)

    def guarded(inputs: Any, out: Any) -> None:
        out[:] = 0.0
        try:
            inner(inputs, out)
        except Exception:
            out[:] = np.nan

    def guarded_two(inputs: Any, numbers: Any, out: Any) -> None:
        out[:] = np.nan
        try:
            inner(inputs, numbers, out)
        except Exception:
            out[:] = np.nan

    def trusted(inputs: Any, numbers: Any, out: Any) -> None:
        inner(inputs, numbers, out)

    if signature[-1] in kinds.ROWS.values():
        return _compiled(trusted, signature)
    return _compiled(guarded if len(signature) == 2 else guarded_two, signature)


def _compiled(function: Callable[..., Any], signature: tuple[str, ...]) -> Any:
    if numba.config.DISABLE_JIT:
        return function
    made = numba.njit(nogil=True, error_model="numpy", fastmath=set(lanes.FLAGS), no_cpython_wrapper=True)(function)
    made.compile(typed(signature))
    return made


def renew(reads: Reads) -> None:
    """Let the functions of Numba's that a user's function calls be compiled with what they read as it is now."""
    for helper in map(dispatcher, reads.helpers):
        now = Reads(helper)
        if helper.overloads and _COMPILED.get(helper) != now:
            helper.recompile()
        _COMPILED[helper] = now


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


_ADOPTED: Final[Counter[CodeType]] = Counter()
"""How often a function of this text was adopted."""
_OFTEN: Final = 8
_COMPILED: Final["WeakKeyDictionary[Any, Reads]"] = WeakKeyDictionary()
"""What users' functions of Numba's read when they were last compiled here."""


def heart(error: Exception) -> str:
    """The first line that says something, of what Numba says."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip(" >-") for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("Failed in nopython mode")]
    message = lines[0] if lines else type(error).__name__
    return (f"{message} {lines[1]}" if message.endswith(":") and len(lines) > 1 else message).rstrip(".")
