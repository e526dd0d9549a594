"""Solves and kinematics as differentiable functions of arrays, which frameworks that learn are given.

A function has a value at n inputs, and pulls n cotangents of its values back to its inputs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeVar, final

import numpy as np

from poise.common.array import Array
from poise.common.checks import one_of
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.model.model import Model
from poise.solving.arguments.arguments import each_goal, left_at
from poise.solving.gradients.batch_gradient import BatchGradient
from poise.solving.gradients.inverses import Flags, inverses_of
from poise.solving.problem.ports import Axes, in_chunks, of_velocities, port_of, to_velocities
from poise.solving.solvers.batch import problems_of
from poise.solving.solvers.solver import Solver
from poise.tasks.posture import PostureTask

if TYPE_CHECKING:
    from poise.geometry.world import World

_STEP: Final = 1e-5
"""Of central differences [rad or m]."""
_SINGLE: Final = 1e-6
"""What is left of a task [m or rad] where an answer that fulfils it is rounded to single precision, at most."""
F = TypeVar("F", bound=Callable[..., Any])
"""What a framework calls."""
Join: TypeAlias = Callable[[Sequence[Any], Sequence[Axes]], Any]
"""Arrays of a framework with these last axes as one (..., all their numbers), leading axes broadcast."""
Undefined: TypeAlias = Literal["raise", "zero"]
"""What becomes of a problem whose answer has no derivative."""


@final
@dataclass(frozen=True, eq=False)
class Differentiable:
    """A function of arrays, row by row."""

    name: str
    model: Model
    input_axes: Callable[[tuple[int, ...]], tuple[int, ...]]
    """The last axes that it takes, of an input of a shape; raises ShapeError where they are others."""
    value: Callable[[Array, Array], Array]
    """Of (n, *input_axes) and starts (n, nq)."""
    pulled: Callable[[Array, Array, Array], Array]
    """Cotangents (n, *input_axes), of those of the values, and of inputs and values."""
    result: tuple[int, ...]
    """The last axes of its value."""

    def outer(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The leading axes of an input of a shape; raises ShapeError for a wrong one."""
        return shape[: len(shape) - len(self.input_axes(shape))]

    def at(self, given: Array, start: Array) -> Array:
        """(..., *result) of (..., *input_axes) and starts (..., nq)."""
        outer = self.outer(given.shape)
        rows = np.array(start, dtype=np.float64).reshape(-1, self.model.nq)
        return self.value(_rows(given, len(outer)), rows).reshape(*outer, *self.result)

    def pull(self, cotangents: Array, given: Array, found: Array) -> Array:
        """(..., *input_axes) of (..., *result) cotangents, inputs and what was found there."""
        count = len(self.outer(given.shape))
        rows = (_rows(x, count) for x in (cotangents, given, found))
        return self.pulled(*rows).reshape(given.shape)


def _rows(given: Array, outer: int) -> Array:
    """(n, ...) in double precision, of so many leading axes."""
    return np.array(given, dtype=np.float64, order="C").reshape(-1, *given.shape[outer:])


