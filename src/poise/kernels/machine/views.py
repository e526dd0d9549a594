"""Problems and workspaces as kernels see them: names in place of numbers.

`problem_at`, `narrow` and `wide` make the views of what `layout` and `work` in `poise.kernels.machine` describe:

    p.effectors[k].tip      a field of a record
    p.units[u].placement    several numbers under one name, which are read by [i]
    p.slots[i]              plain numbers
    w.jacobian              rows of a workspace, which `load` and `store` read in either width
    w.braking.state         the same, of a group
    len(w.e)                entries of a section

Here they are plain Python, for where nothing is compiled: a kernel can then be stepped through in a debugger.
"""

import ctypes
from typing import Any

import numpy as np

from poise.kernels.machine.jit import primitive
from poise.kernels.machine.layout import ENTRIES, FIRST_ROWS, PROBLEM, WIDTH
from poise.kernels.machine.packing import HEADER_WORDS, end_of, rows_of, total_rows, unpack
from poise.kernels.machine.record import Record
from poise.kernels.machine.work import SECTIONS, WORK


class _Entry:
    """One record, its fields by name."""

    def __init__(self, row: Any) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Any:
        if name not in self._row.dtype.names:
            raise AttributeError(name)
        return self._row[name]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field of a CALL; no other record changes while a kernel runs."""
        if name == "_row":
            super().__setattr__(name, value)
        else:
            self._row[name] = value


class _Records:
    """Records one after the other."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> _Entry:
        if not 0 <= index < len(self._rows):
            raise IndexError(index)
        return _Entry(self._rows[index])


class _Problem:
    """The words of a problem, its sections by name."""

    def __init__(self, words: Any) -> None:
        self.words = words

    def __getattr__(self, name: str) -> Any:
        if name not in PROBLEM:
            raise AttributeError(name)
        found = unpack(self.words, name)
        if isinstance(PROBLEM[name], Record):
            found = _Records(found)
        setattr(self, name, found)
        return found


class _Work:
    """A workspace, or with a prefix a group of it: its sections and groups by name."""

    def __init__(self, words: Any, data: Any, routines: Any, prefix: str = "") -> None:
        self.words, self.data, self.routines, self.prefix = words, data, routines, prefix

    def __getattr__(self, name: str) -> Any:
        whole = self.prefix + name
        if whole in SECTIONS:
            found: Any = self.data[rows_of(self.words, whole)]
        elif whole in WORK:
            found = _Work(self.words, self.data, self.routines, f"{whole}.")
        else:
            raise AttributeError(name)
        setattr(self, name, found)
        return found


def _at(address: Any, kind: Any, count: int) -> Any:
    """An array, or the one of `count` numbers that lies at an address."""
    if isinstance(address, np.ndarray):
        return address
    if count == 0:
        return np.zeros(0)
    return np.ctypeslib.as_array((kind * count).from_address(int(address)))


@primitive
def problem_at(words):
    """The problem in an array of words, or at an address."""
    if not isinstance(words, np.ndarray):
        words = _at(words, ctypes.c_int64, end_of(_at(words, ctypes.c_int64, HEADER_WORDS)))
    return _Problem(words)


def _routines(problem, routines):
    most = max((effector.rows for effector in problem.effectors), default=0)
    return _at(routines, ctypes.c_int64, max(FIRST_ROWS, most + ENTRIES))


@primitive
def narrow(problem, work, routines):
    """The workspace of one number in an array, or at an address."""
    rows = total_rows(problem.words)
    return _Work(problem.words, _at(work, ctypes.c_double, rows)[:rows], _routines(problem, routines))


@primitive
def wide(problem, work, routines):
    """The workspace of eight in an array, or at an address."""
    rows = total_rows(problem.words)
    lanes = _at(work, ctypes.c_double, WIDTH * rows).reshape(-1, WIDTH)[:rows]
    return _Work(problem.words, lanes, _routines(problem, routines))


@primitive
def entry_at(address, record):
    """The record at an address."""
    return _Entry(_at(address, ctypes.c_int64, record.words).view(record.dtype)[0])


@primitive
def rows_at(address, count):
    """`count` rows of one number at an address."""
    return _at(address, ctypes.c_double, count)


def _record(numbers, record):
    return _Entry(numbers[: record.words].view(record.dtype)[0]) if record.words else None


@primitive
def settings_of(problem, record):
    """The settings of the method at hand, as its record names them."""
    return _record(problem.settings, record)


@primitive
def rule_settings_of(problem, record):
    """The settings of the damping rule at hand, as its record names them."""
    return _record(problem.rule, record)


@primitive
def section(rows, start, count):
    """Entries `start` to `start + count`; unlike a slice it checks nothing, so it costs nothing."""
    return rows[start : start + count]


@primitive
def table(numbers, start, rows, columns):
    """`rows * columns` whole numbers of a problem from `start` on, in rows and columns."""
    return numbers[start : start + rows * columns].reshape(rows, columns)


@primitive
def as_array(rows):
    """The first numbers of some rows, as many as there are rows, as an array for a user's function."""
    return rows.reshape(-1)[: len(rows)]


@primitive
def flat(rows):
    """All numbers of some rows, one lane beside the other, as an array."""
    return rows.reshape(-1)


@primitive
def as_matrix(rows, height, width):
    """The first numbers of some rows as a matrix, for a user's function."""
    return rows.reshape(-1)[: height * width].reshape(height, width)
