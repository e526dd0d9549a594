"""The answer to an inverse-kinematics problem: joints, how good they are, and why they are not better."""

from functools import cache
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import (
    ANSWER,
    BAD_GOAL,
    BAD_START,
    BLOCKED,
    BY_CLOSED_FORM,
    CODE,
    COST,
    DISTANCE,
    GIVEN_UP,
    ITERATIONS,
    NOT_FINITE,
    RESTARTS,
    RUNNING,
    SOLVED,
    START,
    STATIONARY,
)
from poise.model.model import Model
from poise.solving.answers import explain
from poise.solving.arguments.arguments import refusal
from poise.solving.arguments.unit_hints import pulled_in
from poise.solving.problem.answer import Answer
from poise.solving.requirements.outcome import Outcome, PreparedProblem, Trace, duration
from poise.solving.requirements.status import Budget, Status
from poise.solving.unreachable.certificate import Certificate
from poise.solving.unreachable.infeasibility import certificate_of
from poise.tasks.error import TaskError

if TYPE_CHECKING:
    from poise.methods.base import Method
    from poise.model.proximity import Proximity
    from poise.solving.gradients.gradient import SolutionGradient

_ENDS: Final = {
    NOT_FINITE: Status.NOT_FINITE,
    BAD_GOAL: Status.BAD_INPUT,
    BAD_START: Status.BAD_INPUT,
    GIVEN_UP: Status.BUDGET,
    RUNNING: Status.INTERRUPTED,
}
"""Codes of a kernel that are a status."""


