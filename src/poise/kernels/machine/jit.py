"""The decorators of all kernels, and how a compiled one is called.

A kernel is compiled when it must be: not where the package's library has it, and not before it is asked for.  Numba is
imported for that alone, and so are the kernels' own modules: whoever calls an entry point, or asks for the address of a
routine, may name it by its place in `poise.kernels`, as in `prepare("solver.lm_solver.solve")`.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any, Final, TypeVar, cast, final

import numpy as np

from poise.common.errors import MissingExtra
from poise.kernels.machine.forks import before_numba, hold_over_forks
from poise.kernels.machine.kinds import NARROW, WIDE
from poise.kernels.machine.library import Ahead, library, symbol_of
from poise.kernels.machine.notice import NOTICE
from poise.kernels.machine.reads import Reads

_Function = TypeVar("_Function", bound=Callable[..., Any])

UNJITTED: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Whether kernels run as plain Python, for a debugger."""


class Role(Enum):
    """What calls a kernel: others, of which `INLINED` puts it into each; Python; others through its address.

    An `OWN` routine is a user's, which is not kept on disk: nobody would notice an edit of what it calls.
    """

    INNER = "inner"
    INLINED = "inlined"
    ENTRY = "entry point"
    ROUTINE = "routine"
    OWN = "own"


