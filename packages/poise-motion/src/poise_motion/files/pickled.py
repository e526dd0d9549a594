"""Pickles that hold arrays, read without running them.

A pickle is a program: it names functions and calls them.  Here every name stands for a record of what it was given, so
nothing is imported and nothing called; afterwards the records of arrays become arrays.  What is known are NumPy's
arrays and scalars, builtin containers, SciPy's sparse matrices, and the arrays of chumpy, in which old files of SMPL
are written.  Any other name is refused.
"""

import io
import pickle
import re
from collections.abc import Callable
from itertools import repeat
from math import prod
from typing import Any, ClassVar, Final, final

import numpy as np

from poise import ModelError

_DTYPE: Final = re.compile(r"[biufcSU]\d{1,4}|\?")
_DEEP: Final = 64
"""More containers within one another than a file of arrays has."""
_SPARSE: Final = re.compile(r"scipy\.sparse(\..+)?")
_SPARSE_KINDS: Final = ("csc_matrix", "csr_matrix", "coo_matrix", "csc_array", "csr_array", "coo_array")
_NUMPY: Final = re.compile(r"numpy(\._?core\.(_?multiarray|numeric))?")
_BUILTINS: Final = ("builtins", "__builtin__")
_PLAIN: Final[dict[str, Callable[..., Any]]] = {
    "set": set, "frozenset": frozenset, "bytearray": bytearray, "complex": complex, "bytes": bytes,
}  # fmt: skip


@final
class _Record:
    """What a pickle makes by a name that is known: the name, what it was called with and the state it was given."""

    __slots__ = ("arguments", "name", "state")

    def __init__(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.name, self.arguments = name, arguments
        self.state: Any = None


@final
class _Name:
    """A name that is known; to call it makes a record."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        if self.name == "reconstructor":  # copyreg's: class, base, state of the base
            return arguments[0](*arguments[1:]) if arguments and isinstance(arguments[0], _Name) else None
        if self.name == "encode":  # bytes, in protocols that had none
            text, encoding = arguments
            if encoding not in ("latin1", "latin-1"):
                raise pickle.UnpicklingError(f"bytes in {encoding!r}")
            return text.encode("latin1")
        if self.name in _PLAIN:
            if self.name in ("bytes", "bytearray") and arguments and isinstance(arguments[0], int):
                raise pickle.UnpicklingError("bytes by their number")
            return _PLAIN[self.name](*arguments)
        return _Record(self.name, arguments)


def _known(module: str, name: str) -> str:
    """What a global name is called in records; raises UnpicklingError for one that is not known."""
    if _NUMPY.fullmatch(module) and name in ("_reconstruct", "scalar", "ndarray", "dtype", "_frombuffer"):
        return name
    if _SPARSE.fullmatch(module) and name in _SPARSE_KINDS:
        return name.partition("_")[0]
    if module == "chumpy" or module.startswith("chumpy."):
        return f"chumpy.{name}"
    if module in ("copy_reg", "copyreg") and name == "_reconstructor":
        return "reconstructor"
    if module == "_codecs" and name == "encode":
        return "encode"
    if module == "collections" and name == "OrderedDict":
        return "ordered"
    if module in _BUILTINS and (name in _PLAIN or name == "object"):
        return name
    raise pickle.UnpicklingError(
        f"it asks for {module}.{name}, and is not run: arrays, numbers, texts and their containers are read, no objects"
    )


_PYTHONS: Any = pickle._Unpickler


class _Reader(_PYTHONS):  # type: ignore[misc]
    """Python's own reader, whose memory is not asked for by a number in the file, as that of C is."""

    dispatch: ClassVar[dict[int, Any]] = dict(_PYTHONS.dispatch)

    def find_class(self, module: str, name: str) -> _Name:
        return _Name(_known(module, name))

    def persistent_load(self, pid: Any) -> Any:
        raise pickle.UnpicklingError("it asks for something outside the file")

    def get_extension(self, code: int) -> None:
        raise pickle.UnpicklingError("it asks for an extension of a program")

    def load_reduce(self) -> None:
        arguments, made = self.stack.pop(), self.stack[-1]
        self.stack[-1] = _called(made, arguments)

    def load_newobj(self) -> None:
        arguments, made = self.stack.pop(), self.stack.pop()
        self.append(_called(made, arguments))

    def load_build(self) -> None:
        state, made = self.stack.pop(), self.stack[-1]
        if not isinstance(made, _Record):
            raise pickle.UnpicklingError("it gives a state to what is none of the objects that are read")
        made.state = state

    def load_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._put({key: value})

    def load_items(self) -> None:
        items = self.pop_mark()
        self._put(dict(zip(items[::2], items[1::2], strict=True)))

    def _put(self, pairs: dict[Any, Any]) -> None:
        made = self.stack[-1]
        if isinstance(made, _Record) and made.name == "ordered":
            made.state = {**(made.state or {}), **pairs}
        elif isinstance(made, dict):
            made.update(pairs)
        else:
            raise pickle.UnpicklingError("it puts items into what is no dictionary")

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.SETITEM[0]] = load_item
    dispatch[pickle.SETITEMS[0]] = load_items


