"""Solves and kinematics as functions of PyTorch's tensors, with derivatives: `import poise.torch`.

    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    q = poise.torch.ik(solver)(T, q0)
    loss(q).backward()

A function takes tensors of any leading shape, in float64 or float32, and reckons in float64; those on other devices
are copied to the CPU and back.  `torch.compile`, `torch.vmap` and `torch.func.grad` take it as one operator.
Derivatives are of the first order: a second one is refused.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import Any, Final, final
from weakref import WeakValueDictionary

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidType, ShapeError
from poise.common.lazy import optional
from poise.solving.problem.ports import Axes
from poise.solving.solvers.differentiable import Differentiable, Functions

_NUMBERS: Final = count()
_FUNCTIONS: Final[WeakValueDictionary[int, "Function"]] = WeakValueDictionary()
"""By the number that an operator is told."""
_OPERATORS: Final[dict[str, Any]] = {}
"""Those that stand in the graph of a compiler, which follows names of a module."""


@final
class Function:
    """A function of tensors: called with one of shape (..., *given), and with `q0` where it has a start."""

    def __init__(self, of: Differentiable) -> None:
        self.of, torch = of, _torch()
        self._operator, self._tensor, self._types = _operator(), torch.Tensor, (torch.float32, torch.float64)
        self._home = torch.tensor(np.array(of.model.home))
        self.number = next(_NUMBERS)
        _FUNCTIONS[self.number] = self

    def __call__(self, given: Any, q0: Any = None) -> Any:
        """The result (..., *result), with the type and on the device of what is given.

        Raises TypeError for what is no tensor of real numbers, ShapeError for a wrong shape.
        """
        if not isinstance(given, self._tensor) or given.dtype not in self._types:
            kind = getattr(given, "dtype", type(given).__name__)
            raise InvalidType("not-an-array", f"{self.of.name} takes a tensor of float32 or float64, got {kind}")
        nq, start = self.of.model.nq, (self._home if q0 is None else q0).to(given)
        if start.shape[-1:] != (nq,):
            raise ShapeError(f"q0 must have {nq} numbers at the end, got shape {tuple(start.shape)}")
        return self._operator(given, start.detach().expand(*_outer(self, given), nq), self)

    def __repr__(self) -> str:
        return f"{self.of.name} of {self.of.model.name}"


def _joined(tensors: Sequence[Any], axes: Sequence[Axes]) -> Any:
    """Tensors with these last axes as one (..., all their numbers), leading axes broadcast."""
    torch = _torch()
    for one in tensors:
        if not isinstance(one, torch.Tensor):
            raise InvalidType("not-an-array", f"ik takes tensors of float32 or float64, got {type(one).__name__}")
    outer = [one.shape[: one.dim() - len(last)] for one, last in zip(tensors, axes, strict=True)]
    shape = torch.broadcast_shapes(*outer)
    flat = (one.reshape(*some, -1) for one, some in zip(tensors, outer, strict=True))
    return torch.cat([one.expand(*shape, -1).to(tensors[0]) for one in flat], dim=-1)


_functions = Functions(Function, _joined)
ik, pose, jacobian = _functions.ik, _functions.pose, _functions.jacobian
manipulability, distance = _functions.manipulability, _functions.distance
centre_of_mass = _functions.centre_of_mass


# Operators ---------------------------------------------------------------------------------------------------------


def _torch() -> Any:
    return optional("poise.torch", "torch", "torch", "torch")


def _outer(function: Function, given: Any) -> tuple[int, ...]:
    return function.of.outer(tuple(given.shape))


def _numpy(*tensors: Any) -> tuple[Array, ...]:
    return tuple(x.detach().cpu().numpy() for x in tensors)


def _like(given: Any, values: Array) -> Any:
    return _torch().from_numpy(values).to(given)


def _forward(given: Any, start: Any, number: int) -> Any:
    return _like(given, _FUNCTIONS[number].of.at(*_numpy(given, start)))


def _forward_shape(given: Any, start: Any, number: int) -> Any:
    function = _FUNCTIONS[number]
    return given.new_empty((*_outer(function, given), *function.of.result))


def _backward(cotangent: Any, given: Any, found: Any, number: int) -> Any:
    return _like(given, _FUNCTIONS[number].of.pull(*_numpy(cotangent, given, found)))


def _backward_shape(cotangent: Any, given: Any, found: Any, number: int) -> Any:
    return given.new_empty(given.shape)


def _side_by_side(operator: Any) -> Callable[..., tuple[Any, int]]:
    """The operator with the axis of vmap as the first of all its tensors."""

    def call(info: Any, dims: Any, *given: Any) -> tuple[Any, int]:
        *tensors, number = given
        size = info.batch_size
        moved = [
            x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)
            for x, dim in zip(tensors, dims, strict=False)
        ]
        return operator(*moved, number), 0

    return call


@cache
def _operator() -> Any:
    """The function that all of them are to PyTorch: two operators that a compiler sees as one piece each."""
    torch = _torch()
    for name, call, shape, schema in (
        ("function", _forward, _forward_shape, "(Tensor given, Tensor start, int number) -> Tensor"),
        ("pull", _backward, _backward_shape, "(Tensor cotangent, Tensor given, Tensor found, int number) -> Tensor"),
    ):
        operator = torch.library.custom_op(f"poise::{name}", call, mutates_args=(), schema=schema)
        operator.register_fake(shape)
        operator.register_vmap(_side_by_side(operator))
        _OPERATORS[name] = operator

    class Pulled(torch.autograd.Function):  # type: ignore[misc, name-defined]
        """The backward pass, which has none of its own."""

        generate_vmap_rule = True

        @staticmethod
        def forward(cotangent: Any, given: Any, found: Any, number: int) -> Any:
            return _OPERATORS["pull"](cotangent, given, found, number)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Nothing is kept."""

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            raise RuntimeError("poise.torch has derivatives of the first order: a backward pass has none of its own")

    class Called(torch.autograd.Function):  # type: ignore[misc, name-defined]
        """The forward pass."""

        generate_vmap_rule = True

        @staticmethod
        def forward(given: Any, start: Any, function: Function) -> Any:
            return _OPERATORS["function"](given, start, function.number)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0], output)
            ctx.function = inputs[2]

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            return _OPERATORS["pulled"](cotangent, *ctx.saved_tensors, ctx.function.number), None, None

    _OPERATORS["pulled"] = Pulled.apply
    return Called.apply
