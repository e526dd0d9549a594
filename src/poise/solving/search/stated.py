"""What is asked of a search, and which way it goes: its parts, and the numbers that the kernel is told."""

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final, final

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import BEGIN, FALLBACK_STATE
from poise.kernels.machine.packing import in_group
from poise.model.model import Model
from poise.solving.arguments.arguments import chosen
from poise.solving.methods.posture import one_posture, pulled
from poise.solving.problem.prepared_tasks import PreparedTasks
from poise.solving.problem.problem import Problem
from poise.solving.problem.workspace import Bound
from poise.solving.requirements.limits import Limits, with_feasibility_check
from poise.solving.requirements.loops import loop_tasks
from poise.solving.search.settings import BY_STEPS, SearchSettings
from poise.solving.search.soft import required_alone, soft_alone
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask
from poise.tasks.posture import PostureTask

if TYPE_CHECKING:
    from poise.methods.base import Method

_AXES: Final = 6
"""Joints that move a frame, where a closed form is looked for."""
_ITERATIONS: Final = 200
"""Iterations of a start, at most, without a method of the caller's choice."""
_RESTARTS: Final = 200
"""Random starts, at most, where the caller does not say."""
_STEPS_RESTARTS: Final = 12
"""The same where steps that keep more than the limits of joints, in levels, are the solver's own way: each is dear."""
_MORE_RESTARTS: Final = 20_000
"""The same for a target that is missed by next to nothing, without a method of the caller's choice."""
SAMPLES: Final = 4
"""Random starts of steps that follow where what is not required shall be missed as little as can be."""
_CHUNK: Final = 4096
"""Iterations between two looks at signals, such as Ctrl-C: a few hundredths of a second."""
_TIMED_CHUNK: Final = 32
"""Iterations between two looks at the clock, when there is a `max_time`."""
_TIMED_STEPS: Final = 1
"""The same of steps that keep more than the limits of joints, which take up to half a millisecond each."""


