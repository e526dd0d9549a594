"""One kernel text, two widths.

`Lanes` is a vector of eight float64, an LLVM `<8 x double>`; `Mask` holds eight truth values.  A kernel reads and
writes its workspace through `load` and `store`: rows of one number give float64 numbers, rows of eight give Lanes, and
nothing else in the kernel knows the width.

Every primitive has a plain Python body too, so that a kernel runs un-jitted (`NUMBA_DISABLE_JIT=1`): a row of a 2-D
workspace is then an array of eight.  For that mode a kernel writes `a = a + b`, never `a += b`, which would change
a row that another name still holds.
"""

import operator

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.view_types import RowsType

_FLAGS = ("contract", "reassoc", "arcp", "nsz")
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_BITS = ir.VectorType(ir.IntType(1), WIDTH)


def workspace(*shape: int) -> np.ndarray:
    """Zeros whose first number is at a multiple of 64 bytes, so that a vector register is not read across two lines of
    the cache."""
    count = int(np.prod(shape))
    raw = np.zeros(count + WIDTH - 1)
    start = -(raw.ctypes.data // raw.itemsize) % WIDTH
    return raw[start : start + count].reshape(shape)


# The primitives, in plain Python ------------------------------------------------------------------------------------


def _plain_load(work, row):
    """Row `row` of a workspace: a float64 of a 1-D one, Lanes of a 2-D one."""
    return work[row].copy() if work.ndim == 2 else work[row]


def _plain_store(work, row, value):
    """Write `value` to row `row` of a workspace."""
    work[row] = value


def _plain_splat(work, number):
    """The number in the width of the workspace."""
    return np.full(work.shape[1], number) if work.ndim == 2 else np.float64(number)


def _plain_select(condition, a, b):
    """`a` where the condition holds, else `b`."""
    return np.where(condition, a, b)[()]


def _plain_any_of(condition):
    """Whether the condition holds in any lane."""
    return bool(np.any(condition))


def _plain_sqrt(x):
    """Square root."""
    return np.sqrt(x)


def _plain_floor(x):
    """Largest whole number not above x."""
    return np.floor(x)


def _plain_fma(a, b, c):
    """a * b + c, which no optimisation may take apart; one rounding when compiled."""
    return a * b + c


def _plain_packs(work, count):
    """Packs that a row of `count` numbers takes.

    A pack is a vector of eight: eight neighbours of a row in a 1-D workspace, one number of eight problems in a 2-D
    one.  A loop over packs is so one text that fills the registers in either width.
    """
    return count if work.ndim == 2 else (count + WIDTH - 1) // WIDTH


def _plain_pitch(work, count):
    """Rows of a workspace from one row of `count` numbers, kept in packs, to the next."""
    return count if work.ndim == 2 else WIDTH * ((count + WIDTH - 1) // WIDTH)


def _plain_load_pack(work, pack):
    """Pack number `pack`."""
    return work[pack].copy() if work.ndim == 2 else work[WIDTH * pack : WIDTH * pack + WIDTH].copy()


def _plain_store_pack(work, pack, value):
    """Write pack number `pack`."""
    if work.ndim == 2:
        work[pack] = value
    else:
        work[WIDTH * pack : WIDTH * pack + WIDTH] = value


def _plain_total(work, value):
    """The sum of what a loop over packs has added up for each of their places."""
    return value if work.ndim == 2 else np.sum(value)


def _plain_zeros(work):
    """A pack of zeros."""
    return np.zeros(WIDTH)


def _plain_rint(x):
    """Nearest whole number."""
    return np.rint(x)


# The types ----------------------------------------------------------------------------------------------------------


class _LanesType(types.Type):
    def __init__(self):
        super().__init__(name="Lanes")


class _MaskType(types.Type):
    def __init__(self):
        super().__init__(name="Mask")


_lanes, _mask = _LanesType(), _MaskType()


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _VECTOR)


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _BITS)


# Arithmetic ---------------------------------------------------------------------------------------------------------


def _broadcast(builder, number):
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def _vector(context, builder, kind, value):
    if isinstance(kind, _LanesType):
        return value
    return _broadcast(builder, context.cast(builder, value, kind, types.float64))


def _mixes_lanes(args):
    return (
        len(args) == 2
        and any(isinstance(a, _LanesType) for a in args)
        and all(isinstance(a, (_LanesType, types.Number)) for a in args)
    )