@final
class Kernel:
    """A function in the language of kernels; `py_func` is its plain Python."""

    def __init__(self, function: Callable[..., Any], role: Role) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.role = function, role

    def __call__(self, *arguments: Any) -> Any:
        """Run it from Python: an entry point as `prepare` says, another as plain Python."""
        return (prepare(self) if self in SIGNATURES else self.py_func)(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks of a global that it does not know."""
        return _compiling().type_of(self)


@final
class Primitive:
    """What a kernel calls and is no kernel: in plain Python, for which `poise.kernels.compiling` has an intrinsic of
    Numba's under the same name, in a file of the same name.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        """As in plain Python."""
        return self.py_func(*arguments)

    @property
    def _numba_type_(self) -> Any:
        return _compiling().type_of_primitive(self)


def primitive(function: _Function) -> _Function:
    """Let kernels call this, compiled or not."""
    return function if UNJITTED else cast(_Function, Primitive(function))


def kernel(function: _Function, *, inline: bool = False) -> _Function:
    """Compile `function`, which other kernels call, for this CPU; `inline` puts it into each of them.

    No interpreter lock, no exceptions from arithmetic, no allocation.  Its callers are optimised with it inside, and
    only they become machine code: to do so at every level would multiply the time to compile.
    """
    return _made(function, Role.INLINED if inline else Role.INNER)


def entry_point(*signature: str) -> Callable[[_Function], _Function]:
    """Compile a function that Python calls, with these kinds of arguments, like a kernel, and keep it on disk.

    It takes no others: a call with, say, a read-only array would otherwise compile the whole again; now it is a
    TypeError.  Nothing is compiled before `prepare`.
    """

    def decorate(function: _Function) -> _Function:
        if UNJITTED:
            return np.errstate(all="ignore")(function)  # compiled arithmetic says nothing either
        made = _made(function, Role.ENTRY)
        SIGNATURES[made] = signature
        return made

    return decorate


def routine(function: _Function) -> _Function:
    """Compile a function without a result, which kernels `call` through its `address`, and keep it on disk.

    A loop around the methods would otherwise be compiled with all of them inside, and anew for each of its forms; so
    each method is compiled alone, when it is first used, and the loops once for all.
    """
    return _made(function, Role.ROUTINE)


def own_routine(function: _Function) -> _Function:
    """A routine of a user's."""
    return _made(function, Role.OWN)


def _made(function: _Function, role: Role) -> _Function:
    return function if UNJITTED else cast(_Function, Kernel(function, role))


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function of what may be a kernel or a function of Numba's."""
    inner: Callable[..., Any] = getattr(function, "py_func", function)
    return inner


def watched(entry: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    """An entry point that raises RuntimeError if what was compiled for it has read what is no longer so; the entry
    point itself if nothing was read."""
    if not reads or UNJITTED:
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


SIGNATURES: Final[dict[Any, tuple[str, ...]]] = {}
"""The kinds of the arguments of the entry points."""
_READY: Final[dict[Any, Callable[..., Any]]] = {}
"""What is called in the place of each entry point that is loaded or compiled."""
_PLAIN: Final[list[Any]] = []
"""The routines that have an address, un-jitted: it is the place in this list."""
LOCK: Final = threading.RLock()
"""Whoever holds it, no other thread compiles for this library."""
_KERNELS: Final = "poise.kernels."
_COMPILER: Final = f"{_KERNELS}compiling.jit"


def prepare(function: Any) -> Callable[..., Any]:
    """Load or compile an entry point, which says so on stderr if it takes seconds; what to call in its place."""
    return _READY.get(function) or _prepare(function)


def _prepare(function: Any) -> Callable[..., Any]:
    signature = SIGNATURES.get(function, ())
    ahead = _ahead(function, signature)
    if ahead is not None:
        return _READY.setdefault(function, ahead.function())
    if isinstance(function, str):
        return _READY.setdefault(function, prepare(function_of(function)))
    if not signature:
        return cast(Callable[..., Any], function)
    return _READY.setdefault(function, compiler(name(function)).entry(function, signature))


def function_of(function: Any) -> Any:
    """The function itself, which may be named."""
    if not isinstance(function, str):
        return function
    module, _, its_name = function.rpartition(".")
    return getattr(import_module(f"{_KERNELS}{module}"), its_name)


def _ahead(function: Any, signature: tuple[str, ...]) -> Ahead | None:
    """This function for these kinds of arguments, where the package's library has it."""
    ahead = library() if isinstance(function, Kernel | str) and not UNJITTED else None
    return None if ahead is None else ahead.get(symbol(function, signature))


def symbol(function: Any, signature: tuple[str, ...]) -> str:
    """What a function for these kinds of arguments is called in a library."""
    if isinstance(function, str):
        place = f"{_KERNELS}{function}"
    else:
        place = f"{plain(function).__module__}.{plain(function).__qualname__}"
    return symbol_of(place, wide=WIDE in signature and NARROW not in signature)


def address(function: Any, *signature: str) -> int:
    """Where a routine for these kinds of arguments is; loads or compiles it, and says so on stderr if it takes long."""
    ahead = _ahead(function, signature)
    if ahead is not None:
        return ahead.address
    function = function_of(function)
    if UNJITTED:
        with LOCK:
            if function not in _PLAIN:
                _PLAIN.append(function)
            return _PLAIN.index(function)
    return cast(int, compiler(name(function)).address(function, signature))


def compiler(feature: str = "") -> Any:
    """The module that compiles, `poise.kernels.compiling.jit`; raises MissingExtra, of the feature, without Numba."""
    before_numba()
    try:
        with LOCK:
            return import_module(_COMPILER)
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        raise MissingExtra(f"{feature}, of which there is nothing compiled ahead here,", "numba", "jit") from None


def _compiling() -> Any:
    """The same in the middle of a compilation, which may be a user's and the first that has to do with kernels."""
    late = _COMPILER not in sys.modules
    module = import_module(_COMPILER)
    if late:
        module.refresh()
    return module


def name(function: Any) -> str:
    """What a kernel is called in lines for people."""
    named = plain(function)
    return f"{named.__module__.rpartition('.')[2]}.{named.__qualname__}"


def ready(function: Any, *signature: str) -> None:
    """Load or compile an entry point, or a routine for these kinds of arguments."""
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


def missing(function: Any, *signature: str) -> bool:
    """Whether `ready` would compile, and keep what it compiles."""
    if UNJITTED or function in _READY or _ahead(function, signature or SIGNATURES.get(function, ())) is not None:
        return False
    function = function_of(function)
    signature = signature or SIGNATURES.get(function, ())
    return bool(signature) and function not in _READY and compiler(name(function)).missing(function, signature)


hold_over_forks(NOTICE.lock, rank=0)
hold_over_forks(LOCK, rank=2)


@primitive
def call(place: int, *arguments: Any) -> None:
    """Run the routine at this address."""
    _PLAIN[place](*arguments)