def _called(made: Any, arguments: Any) -> Any:
    if not isinstance(made, _Name) or not isinstance(arguments, tuple):
        raise pickle.UnpicklingError("it calls what is no name")
    return made(*arguments)


def read_pickle(data: bytes, file: str) -> Any:
    """What a pickle holds, in arrays, numbers, texts and containers; sparse matrices as dense arrays.

    Raises ModelError that names what the pickle asks for and is not read, or what is broken.
    """
    stream = io.BytesIO(data)
    try:
        reader = _Reader(stream, encoding="latin1")
        return _plain(reader.load(), {}, 0)
    except Exception as error:  # of damaged bytes Python's reader raises what it likes
        why = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"the pickle cannot be read, near byte {stream.tell():,}: {why}", file=file) from None


def _plain(made: Any, done: dict[int, tuple[Any, Any]], depth: int) -> Any:
    """Records as arrays, through all containers; each but once, for they may be in several places."""
    if isinstance(made, (str, bytes, int, float, complex, type(None))):
        return made
    if id(made) in done:
        return done[id(made)][1]
    if depth > _DEEP:
        raise ValueError(f"more than {_DEEP} containers within one another, or one that holds itself")
    if isinstance(made, dict):
        out: Any = {_plain(k, done, depth + 1): _plain(v, done, depth + 1) for k, v in made.items()}
    elif isinstance(made, (list, tuple)):
        out = type(made)(map(_plain, made, repeat(done), repeat(depth + 1)))
    elif isinstance(made, _Record):
        out = _of_record(made, done, depth + 1)
    elif isinstance(made, _Name):
        raise ValueError(f"it holds {made.name} itself, and no value")
    else:  # sets and bytearrays, which hold no record
        out = made
    done[id(made)] = (made, out)  # the record is kept, so that no other gets its id
    return out


def _of_record(made: _Record, done: dict[int, tuple[Any, Any]], depth: int) -> Any:
    arguments, state = made.arguments, made.state
    if made.name == "dtype":
        return _dtype(made)
    if made.name == "ordered":
        pairs = arguments[0] if arguments else ()
        return {_plain(k, done, depth): _plain(v, done, depth) for k, v in [*pairs, *(state or {}).items()]}
    if made.name == "_reconstruct":
        _, shape, dtype, fortran, content = state
        return _array(content, shape, dtype, "F" if fortran else "C", done, depth)
    if made.name == "_frombuffer":
        content, dtype, shape, order = arguments
        return _array(content, shape, dtype, order, done, depth)
    if made.name == "ndarray":
        shape, dtype, content = arguments
        return _array(content, shape, dtype, "C", done, depth)
    if made.name == "scalar":
        dtype, content = arguments
        return _array(content, (), dtype, "C", done, depth)[()]
    if made.name in ("csc", "csr", "coo"):
        return _dense(made.name, {k: _plain(v, done, depth) for k, v in state.items()})
    if made.name.startswith("chumpy."):
        return _chumpy(made.name, {k: v for k, v in (state or {}).items() if isinstance(k, str)}, done, depth)
    return None  # a bare object


