"""Solves and kinematics as differentiable functions of arrays, which frameworks that learn are given.

A function has a value at n inputs, and pulls n cotangents of its values back to its inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeAlias, TypeVar, final

import numpy as np

from poise.checks import one_of
from poise.errors import ShapeError
from poise.kernels.machine.jit import prepare
from poise.model.model import Model
from poise.quaternions import conjugate, quaternion_product
from poise.solving.arguments import cores
from poise.solving.pieces import Pieces
from poise.solving.solver import Solver
from poise.spatial import SE3, Array
from poise.tasks.pose import PoseTask

if TYPE_CHECKING:
    from poise.geometry.world import World

_PIECE: Final = 1024
"""Rows that a thread takes at a time."""
_STEP: Final = 1e-5
"""Of central differences [rad or m]."""
F = TypeVar("F")
"""What a framework calls."""
Undefined: TypeAlias = Literal["raise", "zero"]
"""What becomes of a problem whose answer has no derivative."""


@final
@dataclass(frozen=True, eq=False)
class Differentiable:
    """A function of arrays, row by row."""

    name: str
    model: Model
    given: Callable[[tuple[int, ...]], tuple[int, ...]]
    """The last axes that it takes, of an input of a shape; raises ShapeError where they are others."""
    value: Callable[[Array, Array], Array]
    """Of (n, *given) and starts (n, nq)."""
    pulled: Callable[[Array, Array, Array], Array]
    """Cotangents (n, *given), of those of the values, and of inputs and values."""
    result: tuple[int, ...]
    """The last axes of its value."""

    def outer(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The leading axes of an input of a shape; raises ShapeError for a wrong one."""
        return shape[: len(shape) - len(self.given(shape))]

    def at(self, given: Array, start: Array) -> Array:
        """(..., *result) of (..., *given) and starts (..., nq)."""
        outer = self.outer(given.shape)
        rows = np.array(start, dtype=np.float64).reshape(-1, self.model.nq)
        return self.value(_rows(given, len(outer)), rows).reshape(*outer, *self.result)

    def pull(self, cotangents: Array, given: Array, found: Array) -> Array:
        """(..., *given) of (..., *result) cotangents, inputs and what was found there."""
        count = len(self.outer(given.shape))
        rows = (_rows(x, count) for x in (cotangents, given, found))
        return self.pulled(*rows).reshape(given.shape)


def _rows(given: Array, outer: int) -> Array:
    """(n, ...) in double precision, of so many leading axes."""
    return np.array(given, dtype=np.float64, order="C").reshape(-1, *given.shape[outer:])