def _define_binary(op, result, emit):
    @infer_global(op)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(result, *args) if _mixes_lanes(args) else None

    def lower(context, builder, sig, args):
        a, b = (_vector(context, builder, kind, value) for kind, value in zip(sig.args, args, strict=True))
        return emit(builder, a, b)

    for pair in ((_LanesType, _LanesType), (_LanesType, types.Number), (types.Number, _LanesType)):
        lower_builtin(op, *pair)(lower)


for _op, _emit in {
    operator.add: lambda b, x, y: b.fadd(x, y, flags=_FLAGS),
    operator.sub: lambda b, x, y: b.fsub(x, y, flags=_FLAGS),
    operator.mul: lambda b, x, y: b.fmul(x, y, flags=_FLAGS),
    operator.truediv: lambda b, x, y: b.fdiv(x, y, flags=_FLAGS),
}.items():
    _define_binary(_op, _lanes, _emit)
for _op, _sign in {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}.items():
    _define_binary(_op, _mask, lambda b, x, y, sign=_sign: b.fcmp_ordered(sign, x, y))


def _define_mask(op, method):
    @infer_global(op)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(_mask, *args) if all(isinstance(a, _MaskType) for a in args) else None

    lower_builtin(op, _MaskType, _MaskType)(lambda context, builder, sig, args: getattr(builder, method)(*args))


_define_mask(operator.and_, "and_")
_define_mask(operator.or_, "or_")


@infer_global(operator.neg)
class _Negate(AbstractTemplate):
    def generic(self, args, kws):
        return signature(_lanes, _lanes) if isinstance(args[0], _LanesType) else None


@lower_builtin(operator.neg, _LanesType)
def _negate(context, builder, sig, args):
    return builder.fsub(ir.Constant(_VECTOR, [0.0] * WIDTH), args[0], flags=_FLAGS)


# The primitives, compiled -------------------------------------------------------------------------------------------


@intrinsic
def _select(typing, condition, a, b):
    if isinstance(condition, _MaskType):

        def emit(context, builder, sig, args):
            x, y = (_vector(context, builder, k, v) for k, v in zip(sig.args[1:], args[1:], strict=True))
            return builder.select(args[0], x, y)

        return _lanes(condition, a, b), emit

    def emit(context, builder, sig, args):
        x, y = (context.cast(builder, v, k, types.float64) for k, v in zip(sig.args[1:], args[1:], strict=True))
        return builder.select(args[0], x, y)

    return types.float64(condition, a, b), emit


@intrinsic
def _any_of(typing, condition):
    if isinstance(condition, _MaskType):

        def emit(context, builder, sig, args):
            bits = builder.bitcast(args[0], ir.IntType(WIDTH))
            return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(WIDTH), 0))

        return types.boolean(condition), emit
    return types.boolean(condition), lambda context, builder, sig, args: args[0]


def _unary(name):
    @intrinsic
    def function(typing, x):
        if isinstance(x, _LanesType):

            def emit(context, builder, sig, args):
                shape = ir.FunctionType(_VECTOR, [_VECTOR])
                called = cgutils.get_or_insert_function(builder.module, shape, f"llvm.{name}.v{WIDTH}f64")
                return builder.call(called, [args[0]], fastmath=_FLAGS)

            return _lanes(x), emit

        def emit(context, builder, sig, args):
            called = builder.module.declare_intrinsic("llvm." + name, [ir.DoubleType()])
            return builder.call(called, [args[0]], fastmath=_FLAGS)

        return types.float64(x), emit

    return function


class _Exact(set[str]):
    """The flags of a call that fast arithmetic must leave as it is: whoever adds one is not heard."""

    def add(self, flag: str) -> None:
        pass


@intrinsic
def _fma(typing, a, b, c):
    if any(isinstance(x, _LanesType) for x in (a, b, c)):

        def emit(context, builder, sig, args):
            x = [_vector(context, builder, k, v) for k, v in zip(sig.args, args, strict=True)]
            shape = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
            return builder.call(cgutils.get_or_insert_function(builder.module, shape, f"llvm.fma.v{WIDTH}f64"), x)

        return _lanes(a, b, c), emit

    def emit(context, builder, sig, args):
        x = [context.cast(builder, v, k, types.float64) for k, v in zip(sig.args, args, strict=True)]
        shape = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 3)
        called = builder.call(cgutils.get_or_insert_function(builder.module, shape, "llvm.fma.f64"), x)
        called.fastmath = _Exact()
        return called

    return types.float64(a, b, c), emit


_sqrt, _floor, _rint = _unary("sqrt"), _unary("floor"), _unary("rint")


def _data(context, builder, kind, value):
    if isinstance(kind, RowsType):
        return builder.extract_value(value, 0)
    return context.make_array(kind)(context, builder, value).data


