"""Problems and workspaces as kernels see them: names in place of numbers, and no arithmetic to unpack them.

`problem_at` and `work_at` make the views of what `poise.kernels.machine.layout` describes:

    p.effectors[k].tip      a field of a record
    p.units[u].placement    several numbers under one name, which are read by [i]
    p.slots[i]              plain numbers
    w.jacobian              rows of a workspace, which `load` and `store` read in either width
    len(w.e)                entries of a section

A view is a pointer or two.  A problem does not change while a kernel runs, and its loads say so to the compiler, which
is then free to keep what it has read.  Nothing here needs Numba's run time.
"""

import ctypes
import operator
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model, typeof_impl
from numba.np import arrayobj

from poise.kernels.machine.layout import (
    ENTRIES,
    FIRST_ROWS,
    HEADER_WORDS,
    PROBLEM,
    WHOLE,
    WIDTH,
    WORK,
    Record,
    end_of,
    header_word,
    rows_of,
    total_rows,
    unpack,
)

_WORD, _REAL = ir.IntType(64), ir.DoubleType()


# The types ----------------------------------------------------------------------------------------------------------


class _Problem(types.Type):
    """A pointer to the first word of a problem."""

    def __init__(self) -> None:
        super().__init__(name="Problem")


class _Records(types.Type):
    """Records one after the other: a pointer and a count."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(name=f"Records({record.key})")


class _Entry(types.Type):
    """One record: a pointer."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(name=f"Entry({record.key})")


class _Named(types.Type):
    """A record's own name, which a kernel hands to `entry_at` and `settings_of`."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(name=f"Named({record.key})")


class _Numbers(types.Type):
    """Plain numbers of a problem: a pointer and a count."""

    def __init__(self, whole: bool) -> None:
        self.dtype = types.int64 if whole else types.float64
        super().__init__(name="Wholes" if whole else "Reals")


class _Table(types.Type):
    """Whole numbers of a problem in rows and columns: a pointer and the numbers of both."""

    def __init__(self) -> None:
        super().__init__(name="Table")


class RowsType(types.Type):
    """Rows of a workspace from one on, of one number or of eight: a pointer and a count."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(name=f"Rows{ndim}")


