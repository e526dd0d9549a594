"""How joints move in a step, not where they are: cost on their motion, and velocities that are asked of them.

Rows of the identity, one a velocity: of an update of dt they ask for the way v dt, which is none for a DampingTask.
The weight of a row is against those of the other tasks of its level.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import finite, numbers
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import load, splat, store
from poise.kernels.machine.layout import GOAL, GOAL_NUMBERS, PLACE, WAY
from poise.model.joint import JointKind
from poise.model.tree import Columns
from poise.tasks.base import Task
from poise.tasks.effector import Block, Effector, Units
from poise.tasks.error import TaskError
from poise.tasks.fields import Weight, goal_of

if TYPE_CHECKING:
    from poise.model.model import Model


@routine
def velocity_rows(p: Any, w: Any, k: Any) -> None:
    """The wanted change of each velocity in this update [rad or m], with the identity as Jacobian, both weighted.

    The first three goal numbers stand where a place does, the others where a rotation does.
    """
    effector = p.effectors[k]
    first, number, o = effector.first_block, effector.first_number, splat(w.e, 0.0)
    for b in range(first, effector.last_block):
        for i in range(3):
            store(w.e, 3 * b + i, o)
        for j in range(p.blocks[b].start, p.blocks[b].start + 3 * effector.columns):
            store(w.jacobian, j, o)
    for c in range(effector.columns):
        b, i = first + c // 3, c % 3
        weight = p.numbers[number + c]
        store(w.jacobian, p.blocks[b].start + 3 * c + i, splat(w.e, weight))
        if effector.goal:
            store(w.e, 3 * b + i, weight * load(w.target, GOAL * k + (9 + c if c < 3 else c - 3)))


def only_in_steps(task: Task) -> InvalidValue:
    """What a task of motions says to a solve, which has none."""
    return InvalidValue(
        "not-supported", f"{task.label} is of how joints move in a step, and here are none: give it to a Tracker"
    )


@dataclass(frozen=True, eq=False, repr=False)
class OfVelocities(Task):
    """A task about the velocities of joints."""

    joints: Sequence[str] | None = None
    """Their names; None: all but planar and floating ones."""
    weight: Weight = field(default=1.0, kw_only=True)
    """In the inverse of rad or m: one number, or one a velocity; 0 leaves one alone."""
    gain: float = field(default=1.0, init=False, repr=False)
    _velocities: tuple[int, ...] = field(default=(), init=False, repr=False)
    _seconds: float = field(default=0.0, init=False, repr=False)

    routine: ClassVar[Any] = staticmethod(velocity_rows)
    goal_kind: ClassVar[int] = PLACE | WAY
    yardstick: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.joints is not None and (isinstance(self.joints, str) or not self.joints):
            raise InvalidValue(
                "not-a-sequence",
                f"joints must be names in a list, as in ['elbow'], or None for all, got {self.joints!r}",
            )
        twice = [name for i, name in enumerate(self.joints or ()) if name in (self.joints or ())[:i]]
        if twice:
            raise InvalidValue("duplicate", f"{self.label} names {twice[0]!r} twice: give each joint once")
        super().__post_init__()

    @property
    def _weight_rows(self) -> None:
        return None

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        return f"{type(self).__name__}({'' if self.joints is None else ', '.join(map(repr, self.joints))})"

    def in_steps(self, model: "Model", dt: float | None) -> Self:
        """The task of a Tracker on `model` with updates of `dt` [s].

        Raises ValueError without a dt, and for a joint that has no velocity of its own, JointNotFound, ShapeError for
        as many weights as there are not velocities.
        """
        if dt is None:
            raise InvalidValue(
                "no-dt", f"{self.label} is about velocities, which need the time of a step: give the Tracker dt [s]"
            )
        base = (JointKind.PLANAR, JointKind.FLOATING)
        joints = [j.name for j in model.joints if j.nv and j.kind not in base] if self.joints is None else self.joints
        for name in joints:
            if self.joints is not None and name in model.still:
                raise InvalidValue("nothing-moves", f"{self.label} names {name!r}, which stands still: leave it out")
            if not model.joint(name).nv:
                raise InvalidValue(
                    "nothing-moves",
                    f"{self.label} names {name!r}, which has no velocity of its own, for it is fixed or follows "
                    "another: leave it out",
                )
        places = (model.velocity_index(name) for name in joints)
        velocities = tuple(v for at in places for v in range(at.start, at.stop))
        if isinstance(self.weight, tuple) and len(self.weight) != len(velocities):
            raise ShapeError(
                f"weight of {self.label} must be one number or {len(velocities)}, one a velocity, got "
                f"{len(self.weight)}"
            )
        made = copy(self)
        if model.still:
            kept = [c for c, v in enumerate(velocities) if model._free[v]]
            velocities = tuple(velocities[c] for c in kept)
            if isinstance(self.weight, tuple):
                made._set("weight", tuple(self.weight[c] for c in kept))
        made._set("_velocities", velocities)
        made._set("_seconds", float(dt))
        return made

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three; raises ValueError where no step is taken."""
        if not self._seconds:
            raise only_in_steps(self)
        count = len(self._velocities)  # the weights are in the rows
        return tuple(Block((1.0, 1.0, 1.0), 1.0, "", rows=min(3, count - i)) for i in range(0, count, 3))

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal of a robot that rests."""
        return np.zeros(GOAL_NUMBERS)

    def needed(self, model: "Model") -> set[int]:
        """The units of the tree that its joints are."""
        names = (j for j in model.joints if j.nv and model.velocity_index(j.name).start in self._velocities)
        return {model.tree.links[joint.child][0] for joint in names}

    def moving(self, model: "Model") -> set[int]:
        """The same: what its joints move, it is about."""
        return self.needed(model)

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        count = len(self._velocities)
        every = np.broadcast_to(np.asarray(self.weight), count).tolist()
        columns = Columns(self._velocities, np.zeros((count, 4), dtype=np.int64), np.zeros((count, 2)))
        return Effector(columns=columns, numbers=every)

    def error(self, sizes: Sequence[float]) -> TaskError:
        """Nothing: where joints are says nothing of how they moved."""
        return TaskError(self.label)

    def words(self, error: TaskError) -> str:
        """Of this task, for people."""
        return f"{self.label} is of motions"

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, blocks) zeros."""
        return np.zeros((len(q), len(self.blocks)))


