"""A method bound to a problem: what the kernels of `kernels.stepping.method_loop` read and work in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.groups.approach import APPROACH
from poise.kernels.machine.groups.motion import MOTION
from poise.kernels.machine.layout import COMMON, DELEGATED, MAX_COLLISION_ROWS, TWIST, WIDTH
from poise.kernels.machine.memory import LENGTH, LOOP, MEMORY, SEEN, TRACE, TRAIL
from poise.kernels.machine.packing import in_group, joined
from poise.kernels.machine.record import Record
from poise.kernels.requirements.balls import BALL_ROWS
from poise.methods.base import Method, Plan, Prepared
from poise.methods.criteria import Clearance, Potential, RestPosture
from poise.methods.priority import TaskPriority
from poise.methods.records import numbers_of
from poise.model.model import Model
from poise.model.units import ask_for_degrees_in
from poise.solving.arguments.capabilities import refuse, refuse_two_postures
from poise.solving.arguments.weights import relative
from poise.solving.methods.context import MethodContext
from poise.solving.methods.posture import weighed
from poise.solving.methods.repulsion import repelled
from poise.solving.problem.potential import Compiled
from poise.solving.problem.problem import Problem, pack
from poise.solving.problem.workspace import Bound, Scratch
from poise.solving.requirements.collision import CollisionLimit, guard_rows
from poise.solving.requirements.inequalities import Limit, rates_of, together
from poise.solving.requirements.outcome import Trace
from poise.solving.requirements.ranges import range_records, range_rows, ranges
from poise.solving.requirements.sections import requirements
from poise.solving.requirements.sums import by_places
from poise.solving.requirements.tool_speed import tool_rows, tool_sections
from poise.tasks.base import Task, levels
from poise.tasks.loop import LoopTask
from poise.tasks.posture import PostureTask


def bound_method(
    model: Model,
    tasks: Sequence[Task],
    problem: Problem,
    method: Method,
    *entry: str,
    limits: bool,
    also: Sequence[Limit] = (),
    collision: CollisionLimit | None = None,
    keep_constraints: bool = False,
    stepping: bool = False,
    dt: float | None = None,
    updates: int = 1,
    posture: PostureTask | None = None,
    pulls: bool = True,
    traced: int = 0,
    numbers: Mapping[str, int] = MappingProxyType({}),
    inner: Mapping[str, Bound] = MappingProxyType({}),
) -> Bound:
    """The problem with what a method adds, for an entry point; raises ValueError for what the method cannot do.

    `also` are limits beside those of positions, and `collision` that of shapes, in a step of `dt` [s] and so many
    updates.  `posture` is the last level, which each step reads anew; unless it `pulls`, its weights alone count.
    `keep_constraints`: whether steps keep what must hold, such as loops and the ranges among the tasks; `stepping`:
    whether gains of tasks count too.  `numbers` are fields of all scratch, `inner` the searches for some of the tasks.

    Where there is more than the method knows of, such as later levels, it proposes steps for the tasks of the first
    level, with a problem of its own, and what else there is gets what these leave.
    """
    refuse_two_postures(method, posture)
    looped = keep_constraints and any(isinstance(task, LoopTask) for task in tasks)
    if posture is not None or looped or len(levels(tasks)) > 1:
        method = method.in_levels
    delegated, proposer, parts = _delegated(tasks, method, posture), None, [*entry]
    sections: dict[str, Any] = {}
    rows: dict[str, int] = {}
    if posture is not None and not tasks:
        method = TaskPriority()  # there is nothing to lead
    if delegated:
        own, scales = relative([tasks[k] for k in delegated])
        mine = pack(model, own, limits=limits)
        proposer = bound_method(model, own, mine, method, limits=limits, stepping=stepping)
        method = TaskPriority()
        sections["delegated"] = joined(DELEGATED, [[k] for k in delegated], [[1.0 / x] for x in scales])
        rows["delegated_step"] = len(problem.velocities)
        parts.append("propose")
    of_all = together(model, range(model.nv), also, None if dt is None else dt / updates)
    collected = of_all.of(problem.velocities)
    rates = () if dt is None else rates_of(model, problem, collected, dt, updates)
    range_tasks = ranges(tasks) if keep_constraints else ()
    inequality_rows = sum(task.inequality_rows for task in range_tasks)
    count = len(collected.most) + (0 if collision is None else MAX_COLLISION_ROWS) + inequality_rows
    case = MethodContext(model, tuple(tasks), problem, limits, count, posture=posture is not None, delegated=delegated)
    refuse(model, tasks, method, limits=limits, stepping=stepping)
    method.refuse(case)
    if method.keeps_inequalities:
        case = replace(case, inequalities=count + BALL_ROWS * int(problem.section("balls")["limited"].sum()))
    clear = next((term for term in method.terms if isinstance(term, Clearance)), None)
    if clear is not None:
        problem = repelled(case, clear)
        case = replace(case, problem=problem)
    way, plan = method.prepare(case), method.plan(case)
    common = _common(case, method, way)
    common["timed"], common["retreats"] = dt is not None, method.keeps_inequalities
    common["geared"] = stepping and any(task.gain != 1.0 for task in tasks)
    n, has_rates = case.columns, len(rates) > 0
    places = problem.section("coordinates")["q"]
    sections |= {
        "common": words(COMMON, common).view(np.int64),
        **_settings(method, way),
        "speeds": collected.changes * (updates if has_rates else 1),
        "twists": joined(TWIST, [t[:2] for t in collected.twists], [t[2:] for t in collected.twists]),
        "inequalities": np.column_stack([by_places(model, of_all.rows), of_all.most]).ravel(),
        "posture": _rest_posture(model, method),
        "bounds": np.column_stack([model.lower[places], model.upper[places]]).ravel(),
        "plan": plan.numbers,
        "plan_reals": plan.reals,
    }
    rows |= {**_rows(case), "room": _workspace_rows(case, method, plan)}
    if has_rates:
        sections["rates"] = rates
        rows |= in_group("motion", **dict.fromkeys(MOTION.sections, n))
        errors = dict.fromkeys(("start_errors", "remaining_errors"), case.rows)
        rows |= in_group("approach", **dict.fromkeys(APPROACH.sections, n) | errors)
    if posture is not None:
        sections |= weighed(model, posture, problem.velocities, pulls=pulls)
        rows |= dict.fromkeys(("guide", "last_guide"), model.nq)
    if collision is not None:
        sections["collision"] = collision.guard(dt, bounded=bool(np.isfinite(collected.changes).all()))
        rows |= guard_rows(n)
        parts += ["shapes", "shapes in steps"]
    if range_tasks:
        sections["ranges"] = range_records(tasks, None if dt is None else dt / updates)
        rows |= range_rows(inequality_rows, n)
        parts.append("ranges")
    # The way that a scout finds keeps no other task beside the one that it is for, and ranges where the method does.
    pulling = tasks if delegated else [task for task in tasks if task not in range_tasks]
    if numbers.get("anti_chatter") and len(pulling) == 1:
        rows["stall.scout_goal"] = model.nq
        parts.append("scout")
    # A leap goes straight on: for the sake of a later level it would disturb those before it.
    if numbers.get("anti_chatter") and updates == 1 and posture is None and len(levels(tasks)) == 1:
        rows |= in_group("stall", trail=TRAIL * n, leap=n)
        parts.append("leap")
    if collected.tools:
        sections |= tool_sections(model, collected.tools, problem.velocities)
        rows |= tool_rows(sections, len(collected.tools), model, n)
    constrained = count > 0 or common["unlimited"] > 0.0 or len(collected.tools) > 0
    if keep_constraints and (
        step_sections := requirements(model, tasks, problem, count, constrained=constrained, has_rates=has_rates)
    ):
        sections |= step_sections[0]
        rows |= step_sections[1]
        parts.append("project step")
    potential = next((term for term in method.terms if isinstance(term, Potential)), None)
    if potential is not None or collision is not None:
        sections["velocities"] = [*problem.velocities, model.nv]
    return Bound(
        problem.extended(sections, rows), tuple(parts), way.routine, way.damping,
        None if potential is None else Compiled(model, potential, method.curved), proposer,
        lanes=method.capabilities.characters and potential is None and "project step" not in parts and not delegated,
        collision=collision, ahead=dt or 0.0, traced=traced, numbers={**numbers, "updates": updates}, inner=dict(inner),
    )  # fmt: skip


def trace_of(problem: Problem, scratch: Scratch) -> Trace:
    """The trace that the last search left in the scratch."""
    m, first = 3 * problem.blocks, TRACE
    assert scratch.trace is not None
    length = int(scratch.narrow[problem.rows("loop")][LENGTH])
    rows = scratch.trace[:length].copy()
    values = np.sort(rows[:, first : first + m], axis=1)[:, ::-1]
    return Trace(np.sqrt(rows[:, 0]), rows[:, 2], rows[:, 3], values, rows[:, first + m :])


def _delegated(tasks: Sequence[Task], method: Method, posture: PostureTask | None) -> tuple[int, ...]:
    """The tasks that the method leads, by their places, where there is more than it knows of; else none.

    They are those of the first level, but for loops and ranges, which hold whatever is proposed.
    """
    can, range_tasks = method.capabilities, ranges(tasks)
    excluded = [
        k for k, task in enumerate(tasks) if isinstance(task, LoopTask) or any(task is other for other in range_tasks)
    ]
    more = (
        (len(levels(tasks)) > 1 and not can.priorities)
        or (posture is not None and not method.follows_posture)
        or (len(excluded) > 0 and can.tasks != "any")
    )
    pulling = [k for k in range(len(tasks)) if k not in excluded]
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


def _common(case: MethodContext, method: Method, way: Prepared) -> dict[str, float]:
    """The settings that all methods have, see `COMMON`."""
    model, can = case.model, method.capabilities
    limited = bool(np.isfinite([model.lower, model.upper]).any()) or bool(model.ball_limits)
    common: dict[str, float] = {"max_step": np.inf, **method.common()}
    common["dependent"] = case.rows - case.rank() if way.ranked else 0
    common["unlimited"] = case.limits and limited and not can.limits
    if case.posture or case.delegated:
        common["null"] = 1
    return common


def _settings(method: Method, way: Prepared) -> dict[str, Any]:
    """The settings of the method at hand and of its damping rule."""
    rule = method.rule
    return {
        "settings": words(way.routine.record, way.numbers),
        "rule": np.zeros(0) if rule is None else words(rule.routine.record, numbers_of(rule)),
    }


def _rest_posture(model: Model, method: Method) -> Array:
    """(nq,) where a null-space term pulls to."""
    rest = model.home
    for term in method.terms:
        if isinstance(term, RestPosture) and term.q is not None:
            rest = model.check_q(term.q, "q of the RestPosture")
            ask_for_degrees_in(model, rest, "q of the RestPosture")
    return rest


def _workspace_rows(case: MethodContext, method: Method, plan: Plan) -> int:
    """Rows of room: for the method, or, if that is more, for singular values; and for criteria."""
    m, n, model = case.rows, case.columns, case.model
    wanted = method.room(m, n)
    if not isinstance(wanted, int) or wanted < 0:
        raise InvalidValue(
            "own-function", f"room({m}, {n}) of the method {method.name!r} must be a number of rows, got {wanted!r}"
        )
    rows = max(m * _packed(n), m * _packed(m), wanted, plan.rows)
    if any(isinstance(term, Clearance) for term in method.terms):
        rows += 6 * len(case.section("units"))
    if any(isinstance(term, Potential) for term in method.terms):
        rows += model.nv * (1 + model.nv)
    return rows


def _rows(case: MethodContext) -> dict[str, int]:
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
        "clamped_step": n,
    }


def _packed(count: int) -> int:
    """Numbers of a row in packs."""
    return WIDTH * -(-count // WIDTH)
