"""The primitives of `poise.kernels.machine.lanes` as Numba compiles them: rows of one number, or vectors of eight."""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from poise.kernels.compiling.types import Numbers, RowsType
from poise.kernels.machine.layout import WIDTH

FLAGS = ("contract", "reassoc", "arcp", "nsz")
"""Fast arithmetic that keeps NaN and infinity visible."""
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_BITS = ir.VectorType(ir.IntType(1), WIDTH)


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
    operator.add: lambda b, x, y: b.fadd(x, y, flags=FLAGS),
    operator.sub: lambda b, x, y: b.fsub(x, y, flags=FLAGS),
    operator.mul: lambda b, x, y: b.fmul(x, y, flags=FLAGS),
    operator.truediv: lambda b, x, y: b.fdiv(x, y, flags=FLAGS),
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
    return builder.fsub(ir.Constant(_VECTOR, [0.0] * WIDTH), args[0], flags=FLAGS)


# The primitives, compiled -------------------------------------------------------------------------------------------


@intrinsic
def select(typing, condition, a, b):
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
def any_of(typing, condition):
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
                return builder.call(called, [args[0]], fastmath=FLAGS)

            return _lanes(x), emit

        def emit(context, builder, sig, args):
            called = builder.module.declare_intrinsic("llvm." + name, [ir.DoubleType()])
            return builder.call(called, [args[0]], fastmath=FLAGS)

        return types.float64(x), emit

    return function


class _Exact(set[str]):
    """The flags of a call that fast arithmetic must leave as it is: whoever adds one is not heard."""

    def add(self, flag: str) -> None:
        pass


@intrinsic
def fma(typing, a, b, c):
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


sqrt, floor, rint = _unary("sqrt"), _unary("floor"), _unary("rint")


def _data(context, builder, kind, value):
    if isinstance(kind, RowsType | Numbers):
        return builder.extract_value(value, 0)
    return context.make_array(kind)(context, builder, value).data


def _pointer(context, builder, array_type, array, index_type, index):
    if array_type.ndim == 2:
        return _pack_pointer(context, builder, array_type, array, index_type, index)
    data = _data(context, builder, array_type, array)
    return builder.gep(data, [context.cast(builder, index, index_type, types.intp)])


@intrinsic
def load(typing, work, row):
    result = types.float64 if work.ndim == 1 else _lanes

    def emit(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1])
        value = builder.load(pointer, typ=_VECTOR if sig.args[0].ndim == 2 else ir.DoubleType())
        value.align = 8
        return value

    return result(work, row), emit


@intrinsic
def store(typing, work, row, value):
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
def splat(typing, work, number):
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
def load_pack(typing, work, pack):
    def emit(context, builder, sig, args):
        value = builder.load(_pack_pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1]), typ=_VECTOR)
        value.align = 8
        return value

    return _lanes(work, pack), emit


@intrinsic
def store_pack(typing, work, pack, value):
    def emit(context, builder, sig, args):
        pointer = _pack_pointer(context, builder, sig.args[0], args[0], sig.args[1], args[1])
        builder.store(args[2], pointer).align = 8
        return context.get_dummy_value()

    return types.void(work, pack, value), emit


@intrinsic
def total(typing, work, value):
    if work.ndim == 2:
        return _lanes(work, value), lambda context, builder, sig, args: args[1]

    def emit(context, builder, sig, args):
        shape = ir.FunctionType(ir.DoubleType(), [ir.DoubleType(), _VECTOR])
        called = cgutils.get_or_insert_function(builder.module, shape, f"llvm.vector.reduce.fadd.v{WIDTH}f64")
        return builder.call(called, [ir.Constant(ir.DoubleType(), 0.0), args[1]], fastmath=FLAGS)

    return types.float64(work, value), emit


@intrinsic
def zeros(typing, work):
    return _lanes(work), lambda context, builder, sig, args: ir.Constant(_VECTOR, [0.0] * WIDTH)


@intrinsic
def packs(typing, work, count):
    def emit(context, builder, sig, args):
        if sig.args[0].ndim == 2:
            return args[1]
        more = builder.add(args[1], ir.Constant(args[1].type, WIDTH - 1))
        return builder.sdiv(more, ir.Constant(more.type, WIDTH))

    return types.intp(work, types.intp), emit


@intrinsic
def pitch(typing, work, count):
    def emit(context, builder, sig, args):
        if sig.args[0].ndim == 2:
            return args[1]
        more = builder.add(args[1], ir.Constant(args[1].type, WIDTH - 1))
        return builder.and_(more, ir.Constant(more.type, -WIDTH))

    return types.intp(work, types.intp), emit
