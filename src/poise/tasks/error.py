"""What is left of a task."""

from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class TaskError:
    """What is left of one task, recomputed by forward kinematics, over the rows whose weight is not 0.

    What a task does not have is None; to a type checker it may be anything, for who states a task
    knows what it has.
    """

    task: str
    """What it is and of what."""
    position: float | Any = None
    """[m]; None if the task has no position."""
    rotation: float | Any = None
    """[rad]; None if the task has no rotation."""
    posture: float | Any = None
    """Largest |q_i - target_i| of a posture task, or what the sum of a coupling lacks [rad or m]; None for others."""
    residual: float | Any = None
    """Of a task of your own in neither metres nor radians: the root of the sum of the squares; None for others."""
