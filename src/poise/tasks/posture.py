"""Stay near a posture, as far as the other tasks leave the choice."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite, with_holes
from poise.common.errors import InvalidValue, ShapeError
from poise.model.units import ask_for_degrees_in
from poise.tasks.base import Task
from poise.tasks.effector import Block
from poise.tasks.error import TaskError
from poise.tasks.fields import tolerance
from poise.tasks.goal import Flags
from poise.tasks.value import freeze

if TYPE_CHECKING:
    from poise.model.model import Model


@final
@dataclass(frozen=True, eq=False, repr=False)
class PostureTask(Task):
    """Bring q as near to `target` (nq,) as the other tasks allow; without them, to it.

    It never disturbs them: from configurations that fulfil them it moves the joints within the null space of their
    Jacobian (Liegeois 1977), towards the least `sum (weight_i (q_i - target_i))^2`.  Only the ratios of its weights
    count.  `solve` looks for such configurations from the target and from random starts around it, 64 at most, and
    takes the nearest: a search, which proves nothing.  With `max_restarts=0`, or with a method of the caller's, it
    moves the answer that was found, and nothing else.

    Where tasks that are not required are missed, it goes along the configurations in which they are missed as little.

    A `Tracker` follows it at every step as its last level, and its posture may be another at each step, such as that of
    an animation.  What the other tasks then take away from it is shared among the joints by the same weights: of all
    steps that fulfil them as well, it is the one with the least `sum (weight_i (q_i - target_i))^2`.
    """

    target: ArrayLike | None = None
    weight: ArrayLike | Mapping[str, ArrayLike] = field(default=1.0, kw_only=True)  # type: ignore[assignment]
    """One number, or one a velocity (nv,), or joint to weight, one number or one a velocity of the joint, in which
    those that are not named have 1; 0 leaves a joint alone."""
    tolerance: float = field(default=float("inf"), kw_only=True)
    """Largest |q_i - target_i| [rad or m] to call it reached, which is then required: where the nearest by the sum is
    farther off, others are searched for.  Infinite: as near as can be."""
    priority: int = field(default=0, init=False)
    required: bool = field(default=False, init=False)
    """Whether its tolerance is finite."""
    gain: float = field(default=1.0, init=False)

    routine: ClassVar[Any] = None
    weight_names: ClassVar[tuple[str, ...]] = ()
    label: ClassVar[str] = "PostureTask"
    blocks: ClassVar[tuple[Block, ...]] = ()
    aimed: ClassVar[bool] = True
    level: ClassVar[int] = sys.maxsize

    def __post_init__(self) -> None:
        if self.target is not None:
            finite("target", self.target)
        if isinstance(self.weight, Mapping):
            for name, weight in self.weight.items():
                _refuse_negative(f"weight[{name!r}]", weight)
        else:
            _refuse_negative("weight", self.weight)
        self._set("tolerance", tolerance("tolerance", self.tolerance))
        self._set("required", math.isfinite(self.tolerance))
        freeze(self)

    def _structure(self) -> tuple[Any, ...]:
        return *super()._structure(), self.target is None

    @property
    def tolerances(self) -> tuple[float, ...]:
        """How much may be left of what is `judged`."""
        return (self.tolerance,)

    def moving(self, model: "Model") -> set[int]:
        """The units of the tree that move it: all."""
        return set(range(len(model.tree.units)))

    def goal_on(self, model: "Model", target: Any = None, name: str = "target") -> Array:
        """(nq,) a posture; its own, or the model's home, where `target` is None.  Raises ShapeError or ValueError."""
        posture = self.goals_on(model, target, name)
        if posture.ndim > 1:
            raise ShapeError(f"{name} of the PostureTask must have shape ({model.nq},), got {posture.shape}")
        return posture

    def goals_on(self, model: "Model", targets: Any = None, name: str = "targets") -> Array:
        """(n, nq) those of n problems, a row that is no configuration as it is, or (nq,) one for all."""
        own = model.home if self.target is None else self.target
        postures = with_holes(f"{name} of the PostureTask", own if targets is None else targets)
        if postures.shape[-1:] != (model.nq,) or postures.ndim > 2:
            raise ShapeError(
                f"{name} of the PostureTask must have {model.nq} numbers (nq of {model.name}), or rows of as many, got "
                f"shape {postures.shape}"
            )
        ask_for_degrees(model, postures)
        if postures.ndim < 2:
            return _configuration(model, postures, name)
        sound = model.sound(postures)
        if sound.all():
            return model.normalize(postures)
        out = postures.copy()
        out[sound] = model.normalize(postures[sound])
        return out

    def at(self, model: "Model", q: Array) -> Array:
        """(nq,) the configuration itself."""
        return model.normalize(q)

    def sound(self, model: "Model", goals: Array) -> Flags:
        """(n,) whether goals (n, nq) are configurations."""
        return model.sound(goals)

    def refuse(self, model: "Model", goal: Array, name: str = "target") -> None:
        """Raises ValueError that says which of the numbers (nq,) is none of a configuration, if one is not."""
        _configuration(model, goal, name)

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, 1) the largest |q_i - target_i| [rad or m] over the joints whose weight is not 0."""
        return missed_by(model, q, goal, self.weights(model) > 0.0)[:, None]

    def weights(self, model: "Model") -> Array:
        """(nv,) the weight of each velocity; raises ShapeError, and JointNotFound for a joint that there is not."""
        if isinstance(self.weight, Mapping):
            found = np.ones(model.nv)
            for name, weight in self.weight.items():
                given = np.asarray(weight, dtype=np.float64)
                joint = model.joint(name)
                if not joint.nv:
                    raise InvalidValue(
                        "nothing-moves",
                        f"weight[{name!r}] of the PostureTask is of a joint that has no velocity of its own, for it is "
                        "fixed or follows another: leave it out",
                    )
                if given.shape not in ((), (joint.nv,)):
                    raise ShapeError(
                        f"weight[{name!r}] of the PostureTask must be a number or have shape ({joint.nv},), got "
                        f"{given.shape}"
                    )
                found[model.velocity_index(name)] = given
            return found
        given = np.asarray(self.weight, dtype=np.float64)
        if given.shape not in ((), (model.nv,)):
            raise ShapeError(
                f"weight of the PostureTask must be a number or have shape ({model.nv},), got {given.shape}"
            )
        return np.array(np.broadcast_to(given, (model.nv,)))

    def error(self, sizes: Sequence[float]) -> TaskError:
        """What is left, from the largest |q_i - target_i|."""
        return TaskError(self.label, posture=float(sizes[0]))

    def words(self, error: TaskError) -> str:
        """An error of this task, for people."""
        return f"{self.label} {error.posture:.3g} rad or m from the posture"


def ask_for_degrees(model: "Model", postures: Array) -> None:
    """Warn of postures (..., nq) that seem to be in degrees, wherever they are given."""
    ask_for_degrees_in(model, postures, "the target of the PostureTask")


def _configuration(model: "Model", posture: Array, name: str) -> Array:
    """(nq,) a posture with unit quaternions; raises ValueError that names the number which makes it none."""
    for i, number in enumerate(posture.tolist()):
        if not math.isfinite(number):
            raise InvalidValue(
                "not-finite",
                f"{name}[{i}] of the PostureTask, {model.coordinates[i]!r}, is {number}; every entry must be finite",
            )
    return model.normalize(posture, name)


def missed_by(model: "Model", q: Array, goal: Array, counts: npt.NDArray[np.bool_]) -> Array:
    """(...) the largest |q_i - goal_i| [rad or m] of q and goal (..., nq) over the velocities that count (nv,)."""
    away = goal - q if model.nq == model.nv else model.difference(q, goal)
    left: Array = np.abs(away[..., counts]).max(axis=-1, initial=0.0)
    return left


def _refuse_negative(what: str, weight: ArrayLike) -> None:
    """Raises ValueError or ShapeError, naming it, for a weight that is not finite, no number, or below 0."""
    if type(weight) is float and 0.0 <= weight < math.inf:
        return
    found = finite(what, weight)
    if (found < 0.0).any():
        place = np.argwhere(found < 0.0)[0]
        which = f"{what}{list(map(int, place)) if found.ndim else ''}"
        raise InvalidValue(
            "negative", f"{which} of the PostureTask is negative; it must be 0, which leaves a joint alone, or more"
        )