@final
class Solution(Answer):
    """The best configuration found, whether or not it converged; every error is recomputed by forward kinematics.

    Attributes are read from the solver's output when they are asked for, so that making one costs next to nothing.
    """

    __slots__ = ("_told",)

    def __init__(
        self,
        model: Model,
        prepared: PreparedProblem,
        raw: Array,
        goal: Array | bytes,
        code: int,
        nanoseconds: int,
        timed_out: bool,
        trace: Trace | None = None,
        *,
        others: str = "random",
        start: bytes | None = None,
    ) -> None:
        # In this order `build/fast_path.c` tells them too.
        self._told = model, prepared, raw, goal, code, nanoseconds, timed_out, trace, others, start

    def _on_model(self, model: Model, prepared: PreparedProblem, raw: Array, start: Array | None) -> "Solution":
        """The same answer on a model that this one's is part of, whose rows are `raw`, and which began at `start`."""
        _, _, _, goal, code, took, late, _, others, _ = self._told
        return Solution(
            model,
            prepared,
            raw,
            goal,
            code,
            took,
            late,
            others=others,
            start=None if start is None else start.tobytes(),
        )

    @property
    def model(self) -> Model:  # type: ignore[override]
        """Whose joints these are."""
        return self._told[0]

    @property
    def _prepared(self) -> PreparedProblem:
        return self._told[1]

    @property
    def _raw(self) -> Array:
        """What the kernel wrote, see `ANSWER`."""
        return self._told[2]

    @property
    def goal(self) -> Array:
        """Targets, as the kernels read them: 7 numbers for each task, then the nq of a PostureTask."""
        goal = self._told[3]
        return np.frombuffer(goal) if isinstance(goal, bytes) else goal

    @property
    def _code(self) -> int:
        return self._told[4]

    @property
    def trace(self) -> Trace | Any:
        """If it was asked for; else None."""
        return self._told[7]

    @property
    def q(self) -> Array:
        """(nq,) configuration; every joint within its limits, unless it was solved with `limits=False`."""
        return self._told[2][ANSWER : ANSWER + self._told[0].nq]

    @property
    def success(self) -> bool:
        """Whether every required task is within its tolerances."""
        return self._code == SOLVED

    @property
    def time(self) -> float:
        """Seconds that the solve took."""
        return self._told[5] * 1e-9

    @property
    def iterations(self) -> int:
        """Iterations of the start that won."""
        return int(self._raw[ITERATIONS])

    @property
    def restarts(self) -> int:
        """Random starts that were begun, besides `q0`."""
        return int(self._raw[RESTARTS])

    @property
    def start(self) -> int:
        """The number of the start that led to q: 0 for `q0`, else that of a random start; -1: none, a closed form."""
        return int(self._raw[START])

    @property
    def origin(self) -> str:
        """The start that led to q, in words."""
        if self.start == BY_CLOSED_FORM:
            return "a closed form"
        return f"{self._told[8]} start {self.start} of {self.restarts}" if self.start else "q0"

    @property
    def distance(self) -> float:
        """How far q is from `q0`, as that is within the limits: the norm of `model.difference(q0, q)` [rad and m].

        Only joints that move the tasks count.
        """
        return float(self._raw[DISTANCE])

    @property
    def nearest(self) -> "Proximity | None":
        """The two shapes that are nearest to each other at q, as the world is now; None without a CollisionLimit."""
        limit = self._prepared.limits.collision
        return None if limit is None else limit.nearest(self.model, self.q)

    @property
    def method(self) -> "Method | None":
        """The method whose updates were iterated; None: the solver's own way."""
        return self._prepared.method

    @property
    def cost(self) -> float:
        """Sum of the weighted squares of all errors [m^2 and rad^2], the largest weight of each level being 1."""
        return float(self._raw[COST])

    @property
    def errors(self) -> tuple[TaskError, ...]:
        """What is left of each task, in the order of the tasks."""
        return explain.task_errors(self._prepared.tasks.all, self._raw[ANSWER + self.model.nq :])

    @property
    def status(self) -> Status:
        """How the solve ended."""
        if self.success:
            return Status.CONVERGED
        if self._told[6]:
            return Status.BUDGET
        if self._code in _ENDS:
            return _ENDS[self._code]
        if self._code == BLOCKED:
            return explain.what_blocks(self._outcome)
        return explain.cause(self._outcome)

    @property
    def budget(self) -> Budget | None:
        """What was spent where the status is BUDGET: "time", "starts", after which no closest was searched for, or
        "iterations"; None for all others."""
        if self.success or self.status is not Status.BUDGET:
            return None
        return "time" if self._told[6] else "starts" if self._code == GIVEN_UP else "iterations"

    @property
    def certificate(self) -> Certificate | None:
        """The proof that a target is out of reach; None where nothing is proved, and of an answer that is one.

        It is looked for when it is asked for, in tens of milliseconds; in up to seconds with more than six joints, and
        where there is none.
        """
        prepared = self._prepared
        if self.success:
            return None
        return certificate_of(self.model, prepared.tasks.all, self.goal, self.q, limits=prepared.problem.limits)

    @property
    def stationary(self) -> bool:
        """Whether the last descent ended where the error falls no further."""
        return bool(self._raw[STATIONARY])

    def gradient(self) -> "SolutionGradient":
        """How q moves with the targets, a posture, weights and placements of the model: exact derivatives at rest.

        Shapes of a world count as they are now.  Raises ValueError where the swing or twist of a joint has no width.
        """
        return _gradients()(self.model, self._prepared, self.q, self.goal, self._raw[CODE] == SOLVED)

    @property
    def _outcome(self) -> Outcome:
        posture_alone = not self.success and int(self._raw[CODE]) == SOLVED
        return Outcome(
            self.model, self._prepared, self.q, self.goal, self.restarts, self.stationary, posture_alone, self.errors
        )

    def explain(self) -> str:
        """A sentence or two: what was reached, what stands in the way of the rest, and what of `q0` was pulled in."""
        words = self._reached()
        start = self._told[9]
        if start is not None and self._prepared.problem.limits:
            words += pulled_in(self.model, np.frombuffer(start))
        return words

    def _reached(self) -> str:
        """What was reached, and what stands in the way of the rest."""
        status = self.status
        if self._code == GIVEN_UP:
            parts = [
                f"Not solved: {status.message}.",
                *explain.out_of_reach(self._outcome),
                *explain.in_the_way(self._outcome),
            ]
            return " ".join([*parts, "With best_effort=True it is searched for, and what stands in the way is said."])
        if self._code == RUNNING:
            return f"Not solved: {status.message}."
        if self._code == BLOCKED and status is Status.COLLISION:
            every = self.start == BY_CLOSED_FORM
            proof = "the pose has no other branches" if every else "that is no proof that there is none"
            certain = explain.in_the_way(self._outcome)
            words = f". {' '.join(certain)}" if certain else f"; {proof}."
            return f"Not solved: {status.message}{words} {self._explain_collision()}"
        if self._code in (BAD_GOAL, BAD_START):
            return f"Not solved: {refusal(self._code, self.model, self._prepared.tasks.all, self.goal)}."
        return explain.explain(self._outcome, status, self.budget)

    def _explain_collision(self) -> str:
        """What keeping shapes apart leaves of the tasks, and which shapes are in the way."""
        limit, near, q, words = self._prepared.limits.collision, self.nearest, self.q, "At q"
        assert limit is not None
        assert near is not None
        if limit.allows(self.model, near):
            words = (
                f"q keeps them apart, and leaves {explain.what_is_left(self._prepared, self.errors, required=True)}; "
            )
            free = self._prepared.solve_unconstrained(self.model, self.goal, q)
            beyond = limit.nearest(self.model, free)
            clear = limit.allows(self.model, beyond)
            words += "at q" if clear else "nearer to the target"
            q, near = (q, near) if clear else (free, beyond)
        advice = limit.unparted(self.model, near.pair)
        if not advice and not limit.can_part(self.model, q, self._prepared.problem.velocities):
            advice = " No joint that the tasks move parts these two: begin at a q0 where they are apart."
        return f"{words} {near.pair[0]!r} and {near.pair[1]!r} are {near.distance:.3g} m apart.{advice}"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        left = [(e.task, _left(e.position), _left(e.rotation), _left(e.posture)) for e in self.errors]
        joints = [(name, f"{value:.6g}") for name, value in self.named().items()]
        from poise.common import html

        return html.together(
            html.paragraph(f"{self.status.name}, {duration(self.time)}", bold=True),
            html.paragraph(self.explain()),
            html.table(
                ("task", "position [m]", "rotation [rad]", "posture [rad or m]"), left, "what is left of each task"
            ),
            html.table(("joint", "q [rad or m]"), joints, "q, by joint"),
        )

    def __repr__(self) -> str:
        steps = "" if self.start == BY_CLOSED_FORM else f"{self.iterations} iterations "
        parts = [f"{steps}from {self.origin}"]
        errors = self.errors
        if any(e.position is not None for e in errors):
            parts.append(f"{self.position_error:.1e} m")
        if any(e.rotation is not None for e in errors):
            parts.append(f"{self.rotation_error:.1e} rad")
        return f"Solution({self.status.name}, {', '.join(parts)}, {duration(self.time)})"


@cache
def _gradients() -> "type[SolutionGradient]":
    """The class of gradients, imported when one is first asked for; an import of each call costs more than a kernel."""
    from poise.solving.gradients.gradient import SolutionGradient

    return SolutionGradient


def _left(error: float | None) -> str:
    return "" if error is None else f"{error:.1e}"