@final
class Functions(Generic[F]):
    """Solves and kinematics, each as a function of the arrays of one framework."""

    def __init__(self, of: Callable[[Differentiable], F], join: "Join") -> None:
        """`of` makes of a function what the framework calls and differentiates; `join` joins arrays."""
        self._of, self._join = of, join

    def ik(self, solver: Solver, *, undefined: Undefined = "raise") -> "Ik[F]":
        """q (..., nq) of targets, and of `q0` (..., nq), or the home: of any solver whose answers have a gradient.

        A tensor is the target of the only task, or of the only one that has none of its own.  Several are a list, one
        for each task, None for a task's own; leading axes are broadcast.  Poses are (..., 4, 4) or (..., 7), place and
        quaternion wxyz, rotations (..., 3, 3) or (..., 4), points and directions (..., 3), postures (..., nq).

        All problems are solved as by `Solver.batch`, and the derivatives by targets are those of
        `SolutionBatch.gradient`: limits hold, and where q is one of many they are the least change, which is not how
        the solve chooses among them: a PostureTask makes it one.  Where something is least, q is its exact rest.  A
        part of a matrix or a quaternion that no target can have changes nothing.  `q0` has no derivative.  Where there
        is none by the targets, as at a singular q, the backward pass raises ValueError, or with undefined="zero" that
        problem adds nothing.
        """
        one_of("undefined", undefined, ("raise", "zero"))
        return Ik(solver, undefined, self._of, self._join)

    def pose(self, model: Model, frame: str) -> F:
        """The pose (..., 4, 4) of a frame in the world at q (..., nq)."""

        def pulled(cotangents: Array, q: Array, poses: Array) -> Array:
            axial = cotangents[:, :3, :3] @ poses[:, :3, :3].swapaxes(1, 2)
            turn = np.stack([axial[:, k - 1, k - 2] - axial[:, k - 2, k - 1] for k in range(3)], axis=1)
            twists = np.concatenate([cotangents[:, :3, 3], turn], axis=1)
            return of_velocities(model, q, (twists[:, None] @ model.jacobian(frame, q))[:, 0])

        return self._of(_of_q("pose", model, lambda q: model.pose(frame, q).matrix(), pulled, (4, 4)))

    def centre_of_mass(self, model: Model) -> F:
        """The centre of mass (..., 3) in the world at q (..., nq) [m]."""

        def pulled(cotangents: Array, q: Array, centre: Array) -> Array:
            return of_velocities(model, q, (cotangents[:, None] @ model.centre_of_mass_jacobian(q))[:, 0])

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


