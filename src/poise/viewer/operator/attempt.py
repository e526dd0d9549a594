"""An attempt: one recorded motion, which can be looked at again, measured and exported as joint commands."""

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.common.checks import finite, finite_positive
from poise.common.errors import InvalidValue, ShapeError
from poise.model.model import Model
from poise.motion.clip import Motion
from poise.spatial import frozen
from poise.viewer.operator.measures import Measures, measure
from poise.viewer.operator.setup import Setup, named

_MOST_ROWS: Final = 10_000_000
"""Of an export."""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class Attempt:
    """A motion, and what it was made with; two are equal if all their numbers are, to the last bit.

    Raises ShapeError or ValueError for arrays that are no motion of the model.
    """

    name: str
    model: Model
    frame: str
    """The effector."""
    turns: bool
    """Whether the target's rotation was followed too."""
    time: Array
    """(n,) from 0, growing [s]."""
    q: Array
    """(n, nq) [rad or m]."""
    target: Array
    """(n, 7) place and wxyz of the target."""
    setups: tuple[tuple[int, Setup], ...]
    """What was set, and the row from which it was; the first is row 0."""

    def __post_init__(self) -> None:
        named("an attempt", self.name)
        self.model.frame(self.frame)
        for field, tail in (("time", ()), ("q", (self.model.nq,)), ("target", (7,))):
            array = frozen(finite(field, getattr(self, field), *tail))
            if array.ndim != 1 + len(tail) or len(array) != len(self.time) or not len(array):
                wanted = ", ".join(map(str, ("n", *tail)))
                raise ShapeError(f"{field} must have shape ({wanted}), with the same n, 1 or more; got {array.shape}")
            object.__setattr__(self, field, array)
        if self.time[0] != 0.0 or (np.diff(self.time) <= 0.0).any():
            raise InvalidValue("inconsistent", "time must begin with 0 and grow from each row to the next")
        rows = [row for row, _ in self.setups]
        if rows[:1] != [0] or rows != sorted(set(rows)) or rows[-1] >= len(self.time):
            raise InvalidValue(
                "inconsistent", f"setups begin at the rows {rows}; the first must be 0, and each after the one before"
            )

    @classmethod
    def of(cls, motion: Motion, name: str) -> "Attempt":
        """A motion that was made elsewhere, whose effector is the model's tip and was always on its target."""
        model = motion.model
        return cls(
            name=name, model=model, frame=model.tip, turns=False, time=motion.times - motion.times[0], q=motion.q,
            target=model.pose(model.tip, motion.q).array, setups=((0, Setup.of(model)),),
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attempt) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content[:3])

    @property
    def _content(self) -> tuple[object, ...]:
        arrays = (self.time.tobytes(), self.q.tobytes(), self.target.tobytes())
        return (self.name, self.frame, self.turns, *arrays, self.setups)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.time[-1])

    @cached_property
    def measures(self) -> Measures:
        """How good it is."""
        return measure(self.model, self.frame, self.time, self.q, self.target, self.setups, turns=self.turns)

    @property
    def measured(self) -> bool:
        """Whether `measures` is known already."""
        return "measures" in self.__dict__

    @cached_property
    def motion(self) -> Motion:
        """What is looked at again."""
        return Motion(self.model, self.time, self.q)

    def commands(self, rate: float) -> Motion:
        """The joint commands at a constant `rate` [1/s]; the last is where the motion ends.

        Raises ValueError for a rate that is no positive number or makes too many rows.
        """
        finite_positive("rate", rate)
        steps = self.duration * rate
        if steps >= _MOST_ROWS:
            raise InvalidValue(
                "too-many", f"rate is {rate:g}; that makes {steps:.3g} rows, and {_MOST_ROWS:,} are the most"
            )
        count = math.ceil(steps - 1e-9 * max(1.0, steps)) + 1
        time = np.arange(count) / rate
        q = self.motion.at(time)
        q[-1] = self.q[-1]
        return Motion(self.model, time, q)
