"""What the motors of a mechanism move, and where that breaks down: first order about a configuration with closed loops.

With the loops' rows J v = 0 of all joints, parted into those of motors, J_a, and all others, J_p, the motors move the
others by v_p = -J_p^+ J_a v_a.  Where J_p has less rank than J, the motors cannot move so: a dead point, as of a rocker
that drives its crank where coupler and crank are in line.  What of the null space of J_p moves a frame is what the
motors do not hold of it: a platform that gives way with all motors locked.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import finite
from poise.common.errors import InvalidValue
from poise.model.closure import loop_closure
from poise.model.looped import ACTUATED

if TYPE_CHECKING:
    from poise.model.model import Model

RANK: Final = 1e-7
"""Against the largest singular value of the loops' Jacobian, one that counts as 0."""
_GIVES: Final = 1e-6
"""A frame that moves by less as the motors stand does not [m or rad, of a motion of length 1]."""


@final
class Mechanism:
    """A model with closed loops at a configuration, seen from the joints that have motors."""

    def __init__(self, model: "Model", q: ArrayLike, actuated: Sequence[str] | None = None) -> None:
        self.model, self.q = model, model.check_one_q(q)
        self.actuated = motors(model, actuated)
        """The joints that have motors."""
        driven = [i for name in self.actuated for i in range(*model.velocity_index(name).indices(model.nv))]
        self._driven = np.array(driven, dtype=np.intp)
        self._passive = np.setdiff1d(np.arange(model.nv), self._driven)
        lacks, self._rows = loop_closure(model).rows(self.q)
        self.gap = float(np.abs(lacks).max(initial=0.0))
        """How far the worst loop is open here [m or rad]."""

    @property
    def rows(self) -> int:
        """Equations that the loops state."""
        return len(self._rows)

    @cached_property
    def rank(self) -> int:
        """How many of them are independent here: in a planar mechanism a loop that is cut at a weld states six, and
        three are."""
        return self._rank_of(self._rows)

    @property
    def mobility(self) -> int:
        """The velocities that the loops leave free here, idle turns of rods about themselves among them."""
        return self.model.nv - self.rank

    @cached_property
    def dead(self) -> int:
        """How many motions of the motors the loops do not let happen here: at a dead point, and where there are more
        motors than the mechanism has use for; else 0."""
        return self.rank - self._rank_of(self._rows[:, self._passive])

    @cached_property
    def transmission(self) -> Array:
        """(nv, motors) what the velocity of each motor gives to all joints; what no loop moves stands."""
        found = np.zeros((self.model.nv, len(self._driven)))
        found[self._driven, np.arange(len(self._driven))] = 1.0
        passive = self._rows[:, self._passive]
        found[self._passive] = -np.linalg.pinv(passive, rcond=RANK) @ self._rows[:, self._driven]
        return found

    def jacobian(self, frame: str) -> Array:
        """(6, motors) the twist of a frame by the velocities of the motors, linear rows first, along the world's axes.

        At a dead point a motion that the motors cannot make has no column of its own: see `dead`.
        """
        found: Array = self.model.jacobian(frame, self.q) @ self.transmission
        return found

    def inverse(self, frame: str) -> Array:
        """(motors, 6) the velocities of the motors for a twist of the frame: the pseudoinverse of `jacobian`."""
        return np.asarray(np.linalg.pinv(self.jacobian(frame), rcond=RANK), dtype=np.float64)

    def forces(self, frame: str, wrench: ArrayLike) -> Array:
        """(motors,) what the motors give [N or Nm] where the frame presses on the world with a wrench (6,): force [N],
        then torque [Nm] about its origin, along the world's axes.  Weights are not counted."""
        found: Array = self.jacobian(frame).T @ finite("wrench", wrench, 6)
        return found

    def manipulability(self, frame: str) -> float:
        """The product of the singular values of `jacobian` that are not 0 for want of motors: sqrt(det J J^T), or
        sqrt(det J^T J) with fewer motors than six."""
        return float(np.prod(np.linalg.svd(self.jacobian(frame), compute_uv=False)))

    def gives_way(self, frame: str) -> Array:
        """(k, 6) the twists by which the frame moves though all motors are locked; none: the motors hold it."""
        passive = self._rows[:, self._passive]
        _, sizes, right = np.linalg.svd(passive, full_matrices=True)
        free = right[int((sizes > RANK * self._largest).sum()) :]
        twists = free @ self.model.jacobian(frame, self.q)[:, self._passive].T
        _, sizes, ways = np.linalg.svd(twists, full_matrices=False)
        found: Array = ways[sizes > _GIVES]
        return found

    def explain(self, frame: str | None = None) -> str:
        """Some sentences: what the loops hold, whether here is a dead point, and whether the motors hold the frame,
        by default the model's `tip`."""
        name = self.model.tip if frame is None else frame
        idle, motors = self.rows - self.rank, len(self._driven)
        parts = [
            f"The loops of {self.model.name} state {self.rows} equations, {self.rank} of them independent here"
            + (f": {idle} say again what others do" if idle else "")
            + f"; {self.mobility} of {self.model.nv} velocities are free, with {motors} motor{'s' * (motors != 1)}."
        ]
        if self.gap > RANK:
            parts.append(f"They are open by {self.gap:.3g} m or rad at this q, so what follows is not of a closed one.")
        if self.dead:
            parts.append(
                f"Here is a dead point, or there are too many motors: {self.dead} of their motions cannot happen."
            )
        given = self.gives_way(name)
        if len(given):
            parts.append(
                f"With all motors locked {name!r} still moves in {len(given)} ways: the motors do not hold it."
            )
        else:
            parts.append(f"The motors hold {name!r}.")
        return " ".join(parts)

    @cached_property
    def _largest(self) -> float:
        return float(np.linalg.svd(self._rows, compute_uv=False).max(initial=0.0))

    def _rank_of(self, rows: Array) -> int:
        return int((np.linalg.svd(rows, compute_uv=False) > RANK * self._largest).sum())


def motors(model: "Model", actuated: Sequence[str] | None) -> tuple[str, ...]:
    """The joints that have motors: those that are named, or the group "actuated" of the model.

    Raises JointNotFound for an unknown name, ValueError where nothing says which.
    """
    if actuated is None:
        if not model.groups.get(ACTUATED):
            raise InvalidValue(
                "needs",
                f"nothing says which joints of {model.name} have motors, or all that have are locked: give "
                "actuated=[...], or state them with the loops",
            )
        return model.groups[ACTUATED]
    if isinstance(actuated, str) or not actuated:
        raise InvalidValue("empty", f"actuated must be names of joints, got {actuated!r}")
    for name in actuated:
        model.index(name)
    return tuple(dict.fromkeys(actuated))
