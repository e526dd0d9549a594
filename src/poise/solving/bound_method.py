"""A method prepared for a model and its tasks: what the kernels of `methods.method_loop` read and work in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, final

import numpy as np

from poise.kernels.machine.layout import BALL_TURN, COMMON, HELICAL, MOST_NEAR, PRISMATIC, TWIST, WAY, WIDTH
from poise.kernels.machine.packing import joined
from poise.kernels.machine.record import Record
from poise.kernels.methods import method_loop
from poise.kernels.methods.limits import BALL_ROWS
from poise.kernels.methods.memory import LENGTH, LOOP, MEMORY, SEEN
from poise.methods.base import Method, Plan
from poise.methods.criteria import Clearance, JointCentring, LimitDistance, Manipulability, Potential, RestPosture
from poise.methods.records import numbers_of
from poise.methods.registry import METHODS
from poise.model.joint import Joint
from poise.model.model import Model
from poise.solving.borders import border_rows, borders, ranges
from poise.solving.collision import CollisionLimit, guard_rows
from poise.solving.inequalities import Limit, paces, together
from poise.solving.outcome import Trace
from poise.solving.posture import weighed
from poise.solving.potential import Compiled
from poise.solving.problem import Problem
from poise.solving.repulsion import repelled
from poise.solving.requirements import requirements
from poise.solving.scratch import Bound, Scratch
from poise.solving.situation import Situation
from poise.solving.suspicion import ask_for_degrees_in
from poise.spatial import Array
from poise.tasks.base import POSITION, Task, levels
from poise.tasks.posture import PostureTask


@final
class BoundMethod:
    """A method on a problem: the problem with what the method adds, and its routine."""

    __slots__ = (
        "_functions",
        "_model",
        "_potential",
        "_prepared",
        "characters",
        "guarded",
        "held",
        "method",
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
        within: bool = False,
        keeps: bool = False,
        dt: float | None = None,
        updates: int = 1,
        posture: PostureTask | None = None,
    ) -> None:
        """Raises ValueError for what the method cannot do.

        `also` are limits beside those of positions, and `apart` that of shapes, in a step of `dt` [s] and so
        many updates.  `posture` is the last level, which each step reads anew.  `keeps`: whether steps keep what
        must hold, such as loops and the ranges among the tasks; `within`: whether gains of tasks count too.
        """
        keeps = keeps or within
        stated = together(model, problem.velocities, also, None if dt is None else dt / updates)
        pace = () if dt is None else paces(model, problem, stated, dt, updates)
        paced = len(pace) > 0
        guards = 0 if apart is None else MOST_NEAR
        kept = ranges(tasks) if keeps else ()
        sides = sum(task.sides for task in kept)
        beside = len(stated.most) + guards + sides
        case = Situation(model, tuple(tasks), problem, limits, beside, posture=posture is not None)
        refuse(model, tasks, method, limits=limits)
        if within:
            refuse_gains(tasks, method)
            refuse_velocities(tasks, method)
        if posture is not None:
            refuse_posture(method)
        method.refuse(case)
        if method.keeps_inequalities:
            case = replace(case, stated=beside + BALL_ROWS * int(problem.section("balls")["limited"].sum()))
        self.method = method
        n, m, terms = case.columns, case.rows, method.terms
        clear = next((term for term in terms if isinstance(term, Clearance)), None)
        potential = next((term for term in terms if isinstance(term, Potential)), None)
        criteria = Plan()
        if clear is not None:
            problem, criteria = repelled(case, clear)
            case = replace(case, problem=problem)
        way = self._prepared = method.prepare(case)
        common = {"max_step": np.inf, **method.common(), "dependent": m - case.rank() if way.ranked else 0}
        common["timed"] = dt is not None
        common["geared"] = within and any(task.gain != 1.0 for task in tasks)
        if posture is not None:
            common["null"] = 1
        rest = model.home
        for term in terms:
            if isinstance(term, RestPosture) and term.q is not None:
                rest = model.check_q(term.q, "q of the RestPosture")
                ask_for_degrees_in(model, rest, "q of the RestPosture")
        plan = method.plan(case)
        places = problem.section("coordinates")["q"]
        self._model = self._potential = None
        own: list[int] = []
        if potential is not None:
            self._model, self._potential = model, potential
        if potential is not None or apart is not None:
            own = [*problem.velocities, model.nv]
        row, side = -(-n // WIDTH) * WIDTH, -(-m // WIDTH) * WIDTH
        rule = method.rule
        wanted = method.room(m, n)
        if not isinstance(wanted, int) or wanted < 0:
            raise ValueError(f"room({m}, {n}) of the method {method.name!r} must be a number of rows, got {wanted!r}")
        # What the decomposition by singular values and the criteria need, every method has.
        room = max(m * row, m * side, wanted, plan.rows)
        room += 6 * len(problem.section("units")) if clear is not None else 0
        room += model.nv * (1 + model.nv) if potential is not None else 0
        stating, taking = (
            requirements(model, tasks, problem, beside, held=beside > 0, paced=paced) if keeps else ({}, {})
        )
        self.problem = problem.extended(
            {
                **stating,
                "common": words(COMMON, common).view(np.int64),
                "settings": words(way.routine.record, way.numbers),
                "rule": np.zeros(0) if rule is None else words(rule.routine.record, numbers_of(rule)),
                "speeds": stated.changes * (updates if paced else 1),
                "paces": pace,
                "twists": joined(TWIST, [t[:2] for t in stated.twists], [t[2:] for t in stated.twists]),
                "inequalities": np.column_stack([stated.rows, stated.most]).ravel(),
                "posture": rest,
                **({} if posture is None else weighed(model, posture, problem.velocities)),
                "bounds": np.column_stack([model.lower[places], model.upper[places]]).ravel(),
                "plan": plan.numbers,
                "plan_reals": plan.reals,
                "criteria": criteria.numbers,
                "criteria_reals": criteria.reals,
                "velocities": own,
                "borders": borders(tasks, None if dt is None else dt / updates) if kept else (),
                "guard": () if apart is None else apart.guard(dt, bounded=bool(np.isfinite(stated.changes).all())),
            },
            {
                "memory": MEMORY,
                "loop": LOOP,
                "best": model.nq,
                "clamped": m,
                "last_errors": m,
                "last_target": SEEN * len(tasks),
                "cap": problem.blocks,
                "rows": m * row,
                "turn": m * side,
                "spare": m * side,
                "sigma": m,
                "along": m,
                "gradient": n,
                "other": n,
                "phi": n,
                "estimate": 2 * m,
                "last_jacobian": (size := problem.rows("jacobian")).stop - size.start,
                "prior": model.nq,
                "begun": model.nq,
                "last_step": n,
                "apart": n,
                **dict.fromkeys(("guide", "last_guide"), 0 if posture is None else model.nq),
                **dict.fromkeys(("travel", "surge", "least", "largest", "gone"), n if paced else 0),
                **dict.fromkeys(("proposed", "behind", "flow", "flow_change", "steady", "stream"), n if paced else 0),
                "room": room,
                **({} if apart is None else guard_rows(n)),
                **(border_rows(sides, n) if kept else {}),
                **taking,
                "clearance": 2 if taking else 0,
            },
        )
        self.guarded, self.ranges, self.held = apart is not None, kept, bool(taking)
        self.characters = method.capabilities.characters and potential is None and not self.held
        self._compile()

    def _compile(self) -> None:
        """Compile the user's functions, where there are any."""
        self._functions: Compiled | None = None
        if self._potential is not None and self._model is not None:
            self._functions = Compiled(self._model, self._potential, curved=self.method.curved)

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