@final
class Functions(Generic[F]):
    """Solves and kinematics, each as a function of the arrays of one framework."""

    def __init__(self, of: Callable[[Differentiable], F]) -> None:
        """`of` makes of a function what the framework calls and differentiates."""
        self._of = of

    def ik(self, solver: Solver, *, undefined: Undefined = "raise") -> F:
        """q (..., nq) of poses (..., 4, 4) or (..., 7), place and quaternion wxyz, and `q0` (..., nq), or the home.

        All problems are solved as by `Solver.batch`, and the derivative by the pose is that of
        `SolutionBatch.gradient`: limits hold, and where q is one of many it is the least change.  A part of a matrix or
        a quaternion that no pose can have changes nothing.  `q0` has no derivative.  Where there is none by the pose,
        as at a singular q, the backward pass raises ValueError, or with undefined="zero" that problem adds nothing.
        Raises ValueError for a solver of anything but one PoseTask.
        """
        one_of("undefined", undefined, ("raise", "zero"))
        if len(solver.tasks) != 1 or not isinstance(solver.tasks[0], PoseTask):
            raise ValueError(
                "ik takes a Solver for one PoseTask, whose targets the tensor is; other derivatives are those of "
                "Solution.gradient"
            )
        model = solver.model

        def value(poses: Array, q0: Array) -> Array:
            return solver.batch(_numbers(poses), q0).q

        def pulled(cotangents: Array, poses: Array, q: Array) -> Array:
            numbers = _numbers(poses)
            gradient = solver.batch(numbers, q).gradient()
            (twists,) = gradient.vjp(_to_velocities(model, q, cotangents))
            rows = gradient.undefined
            if len(rows) and undefined == "raise":
                raise ValueError(
                    f"{len(rows)} of {len(q)} answers have no derivative, the first at row {rows[0]}: "
                    'SolutionGradient.reason says why; ik(solver, undefined="zero") leaves them out'
                )
            twists[rows] = 0.0
            return _to_matrices(twists, numbers) if poses.ndim == 3 else _to_numbers(twists, poses)

        return self._of(Differentiable("ik", model, _pose_axes, value, pulled, (model.nq,)))

    def pose(self, model: Model, frame: str) -> F:
        """The pose (..., 4, 4) of a frame in the world at q (..., nq)."""

        def pulled(cotangents: Array, q: Array, poses: Array) -> Array:
            axial = cotangents[:, :3, :3] @ poses[:, :3, :3].swapaxes(1, 2)
            turn = np.stack([axial[:, k - 1, k - 2] - axial[:, k - 2, k - 1] for k in range(3)], axis=1)
            twists = np.concatenate([cotangents[:, :3, 3], turn], axis=1)
            return _of_velocities(model, q, (twists[:, None] @ model.jacobian(frame, q))[:, 0])

        return self._of(_of_q("pose", model, lambda q: model.pose(frame, q).matrix(), pulled, (4, 4)))

    def centre_of_mass(self, model: Model) -> F:
        """The centre of mass (..., 3) in the world at q (..., nq) [m]."""

        def pulled(cotangents: Array, q: Array, centre: Array) -> Array:
            return _of_velocities(model, q, (cotangents[:, None] @ model.centre_of_mass_jacobian(q))[:, 0])

        return self._of(_of_q("centre_of_mass", model, model.centre_of_mass, pulled, (3,)))

    def jacobian(self, model: Model, frame: str) -> F:
        """The Jacobian (..., 6, nv) of a frame at q (..., nq), see `Model.jacobian`; derivatives by differences."""
        return self._of(_by_differences("jacobian", model, lambda q: model.jacobian(frame, q), (6, model.nv)))

    def manipulability(self, model: Model, frame: str) -> F:
        """How well a frame can be moved (...) at q (..., nq), see `Model.manipulability`; derivatives by
        differences."""

        def value(q: Array) -> Array:
            return np.asarray(model.manipulability(frame, q))

        return self._of(_by_differences("manipulability", model, value, ()))

    def distance(self, model: Model, world: "World | None" = None, *, self_collision: bool = True) -> F:
        """The distance of the two nearest shapes (...) at q (..., nq) [m], see `Model.distance`; derivatives by
        differences, which where two pairs are as near are those of both sides."""

        def value(q: Array) -> Array:
            return np.asarray(model.distance(q, world, self_collision=self_collision).distance)

        return self._of(_by_differences("distance", model, value, ()))


def _of_q(
    name: str,
    model: Model,
    value: Callable[[Array], Array],
    pulled: Callable[[Array, Array, Array], Array],
    result: tuple[int, ...],
) -> Differentiable:
    """A function of q (n, nq), on all cores."""

    def axes(shape: tuple[int, ...]) -> tuple[int, ...]:
        if shape[-1:] != (model.nq,):
            raise ShapeError(f"{name} takes q (..., {model.nq}), got shape {shape}")
        return (model.nq,)

    def at(q: Array, _: Array) -> Array:
        return _together(value, result, q)

    def pull(cotangents: Array, q: Array, found: Array) -> Array:
        return _together(pulled, (model.nq,), cotangents, q, found)

    return Differentiable(name, model, axes, at, pull, result)


def _by_differences(
    name: str, model: Model, value: Callable[[Array], Array], result: tuple[int, ...]
) -> Differentiable:
    """One whose derivatives are central differences."""

    ways = _STEP * np.array([np.eye(model.nv), -np.eye(model.nv)])[:, :, None]

    def pulled(cotangents: Array, q: Array, found: Array) -> Array:
        ends = value(model.integrate(q, ways).reshape(-1, model.nq)).reshape(2, model.nv, *cotangents.shape)
        changes = cotangents * (ends[0] - ends[1]) / (2.0 * _STEP)
        return _of_velocities(model, q, changes.reshape(model.nv, len(q), -1).sum(axis=2).T)

    return _of_q(name, model, value, pulled, result)


