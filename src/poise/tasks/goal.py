"""What the numbers of a goal may be, as `aim_at` of the kernels has it."""

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import DIRECTION, FAR, LARGEST, SHORTEST, TURN
from poise.spatial import BOUND

Flags: TypeAlias = npt.NDArray[np.bool_]
_MOST: Final = np.array([LARGEST] * 3 + [FAR] * 4)


def sound_goals(kind: int, goals: Array) -> Flags:
    """(n,) whether goals (n, 7) of this `goal_kind` are targets."""
    parts = [some for bit, some in ((DIRECTION, goals[:, :3]), (TURN, goals[:, 3:])) if kind & bit]
    lengths = [np.abs(some).max(axis=1) for some in parts]
    found: Flags = np.all([(np.abs(goals) <= _MOST).all(axis=1), *(length > SHORTEST for length in lengths)], axis=0)
    return found


def refuse_goal(kind: int, goal: Array, name: str, label: str) -> None:
    """Raises ValueError that says why the numbers (7,) are no target, if they are none."""
    for i in np.flatnonzero(~(np.abs(goal) <= _MOST)):
        why = f", too large: {BOUND}" if np.isfinite(goal[i]) else "; every entry must be finite"
        raise InvalidValue(
            "out-of-range" if np.isfinite(goal[i]) else "not-finite", f"{name}[{i}] of {label} is {goal[i]}{why}"
        )
    if kind & DIRECTION and np.abs(goal[:3]).max() <= SHORTEST:
        raise InvalidValue("zero-vector", f"{name} of {label} is a zero vector, which has no direction")
    if kind & TURN and np.abs(goal[3:]).max() <= SHORTEST:
        raise InvalidValue("not-a-rotation", f"{name} of {label} has a zero quaternion; the identity is wxyz = 1 0 0 0")
