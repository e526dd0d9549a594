"""The types of views, as Numba knows them, and what each is made of: a pointer or two."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_constant
from numba.extending import models, register_model, typeof_impl

from poise.kernels.machine import kinds
from poise.kernels.machine.record import Record

WORD, REAL = ir.IntType(64), ir.DoubleType()


class Problem(types.Type):
    """A pointer to the first word of a problem."""

    def __init__(self) -> None:
        super().__init__(name="Problem")


class Records(types.Type):
    """Records one after the other: a pointer and a count."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(name=f"Records({record.key})")


class Entry(types.Type):
    """One record: a pointer."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(name=f"Entry({record.key})")


class Named(types.Type):
    """A record's own name, which a kernel hands to `entry_at` and `settings_of`."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(name=f"Named({record.key})")


class Numbers(types.Type):
    """Plain numbers of a problem: a pointer and a count."""

    def __init__(self, whole: bool) -> None:
        self.dtype = types.int64 if whole else types.float64
        super().__init__(name="Wholes" if whole else "Reals")


class Table(types.Type):
    """Whole numbers of a problem in rows and columns: a pointer and the numbers of both."""

    def __init__(self) -> None:
        super().__init__(name="Table")


class RowsType(types.Type):
    """Rows of a workspace from one on, of one number or of eight: a pointer and a count."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim
        super().__init__(name=f"Rows{ndim}")


class Work(types.Type):
    """A workspace and the problem that it is for, and the addresses of the routines that the problem needs.

    A group of its sections is the same under a type of its own: `prefix` is what their names begin with.
    """

    def __init__(self, ndim: int, prefix: str = "") -> None:
        self.ndim, self.prefix = ndim, prefix
        super().__init__(name=f"Work{ndim}{prefix}")


PROBLEM_VIEW = Problem()
NARROW, WIDE = Work(1), Work(2)
"""Types of a workspace of one number and of eight."""
WHOLES, REALS, TABLE = Numbers(True), Numbers(False), Table()
ROWS = {1: RowsType(1), 2: RowsType(2)}


@register_model(Problem)
@register_model(Entry)
class _PointerModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, WORD.as_pointer())


register_model(Named)(models.OpaqueModel)


@typeof_impl.register(Record)
def _type_of_record(value: Record, context: Any) -> Any:
    return Named(value)


@lower_constant(Named)
def _constant_record(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.get_dummy_value()


@register_model(Records)
class _RecordsModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", PROBLEM_VIEW), ("count", types.intp)])


@register_model(Numbers)
class _NumbersModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", types.CPointer(fe_type.dtype)), ("count", types.intp)])


@register_model(Table)
class _TableModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", PROBLEM_VIEW), ("count", types.intp), ("columns", types.intp)])


@register_model(RowsType)
class _RowsModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, [("data", types.CPointer(types.float64)), ("count", types.intp)])


@register_model(Work)
class _WorkModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("problem", PROBLEM_VIEW), ("data", types.CPointer(types.float64)), ("routines", PROBLEM_VIEW)]
        super().__init__(dmm, fe_type, members)


TYPES: dict[str, Any] = {
    kinds.REAL: types.float64,
    kinds.WHOLE: types.int64,
    **{kind: types.Array(types.float64, int(kind[1]), "C") for kind in (kinds.REALS, kinds.TABLE, kinds.BATCH)},
    **{kind: types.Array(types.int64, int(kind[1]), "C") for kind in (kinds.WHOLES, kinds.WHOLE_TABLE)},
    kinds.FROZEN: types.Array(types.float64, 1, "C", readonly=True),
    kinds.FROZEN_TABLE: types.Array(types.float64, 2, "C", readonly=True),
    kinds.PROBLEM_VIEW: PROBLEM_VIEW,
    kinds.NARROW: NARROW,
    kinds.WIDE: WIDE,
    **{kinds.ROWS[ndim]: kind for ndim, kind in ROWS.items()},
}
"""Numba's type of each of `poise.kernels.machine.kinds`."""
