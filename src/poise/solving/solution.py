"""The answer to an inverse-kinematics problem: joints, how good they are, and why they are not better."""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, final

import numpy as np

from poise.spatial import Array

NOT_FINITE: Final = 3
"""The code of `poise.kernels.methods.method_loop`."""

if TYPE_CHECKING:
    from poise.solving.solver import Solver


class Status(Enum):
    """How a solve ended; each member's `message` is a sentence."""

    CONVERGED = "every task is within its tolerances"
    STALLED = "the error fell no further and no limit or reach explains it: a local minimum"
    MAX_ITERATIONS = "the iterations were spent while the error was still falling"
    MAX_TIME = "the time was spent before a start converged"
    LIMIT_BLOCKED = "joint limits keep the tasks from being reached; q is the closest configuration found"
    UNREACHABLE = "the target is out of reach; q is the closest configuration found"
    NOT_FINITE = "every start came to a step that is no finite number, as singular poses make it; damp the method"

    @property
    def message(self) -> str:
        """What happened, as a sentence."""
        return self.value


@final
@dataclass(frozen=True, slots=True)
class TaskError:
    """What is left of one task, recomputed by forward kinematics, over the rows whose weight is not 0."""

    task: str
    """What it is and of what."""
    position: float | None
    """[m]; None if the task has no position."""
    rotation: float | None
    """[rad]; None if the task has no rotation."""
    posture: float | None = None
    """Largest |q_i - target_i| of a posture task, or what the sum of a coupling lacks [rad or m]; None for others."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What a method did, iteration by iteration, from the last start that it made."""

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


@final
class Solution:
    """The best configuration found, whether or not it converged; every error is recomputed by forward kinematics.

    Attributes are read from the solver's output when they are asked for, so that making one costs next to nothing.
    """

    __slots__ = ("_code", "_nanoseconds", "_raw", "_solver", "_timed_out", "goal", "trace")
    goal: Array
    """(tasks, 7) targets, as the kernels read them."""
    trace: Trace | None
    """If it was asked for."""

    def __init__(
        self,
        solver: "Solver",
        raw: Array,
        goal: Array,
        code: int,
        nanoseconds: int,
        timed_out: bool,
        trace: Trace | None = None,
    ) -> None:
        self._solver, self._raw, self.goal, self._code = solver, raw, goal, code
        self._nanoseconds, self._timed_out, self.trace = nanoseconds, timed_out, trace

    @property
    def q(self) -> Array:
        """(nq,) configuration; every joint within its limits, unless it was solved with `limits=False`."""
        return self._raw[5 : 5 + self._solver.model.nq]

    @property
    def success(self) -> bool:
        """Whether every task is within its tolerances."""
        return self._code == 0

    @property
    def time(self) -> float:
        """Seconds that the solve took."""
        return self._nanoseconds * 1e-9

    @property
    def iterations(self) -> int:
        """Iterations of the start that won."""
        return int(self._raw[1])

    @property
    def restarts(self) -> int:
        """Starts that were spent beyond the first eight, or beyond the first with a method of the caller's choice."""
        return int(self._raw[2])

    @property
    def cost(self) -> float:
        """Sum of the weighted squares of all errors [m^2 and rad^2]."""
        return float(self._raw[3])

    @property
    def errors(self) -> tuple[TaskError, ...]:
        """What is left of each task, in the order of the tasks."""
        return self._solver.task_errors(self._raw)

    @property
    def position_error(self) -> float:
        """Largest position error of all tasks [m]; 0 if none has a position."""
        return max((e.position for e in self.errors if e.position is not None), default=0.0)

    @property
    def rotation_error(self) -> float:
        """Largest rotation error of all tasks [rad]; 0 if none has a rotation."""
        return max((e.rotation for e in self.errors if e.rotation is not None), default=0.0)

    @property
    def status(self) -> Status:
        """How the solve ended."""
        if self.success:
            return Status.CONVERGED
        if self._timed_out:
            return Status.MAX_TIME
        if self._code == NOT_FINITE:
            return Status.NOT_FINITE
        from poise.solving.explain import cause

        return cause(self)

    @property
    def stationary(self) -> bool:
        """Whether the last descent ended where the error falls no further."""
        return bool(self._raw[4])

    @property
    def solver(self) -> "Solver":
        """The prepared problem that this answers."""
        return self._solver

    def named(self) -> dict[str, float]:
        """The numbers of q by joint name."""
        return self._solver.model.named(self.q)

    def explain(self) -> str:
        """A sentence or two: what was reached, and what stands in the way of the rest."""
        from poise.solving.explain import explain

        return explain(self)

    def __repr__(self) -> str:
        parts = [f"{self.iterations} iterations", f"{self.restarts} restarts"]
        errors = self.errors
        if any(e.position is not None for e in errors):
            parts.append(f"{self.position_error:.1e} m")
        if any(e.rotation is not None for e in errors):
            parts.append(f"{self.rotation_error:.1e} rad")
        return f"Solution({self.status.name}, {', '.join(parts)}, {duration(self.time)})"

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.q, dtype=dtype, copy=True)  # type: ignore[call-overload]


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1.0 else f"{seconds:.2f} s"