def words(record: Record, numbers: Mapping[str, float]) -> Array:
    """A record of settings; what has no number is 0."""
    if not record.words:
        return np.zeros(0)
    made = np.zeros(1, dtype=record.dtype)
    for name, number in numbers.items():
        made[name] = number
    found: Array = made.view(np.float64)
    return found


_WAY: Final = "choose another method, such as 'lm'"


def refuse(model: Model, tasks: Sequence[Task], method: Method, *, limits: bool) -> None:
    """Raises ValueError, with the way out, for what the method cannot do."""
    can, name = method.capabilities, method.name
    for term in method.terms:
        if not limits and isinstance(term, JointCentring | LimitDistance):
            raise ValueError(f"{type(term).__name__} reads the joint limits, which limits=False takes away")
        if isinstance(term, JointCentring | LimitDistance) and not np.isfinite([model.lower, model.upper]).all(0).any():
            raise ValueError(f"{type(term).__name__} reads the joint limits, and {model.name} has none: leave it out")
    if limits and not can.limits and (np.isfinite([model.lower, model.upper]).any() or model.ball_limits):
        raise ValueError(
            f"the method {name!r} does not keep joint limits, and {model.name} has some: pass limits=False to let "
            "joints leave them, or choose another method, such as 'lm'"
        )
    stated = levels(tasks)
    if len(stated) > 1 and not can.priorities:
        some = [task.label for task in tasks if not task.required]
        if some:
            raise ValueError(
                f"the method {name!r} has no room for tasks beside those that are required, and {some[0]} has "
                "required=False: choose 'priority', or name no method"
            )
        found = ", ".join(str(priority) for priority in sorted({task.priority for task in tasks}))
        raise ValueError(
            f"the method {name!r} does not heed priorities, and the tasks have {found}: choose 'priority', which does, "
            "or give all tasks the same"
        )
    for task in tasks:
        if can.tasks == "positions" and task.leads != (POSITION,):
            raise ValueError(f"the method {name!r} follows positions only, not {task.label}: {_WAY}")
        if can.tasks == "poses" and not task.leads:
            raise ValueError(f"the method {name!r} follows poses only, not {task.label}: {_WAY}")
        if can.tasks != "any" and not task.in_world:
            raise ValueError(f"the method {name!r} follows frames in the world only, not {task.label}: {_WAY}")
        _refuse_weights(task, method)
        _refuse_criteria(task, method)
    _refuse_joints(model, tasks, method)


