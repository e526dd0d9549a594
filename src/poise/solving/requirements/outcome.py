"""How a solve ended: its status, what is left of each task, what a method did on the way."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, final

from poise.common.array import Array
from poise.model.model import Model
from poise.solving.problem.prepared_tasks import PreparedTasks
from poise.solving.problem.problem import Problem
from poise.solving.problem.workspace import Bound
from poise.solving.requirements.limits import Limits
from poise.tasks.error import TaskError

if TYPE_CHECKING:
    from poise.methods.base import Method


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What a method did, iteration by iteration, from the last start that it made; the largest weight of each level
    counts as 1."""

    error: Array
    """(k,) root of the sum of the weighted squares of all errors, before each update."""
    step: Array
    """(k,) largest change of a joint [rad or m]."""
    damping: Array
    """(k,) lambda squared; 0 for methods without it."""
    singular_values: Array
    """(k, m) of the Jacobian, largest first."""
    q: Array
    """(k, nq) configurations."""


class PreparedProblem(Protocol):
    """What was asked: the tasks, and the problem that they became."""

    @property
    def tasks(self) -> PreparedTasks:
        """The tasks, in the order of targets and errors."""

    @property
    def problem(self) -> Problem:
        """The same as numbers."""

    @property
    def bound(self) -> Bound:
        """It with the routines that read it."""

    @property
    def limits(self) -> Limits:
        """What must hold beside them."""

    def solve_unconstrained(self, model: Model, goal: Array, q: Array) -> Array:
        """(nq,) what solves near q (nq,) for these goal numbers if nothing but limits of joints must hold."""

    @property
    def method(self) -> "Method | None":
        """The method that was iterated; None for the solver's own."""


class Outcome(NamedTuple):
    """What a solve came to, for those who explain it."""

    model: Model
    prepared: PreparedProblem
    q: Array
    """(nq,)"""
    goal: Array
    """(7 frame tasks and nq of a posture,) as the kernels read it."""
    restarts: int
    stationary: bool
    """Whether the last descent ended where the error falls no further."""
    posture_alone: bool
    """Whether all tasks are within their tolerances but for the posture."""
    errors: tuple[TaskError, ...]
    """What is left of each task."""


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1.0 else f"{seconds:.2f} s"
