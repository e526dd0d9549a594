"""What a user's function reads of what is around it: compiled code keeps it as it was then, and would never tell."""

import dis
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache, partial
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any, Final, final

import numpy as np

_NOTHING: Final = object()
"""In place of what is not there."""
_NUMBERS: Final = (np.ndarray, np.generic, float, complex)
_PACKAGES: Final = ("poise", "numpy", "numba", "math")


@final
class Reads:
    """What functions, and those of Numba's that they call, read around them: globals, cells, attributes of modules.

    Two are equal where all that is read is the same, arrays entry by entry: then so is what is compiled.
    """

    __slots__ = ("_content", "_hash", "_places", "helpers")

    def __init__(self, *functions: Callable[..., Any]) -> None:
        self.helpers: list[Any] = []
        """The functions of Numba's that they call, one that another calls before that."""
        self._places: list[tuple[str, Callable[[], Any], Any, Hashable, bool]] = []
        walked: set[Any] = set()
        for function in functions:
            self._walk(function, walked)
        self._content = tuple((name, content) for name, _, _, content, _ in self._places)
        self._hash = hash(self._content)

    def _walk(self, function: Any, walked: set[Any]) -> None:
        if function in walked:
            return
        walked.add(function)
        inner = getattr(function, "py_func", function)
        if not hasattr(inner, "__code__") or (inner.__module__ or "").partition(".")[0] == "poise":
            return  # what Numba refuses, and the library's own, which never changes
        for name, look in _around(inner):
            value = look()
            if value is _NOTHING or _brought(value):
                continue
            if hasattr(value, "py_func"):
                self._walk(value, walked)
            where = f"{name} in {inner.__qualname__}"
            self._places.append((where, look, value, _content(value), _still(value)))
        if inner is not function:
            self.helpers.append(function)

    def __bool__(self) -> bool:
        return bool(self._places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reads) and self._content == other._content

    def __hash__(self) -> int:
        return self._hash

    def changed(self) -> str | None:
        """In words, what is not what it was; None if all is."""
        for where, look, value, content, still in self._places:
            now = look()
            if (now is value and still) or _content(now) == content:
                continue
            if isinstance(value, float | int) and isinstance(now, float | int):
                return f"{where} was {value!r}, and is {now!r}"
            return f"{where} is not what it was"
        return None


def _around(function: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The names that a function reads, `a.b` for an attribute of a module, and what looks them up."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for chain in _chains(function.__code__):
        first = chain[0]
        if first in cells:
            look = partial(getattr, cells[first], "cell_contents", _NOTHING)
        else:
            look = partial(function.__globals__.get, first, _NOTHING)
        name = first
        for attribute in chain[1:]:
            if not isinstance(look(), ModuleType):
                break
            look, name = partial(getattr, look(), attribute, _NOTHING), f"{name}.{attribute}"
        yield name, look


@lru_cache(maxsize=256)
def _chains(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """The names that are read of globals and cells, each with the attributes that are read of it at once."""
    found: list[tuple[str, ...]] = []
    chain: tuple[str, ...] = ()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and chain:
            chain = (*chain, step.argval)
            continue
        if chain:
            found.append(chain)
        chain = (step.argval,) if step.opname in ("LOAD_GLOBAL", "LOAD_DEREF") else ()
    inner = [c for const in code.co_consts if isinstance(const, CodeType) for c in _chains(const)]
    return tuple(dict.fromkeys([*found, *inner]))


def _brought(value: Any) -> bool:
    """Whether it is a part of Python or of a package that a function calls by name."""
    if isinstance(value, ModuleType | BuiltinFunctionType | np.ufunc | type):
        return True
    return callable(value) and (getattr(value, "__module__", None) or "").partition(".")[0] in _PACKAGES


def _content(value: Any) -> Hashable:
    """What compiled code makes of a value; equal for those of which it makes the same."""
    if isinstance(value, _NUMBERS):
        array = np.asarray(value)
        return type(value), array.dtype, array.shape, array.flags.c_contiguous, array.tobytes()
    if isinstance(value, tuple):
        return (type(value), *map(_content, value))
    return (type(value), value) if isinstance(value, Hashable) else (type(value), id(value))


def _still(value: Any) -> bool:
    """Whether it stays what it is as long as it is the same object."""
    if isinstance(value, np.ndarray):
        return not value.flags.writeable and value.base is None
    return all(map(_still, value)) if isinstance(value, tuple) else True
