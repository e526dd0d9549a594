"""What tells the compiled code of a function from all other: its own code, and that of all that it reaches.

Code is what is run.  Comments, docstrings, the places of files and the numbers of lines are no part of it, so that an
edit of those compiles nothing anew, and one of a kernel only what calls it.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from inspect import CO_NEWLOCALS
from opcode import opmap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

import llvmlite
import numba
import numpy as np

from poise.kernels.machine.jit import Primitive
from poise.kernels.machine.record import Record

_HAS_DOCSTRING: Final = 0x4000000
"""Flag of code from Python 3.14 on; before, the first constant of a function is its docstring or None."""
_SAID: Final = ("__doc__", "__firstlineno__")
_START: Final = 16
"""What a module or a class stores of its text, and the instructions, of two bytes each, within which it has."""


def compiler(files: Iterable[Path]) -> str:
    """What changes with Numba, LLVM, Python and the code of these modules, those that say how to compile."""
    tag = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    sum_ = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {tag}\0".encode())
    for file in sorted(files):
        code = SourceFileLoader(file.stem, str(file)).get_code(file.stem)
        sum_.update(file.stem.encode() + (b"" if code is None else code_content(code)))
    return sum_.hexdigest()[:16]


def identity(function: Any) -> str | None:
    """The name of a kernel and a digest of its code and of all that it reaches; None if some of that is a user's."""
    first = getattr(function, "py_func", function)
    reached, sum_ = [first], hashlib.sha256()
    for one in reached:
        own = _own(one)
        if own is None:
            return None
        digest, called = own
        sum_.update(digest)
        reached += [each for each in called if each not in reached]
    return f"{first.__name__} {first.__module__}.{first.__qualname__} {sum_.hexdigest()}"


@cache
def _own(function: FunctionType) -> tuple[bytes, tuple[FunctionType, ...]] | None:
    """A digest of a function without those that it calls, and these; None where that is not all."""
    if not is_own(function):
        return None
    called: list[FunctionType] = []
    try:
        parts = [f"{name}={_worth(value, called)}" for name, value in _around(function)]
    except ValueError:
        return None
    named = f"{function.__module__}.{function.__qualname__} {parts} ".encode()
    return hashlib.sha256(named + code_content(function.__code__)).digest(), tuple(dict.fromkeys(called))


def is_own(function: FunctionType) -> bool:
    """Whether it is the library's."""
    return function.__module__.partition(".")[0] == "poise"


def _around(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function reads of its module and of its cells, and its defaults; ValueError for a cell that is empty."""
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield "default", value


def _names(code: CodeType) -> dict[str, None]:
    """The names that code and what stands in it read of a module, and of objects."""
    found = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.update(_names(constant))
    return found


def _worth(value: Any, called: list[FunctionType]) -> str:
    """What of a value goes into code, a function among those that are `called`; ValueError for what cannot be told."""
    inner = getattr(value, "py_func", value)
    if isinstance(inner, FunctionType) and not isinstance(value, Primitive):
        called.append(inner)
        return f"{inner.__qualname__} {getattr(value, 'role', '')}"
    if value is None or isinstance(value, bool | int | float | str | np.dtype):
        return repr(value)
    if type(value) is tuple:
        return f"({', '.join(_worth(each, called) for each in value)})"
    if isinstance(value, Record):
        return value.key
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] != "poise":
        return value.__name__
    home = getattr(value, "__module__", None) or ""
    if home.startswith("poise.kernels.machine.") or home.partition(".")[0] in ("builtins", "math", "numba", "numpy"):
        return f"{home}.{getattr(value, '__name__', type(value).__name__)}"  # told of by `compiler`
    raise ValueError(f"{value!r}")


def code_content(code: CodeType) -> bytes:
    """What code does, with what stands in it."""
    constants = _without_docstring(code)
    # A set has no order of its own; all else says by its repr what it is, and of which type.
    plain = [sorted(map(repr, c)) if isinstance(c, frozenset) else c for c in constants if not isinstance(c, CodeType)]
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
    inner = [code_content(c) for c in constants if isinstance(c, CodeType)]
    return b"".join([f"{plain} {names} {counts} ".encode(), code.co_code, code.co_exceptiontable, *inner])


def _without_docstring(code: CodeType) -> tuple[Any, ...]:
    """The constants of code; a docstring is None, and so is the line of a class."""
    constants = list(code.co_consts)
    if code.co_flags & CO_NEWLOCALS:
        documented = code.co_flags & _HAS_DOCSTRING or sys.version_info < (3, 14)
        if documented and constants and isinstance(constants[0], str):
            constants[0] = None
        return tuple(constants)
    steps, place = code.co_code[: 2 * _START], 0
    for operation, argument in zip(steps[::2], steps[1::2], strict=True):
        if operation == opmap["LOAD_CONST"]:
            place = argument
        elif operation == opmap["STORE_NAME"] and code.co_names[argument] in _SAID:
            constants[place] = None
    return tuple(constants)