class _Work(types.Type):
    """A workspace and the problem that it is for, and the addresses of the routines that the problem needs."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(name=f"Work{ndim}")


PROBLEM_VIEW = _Problem()
NARROW, WIDE = _Work(1), _Work(2)
"""Types of a workspace of one number and of eight."""
_WHOLES, _REALS, _TABLE = _Numbers(True), _Numbers(False), _Table()
ROWS = {1: RowsType(1), 2: RowsType(2)}


@register_model(_Problem)
@register_model(_Entry)
class _PointerModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _WORD.as_pointer())


register_model(_Named)(models.OpaqueModel)


@typeof_impl.register(Record)
def _type_of_record(value: Record, context: Any) -> Any:
    return _Named(value)


@lower_constant(_Named)
def _constant_record(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


@register_model(_Records)
class _RecordsModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", PROBLEM_VIEW), ("count", types.intp)])


@register_model(_Numbers)
class _NumbersModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", types.CPointer(fe_type.dtype)), ("count", types.intp)])


@register_model(_Table)
class _TableModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", PROBLEM_VIEW), ("count", types.intp), ("columns", types.intp)])


@register_model(RowsType)
class _RowsModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", types.CPointer(types.float64)), ("count", types.intp)])


@register_model(_Work)
class _WorkModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("problem", PROBLEM_VIEW), ("data", types.CPointer(types.float64)), ("routines", PROBLEM_VIEW)]
        super().__init__(dmm, fe_type, members)


def _struct(context: Any, builder: Any, kind: Any, **members: Any) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder)
    for name, value in members.items():
        setattr(made, name, value)
    return made._getvalue()


def _word(builder: Any, problem: Any, index: Any) -> Any:
    """The whole number at a word of a problem, which does not change."""
    if isinstance(index, int):
        index = ir.Constant(_WORD, index)
    return _unchanging(builder, builder.load(builder.gep(problem, [index])))


def _unchanging(builder: Any, value: Any) -> Any:
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _reals(builder: Any, pointer: Any) -> Any:
    return builder.bitcast(pointer, _REAL.as_pointer())


# Sections by name ---------------------------------------------------------------------------------------------------


@infer_getattr
class _ProblemAttributes(AttributeTemplate):
    key = _Problem

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        kind = PROBLEM.get(attr)
        if kind is None:
            return None
        if isinstance(kind, Record):
            return _Records(kind)
        return _WHOLES if kind == WHOLE else _REALS


@lower_getattr_generic(_Problem)
def _problem_section(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    kind, word = PROBLEM[attr], header_word(attr)
    data, count = builder.gep(value, [_word(builder, value, word)]), _word(builder, value, word + 1)
    if isinstance(kind, Record):
        return _struct(context, builder, _Records(kind), data=data, count=count)
    if kind == WHOLE:
        return _struct(context, builder, _WHOLES, data=data, count=count)
    return _struct(context, builder, _REALS, data=_reals(builder, data), count=count)


@infer_getattr
class _WorkAttributes(AttributeTemplate):
    key = _Work

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        if attr == "routines":
            return _WHOLES
        return ROWS[typ.ndim] if attr in WORK else None


@lower_getattr_generic(_Work)
def _work_section(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    if attr == "routines":
        # Written when a process binds the problem, before any kernel runs.
        return _struct(context, builder, _WHOLES, data=builder.extract_value(value, 2), count=ir.Constant(_WORD, 0))
    problem, data, word = builder.extract_value(value, 0), builder.extract_value(value, 1), header_word(attr)
    start, count = _word(builder, problem, word), _word(builder, problem, word + 1)
    if typ.ndim == 2:
        start = builder.mul(start, ir.Constant(_WORD, WIDTH))
    return _struct(context, builder, ROWS[typ.ndim], data=builder.gep(data, [start]), count=count)


# Entries and fields -------------------------------------------------------------------------------------------------


def _index(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.cast(builder, value, kind, types.intp)


def _place(context: Any, builder: Any, kind: Any, value: Any, width: Any) -> Any:
    """The offset of an index, or of a pair of them in rows of `width`."""
    if isinstance(kind, types.BaseTuple):
        i, j = (_index(context, builder, kind[k], builder.extract_value(value, k)) for k in range(2))
        return builder.add(builder.mul(i, width), j)
    return _index(context, builder, kind, value)


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        kind, index = args
        if isinstance(kind, _Records):
            return signature(_Entry(kind.record), kind, index)
        if isinstance(kind, _Numbers):
            return signature(kind.dtype, kind, index)
        if isinstance(kind, _Table):
            return signature(types.int64, kind, index)
        if isinstance(kind, RowsType):
            return signature(types.float64, kind, index)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.none, *args) if isinstance(args[0], RowsType) else None


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], _Records | _Numbers | _Table | RowsType):
            return signature(types.intp, args[0])
        return None


@lower_builtin(len, _Records)
@lower_builtin(len, _Numbers)
@lower_builtin(len, _Table)
@lower_builtin(len, RowsType)
def _length(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_value(args[0], 1)


@lower_builtin(operator.getitem, _Records, types.Any)
def _record(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    index = _index(context, builder, sig.args[1], args[1])
    words = ir.Constant(_WORD, sig.args[0].record.words)
    return builder.gep(builder.extract_value(args[0], 0), [builder.mul(index, words)])


@lower_builtin(operator.getitem, _Numbers, types.Any)
def _number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    index = _index(context, builder, sig.args[1], args[1])
    return _unchanging(builder, builder.load(builder.gep(builder.extract_value(args[0], 0), [index])))


@lower_builtin(operator.getitem, _Table, types.Any)
def _table_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    place = _place(context, builder, sig.args[1], args[1], builder.extract_value(args[0], 2))
    return _unchanging(builder, builder.load(builder.gep(builder.extract_value(args[0], 0), [place])))


def _row_pointer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    place = _place(context, builder, sig.args[1], args[1], ir.Constant(_WORD, WIDTH))
    return builder.gep(builder.extract_value(args[0], 0), [place])


@lower_builtin(operator.getitem, RowsType, types.Any)
def _get_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_row_pointer(context, builder, sig, args))


@lower_builtin(operator.setitem, RowsType, types.Any, types.Any)
def _set_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    value = context.cast(builder, args[2], sig.args[2], types.float64)
    builder.store(value, _row_pointer(context, builder, sig, args))
    return context.get_dummy_value()


@infer_getattr
class _EntryAttributes(AttributeTemplate):
    key = _Entry

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        field = typ.record.fields.get(attr)
        if field is None:
            return None
        if field.count is None:
            return types.int64 if field.whole else types.float64
        return _WHOLES if field.whole else _REALS


@lower_getattr_generic(_Entry)
def _field(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    field = typ.record.fields[attr]
    pointer = builder.gep(value, [ir.Constant(_WORD, field.word)])
    if not field.whole:
        pointer = _reals(builder, pointer)
    if field.count is None:
        return _unchanging(builder, builder.load(pointer))
    kind = _WHOLES if field.whole else _REALS
    return _struct(context, builder, kind, data=pointer, count=ir.Constant(_WORD, field.count))


# Making views -------------------------------------------------------------------------------------------------------


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The address of what an argument points to: an array, or a whole number that is one."""
    if isinstance(kind, types.Array):
        return builder.bitcast(context.make_array(kind)(context, builder, value).data, _WORD.as_pointer())
    return builder.inttoptr(value, _WORD.as_pointer())


