"""A method prepared for a model and its tasks: what the kernels of `methods.method_loop` read and work in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np

from poise.kernels.machine.layout import COMMON, LED, MOST_NEAR, TWIST, WIDTH
from poise.kernels.machine.packing import joined
from poise.kernels.machine.record import Record
from poise.kernels.methods import method_loop
from poise.kernels.methods.limits import BALL_ROWS
from poise.kernels.methods.memory import LENGTH, LOOP, MEMORY, SEEN
from poise.methods.base import Method, Plan, Prepared
from poise.methods.criteria import Clearance, Potential, RestPosture
from poise.methods.priority import TaskPriority
from poise.methods.records import numbers_of
from poise.model.model import Model
from poise.model.units import ask_for_degrees_in
from poise.solving.borders import border_rows, borders, ranges
from poise.solving.cannot import refuse, refuse_two_postures
from poise.solving.collision import CollisionLimit, guard_rows
from poise.solving.inequalities import Limit, rates_of, together
from poise.solving.outcome import Trace
from poise.solving.posture import weighed
from poise.solving.potential import Compiled
from poise.solving.problem import Problem, pack
from poise.solving.repulsion import repelled
from poise.solving.requirements import requirements
from poise.solving.scratch import Bound, Scratch
from poise.solving.situation import Situation
from poise.solving.weights import relative
from poise.spatial import Array
from poise.tasks.base import Task, levels
from poise.tasks.loop import LoopTask
from poise.tasks.posture import PostureTask


@final
class BoundMethod:
    """A method on a problem: the problem with what the method adds, and its routine.

    Where there is more than the method knows of, such as later levels, it proposes steps for the tasks of the first
    level, with a problem of its own, and what else there is gets what these leave.
    """

    __slots__ = (
        "_functions",
        "_method",
        "_model",
        "_potential",
        "_prepared",
        "_proposer",
        "characters",
        "guarded",
        "held",
        "problem",
        "ranges",
    )

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        problem: Problem,
        method: Method,
        *,
        limits: bool,
        also: Sequence[Limit] = (),
        apart: CollisionLimit | None = None,
        keeps: bool = False,
        stepping: bool = False,
        dt: float | None = None,
        updates: int = 1,
        posture: PostureTask | None = None,
    ) -> None:
        """Raises ValueError for what the method cannot do.

        `also` are limits beside those of positions, and `apart` that of shapes, in a step of `dt` [s] and so
        many updates.  `posture` is the last level, which each step reads anew.  `keeps`: whether steps keep what
        must hold, such as loops and the ranges among the tasks; `stepping`: whether gains of tasks count too.
        """
        refuse_two_postures(method, posture)
        self._proposer: BoundMethod | None = None
        led = _led(tasks, method, posture)
        if posture is not None and not tasks:
            method = TaskPriority()  # there is nothing to lead
        sections: dict[str, Any] = {}
        if led:
            own, scales = relative([tasks[k] for k in led])
            sections["led"] = joined(LED, [[k] for k in led], [[1.0 / x] for x in scales])
            mine = pack(model, own, limits=limits)
            self._proposer = BoundMethod(model, own, mine, method, limits=limits, stepping=stepping)
            method = TaskPriority()
        stated = together(model, problem.velocities, also, None if dt is None else dt / updates)
        rates = () if dt is None else rates_of(model, problem, stated, dt, updates)
        kept = ranges(tasks) if keeps else ()
        sides = sum(task.sides for task in kept)
        beside = len(stated.most) + (0 if apart is None else MOST_NEAR) + sides
        case = Situation(model, tuple(tasks), problem, limits, beside, posture=posture is not None, led=led)
        refuse(model, tasks, method, limits=limits, stepping=stepping)
        method.refuse(case)
        if method.keeps_inequalities:
            case = replace(case, stated=beside + BALL_ROWS * int(problem.section("balls")["limited"].sum()))
        clear = next((term for term in method.terms if isinstance(term, Clearance)), None)
        criteria = Plan()
        if clear is not None:
            problem, criteria = repelled(case, clear)
            case = replace(case, problem=problem)
        self._method = method
        way = self._prepared = method.prepare(case)
        plan = method.plan(case)
        self._potential = next((term for term in method.terms if isinstance(term, Potential)), None)
        self._model = None if self._potential is None else model
        common = _common(case, method, way)
        common["timed"] = dt is not None
        common["geared"] = stepping and any(task.gain != 1.0 for task in tasks)
        n, has_rates = case.columns, len(rates) > 0
        stating, taking = (
            requirements(
                model, tasks, problem, beside, held=beside > 0 or common["unlimited"] > 0.0, has_rates=has_rates
            )
            if keeps
            else ({}, {})
        )
        places = problem.section("coordinates")["q"]
        sections |= {
            **stating,
            "common": words(COMMON, common).view(np.int64),
            **_settings(method, way),
            "speeds": stated.changes * (updates if has_rates else 1),
            "rates": rates,
            "twists": joined(TWIST, [t[:2] for t in stated.twists], [t[2:] for t in stated.twists]),
            "inequalities": np.column_stack([stated.rows, stated.most]).ravel(),
            "posture": _rest(model, method),
            **({} if posture is None else weighed(model, posture, problem.velocities)),
            "bounds": np.column_stack([model.lower[places], model.upper[places]]).ravel(),
            "plan": plan.numbers,
            "plan_reals": plan.reals,
            "criteria": criteria.numbers,
            "criteria_reals": criteria.reals,
            "velocities": [] if self._potential is None and apart is None else [*problem.velocities, model.nv],
            "borders": borders(tasks, None if dt is None else dt / updates) if kept else (),
            "guard": () if apart is None else apart.guard(dt, bounded=bool(np.isfinite(stated.changes).all())),
        }
        rows = {
            **_rows(case),
            "room": _room(case, method, plan),
            **dict.fromkeys(("guide", "last_guide"), 0 if posture is None else model.nq),
            **dict.fromkeys(("travel", "travel_change", "least", "largest", "gone"), n if has_rates else 0),
            **dict.fromkeys(("proposed", "behind", "flow", "flow_change", "steady", "stream"), n if has_rates else 0),
            **({} if apart is None else guard_rows(n)),
            **(border_rows(sides, n) if kept else {}),
            **taking,
            "clearance": 2 if taking else 0,
            "wanted": n if led else 0,
        }
        self.problem = problem.extended(sections, rows)
        self.guarded, self.ranges, self.held = apart is not None, kept, bool(taking)
        self.characters = (
            method.capabilities.characters and self._potential is None and not self.held and self._proposer is None
        )
        self._compile()

    def _compile(self) -> None:
        """Compile the user's functions, where there are any."""
        self._functions: Compiled | None = None
        if self._potential is not None and self._model is not None:
            self._functions = Compiled(self._model, self._potential, curved=self._method.curved)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "_functions"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._compile()

    def bound(self) -> Bound:
        """The problem in this process, with the routine of the method."""
        bound = Bound(self.problem, self._prepared.routine, self._prepared.damping, self._functions)
        if self.held:
            bound.add_requirements(shapes=self.guarded, ranges=bool(self.ranges))
        elif self.guarded:
            bound.add_guard()
        if self._proposer is not None:
            bound.add_proposer(self._proposer.bound())
        return bound

    def add_trace(self, scratch: Scratch, rows: int) -> None:
        """Let the scratch keep a trace of at most so many iterations."""
        columns = method_loop.TRACE + 3 * self.problem.blocks + len(scratch.start)
        scratch.tell(trace_rows=rows)
        scratch.trace = np.full((rows, columns), np.nan)
        scratch.tell_of(trace=scratch.trace)

    def trace(self, scratch: Scratch) -> Trace:
        """The trace that the last search left in the scratch."""
        m, first = 3 * self.problem.blocks, method_loop.TRACE
        assert scratch.trace is not None
        length = int(scratch.narrow[self.problem.rows("loop")][LENGTH])
        rows = scratch.trace[:length].copy()
        values = np.sort(rows[:, first : first + m], axis=1)[:, ::-1]
        return Trace(np.sqrt(rows[:, 0]), rows[:, 2], rows[:, 3], values, rows[:, first + m :])