def _pointer(context, builder, array_type, array, index_type, index):
    data = _data(context, builder, array_type, array)
    row = context.cast(builder, index, index_type, types.intp)
    if array_type.ndim == 1:
        return builder.gep(data, [row])
    address = builder.gep(data, [builder.mul(row, ir.Constant(row.type, WIDTH))])
    return builder.bitcast(address, _VECTOR.as_pointer())


@intrinsic
def _load(typing, work, row):
    result = types.float64 if work.ndim == 1 else _lanes

    def emit(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1])
        value = builder.load(pointer, typ=_VECTOR if sig.args[0].ndim == 2 else ir.DoubleType())
        value.align = 8
        return value

    return result(work, row), emit


@intrinsic
def _store(typing, work, row, value):
    def emit(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1])
        if sig.args[0].ndim == 2:
            stored = _vector(context, builder, sig.args[2], args[2])
        else:
            stored = context.cast(builder, args[2], sig.args[2], types.float64)
        builder.store(stored, pointer).align = 8
        return context.get_dummy_value()

    return types.void(work, row, value), emit


@intrinsic
def _splat(typing, work, number):
    if work.ndim == 1:
        return types.float64(work, number), lambda context, builder, sig, args: context.cast(
            builder, args[1], sig.args[1], types.float64
        )
    return _lanes(work, number), lambda context, builder, sig, args: _vector(context, builder, sig.args[1], args[1])


def _pack_pointer(context, builder, array_type, array, index_type, index):
    data = _data(context, builder, array_type, array)
    pack = context.cast(builder, index, index_type, types.intp)
    address = builder.gep(data, [builder.mul(pack, ir.Constant(pack.type, WIDTH))])
    return builder.bitcast(address, _VECTOR.as_pointer())


@intrinsic
def _load_pack(typing, work, pack):
    def emit(context, builder, sig, args):
        value = builder.load(_pack_pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1]), typ=_VECTOR)
        value.align = 8
        return value

    return _lanes(work, pack), emit


@intrinsic
def _store_pack(typing, work, pack, value):
    def emit(context, builder, sig, args):
        pointer = _pack_pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1])
        builder.store(args[2], pointer).align = 8
        return context.get_dummy_value()

    return types.void(work, pack, value), emit


@intrinsic
def _total(typing, work, value):
    if work.ndim == 2:
        return _lanes(work, value), lambda context, builder, sig, args: args[1]

    def emit(context, builder, sig, args):
        shape = ir.FunctionType(ir.DoubleType(), [ir.DoubleType(), _VECTOR])
        called = cgutils.get_or_insert_function(builder.module, shape, f"llvm.vector.reduce.fadd.v{WIDTH}f64")
        return builder.call(called, [ir.Constant(ir.DoubleType(), 0.0), args[1]], fastmath=_FLAGS)

    return types.float64(work, value), emit


@intrinsic
def _zeros(typing, work):
    return _lanes(work), lambda context, builder, sig, args: ir.Constant(_VECTOR, [0.0] * WIDTH)


@intrinsic
def _packs(typing, work, count):
    def emit(context, builder, sig, args):
        if sig.args[0].ndim == 2:
            return args[1]
        more = builder.add(args[1], ir.Constant(args[1].type, WIDTH - 1))
        return builder.sdiv(more, ir.Constant(more.type, WIDTH))

    return types.intp(work, types.intp), emit


@intrinsic
def _pitch(typing, work, count):
    def emit(context, builder, sig, args):
        if sig.args[0].ndim == 2:
            return args[1]
        more = builder.add(args[1], ir.Constant(args[1].type, WIDTH - 1))
        return builder.and_(more, ir.Constant(more.type, -WIDTH))

    return types.intp(work, types.intp), emit


# One name each: un-jitted kernels call the plain bodies. (`numba.extending.overload` would join the two as well, but
# costs a separate compilation for every place of use.)

if numba.config.DISABLE_JIT:
    load, store, splat, select = _plain_load, _plain_store, _plain_splat, _plain_select
    any_of, sqrt, floor, rint = _plain_any_of, _plain_sqrt, _plain_floor, _plain_rint
    fma = _plain_fma
    packs, pitch, zeros = _plain_packs, _plain_pitch, _plain_zeros
    load_pack, store_pack, total = _plain_load_pack, _plain_store_pack, _plain_total
else:
    load, store, splat, select = _load, _store, _splat, _select
    any_of, sqrt, floor, rint = _any_of, _sqrt, _floor, _rint
    fma = _fma
    packs, pitch, zeros = _packs, _pitch, _zeros
    load_pack, store_pack, total = _load_pack, _store_pack, _total