def _dtype(made: Any) -> np.dtype[Any]:
    if isinstance(made, _Record) and made.name == "dtype":
        code = str(made.arguments[0])
        # version, byte order, subarray, names, fields ...
        order = made.state[1] if isinstance(made.state, tuple) and len(made.state) > 4 else "|"
        if isinstance(made.state, tuple) and any(part is not None for part in made.state[2:5]):
            raise ValueError("an array of records")
    else:
        code, order = str(made), "|"
        order, code = (code[0], code[1:]) if code[:1] in ("<", ">", "|", "=") else (order, code)
    if code == "O8" or code == "O":
        return np.dtype(object)
    if not _DTYPE.fullmatch(code):
        raise ValueError(f"an array of {code!r}")
    return np.dtype(code).newbyteorder(">" if order == ">" else "<")


def _array(content: Any, shape: Any, dtype: Any, order: str, done: dict[int, tuple[Any, Any]], depth: int) -> Any:
    kind, sizes = _dtype(dtype), tuple(int(n) for n in shape)
    if min(sizes, default=0) < 0:
        raise ValueError(f"an array of shape {sizes}")
    if kind.hasobject:
        if not isinstance(content, list) or len(content) != prod(sizes):
            raise ValueError(f"an array of objects of shape {sizes} with other contents")
        return _plain(content, done, depth)
    if isinstance(content, str):
        content = content.encode("latin1")
    if not isinstance(content, (bytes, bytearray)) or len(content) != prod(sizes) * kind.itemsize:
        raise ValueError(f"an array of shape {sizes} of {kind}, whose bytes are more or fewer")
    return np.frombuffer(bytes(content), kind).reshape(sizes, order="F" if order == "F" else "C").copy()


def _dense(kind: str, state: dict[Any, Any]) -> Any:
    """A sparse matrix as a dense one: compressed by columns or rows, or places and values."""
    named = {str(key).lstrip("_"): value for key, value in state.items()}
    rows, columns = (int(n) for n in named["shape"])
    values = np.asarray(named["data"], dtype=np.float64)
    if not 0 <= rows * columns <= 2**26:
        raise ValueError(f"a sparse matrix of {rows} x {columns}")
    out = np.zeros((rows, columns))
    if kind == "coo":
        at = (named["row"], named["col"]) if "row" in named else tuple(named["coords"])
    else:
        lines = rows if kind == "csr" else columns
        ends, other = np.asarray(named["indptr"]), np.asarray(named["indices"])
        if ends.shape != (lines + 1,) or ends[0] != 0 or (np.diff(ends) < 0).any() or ends[-1] != len(values):
            raise ValueError("a sparse matrix whose lines do not fit")
        line = np.repeat(np.arange(lines), np.diff(ends))
        at = (line, other) if kind == "csr" else (other, line)
    np.add.at(out, tuple(np.asarray(k) for k in at), values)
    return out


def _chumpy(name: str, state: dict[str, Any], done: dict[int, tuple[Any, Any]], depth: int) -> Any:
    """An array of chumpy: it keeps its numbers as `x`; a selection keeps another's `a` and which of it."""
    if "x" in state:
        return _plain(state["x"], done, depth)
    if name.endswith("Select") and {"a", "idxs", "preferred_shape"} <= state.keys():
        a, at, shape = (_plain(state[key], done, depth) for key in ("a", "idxs", "preferred_shape"))
        return np.asarray(a).ravel()[np.asarray(at)].reshape(shape)
    raise ValueError(f"{name} keeps no plain numbers; load the file once with chumpy, and save its arrays as .npz")