def _led(tasks: Sequence[Task], method: Method, posture: PostureTask | None) -> tuple[int, ...]:
    """The tasks that the method leads, by their places, where there is more than it knows of; else none.

    They are those of the first level, but for loops and ranges, which hold whatever is proposed.
    """
    can = method.capabilities
    held = [k for k, task in enumerate(tasks) if isinstance(task, LoopTask) or any(task is r for r in ranges(tasks))]
    more = (
        (len(levels(tasks)) > 1 and not can.priorities)
        or (posture is not None and not method.follows_posture)
        or (len(held) > 0 and can.tasks != "any")
    )
    pulling = [k for k in range(len(tasks)) if k not in held]
    if not more or not pulling:
        return ()
    first = min(tasks[k].level for k in pulling)
    return tuple(k for k in pulling if tasks[k].level == first)


def words(record: Record, numbers: Mapping[str, float]) -> Array:
    """A record of settings; what has no number is 0."""
    if not record.words:
        return np.zeros(0)
    made = np.zeros(1, dtype=record.dtype)
    for name, number in numbers.items():
        made[name] = number
    found: Array = made.view(np.float64)
    return found


def _common(case: Situation, method: Method, way: Prepared) -> dict[str, float]:
    """The settings that all methods have, see `COMMON`."""
    model, can = case.model, method.capabilities
    limited = bool(np.isfinite([model.lower, model.upper]).any()) or bool(model.ball_limits)
    common: dict[str, float] = {"max_step": np.inf, **method.common()}
    common["dependent"] = case.rows - case.rank() if way.ranked else 0
    common["unlimited"] = case.limits and limited and not can.limits
    if case.posture or case.led:
        common["null"] = 1
    return common


