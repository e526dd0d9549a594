"""What came of the problems, and whether the judge agrees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from poise_experiments.motion_bench_maker.judge import Judgement
from poise_experiments.motion_bench_maker.problem import Answer


@final
@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What came of one problem."""

    answer: Answer
    judged: Judgement | None
    """Of the answer; None where nobody can judge."""

    @property
    def good(self) -> bool:
        """Solved, and the judge agrees."""
        return self.answer.solved and self.judged is not None and self.judged.good


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """A set whose boxes have grown."""

    found: Sequence[Found]
    more: Sequence[Found]
    """The same, those that were not found with `MORE` starts."""
    known: Sequence[bool]
    """Whether the judge finds the goal of the data set free still; nothing where nobody can judge."""
    blocked: int
    """Poses at which the hand itself, however the arm stands, is in an obstacle."""

    @property
    def of_known(self) -> int:
        """How many are good of those that have a known solution."""
        return sum(map(all, zip(self.known, (each.good for each in self.found), strict=False)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Everything that was measured."""

    sets: Mapping[str, Sequence[Found]]
    ladder: Mapping[tuple[str, float], Rung]
    """By set and growth, as what is published."""
    judged: bool
    """Whether Pinocchio and coal were there."""