@final
@dataclass(frozen=True, eq=False, repr=False)
class DampingTask(OfVelocities):
    """Let some joints move little: each step costs `sum (weight_i dq_i)^2`, against the errors of its level.

    Where other tasks of its priority ask for motion it takes a part of it away, so they come later to their targets;
    of those that come after it, such as a posture, it takes all that is left.  For a `Tracker` with a `dt`.
    """


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointVelocityTask(OfVelocities):
    """Move up to seven velocities at `target`, as many numbers [rad/s or m/s], such as those of another controller.

    None: at rest, until a step gives it others.  It knows no positions, so nothing brings back what a limit or another
    task took from it.  For a `Tracker` with a `dt`; more velocities take several tasks.
    """

    target: ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.target is not None:
            self._set("target", finite("target", self.target))
        super().__post_init__()

    def in_steps(self, model: "Model", dt: float | None) -> Self:
        """The task of a Tracker; raises ValueError for more than seven velocities too."""
        made = super().in_steps(model, dt)
        if len(made._velocities) > GOAL_NUMBERS:
            raise InvalidValue(
                "too-many",
                f"{self.label} is of {len(made._velocities)} velocities, and takes {GOAL_NUMBERS} at most: name the "
                "joints, and state several of them",
            )
        return made

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) the ways of an update."""
        given, count = np.atleast_1d(numbers(name, target)), len(self._velocities)
        if given.shape != (count,):
            raise ShapeError(f"{name} of {self.label} must have shape ({count},), one a velocity, got {given.shape}")
        ways = np.zeros(GOAL_NUMBERS)
        ways[:count] = given * self._seconds
        return goal_of(ways[:3], ways[3:])