def _settings(method: Method, way: Prepared) -> dict[str, Any]:
    """The settings of the method at hand and of its damping rule."""
    rule = method.rule
    return {
        "settings": words(way.routine.record, way.numbers),
        "rule": np.zeros(0) if rule is None else words(rule.routine.record, numbers_of(rule)),
    }


def _rest(model: Model, method: Method) -> Array:
    """(nq,) where a null-space term pulls to."""
    rest = model.home
    for term in method.terms:
        if isinstance(term, RestPosture) and term.q is not None:
            rest = model.check_q(term.q, "q of the RestPosture")
            ask_for_degrees_in(model, rest, "q of the RestPosture")
    return rest


def _room(case: Situation, method: Method, plan: Plan) -> int:
    """Rows of room: for the method, or, if that is more, for singular values; and for criteria."""
    m, n, model = case.rows, case.columns, case.model
    wanted = method.room(m, n)
    if not isinstance(wanted, int) or wanted < 0:
        raise ValueError(f"room({m}, {n}) of the method {method.name!r} must be a number of rows, got {wanted!r}")
    room = max(m * _packed(n), m * _packed(m), wanted, plan.rows)
    if any(isinstance(term, Clearance) for term in method.terms):
        room += 6 * len(case.section("units"))
    if any(isinstance(term, Potential) for term in method.terms):
        room += model.nv * (1 + model.nv)
    return room


def _rows(case: Situation) -> dict[str, int]:
    """Rows of a workspace that every method has."""
    m, n, nq = case.rows, case.columns, case.model.nq
    jacobian = case.problem.rows("jacobian")
    return {
        "memory": MEMORY,
        "loop": LOOP,
        "best": nq,
        "clamped": m,
        "last_errors": m,
        "last_target": SEEN * len(case.tasks),
        "cap": case.problem.blocks,
        "rows": m * _packed(n),
        "turn": m * _packed(m),
        "spare": m * _packed(m),
        "sigma": m,
        "along": m,
        "gradient": n,
        "other": n,
        "phi": n,
        "estimate": 2 * m,
        "last_jacobian": jacobian.stop - jacobian.start,
        "prior": nq,
        "begun": nq,
        "last_step": n,
        "apart": n,
    }


def _packed(count: int) -> int:
    """Numbers of a row in packs."""
    return WIDTH * -(-count // WIDTH)