@final
@dataclass(frozen=True)
class Stated:
    """Tasks, limits and settings, and what follows from them."""

    tasks: PreparedTasks
    limits: Limits
    settings: SearchSettings

    @cached_property
    def method(self) -> "Method | None":
        """The method that is iterated; None for the solver's own way."""
        ranked = self.tasks.have_levels and not self.soft
        found = chosen(BY_STEPS if self.settings.method is None and ranked else self.settings.method)
        if self.settings.trace and found is None:
            raise InvalidValue("needs", "a trace is of one method's iterations; name one, such as method='lm'")
        return found

    @cached_property
    def soft(self) -> bool:
        """Whether the last level, which is soft, is lessened among what fulfils all before it."""
        return self.settings.method is None and soft_alone(self.tasks.of_frames)

    @cached_property
    def posture(self) -> PostureTask | None:
        """The one among the tasks."""
        return one_posture(self.tasks.all)

    @property
    def followed(self) -> PostureTask | None:
        """A posture that is the last level of a method's steps; else it is what an answer slides to."""
        by_levels = self.method is not None and (self.constrained or self.tasks.have_levels)
        return self.posture if by_levels else None

    @property
    def approaches(self) -> bool:
        """Whether an answer slides to the posture."""
        return self.posture is not None and self.followed is None and not self.soft

    @property
    def constrained(self) -> bool:
        """Whether more must hold than the limits of joints, which the search looks at or leaves open."""
        return self.limits.has_constraints or self.tasks.have_constraints

    @property
    def required_alone(self) -> list[Task] | None:
        """The tasks that are solved for alone where nothing was found beside what gives way; None where none are."""
        more = self.constrained or (self.tasks.have_levels and not self.soft)
        return required_alone(self.tasks.stated) if more and self.settings.method is None else None

    @property
    def _keeps_by_steps(self) -> bool:
        """Whether steps that keep all that must hold are tried where nothing was found that does."""
        return self.constrained and self.method is None

    @property
    def _judges_posture(self) -> bool:
        """Whether the posture has a tolerance."""
        return self.posture is not None and self.posture.tolerance < inf

    @property
    def falls_back(self) -> bool:
        """Whether there is anything to do where the stages fail."""
        return self._keeps_by_steps or self.required_alone is not None or self._judges_posture

    def can_have_closed_form(self, model: Model) -> bool:
        """Whether it is a search for one task, whose frame as many joints move as a closed form is of."""
        moving = [len(task.moving(model)) for task in self.tasks.of_frames]
        return self.method is None and self.posture is None and moving == [_AXES]

    def also(self, model: Model) -> tuple[int, ...]:
        """The velocities that are free even where they move no task."""
        return (*self.limits.tied(model), *(() if self.followed is None else pulled(model, self.followed)))

    def bound(
        self,
        model: Model,
        problem: Problem,
        found: dict[str, Bound],
        places: dict[str, Array],
        *,
        falls_back: bool,
        called: bool,
        inner: bool,
    ) -> Bound:
        """The problem with the stages that the kernel walks, and what it is told.

        `found` are other searches, whose goals are at these `places`; `falls_back` says whether it does anything where
        the stages fail; `called` and `inner` as of `Search`.
        """
        by, limits, tasks, posture = self.method, self.limits, self.tasks.of_frames, self.posture
        approach = self.approaches
        numbers = self._numbers(model, approach=approach, falls_back=falls_back)
        lead = "iterate" if by is not None else "optimise" if self.soft else "solve"
        staged = bool(found) or self.soft or posture is not None
        stages = "search" if staged else lead
        whole_search = "fall back" if falls_back else stages
        parts = [whole_search] if called else []
        parts += [f"stages {stages}"] if inner or falls_back else []
        parts += [f"fallbacks {whole_search}"] if inner else []
        parts += [f"own {lead}"] if staged else []
        parts += ["near posture"] if self._judges_posture else []
        parts += ["posture"] if approach else []
        parts += ["rest"] if "rest" in found else []
        rows = _fallback_rows(model, problem) if falls_back else {}
        looked = by is None and limits.has_constraints
        if places or (rows and not looked):
            problem = problem.extended(places, rows)
        if by is not None:
            from poise.solving.methods.bound_method import bound_method

            return bound_method(
                model, tasks, problem, by, *parts, limits=limits.positions, also=limits.others,
                collision=limits.collision, keep_constraints=True, posture=self.followed,
                traced=numbers["max_iterations"] + 1 if self.settings.trace else 0, numbers=numbers, inner=found,
            )  # fmt: skip
        if not staged and self.can_have_closed_form(model):
            from poise.solving.problem.closed_form import with_closed_form

            problem = with_closed_form(model, tasks[0], problem)
        parts += [f"{lead} lanes"]
        parts += [] if limits.collision is None else ["shapes"]
        parts += ["postures"] if approach else []
        parts += ["closed form"] if len(problem.section("arms")) else []
        problem = with_feasibility_check(model, problem, limits, rows) if looked else problem
        return Bound(problem, tuple(parts), collision=limits.collision, wide=True, numbers=numbers, inner=found)

    def _numbers(self, model: Model, *, approach: bool, falls_back: bool) -> dict[str, int]:
        """What all scratch is told of the search, see `layout.CALL`."""
        settings, by, alone = self.settings, self.method, self.required_alone
        restarts, most = settings.max_restarts, settings.max_iterations
        if settings.method is None and by is not None and self.constrained and restarts is None:
            restarts = _STEPS_RESTARTS
        dear = by is not None and self.constrained
        most = (_ITERATIONS if by is None else by.iterations) if most is None else most
        return {
            "seed": settings.seed, "max_iterations": most, "usual_iterations": most, "phase": BEGIN,
            "max_restarts": (_MORE_RESTARTS if by is None else _RESTARTS) if restarts is None else restarts,
            "usual_restarts": _RESTARTS if restarts is None else restarts, "nearest": int(settings.select == "nearest"),
            "check_feasibility": int(self.limits.has_constraints),
            "chunk": _CHUNK if settings.max_time is None else _TIMED_STEPS if dear else _TIMED_CHUNK,
            "soft": int(self.soft), "approach": int(approach),
            "falls_back": int(falls_back),
            "keeps_by_steps": int(self._keeps_by_steps), "solves_alone": int(alone is not None),
            "closes_loops": int(any(isinstance(task, LoopTask) for task in self.tasks.of_frames)),
            "opens_loops": int(alone is not None and len(loop_tasks(model, alone)) < len(self.tasks.loops)),
            "sampled": -1,
        }  # fmt: skip


def _fallback_rows(model: Model, problem: Problem) -> dict[str, int]:
    """Rows of a workspace for what a search does where it fails, see `kernels.machine.groups.fallback`."""
    out, nq = problem.rows("out"), model.nq
    some = {"starts": (3 + 2 * SAMPLES) * nq, "samples": SAMPLES * nq, "begun": nq, "state": FALLBACK_STATE}
    return in_group("fallback", **some, **dict.fromkeys(("answer", "kept"), out.stop - out.start))
