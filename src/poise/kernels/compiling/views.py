"""The views of `poise.kernels.machine.views` as Numba compiles them: names in place of numbers, and no arithmetic.

A view is a pointer or two.  A problem does not change while a kernel runs, and its loads say so to the compiler, which
is then free to keep what it has read.  Nothing here needs Numba's run time.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin
from numba.np import arrayobj

from poise.kernels.compiling.types import (
    NARROW,
    PROBLEM_VIEW,
    REAL,
    REALS,
    ROWS,
    TABLE,
    WHOLES,
    WIDE,
    WORD,
    Entry,
    Numbers,
    Problem,
    Records,
    RowsType,
    Table,
    Work,
)
from poise.kernels.machine.layout import CALL, PROBLEM, WHOLE, WIDTH
from poise.kernels.machine.packing import header_word
from poise.kernels.machine.record import Record
from poise.kernels.machine.work import SECTIONS, WORK


def _struct(context: Any, builder: Any, kind: Any, **members: Any) -> Any:
    made = cgutils.create_struct_proxy(kind)(context, builder)
    for name, value in members.items():
        setattr(made, name, value)
    return made._getvalue()


def _word(builder: Any, problem: Any, index: Any) -> Any:
    """The whole number at a word of a problem, which does not change."""
    if isinstance(index, int):
        index = ir.Constant(WORD, index)
    return _unchanging(builder, builder.load(builder.gep(problem, [index])))


def _unchanging(builder: Any, value: Any) -> Any:
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _reals(builder: Any, pointer: Any) -> Any:
    return builder.bitcast(pointer, REAL.as_pointer())


# Sections by name ---------------------------------------------------------------------------------------------------


@infer_getattr
class _ProblemAttributes(AttributeTemplate):
    key = Problem

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        kind = PROBLEM.get(attr)
        if kind is None:
            return None
        if isinstance(kind, Record):
            return Records(kind)
        return WHOLES if kind == WHOLE else REALS


@lower_getattr_generic(Problem)
def _problem_section(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    kind, word = PROBLEM[attr], header_word(attr)
    data, count = builder.gep(value, [_word(builder, value, word)]), _word(builder, value, word + 1)
    if isinstance(kind, Record):
        return _struct(context, builder, Records(kind), data=data, count=count)
    if kind == WHOLE:
        return _struct(context, builder, WHOLES, data=data, count=count)
    return _struct(context, builder, REALS, data=_reals(builder, data), count=count)


@infer_getattr
class _WorkAttributes(AttributeTemplate):
    key = Work

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        if attr == "routines":
            return WHOLES
        name = typ.prefix + attr
        if name in SECTIONS:
            return ROWS[typ.ndim]
        return Work(typ.ndim, f"{name}.") if name in WORK else None


@lower_getattr_generic(Work)
def _work_section(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    if attr == "routines":
        # Written when a process binds the problem, before any kernel runs.
        return _struct(context, builder, WHOLES, data=builder.extract_value(value, 2), count=ir.Constant(WORD, 0))
    name = typ.prefix + attr
    if name not in SECTIONS:
        return value  # a group: the names alone are others
    problem, data, word = builder.extract_value(value, 0), builder.extract_value(value, 1), header_word(name)
    start, count = _word(builder, problem, word), _word(builder, problem, word + 1)
    if typ.ndim == 2:
        start = builder.mul(start, ir.Constant(WORD, WIDTH))
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
        if isinstance(kind, Records):
            return signature(Entry(kind.record), kind, index)
        if isinstance(kind, Numbers):
            return signature(kind.dtype, kind, index)
        if isinstance(kind, Table):
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
        if isinstance(args[0], Records | Numbers | Table | RowsType):
            return signature(types.intp, args[0])
        return None


@lower_builtin(len, Records)
@lower_builtin(len, Numbers)
@lower_builtin(len, Table)
@lower_builtin(len, RowsType)
def _length(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.extract_value(args[0], 1)


@lower_builtin(operator.getitem, Records, types.Any)
def _record(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    index = _index(context, builder, sig.args[1], args[1])
    words = ir.Constant(WORD, sig.args[0].record.words)
    return builder.gep(builder.extract_value(args[0], 0), [builder.mul(index, words)])


@lower_builtin(operator.getitem, Numbers, types.Any)
def _number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    index = _index(context, builder, sig.args[1], args[1])
    return _unchanging(builder, builder.load(builder.gep(builder.extract_value(args[0], 0), [index])))


@lower_builtin(operator.getitem, Table, types.Any)
def _table_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    place = _place(context, builder, sig.args[1], args[1], builder.extract_value(args[0], 2))
    return _unchanging(builder, builder.load(builder.gep(builder.extract_value(args[0], 0), [place])))


def _row_pointer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    place = _place(context, builder, sig.args[1], args[1], ir.Constant(WORD, WIDTH))
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
    key = Entry

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        field = typ.record.fields.get(attr)
        if field is None:
            return None
        if field.count is None:
            return types.int64 if field.whole else types.float64
        return WHOLES if field.whole else REALS


@lower_getattr_generic(Entry)
def _field(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    field, pointer = typ.record.fields[attr], _field_pointer(builder, typ, value, attr)
    if field.count is None:
        loaded = builder.load(pointer)
        return loaded if typ.record is CALL else _unchanging(builder, loaded)
    kind = WHOLES if field.whole else REALS
    return _struct(context, builder, kind, data=pointer, count=ir.Constant(WORD, field.count))


def _field_pointer(builder: Any, typ: Any, value: Any, attr: str) -> Any:
    field = typ.record.fields[attr]
    pointer = builder.gep(value, [ir.Constant(WORD, field.word)])
    return pointer if field.whole else _reals(builder, pointer)


@lower_setattr_generic(Entry)
def _set_field(context: Any, builder: Any, sig: Any, args: Any, attr: str) -> None:
    """Of a CALL alone: no other record changes while a kernel runs, and what was read of it may be kept."""
    if sig.args[0].record is not CALL:
        raise TypeError(f"{attr} is of a {sig.args[0].record.name}, which does not change while a kernel runs")
    builder.store(args[1], _field_pointer(builder, sig.args[0], args[0], attr))


# Making views -------------------------------------------------------------------------------------------------------


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The address of what an argument points to: an array, or a whole number that is one."""
    if isinstance(kind, types.Array):
        return builder.bitcast(context.make_array(kind)(context, builder, value).data, WORD.as_pointer())
    return builder.inttoptr(value, WORD.as_pointer())