@final
class Ik(Generic[F]):
    """The q of a solver as a function of targets: called with one array, or a list of them, and with `q0`."""

    def __init__(self, solver: Solver, undefined: Undefined, of: Callable[[Differentiable], F], join: Join) -> None:
        self._solver, self._undefined, self._of, self._join = solver, undefined, of, join
        tasks = solver.tasks
        self._ports = [port_of(solver.model, task) for task in tasks]
        if not any(self._ports):
            raise InvalidValue("no-target", "ik takes a Solver with a task that has a target; none of these has")
        kinds = [not isinstance(task, PostureTask) and not task.aimed for task in tasks]
        places = [0] if len(tasks) == 1 else np.flatnonzero(kinds).tolist()
        self._bare = self._alone(places[0]) if len(places) == 1 else None
        self._made: dict[Any, F] = {}

    def __call__(self, target: Any, q0: Any = None) -> Any:
        """q (..., nq) with the type and on the device of the targets.

        Raises TypeError for what is no array of real numbers, ShapeError for a wrong shape or number of targets.
        """
        if not isinstance(target, (list, tuple)):
            if self._bare is None:
                raise InvalidType(
                    "not-a-sequence",
                    f"ik takes a list of {len(self._ports)} targets, one a task, None for a task's own",
                )
            return self._bare(target, q0)
        if len(target) != len(self._ports):
            raise ShapeError(f"ik takes a list of {len(self._ports)} targets, one a task, got {len(target)}")
        places = tuple(i for i, one in enumerate(target) if one is not None)
        if not places:
            raise InvalidType("no-target", "all targets are None: ik is a function of those that are given")
        given = [target[i] for i in places]
        axes = tuple(self._axes(i, tuple(one.shape)) for i, one in zip(places, given, strict=True))
        if len(places) == 1:
            return self._function(places, lambda: self._alone(places[0]))(given[0], q0)
        return self._function((places, axes), lambda: self._together(places, axes))(self._join(given, axes), q0)

    def __repr__(self) -> str:
        return f"ik of {self._solver.model.name}"

    def _function(self, key: Any, make: Callable[[], F]) -> F:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _axes(self, i: int, shape: Axes) -> Axes:
        """The last axes of the target of a task in an array of this shape."""
        port = self._ports[i]
        if port is None:
            raise ShapeError(f"{self._solver.tasks[i].label} takes no target, give None")
        axes = port.axes(shape)
        if axes is None:
            raise ShapeError(f"ik takes {port.words}, got shape {shape}")
        return axes

    def _alone(self, i: int) -> F:
        """The function of the targets of one task."""
        return self._made_of(lambda shape: self._axes(i, shape), lambda rows: {i: rows}, lambda pulled, rows: pulled[i])

    def _together(self, places: Sequence[int], axes: Sequence[Axes]) -> F:
        """The function of the targets of several tasks, whose numbers stand side by side."""
        ends = np.cumsum([math.prod(one) for one in axes])

        def parts(rows: Array) -> dict[int, Array]:
            some = zip(places, axes, np.split(rows, ends[:-1], axis=1), strict=True)
            return {i: part.reshape(-1, *one) for i, one, part in some}

        def whole(pulled: dict[int, Array], rows: Array) -> Array:
            return np.hstack([pulled[i].reshape(len(rows), -1) for i in places])

        return self._made_of(lambda shape: (int(ends[-1]),), parts, whole)

    def _made_of(
        self,
        axes: Callable[[Axes], Axes],
        parts: Callable[[Array], dict[int, Array]],
        whole: Callable[[dict[int, Array], Array], Array],
    ) -> F:
        """The function of rows: `parts` are those of each task, `whole` the cotangents of all."""
        solver, undefined, ports = self._solver, self._undefined, self._ports
        model = solver.model

        def targets_of(given: dict[int, Array]) -> Any:
            """What a batch takes for these rows of tasks."""
            rows = (given.get(i) for i in range(len(ports)))
            found = [None if x is None or p is None else p.targets(x) for x, p in zip(rows, ports, strict=True)]
            return found if len(found) > 1 else found[0]

        def value(rows: Array, q0: Array) -> Array:
            found = solver.batch(targets_of(parts(rows)), q0)
            return found.gradient().q

        def pulled(cotangents: Array, rows: Array, q: Array) -> Array:
            given = parts(rows)
            gradient = self._gradient(targets_of(given), q)
            moved = gradient.vjp(to_velocities(model, q, cotangents))
            lacking = gradient.undefined
            if len(lacking) and undefined == "raise":
                raise InvalidValue(
                    "undefined",
                    f"{len(lacking)} of {len(q)} answers have no derivative, the first at row {lacking[0]}: "
                    'SolutionGradient.reason says why; ik(solver, undefined="zero") leaves them out',
                )
            out = {}
            for i, some in given.items():
                port = ports[i]
                assert port is not None
                moved[i][lacking] = 0.0
                out[i] = port.pulled(moved[i], some)
            return whole(out, rows)

        return self._of(Differentiable("ik", model, axes, value, pulled, (model.nq,)))

    def _gradient(self, targets: Any, q: Array) -> BatchGradient:
        """That of answers q (n, nq), which may be rounded to single precision."""
        solver, search = self._solver, self._solver._search
        if inverses_of(solver.model, search).there:
            return solver.batch(targets, q).gradient()  # no iteration says soonest which fulfil their poses
        goals, _ = problems_of(solver.model, solver.tasks, targets, q, search.tasks.beside)
        return BatchGradient(solver.model, search, q, goals, self._fulfilled(goals, q))

    def _fulfilled(self, goals: Array, q: Array) -> Flags:
        """(n,) whether q (n, nq) fulfil all required tasks, to what single precision rounds of them."""
        search, found = self._solver._search, np.ones(len(q), dtype=np.bool_)
        for task, goal in zip(search.tasks.all, each_goal(search.tasks.all, goals), strict=True):
            if task.required and task.blocks:
                left = left_at([task], self._solver.model, goal, q)[:, : len(task.blocks)]
                found &= (left <= np.array(task.tolerances) + _SINGLE).all(axis=1)
        return found


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
        return of_velocities(model, q, changes.reshape(model.nv, len(q), -1).sum(axis=2).T)

    return _of_q(name, model, value, pulled, result)


def _together(find: Callable[..., Array], shape: tuple[int, ...], *rows: Array) -> Array:
    """(n, *shape) what is found of rows, on all cores."""
    out = np.empty((len(rows[0]), *shape))

    def some(at: slice) -> None:
        out[at] = find(*(each[at] for each in rows))

    in_chunks(len(out), some)
    return out
