"""Stay near a posture, as far as the other tasks leave the choice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt

from poise.spatial import finite
from poise.tasks.base import Value, settle, tolerance
from poise.tasks.error import TaskError


@final
@dataclass(frozen=True, slots=True, eq=False)
class PostureTask(Value):
    """Bring q as near to `target` (nq,) as the other tasks allow; without them, to it.

    It never disturbs them: from configurations that fulfil them it moves the joints within the null space of their
    Jacobian (Liegeois 1977), towards the least `sum (weight_i (q_i - target_i))^2`.  Only the ratios of its weights
    count.  `solve` looks for such configurations from the target and from random starts around it, 64 at most, and
    takes the nearest: a search, which proves nothing.  With `max_restarts=0`, or with a method of the caller's, it
    moves the answer that was found, and nothing else.
    """

    target: npt.ArrayLike | None = None
    weight: npt.ArrayLike = field(default=1.0, kw_only=True)
    """One number, or one a velocity (nv,); 0 leaves a joint alone."""
    tolerance: float = field(default=float("inf"), kw_only=True)
    """Largest |q_i - target_i| [rad or m] to call it reached; infinite: as near as can be."""
    structure: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.target is not None:
            finite("target", self.target)
        weight: npt.NDArray[np.float64] = finite("weight", self.weight)
        if (weight < 0.0).any():
            place = np.argwhere(weight < 0.0)[0]
            which = f"weight{list(map(int, place)) if weight.ndim else ''}"
            raise ValueError(
                f"{which} of the PostureTask is negative; it must be 0, which leaves a joint alone, or more"
            )
        structure = (PostureTask, weight.tobytes(), tolerance("tolerance", self.tolerance))
        object.__setattr__(self, "structure", structure)
        settle(self)

    def error(self, sizes: Sequence[float]) -> TaskError:
        """What is left, from the largest |q_i - target_i|."""
        return TaskError("PostureTask", posture=float(sizes[0]))

    def words(self, error: TaskError) -> str:
        """An error of this task, for people."""
        return f"PostureTask {error.posture:.3g} rad or m from the posture"
