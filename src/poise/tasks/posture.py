"""Stay near a posture, as far as the other tasks leave the choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from poise.checks import finite
from poise.errors import ShapeError
from poise.spatial import Array, ArrayLike
from poise.tasks.base import Objective, settle
from poise.tasks.error import TaskError
from poise.tasks.fields import tolerance

if TYPE_CHECKING:
    from poise.model.model import Model


@final
@dataclass(frozen=True, slots=True, eq=False)
class PostureTask(Objective):
    """Bring q as near to `target` (nq,) as the other tasks allow; without them, to it.

    It never disturbs them: from configurations that fulfil them it moves the joints within the null space of their
    Jacobian (Liegeois 1977), towards the least `sum (weight_i (q_i - target_i))^2`.  Only the ratios of its weights
    count.  `solve` looks for such configurations from the target and from random starts around it, 64 at most, and
    takes the nearest: a search, which proves nothing.  With `max_restarts=0`, or with a method of the caller's, it
    moves the answer that was found, and nothing else.

    A `Tracker` follows it at every step as its last level, and its posture may be another at each step, such as that of
    an animation.  What the other tasks then take away from it is shared among the joints by the same weights: of all
    steps that fulfil them as well, it is the one with the least `sum (weight_i (q_i - target_i))^2`.
    """

    target: ArrayLike | None = None
    weight: ArrayLike | Mapping[str, ArrayLike] = field(default=1.0, kw_only=True)
    """One number, or one a velocity (nv,), or joint to weight, one number or one a velocity of the joint, in which
    those that are not named have 1; 0 leaves a joint alone."""
    tolerance: float = field(default=float("inf"), kw_only=True)
    """Largest |q_i - target_i| [rad or m] to call it reached; infinite: as near as can be."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.target is not None:
            finite("target", self.target)
        given = self.weight.items() if isinstance(self.weight, Mapping) else (("", self.weight),)
        found = tuple((name, _weight(name, value).tobytes()) for name, value in given)
        object.__setattr__(self, "tolerance", tolerance("tolerance", self.tolerance))
        structure = (PostureTask, found, self.tolerance)
        object.__setattr__(self, "structure", structure)
        settle(self)

    def weights(self, model: "Model") -> Array:
        """(nv,) the weight of each velocity; raises ShapeError, and JointNotFound for a joint that there is not."""
        if isinstance(self.weight, Mapping):
            found = np.ones(model.nv)
            for name, value in self.weight.items():
                joint, given = model.joint(name), _weight(name, value)
                if not joint.nv:
                    raise ValueError(
                        f"weight[{name!r}] of the PostureTask is of a joint that has no velocity of its own, for it is "
                        "fixed or follows another: leave it out"
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
        return TaskError("PostureTask", posture=float(sizes[0]))

    def words(self, error: TaskError) -> str:
        """An error of this task, for people."""
        return f"PostureTask {error.posture:.3g} rad or m from the posture"


def _weight(name: str, value: ArrayLike) -> Array:
    """The weight of a joint, or of all without a name; raises ValueError, naming it, for one that is below 0."""
    what = f"weight[{name!r}]" if name else "weight"
    found: Array = finite(what, value)
    if (found < 0.0).any():
        place = np.argwhere(found < 0.0)[0]
        which = f"{what}{list(map(int, place)) if found.ndim else ''}"
        raise ValueError(f"{which} of the PostureTask is negative; it must be 0, which leaves a joint alone, or more")
    return found