# Tangents ----------------------------------------------------------------------------------------------------------


def _pose_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    if shape[-2:] == (4, 4):
        return (4, 4)
    if shape[-1:] == (7,):
        return (7,)
    raise ShapeError(f"ik takes poses (..., 4, 4) or (..., 7), place and quaternion wxyz, got shape {shape}")


def _numbers(poses: Array) -> Array:
    """(n, 7) of poses (n, 7) or (n, 4, 4), whose rotations are made such where they are rounded."""
    if poses.ndim == 2:
        return poses
    out, find, sound = np.empty((len(poses), 7)), prepare("gradients.tangents.poses_of"), []

    def convert(at: slice) -> None:
        some = np.ascontiguousarray(poses[at]).reshape(-1)
        sound.append(find(some, out[at].reshape(-1), len(some) // 16) == len(some) // 16)

    _in_pieces(len(poses), convert)
    return out if all(sound) else SE3.from_matrix(poses, orthonormalise=True).array


def _to_matrices(twists: Array, numbers: Array) -> Array:
    """(n, 4, 4) cotangents of matrices from those (n, 6) of twists, at poses (n, 7)."""
    out, find = np.empty((len(twists), 4, 4)), prepare("gradients.tangents.matrix_cotangents")
    given, poses = np.ascontiguousarray(twists), np.ascontiguousarray(numbers)

    def convert(at: slice) -> None:
        find(given[at].reshape(-1), poses[at].reshape(-1), out[at].reshape(-1), len(given[at]))

    _in_pieces(len(twists), convert)
    return out


def _together(find: Callable[..., Array], shape: tuple[int, ...], *rows: Array) -> Array:
    """(n, *shape) what is found of rows, on all cores."""
    out = np.empty((len(rows[0]), *shape))

    def some(at: slice) -> None:
        out[at] = find(*(each[at] for each in rows))

    _in_pieces(len(out), some)
    return out


def _in_pieces(count: int, work: Callable[[slice], None]) -> None:
    """Do what takes some rows with all of them, on all cores."""
    pieces = Pieces(count, _PIECE)

    def some() -> None:
        for piece in pieces:
            work(slice(piece.start, piece.stop))

    pieces.share(some, min(max(len(pieces), 1), cores()))


def _to_numbers(twists: Array, poses: Array) -> Array:
    """(n, 7) those of place and quaternion."""
    return np.hstack([twists[:, :3], _to_quaternions(twists[:, 3:], poses[:, 3:])])


def _to_quaternions(turns: Array, wxyz: Array) -> Array:
    """(n, 4) cotangents of quaternions of any length from those (n, 3) of turns: w is twice the vector of du u^-1."""
    out: Array = 2.0 * quaternion_product(np.pad(turns, ((0, 0), (1, 0))), wxyz)
    return out / (wxyz**2).sum(axis=1, keepdims=True)


def _of_velocities(model: Model, q: Array, given: Array) -> Array:
    """(n, nq) cotangents of q from those (n, nv) of velocities."""
    out, (at_q, at_v) = np.zeros(q.shape), model._plain
    out[:, at_q] = given[:, at_v]
    for i, v in model._turning:
        out[:, i : i + 4] = _to_quaternions(given[:, v : v + 3], q[:, i : i + 4])
    return out


def _to_velocities(model: Model, q: Array, given: Array) -> Array:
    """(n, nv) cotangents of velocities from those (n, nq) of q, whose unit quaternions turn by du = (0, w) u / 2."""
    out, (at_q, at_v) = np.zeros((len(q), model.nv)), model._plain
    out[:, at_v] = given[:, at_q]
    for i, v in model._turning:
        out[:, v : v + 3] = 0.5 * quaternion_product(given[:, i : i + 4], conjugate(q[:, i : i + 4]))[:, 1:]
    return out
