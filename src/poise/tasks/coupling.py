"""Tie joints to each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from poise.common.array import Array
from poise.common.checks import number
from poise.common.errors import InvalidValue
from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import load, splat, store
from poise.kernels.machine.layout import GOAL
from poise.model.tree import Columns
from poise.tasks.base import Task
from poise.tasks.effector import Effector, Units, movable
from poise.tasks.error import TaskError
from poise.tasks.fields import goal_of

if TYPE_CHECKING:
    from poise.model.model import Model


@routine
def coupling_rows(p: Any, w: Any, k: Any) -> None:
    """Target less the sum of coordinates times coefficients, in the first row [rad or m].

    The place in q of each coefficient is its COLUMN's `axis`; the first number is what does not move.  Joints that
    stand still come last, without a column of the Jacobian.
    """
    effector = p.effectors[k]
    row, j, o = 3 * effector.first_block, p.blocks[effector.first_block].start, splat(w.e, 0.0)
    lacking = load(w.target, GOAL * k + 9) - p.numbers[effector.first_number]
    for r in range(effector.first_column, effector.last_column):
        c = p.columns[r]
        lacking = lacking - c.scale * load(w.q, c.axis)
        if r < effector.first_column + effector.columns:
            store(w.jacobian, j, splat(w.e, c.scale)), store(w.jacobian, j + 1, o), store(w.jacobian, j + 2, o)
            j += 3
    store(w.e, row, lacking), store(w.e, row + 1, o), store(w.e, row + 2, o)


@final
@dataclass(frozen=True, eq=False, repr=False)
class JointCouplingTask(Task):
    """Bring `sum coefficient * q` over some joints of one coordinate to the number `target`, such as 0 [rad or m].

    `{"left": 1.0, "right": -1.0}` keeps two joints alike, `{"knee": 1.0, "hip": -2.0}` makes one turn twice as far.
    The weight is one number, the tolerance in the unit of the sum.
    """

    coefficients: Mapping[str, float]
    """Joint to coefficient."""
    target: float | None = None

    routine: ClassVar[Any] = staticmethod(coupling_rows)
    shared: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping) or not self.coefficients:
            raise InvalidValue(
                "wrong-type" if self.coefficients else "empty",
                f"coefficients must name joints, as in {{'knee': 1.0}}, got {self.coefficients!r}",
            )
        pairs = {name: number(f"coefficients[{name!r}]", x) for name, x in self.coefficients.items()}
        self._set("coefficients", pairs)
        if self.target is not None:
            self._set("target", number("target", self.target))
        super().__post_init__()

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        return f"JointCouplingTask({dict(self.coefficients)!r})"

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers, of which the first is the target."""
        return goal_of((number(name, target), 0.0, 0.0))

    def target_at(self, model: "Model", q: Array) -> float:
        """The target that the configuration `q` (nq,) fulfils."""
        places, offset = self.terms(model)
        return float(offset + sum(x * q[i] for i, x in places.items()))

    def terms(self, model: "Model") -> tuple[dict[int, float], float]:
        """Place in q to coefficient, and what joints that follow others add.

        Raises JointNotFound, and ValueError for a joint that has not one coordinate.
        """
        found, offset = summed(model, self.coefficients, self.label)
        return {model.index(name).start: x for name, x in found.items()}, offset

    def needed(self, model: "Model") -> set[int]:
        """The units of the tree whose places in q it reads; raises as `terms` does."""
        places = self.coupled(model)
        return {u for u, unit in enumerate(model.tree.units) if unit.iq in places}

    def moving(self, model: "Model") -> set[int]:
        """The units of the tree that move it."""
        return movable(model, self.needed(model))

    def coupled(self, model: "Model") -> set[int]:
        """The places in q that it reads as numbers, so that whole turns are not all the same."""
        return set(self.terms(model)[0])

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        places, offset = self.terms(units.model)
        speeds = {unit.iq: unit.iv for unit in units.units if unit.iq in places}
        order = sorted(places, key=lambda i: speeds[i] < 0)
        raw = np.array([[i, 0, 0, c] for c, i in enumerate(order)], dtype=np.int64)
        scales = np.array([[places[i], 0.0] for i in order])
        moved = tuple(speeds[i] for i in order if speeds[i] >= 0)
        return Effector(columns=Columns(moved, raw, scales), numbers=[offset])

    def error(self, sizes: Sequence[float]) -> TaskError:
        """What is left, from the norm of its block."""
        return TaskError(self.label, posture=float(sizes[0]))

    def words(self, error: TaskError) -> str:
        """An error of this task, for people."""
        return f"{self.label} lacks {error.posture:.3g} rad or m"

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, 1) what the sums at `q` (N, nq) lack for the goals (N, 7) [rad or m]."""
        places, offset = self.terms(model)
        total = offset + q[:, list(places)] @ np.array(list(places.values()))
        return np.abs(goal[:, :1] - total[:, None]) * (self.weight != 0.0)


def summed(model: "Model", coefficients: Mapping[str, float], label: str) -> tuple[dict[str, float], float]:
    """Of a sum of joints, the coefficient of each joint with a place in q, and what those that follow others add.

    Raises JointNotFound, and ValueError for a joint that has not one coordinate.
    """
    found, offset = dict[str, float](), 0.0
    for name, coefficient in coefficients.items():
        joint = model.joint(name)
        source, function = model.follows(joint)
        if function.linear is None:
            raise InvalidValue(
                "not-supported",
                f"{label} is linear in q, and {name!r} follows {source!r} by a function: name {source!r}",
            )
        multiplier, more = function.linear
        if model.joint(source).nq != 1:
            raise InvalidValue(
                "not-supported", f"{label} couples joints of one coordinate, and {name!r} has {joint.nq}: leave it out"
            )
        found[source] = found.get(source, 0.0) + coefficient * multiplier
        offset += coefficient * more
    return found, offset