@intrinsic
def problem_at(typing: Any, words: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _data(context, builder, sig.args[0], args[0])

    return PROBLEM_VIEW(words), emit


@intrinsic
def entry_at(typing: Any, address: Any, record: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _data(context, builder, sig.args[0], args[0])

    return Entry(record.record)(address, record), emit


@intrinsic
def rows_at(typing: Any, address: Any, count: Any) -> Any:
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

        return Entry(record.record)(problem, record), emit

    return record_in


@intrinsic
def table(typing: Any, numbers: Any, start: Any, rows: Any, columns: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, count, width = (_index(context, builder, sig.args[i], args[i]) for i in (1, 2, 3))
        data = builder.gep(builder.extract_value(args[0], 0), [first])
        return _struct(context, builder, TABLE, data=data, count=count, columns=width)

    return TABLE(numbers, start, rows, columns), emit


@intrinsic
def section(typing: Any, rows: Any, start: Any, count: Any) -> Any:
    kind = ROWS[rows.ndim] if isinstance(rows, RowsType | types.Array) else rows

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, size = (_index(context, builder, sig.args[i], args[i]) for i in (1, 2))
        if isinstance(sig.args[0], types.Array):
            data = context.make_array(sig.args[0])(context, builder, args[0]).data
        else:
            data = builder.extract_value(args[0], 0)
        if getattr(sig.args[0], "ndim", 1) == 2:
            first = builder.mul(first, ir.Constant(WORD, WIDTH))
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
def as_array(typing: Any, rows: Any) -> Any:
    kind = types.Array(types.float64, 1, "C")

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, count = (builder.extract_value(args[0], i) for i in (0, 1))
        return _array(context, builder, kind, data, [count])

    return kind(rows), emit


@intrinsic
def flat(typing: Any, rows: Any) -> Any:
    kind = types.Array(types.float64, 1, "C")

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data, count = (builder.extract_value(args[0], i) for i in (0, 1))
        width = WIDTH if sig.args[0].ndim == 2 else 1
        return _array(context, builder, kind, data, [builder.mul(count, ir.Constant(WORD, width))])

    return kind(rows), emit


@intrinsic
def as_matrix(typing: Any, rows: Any, height: Any, width: Any) -> Any:
    kind = types.Array(types.float64, 2, "C")

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        shape = [_index(context, builder, sig.args[i], args[i]) for i in (1, 2)]
        return _array(context, builder, kind, builder.extract_value(args[0], 0), shape)

    return kind(rows, height, width), emit


narrow, wide = _work_of(1), _work_of(2)
settings_of, rule_settings_of = _record_in("settings"), _record_in("rule")