@intrinsic
def _problem_at(typing: Any, words: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _data(context, builder, sig.args[0], args[0])

    return PROBLEM_VIEW(words), emit


@intrinsic
def _entry_at(typing: Any, address: Any, record: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _data(context, builder, sig.args[0], args[0])

    return _Entry(record.record)(address, record), emit


@intrinsic
def _rows_at(typing: Any, address: Any, count: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = _reals(builder, _data(context, builder, sig.args[0], args[0]))
        return _struct(context, builder, ROWS[1], data=data, count=_index(context, builder, sig.args[1], args[1]))

    return ROWS[1](address, count), emit


def _work_of(ndim: int) -> Any:
    @intrinsic
    def work_at(typing: Any, problem: Any, words: Any, routines: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            data, table = (_data(context, builder, sig.args[i], args[i]) for i in (1, 2))
            return _struct(
                context, builder, sig.return_type, problem=args[0], data=_reals(builder, data), routines=table
            )

        return (NARROW if ndim == 1 else WIDE)(problem, words, routines), emit

    return work_at


def _record_in(name: str) -> Any:
    @intrinsic
    def record_in(typing: Any, problem: Any, record: Any) -> Any:
        def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.gep(args[0], [_word(builder, args[0], header_word(name))])

        return _Entry(record.record)(problem, record), emit

    return record_in


@intrinsic
def _whole_table(typing: Any, numbers: Any, start: Any, rows: Any, columns: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, count, width = (_index(context, builder, sig.args[i], args[i]) for i in (1, 2, 3))
        data = builder.gep(builder.extract_value(args[0], 0), [first])
        return _struct(context, builder, _TABLE, data=data, count=count, columns=width)

    return _TABLE(numbers, start, rows, columns), emit


@intrinsic
def _section(typing: Any, rows: Any, start: Any, count: Any) -> Any:
    kind = ROWS[rows.ndim] if isinstance(rows, RowsType | types.Array) else rows

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, size = (_index(context, builder, sig.args[i], args[i]) for i in (1, 2))
        if isinstance(sig.args[0], types.Array):
            data = context.make_array(sig.args[0])(context, builder, args[0]).data
        else:
            data = builder.extract_value(args[0], 0)
        if getattr(sig.args[0], "ndim", 1) == 2:
            first = builder.mul(first, ir.Constant(_WORD, WIDTH))
        return _struct(context, builder, kind, data=builder.gep(data, [first]), count=size)

    return kind(rows, start, count), emit


def _array(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    item = ir.Constant(context.get_value_type(types.intp), 8)
    strides = [item]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    made = context.make_array(kind)(context, builder)
    arrayobj.populate_array(
        made,
        data=data,
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=item,
        meminfo=None,
    )
    return made._getvalue()


@intrinsic
def _as_array(typing: Any, rows: Any) -> Any:
    kind = types.Array(types.float64, 1, "C")

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, count = (builder.extract_value(args[0], i) for i in (0, 1))
        return _array(context, builder, kind, data, [count])

    return kind(rows), emit


@intrinsic
def _flat(typing: Any, rows: Any) -> Any:
    kind = types.Array(types.float64, 1, "C")

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, count = (builder.extract_value(args[0], i) for i in (0, 1))
        width = WIDTH if sig.args[0].ndim == 2 else 1
        return _array(context, builder, kind, data, [builder.mul(count, ir.Constant(_WORD, width))])

    return kind(rows), emit


@intrinsic
def _as_matrix(typing: Any, rows: Any, height: Any, width: Any) -> Any:
    kind = types.Array(types.float64, 2, "C")

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        shape = [_index(context, builder, sig.args[i], args[i]) for i in (1, 2)]
        return _array(context, builder, kind, builder.extract_value(args[0], 0), shape)

    return kind(rows, height, width), emit


# In plain Python ----------------------------------------------------------------------------------------------------


class _PlainEntry:
    """One record, its fields by name."""

    def __init__(self, row: Any) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Any:
        if name not in self._row.dtype.names:
            raise AttributeError(name)
        return self._row[name]


class _PlainRecords:
    """Records one after the other."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> _PlainEntry:
        if not 0 <= index < len(self._rows):
            raise IndexError(index)
        return _PlainEntry(self._rows[index])


class _PlainProblem:
    """The words of a problem, its sections by name."""

    def __init__(self, words: Any) -> None:
        self.words = words

    def __getattr__(self, name: str) -> Any:
        if name not in PROBLEM:
            raise AttributeError(name)
        found = unpack(self.words, name)
        if isinstance(PROBLEM[name], Record):
            found = _PlainRecords(found)
        setattr(self, name, found)
        return found


class _PlainWork:
    """A workspace, its sections by name."""

    def __init__(self, words: Any, data: Any, routines: Any) -> None:
        self.words, self.data, self.routines = words, data, routines

    def __getattr__(self, name: str) -> Any:
        if name not in WORK:
            raise AttributeError(name)
        found = self.data[rows_of(self.words, name)]
        setattr(self, name, found)
        return found


def _at(address: Any, kind: Any, count: int) -> Any:
    """An array, or the one of `count` numbers that lies at an address."""
    if isinstance(address, np.ndarray):
        return address
    if count == 0:
        return np.zeros(0)
    return np.ctypeslib.as_array((kind * count).from_address(int(address)))


def _plain_problem_at(words):
    """The problem in an array of words, or at an address."""
    if not isinstance(words, np.ndarray):
        words = _at(words, ctypes.c_int64, end_of(_at(words, ctypes.c_int64, HEADER_WORDS)))
    return _PlainProblem(words)


def _plain_routines(problem, routines):
    most = max((effector.rows for effector in problem.effectors), default=0)
    return _at(routines, ctypes.c_int64, max(FIRST_ROWS, most + ENTRIES))


def _plain_narrow(problem, work, routines):
    """The workspace of one number in an array, or at an address."""
    rows = total_rows(problem.words)
    return _PlainWork(problem.words, _at(work, ctypes.c_double, rows)[:rows], _plain_routines(problem, routines))


def _plain_wide(problem, work, routines):
    """The workspace of eight in an array, or at an address."""
    rows = total_rows(problem.words)
    lanes = _at(work, ctypes.c_double, WIDTH * rows).reshape(-1, WIDTH)[:rows]
    return _PlainWork(problem.words, lanes, _plain_routines(problem, routines))


def _plain_entry_at(address, record):
    """The record at an address."""
    return _PlainEntry(_at(address, ctypes.c_int64, record.words).view(record.dtype)[0])


def _plain_rows_at(address, count):
    """`count` rows of one number at an address."""
    return _at(address, ctypes.c_double, count)


def _plain_record(numbers, record):
    return _PlainEntry(numbers[: record.words].view(record.dtype)[0]) if record.words else None


def _plain_settings_of(problem, record):
    """The settings of the method at hand, as its record names them."""
    return _plain_record(problem.settings, record)


def _plain_rule_settings_of(problem, record):
    """The settings of the damping rule at hand, as its record names them."""
    return _plain_record(problem.rule, record)


def _plain_section(rows, start, count):
    """Entries `start` to `start + count`; unlike a slice it checks nothing, so it costs nothing."""
    return rows[start : start + count]


def _plain_table(numbers, start, rows, columns):
    """`rows * columns` whole numbers of a problem from `start` on, in rows and columns."""
    return numbers[start : start + rows * columns].reshape(rows, columns)


def _plain_as_array(rows):
    """The first numbers of some rows, as many as there are rows, as an array for a user's function."""
    return rows.reshape(-1)[: len(rows)]


def _plain_flat(rows):
    """All numbers of some rows, one lane beside the other, as an array."""
    return rows.reshape(-1)


def _plain_as_matrix(rows, height, width):
    """The first numbers of some rows as a matrix, for a user's function."""
    return rows.reshape(-1)[: height * width].reshape(height, width)


if numba.config.DISABLE_JIT:
    problem_at, narrow, wide = _plain_problem_at, _plain_narrow, _plain_wide
    settings_of, rule_settings_of = _plain_settings_of, _plain_rule_settings_of
    entry_at, rows_at = _plain_entry_at, _plain_rows_at
    section, table, as_array, as_matrix = _plain_section, _plain_table, _plain_as_array, _plain_as_matrix
    flat = _plain_flat
else:
    problem_at, narrow, wide = _problem_at, _work_of(1), _work_of(2)
    settings_of, rule_settings_of = _record_in("settings"), _record_in("rule")
    entry_at, rows_at = _entry_at, _rows_at
    section, table, as_array, as_matrix = _section, _whole_table, _as_array, _as_matrix
    flat = _flat