def refuse_gains(tasks: Sequence[Task], method: Method) -> None:
    """Raises ValueError, with the way out, if the method does not heed the gains of tasks, and some have one."""
    for task in tasks:
        if task.gain != 1.0 and not method.capabilities.gain:
            raise ValueError(
                f"the method {method.name!r} goes all the way to a target, and {task.label} has gain={task.gain:g}: "
                "leave it out, or choose another method, such as 'dls'"
            )


def refuse_velocities(tasks: Sequence[Task], method: Method) -> None:
    """Raises ValueError, with the way out, if the method does not reach the velocities that a task asks for."""
    for task in tasks:
        if task.takes_target and task.goal_kind & WAY and not method.capabilities.whole:
            raise ValueError(
                f"a step of the method {method.name!r} goes a part of the way, and {task.label} asks for all of it: "
                "choose another method, such as 'dls'"
            )


def refuse_posture(method: Method) -> None:
    """Raises ValueError, with the way out, if the method does not follow a PostureTask."""
    if not method.capabilities.posture:
        able = " or ".join(repr(name) for name, kind in METHODS.items() if kind.capabilities.posture)
        raise ValueError(
            f"the method {method.name!r} follows no PostureTask: choose {able}, or give null_space=RestPosture(q=...) "
            "to a method that takes one"
        )
    if any(isinstance(term, RestPosture) for term in method.terms):
        raise ValueError("a PostureTask takes the place of RestPosture(): leave one of them out")


def _refuse_criteria(task: Task, method: Method) -> None:
    if not any(isinstance(term, Manipulability) for term in method.terms):
        return
    place = task.label
    if not task.leads or not task.in_world:
        raise ValueError(
            f"Manipulability is of positions and rotations in the world, not of {place}: leave it out of the criteria"
        )
    if not all(block.plain for block in task.blocks):
        raise ValueError(f"Manipulability needs tasks without weights, and {place} has some: leave one of them out")


def _refuse_weights(task: Task, method: Method) -> None:
    heeds = method.capabilities.weights
    if heeds == "any" or not task.leads:
        return
    for field in task.weight_names:
        weight = np.broadcast_to(getattr(task, field), 3)
        if (heeds == "none" and (weight != 1.0).any()) or np.ptp(weight) > 0.0:
            alike = "the same along all axes" if heeds == "blocks" else "all the same"
            raise ValueError(
                f"the method {method.name!r} needs weights that are {alike}; the {field} of {task.label} "
                f"is {getattr(task, field)!r} of the largest: change it, or choose another method, such as 'lm'"
            )


def _refuse_joints(model: Model, tasks: Sequence[Task], method: Method) -> None:
    can, tree = method.capabilities, model.tree
    names = {v: joint.name for joint in model.joints for v in _velocities(model, joint)}
    seen: set[int] = set()
    for u in sorted({u for task in tasks for u in task.moving(model)}):
        unit = tree.units[u]
        if unit.kind == BALL_TURN or unit.multiplier == 0.0:
            continue
        if not can.slides and unit.kind in (PRISMATIC, HELICAL):
            raise ValueError(
                f"the method {method.name!r} moves no joint that slides, and {names[unit.iv]!r} does: choose another "
                "method, such as 'ccd'"
            )
        if not can.mimic and unit.iv in seen:
            raise ValueError(
                f"the method {method.name!r} moves one joint after the other, and {names[unit.iv]!r} moves several at "
                "once, for others follow it: choose another method, such as 'lm'"
            )
        seen.add(unit.iv)


def _velocities(model: Model, joint: Joint) -> range:
    """The places in v of a joint, unless it follows another."""
    at = model.velocity_index(joint.name) if joint.nv else slice(0, 0)
    return range(at.start, at.stop)
