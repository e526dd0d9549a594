"""Solves and kinematics as functions of JAX's arrays, with derivatives: `import poise.jax`.

    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    slope = jax.grad(lambda T: loss(poise.jax.ik(solver)(T, q0)))(T)

A function takes arrays of any leading shape, in float64 or float32, and reckons in float64 on the CPU, which JAX calls
back.  `jax.jit` and `jax.vmap` take it; derivatives are of reverse mode and of the first order: others are refused.
"""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from poise.common.errors import InvalidType, ShapeError
from poise.common.lazy import optional
from poise.solving.problem.ports import Axes
from poise.solving.solvers.differentiable import Differentiable, Functions


@final
class Function:
    """A function of arrays: called with one of shape (..., *given), and with `q0` where it has a start."""

    def __init__(self, of: Differentiable) -> None:
        self.of, self._call = of, _called(of)

    def __call__(self, given: Any, q0: Any = None) -> Any:
        """The result (..., *result), with the type of what is given.

        Raises TypeError for what is no array of real numbers, ShapeError for a wrong shape.
        """
        jnp, model = _jax().numpy, self.of.model
        array = jnp.asarray(given)
        if array.dtype not in (jnp.float32, jnp.float64):
            raise InvalidType("not-an-array", f"{self.of.name} takes an array of float32 or float64, got {array.dtype}")
        start = jnp.asarray(np.array(model.home) if q0 is None else q0, array.dtype)
        if start.shape[-1:] != (model.nq,):
            raise ShapeError(f"q0 must have {model.nq} numbers at the end, got shape {start.shape}")
        return self._call(array, jnp.broadcast_to(start, (*self.of.outer(array.shape), model.nq)))

    def __repr__(self) -> str:
        return f"{self.of.name} of {self.of.model.name}"


def _joined(arrays: Sequence[Any], axes: Sequence[Axes]) -> Any:
    """Arrays with these last axes as one (..., all their numbers), leading axes broadcast."""
    jnp = _jax().numpy
    outer = [one.shape[: one.ndim - len(last)] for one, last in zip(arrays, axes, strict=True)]
    shape = jnp.broadcast_shapes(*outer)
    flat = (jnp.reshape(one, (*some, -1)) for one, some in zip(arrays, outer, strict=True))
    return jnp.concatenate([jnp.broadcast_to(one, (*shape, one.shape[-1])) for one in flat], axis=-1)


_functions = Functions(Function, _joined)
ik, pose, jacobian = _functions.ik, _functions.pose, _functions.jacobian
manipulability, distance = _functions.manipulability, _functions.distance
centre_of_mass = _functions.centre_of_mass


def _jax() -> Any:
    return optional("poise.jax", "jax", "jax", "jax", "jax.numpy")


def _called(of: Differentiable) -> Any:
    """The function with its derivative, as JAX takes it."""
    jax = _jax()

    def on_cpu(call: Any, shape: tuple[int, ...], first: Any, *others: Any) -> Any:
        def host(*given: Any) -> Any:
            return call(*(np.asarray(x) for x in given)).astype(first.dtype)

        result = jax.ShapeDtypeStruct(shape, first.dtype)
        return jax.pure_callback(host, result, first, *others, vmap_method="broadcast_all")

    def pull(cotangent: Any, given: Any, found: Any) -> Any:
        return on_cpu(of.pull, given.shape, cotangent, given, found)

    def refuse(residuals: Any, cotangent: Any) -> Any:
        raise NotImplementedError("poise.jax has derivatives of the first order: a backward pass has none of its own")

    pulled = jax.custom_vjp(pull)
    pulled.defvjp(lambda *given: (pull(*given), None), refuse)

    def forward(given: Any, start: Any) -> Any:
        return on_cpu(of.at, (*of.outer(given.shape), *of.result), given, start)

    def forward_rule(given: Any, start: Any) -> Any:
        found = called(given, start)  # so that a second derivative comes to what refuses it
        return found, (given, found)

    def backward(left: Any, cotangent: Any) -> Any:
        given, found = left
        no_start = jax.numpy.zeros((*of.outer(given.shape), of.model.nq), given.dtype)
        return pulled(cotangent, given, found), no_start

    called = jax.custom_vjp(forward)
    called.defvjp(forward_rule, backward)
    return called
