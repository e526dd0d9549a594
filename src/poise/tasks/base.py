"""What every task is: weights, a tolerance and a priority; and all that solving, judging and explaining ask of it.

A task is a file: a subclass says its rows, what carries it, its goal numbers and its errors, and nothing else in the
package knows it by name.  One with a `residual` of its own, compiled by Numba, needs to say nothing more.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.common.checks import number, whole, with_holes, yes_or_no
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.jit import compiler, plain
from poise.kernels.machine.layout import GOAL_NUMBERS, PLACE
from poise.kernels.machine.reads import Reads
from poise.kernels.rows.own import own_range_rows, own_rows, own_sides
from poise.quaternions import quaternion_matrix
from poise.tasks.effector import Block, Effector, Measure, Place, Units, no_joint, place, task_frames
from poise.tasks.error import TaskError
from poise.tasks.fields import (
    PLAIN,
    Weight,
    flat,
    frozen_value,
    goal_of,
    hashable,
    point,
    tolerance,
    weights,
    without_truth,
)
from poise.tasks.goal import Flags, refuse_goal, sound_goals
from poise.tasks.stated import Stated
from poise.tasks.value import Value, again, all_but_target, freeze, names_of, usual

if TYPE_CHECKING:
    from poise.model.model import Model

POSITION: Final = "position"
ROTATION: Final = "rotation"

_NOWHERE: Final = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Task(Value, metaclass=Stated):
    """What a robot shall do; the base of all tasks, and of your own.

    A task of your own is a frozen dataclass with the number of `rows` of its residual and two functions, which Numba
    compiles.  They are static: they have no `self`, and `@staticmethod` says so to type checkers:

    - `residual(frames, numbers, out)` writes `out` (rows,), which vanishes when the task is fulfilled.  `frames`
      (n, 12) are poses in the world: place [m], then the rotation matrix row by row.  They are those of the frames that
      the task names: in `frames`, if the class has such an attribute or field, else in its fields that are text.
      `numbers` are the other fields in their order, arrays and poses number by number; if `target` is one of them, its
      numbers come last, seven with zeros at the end.
    - `jacobian(frames, numbers, out)`, if there is one, writes `out` (rows, 6 n): the derivatives of the rows by the
      twist of each frame, linear, then angular, along the world's axes.  Without it they are central differences over
      1e-5 m and rad, good to about nine digits where the residual is smooth.

    With `inequality = True` the residual is a range, which asks for nothing where all its rows are at most 0: that is
    what must hold, one side a row, and where the task is required and of the first priority no step leaves it.

    Write every row in every pose: where one is left out, the task has no number and is not solved.
    `unit` is "m" or "rad" if the rows are such.  With `lanes = True` the functions are written with `load`, `store` and
    `select` of `poise.own` in place of brackets and `if`, and serve eight problems at once: row
    12 f + i of `frames` is number i of frame f, row 6 n r + c of the Jacobian's `out` is column c of row r.

    Before it is compiled, each function runs once in plain Python (with `lanes`, compiled too), and a Jacobian is
    compared with differences; a ValueError says what does not work.  Each process compiles them anew, which takes about
    half a second a task.

    Compiled code keeps what the functions read around them, such as a global number or array.  Where that has changed,
    `solve` and all else that prepares anew compiles anew, and a call of a `Solver` or `Tracker` that was made before
    raises RuntimeError.  What changes often is a field, or better the target.  Arrays are compared at each call, but
    for those that nobody can write.
    """

    weight: Weight = 1.0
    """Weight of the rows against those of other tasks of its level: one number, or one a row where the rows are not
    alike; 0 drops a row."""
    tolerance: float = 1e-6
    """How much may be left [m or rad], over the rows whose weight is not 0; with more than three, of each three."""
    priority: int = 0
    """Its level, 0 first; a level disturbs none before it."""
    required: bool = True
    """Whether an answer is judged by it.  False: it is fulfilled as well as the required tasks of its level and of
    those before it allow, and whatever is left of it, the answer counts as solved."""
    gain: float = 1.0
    """The share of its error that an update of a Tracker asks for, from 0, which holds what there is, to 1; a solve
    goes all the way, whatever it is."""

    rows: ClassVar[int] = 1
    """Rows of the residual, as far as weights tell them apart."""
    unit: ClassVar[Measure] = ""
    """"m" or "rad" for a residual in metres or radians; empty for another one."""
    lanes: ClassVar[bool] = False
    """Whether the functions of a task of your own serve eight problems at once."""

    inequality: ClassVar[bool] = False
    """Whether the rows of a task of your own are to be at most 0, in place of 0."""

    routine: ClassVar[Any] = staticmethod(own_rows)
    """Writes the rows of its residual and their Jacobian; None for a pose, whose rows the solver has at hand."""
    side_routine: ClassVar[Any] = None
    """Writes how far it is beyond each side of a range; None for a task that is no range."""
    shared: ClassVar[int] = 0
    """Rows of its only block where they have one weight together; 0 where each may have its own."""
    to_point: ClassVar[bool] = False
    """Whether its target is a point or a direction (3,)."""
    goal_kind: ClassVar[int] = PLACE
    """What its goal numbers are: bits of `layout`; without PLACE, TURN and DIRECTION it has none."""
    weight_names: ClassVar[tuple[str, ...]] = ("weight",)
    tolerance_names: ClassVar[tuple[str, ...]] = ("tolerance",)
    """The fields that are weights, and those that are tolerances."""
    yardstick: ClassVar[bool] = True
    """Whether its weights count where the largest of a level is sought; else they are held against those that do."""
    frame_parts: ClassVar[tuple[str, ...]] = ()
    """What of its frame it leads all of: POSITION, ROTATION or both."""
    along_target: ClassVar[bool] = False
    """Whether rows and weights are along the target's own axes."""

    if TYPE_CHECKING:

        @property
        def target(self) -> Any:
            """Where to; None if it is given at the call, or if there is none."""
    else:
        target = None

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if cls.functions():
            if cls.inequality:
                cls.routine, cls.side_routine = staticmethod(own_range_rows), staticmethod(own_sides)
            cls.structure = property(_structure_now)  # type: ignore[assignment, method-assign]

    @classmethod
    def functions(cls) -> tuple[Callable[..., Any], ...]:
        """Those of a task of your own."""
        return tuple(f for name in ("residual", "jacobian") if (f := getattr(cls, name, None)) is not None)

    def __post_init__(self) -> None:
        if self.to_point and self.target is not None:
            self._set("target", self._checked_target(self.target))
        kind: Any = type(self)
        defaults = usual(kind)
        if defaults is not None and all(map(is_, defaults.read(self), defaults.defaults)):
            freeze(self, defaults.others)
        else:
            self._check()
            freeze(self)

    def _checked_target(self, target: Any) -> Any:
        """A target as the task holds it; raises as the constructor does."""
        return frozen_value(point("target", target) if self.to_point else target)

    def _check(self) -> None:
        """Check and round the fields that all tasks have; raises as the constructor does."""
        for name in self.weight_names:
            self._set(name, weights(name, getattr(self, name), self._weight_rows))
        for name in self.tolerance_names:
            self._set(name, tolerance(name, getattr(self, name)))
        whole("priority", self.priority, 0)
        self._set("priority", int(self.priority))
        yes_or_no("required", self.required, ", whether an answer is judged by the task")
        self._set("gain", number("gain", self.gain))
        if not 0.0 <= self.gain <= 1.0:
            raise InvalidValue("out-of-range", f"gain is {self.gain}; it must be from 0 to 1, a share of the error")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __dir__(self) -> list[str]:
        """Its fields, which is what a shell completes; the rest is for who solves for it."""
        return [field.name for field in fields(self) if field.init]

    def __repr__(self) -> str:
        own = [f for f in fields(self) if f.init and f.repr and not f.kw_only]
        named = [f for f in fields(self) if f.init and f.repr and f.kw_only]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in (*own, *named))})"

    # What it is of ------------------------------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        return f"{type(self).__name__}({', '.join(map(repr, self.frame_names))})"

    @cached_property
    def structure(self) -> tuple[Any, ...]:
        """All but the target, hashable: two tasks of one structure share a prepared solver."""
        return self._structure()

    def _structure(self) -> tuple[Any, ...]:
        kind: Any = type(self)
        given = all_but_target(kind)(self)
        return (kind, *(given if set(map(type, given)) <= PLAIN else map(hashable, given)))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three; of a posture none.  Raises ValueError where it has none else."""
        if self.shared:
            weight = float(self.weight)  # type: ignore[arg-type]
            return (Block((weight, weight, weight), self.tolerance, self.unit, rows=self.shared),)
        count = self.rows
        if not isinstance(count, int) or count < 1:
            raise InvalidValue("not-whole", f"rows of {self.label} is {count!r}; it must be a whole number, 1 or more")
        each = [*np.broadcast_to(self.weight, count).tolist(), 1.0, 1.0]
        return tuple(
            Block((each[i], each[i + 1], each[i + 2]), self.tolerance, self.unit, rows=min(3, count - i))
            for i in range(0, count, 3)
        )

    def lighter(self, factor: float) -> "Task":
        """It with weights that are less by a factor; itself where that is 1."""
        if factor == 1.0:
            return self
        values = {name: getattr(self, name) for name in self._field_names}
        for name in self.weight_names:
            weight = values[name]
            values[name] = tuple(x / factor for x in weight) if isinstance(weight, tuple) else weight / factor
        made: Task = again(type(self), values)
        return made

    @property
    def weighing(self) -> int:
        """0 without weights, 1 with, 2 with such along the target's own axes, where it matters along which."""
        if all(block.plain for block in self.blocks):
            return 0
        return 2 if self.along_target and any(len(set(block.weight)) > 1 for block in self.blocks) else 1

    @property
    def tolerances(self) -> tuple[float, ...]:
        """How much may be left of each block."""
        return tuple(block.tolerance for block in self.blocks)

    @property
    def weighted_rows(self) -> int:
        """How many numbers it asks the joints for."""
        return sum(block.weighted_rows for block in self.blocks)

    @property
    def level(self) -> int:
        """Its place among levels, the least first: in each priority what is required comes before what is not."""
        return 2 * self.priority + (not self.required)

    @property
    def inequality_rows(self) -> int:
        """Of a range that has an inside, its sides: as many inequalities say that it is not left; else 0."""
        return self.rows if self.inequality else 0

    @property
    def depth(self) -> float:
        """How far inside a range one can be [m or rad]."""
        return math.inf if self.inequality else 0.0

    @property
    def in_world(self) -> bool:
        """Whether it is seen from the world, not from a base."""
        return True

    @property
    def placed(self) -> tuple[str, float] | None:
        """A frame whose origin, or tool, must come to the goal's place as its base sees it, and the tolerance [m].

        None if no length can prove the task out of reach.
        """
        return None

    def in_steps(self, model: "Model", dt: float | None) -> "Task":
        """The task as a Tracker on `model` takes it, with updates of `dt` [s], if it has a time: for most, itself."""
        return self

    # Targets ------------------------------------------------------------------------------------------------------

    @property
    def goal_read(self) -> int:
        """What its rows read of the goal numbers: `goal_kind`, or 0 where nobody gives it a target."""
        return self.goal_kind if self.takes_target else 0

    @property
    def aimed(self) -> bool:
        """Whether it has a target, or needs none."""
        return self.target is not None or not self.takes_target

    @property
    def takes_target(self) -> bool:
        """Whether it has a field for one."""
        return "target" in self._field_names

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers that the kernel reads, for most place, then quaternion w x y z; checked for shape only."""
        if self.to_point:
            return goal_of(point(name, target))
        if not self.takes_target:
            if target is not None:
                raise ShapeError(f"{name}: {self.label} takes no target, give None; got {target!r}")
            return np.array(_NOWHERE)
        found = np.array(list(flat(name, target)))
        if len(found) > GOAL_NUMBERS:
            raise ShapeError(f"{name} of {self.label} must be at most {GOAL_NUMBERS} numbers, got {len(found)}")
        return np.pad(found, (0, GOAL_NUMBERS - len(found)))

    def goals(self, targets: Any, name: str = "targets") -> Array:
        """(n, 7) the same for the targets of n problems: an array with a row each; numbers are not checked."""
        if not self.takes_target:
            return self.goal(targets, name)[None]
        rows = with_holes(name, targets)
        if rows.ndim == 0:
            raise ShapeError(f"{name} of {self.label} must have a row a problem, got {targets!r}")
        out = np.tile(self.goal(np.zeros(rows.shape[1:]), f"a row of {name}"), (len(rows), 1))
        width = math.prod(rows.shape[1:])
        out[:, :width] = rows.reshape(len(rows), width)
        return out

    def goal_on(self, model: "Model", target: Any = None, name: str = "target") -> Array:
        """(7,) the same on a model, of its own target where `target` is None; raises ValueError where it has none."""
        if target is None and not self.aimed:
            raise InvalidValue(
                "no-target", f"{name} is None, and {self.label} has no target of its own: give one to either"
            )
        return self.goal(self.target if target is None else target, name)

    def goals_on(self, model: "Model", targets: Any = None, name: str = "targets") -> Array:
        """(n, 7) those of n problems on a model; (7,) its own where `targets` is None."""
        return self.goal_on(model, None, name) if targets is None else self.goals(targets, name)

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils."""
        target = self.target_at(model, q)
        return np.array(_NOWHERE) if target is None else self.goal(target)

    def target_at(self, model: "Model", q: Array) -> Any:
        """A target that the configuration `q` (nq,) fulfils, as the task takes it; None if it cannot tell one."""
        return None

    def fulfilled(self, model: "Model", q: Array) -> Array | None:
        """(n, 7) goals that the configurations `q` (n, nq) fulfil; None if it cannot tell."""
        return None

    def sound(self, model: "Model", goals: Array) -> Flags:
        """(n,) whether goals (n, 7) are targets, as the kernels have it: see `aim_at` there."""
        return sound_goals(self.goal_kind, goals)

    def refuse(self, model: "Model", goal: Array, name: str = "target") -> None:
        """Raises ValueError that says why the goal's numbers (7,) are no target, if they are none."""
        refuse_goal(self.goal_kind, goal, name, self.label)

    # Among the units of a model -----------------------------------------------------------------------------------

    def needed(self, model: "Model") -> set[int]:
        """The units of the tree whose frames, or whose places in q, it reads.

        Raises FrameNotFound and JointNotFound for names that the model does not have, ValueError for a task that
        nothing moves.
        """
        if not self.moving(model):
            raise InvalidValue("nothing-moves", f"{self.label} never moves: {no_joint(model)} moves its frames")
        return {unit for at in self._places(model) for unit in at.read}

    def moving(self, model: "Model") -> set[int]:
        """The units of the tree that move it."""
        return {unit for at in self._places(model) for unit in at.moved(model)}

    @property
    def own(self) -> bool:
        """Whether it has a residual of its own."""
        return type(self).routine in (own_rows, own_range_rows)

    def coupled(self, model: "Model") -> set[int]:
        """The places in q that it reads as numbers, so that whole turns are not all the same."""
        return set()

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        columns, seen = task_frames(units, self._places(units.model))
        return Effector(columns=columns, numbers=self.numbers, frames=seen)

    # What is left -------------------------------------------------------------------------------------------------

    def error(self, sizes: Sequence[float]) -> TaskError:
        """What is left, from the norm of each block."""
        left = {
            unit: float(np.linalg.norm(some))
            for unit in ("m", "rad", "")
            if (some := [size for size, block in zip(sizes, self.blocks, strict=True) if block.unit == unit])
        }
        return TaskError(self.label, left.get("m"), left.get("rad"), residual=left.get(""))

    def words(self, error: TaskError) -> str:
        """An error of this task, for people."""
        sizes = ((error.position, " m"), (error.rotation, " rad"), (error.residual, ""))
        return f"{self.label} {' and '.join(f'{size:.3g}{unit}' for size, unit in sizes if size is not None)}"

    def at_sides(self, model: "Model", q: Array) -> Sequence[str]:
        """Of a range of many things, in words those that stand at their sides at `q` (nq,), or are beyond them."""
        return ()

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, blocks) the norm of each block at `q` (N, nq) for the goals (N, 7), from the poses of the model alone.

        It is NaN where a residual has no number, and where it raises: so does what was compiled of it.
        """
        residual, found = self.function("residual"), np.zeros((len(q), 3 * len(self.blocks)))
        found[:, : self.rows] = np.nan  # until it is written
        assert residual is not None
        for at, aim, out in zip(q, goal, found, strict=True):
            seen = self.frames_at(model, at)
            try:
                residual(seen.ravel() if self.lanes else seen, self.all_numbers(aim), out[: self.rows])
            except Exception:
                out[: self.rows] = np.nan
        if self.inequality:
            found = np.maximum(found, 0.0)
        return np.stack([b.norms(found[:, 3 * i : 3 * i + 3]) for i, b in enumerate(self.blocks)], axis=1)

    # A residual of a user's ---------------------------------------------------------------------------------------

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """The frames that a residual of its own reads."""
        given = getattr(self, "frames", None)
        if given is None:
            return tuple(value for _, value in self._own_fields() if isinstance(value, str))
        return (given,) if isinstance(given, str) else tuple(given)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The numbers that a residual of its own reads, before the target's."""
        return tuple(
            x
            for name, value in self._own_fields()
            if name not in ("target", "frames") and not isinstance(value, str)
            for x in flat(f"{name} of {type(self).__name__}", without_truth(value))
        )

    @property
    def _weight_rows(self) -> int | None:
        """How many weights it may have; None: that depends on the model."""
        return self.rows

    @property
    def _field_names(self) -> tuple[str, ...]:
        kind: Any = type(self)
        return names_of(kind)

    def _own_fields(self) -> Iterator[tuple[str, Any]]:
        """The fields that its class adds, and their values."""
        return ((name, getattr(self, name)) for name in self._field_names if name not in _SHARED)

    def _places(self, model: "Model") -> list[Place]:
        return [place(model, name) for name in self.frame_names]

    def frames_at(self, model: "Model", q: Array) -> Array:
        """(n, 12) the frames as a residual of its own reads them, at `q` (nq,)."""
        poses = [model.pose(name, q) for name in self.frame_names]
        return np.array([[*pose.xyz, *quaternion_matrix(pose.wxyz).ravel()] for pose in poses]).reshape(-1, 12)

    def all_numbers(self, goal: Array) -> Array:
        """The numbers as a residual of its own reads them, the goal's (7,) at the end."""
        return np.concatenate([self.numbers, goal if self.takes_target else ()])

    def function(self, name: str) -> Callable[..., Any] | None:
        """A function of its own for Python to call; None if it has none of this name.

        It takes all axes of its arguments as one where it is made for `lanes`.
        """
        given: Callable[..., Any] | None = getattr(type(self), name, None)
        if given is None:
            return None
        return compiler(f"{name} of {self.label}").from_python(given) if self.lanes else plain(given)


def _structure_now(task: Task) -> tuple[Any, ...]:
    """The structure of a task of a user's: what its functions read around them belongs to it, as it is now."""
    return (*task._structure(), Reads(*task.functions()))


_SHARED: Final = frozenset(("weight", "tolerance", "priority", "required", "gain"))


def levels(tasks: Sequence[Task]) -> tuple[int, ...]:
    """The levels of the tasks, the first of them first."""
    return tuple(sorted({task.level for task in tasks}))
