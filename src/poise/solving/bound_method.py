"""A method prepared for a model and its tasks: what the kernels of `methods.method_loop` read and work in."""

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.layout import BALL_TURN, GOAL_NUMBERS, HELICAL, PRISMATIC, WIDTH
from poise.kernels.methods import method_loop
from poise.kernels.methods import settings as at
from poise.kernels.methods.memory import LENGTH, LOOP, MEMORY, SEEN
from poise.kernels.methods.routines import ROUTINES
from poise.methods.base import (
    Clearance,
    JointCentring,
    LimitDistance,
    Manipulability,
    Method,
    NullSpace,
    NullSpaceMethod,
    Potential,
    RestPosture,
)
from poise.methods.bounded import BoundedLeastSquares
from poise.methods.das import DasSlotineSheridan
from poise.methods.extended import ExtendedJacobian
from poise.methods.priority import TaskPriority
from poise.methods.pseudoinverse import Pseudoinverse
from poise.model.joint import Joint
from poise.model.model import Model
from poise.solving.inequalities import Inequalities, Limit, together
from poise.solving.method_plans import NO_PLAN, Plan, extension, pairs, ranking, repelled, skeleton, sweep
from poise.solving.outcome import Trace
from poise.solving.potential import Compiled
from poise.solving.problem import Problem
from poise.solving.rows import active_rows
from poise.solving.scratch import Bound, Scratch, bind
from poise.spatial import Array
from poise.tasks.base import POSITION, Task, levels

_ESTIMATED = (at.ESTIMATED, at.ESTIMATED_TWO)
_READS_VALUES = (at.FILTERED, at.HYBRID)
_POSES = 3
"""Samples from which the rank that the tasks' Jacobian has in general is read."""


@final
class BoundMethod:
    """A method on a problem: the problem with what the method adds, and its routine."""

    __slots__ = ("_functions", "_model", "_potential", "characters", "method", "problem")

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        problem: Problem,
        method: Method,
        *,
        limits: bool,
        also: Sequence[Limit] = (),
    ) -> None:
        """Raises ValueError for what the method cannot do; `also` are limits beside those of the joints' positions."""
        refuse(model, tasks, method, limits=limits)
        self.method = method
        n, m = len(problem.velocities), 3 * problem.blocks
        terms = _terms(method)
        clear = next((term for term in terms if isinstance(term, Clearance)), None)
        potential = next((term for term in terms if isinstance(term, Potential)), None)
        criteria = NO_PLAN
        if clear is not None or isinstance(method, DasSlotineSheridan):
            problem, criteria = repelled(model, tasks, problem, clear)
        settings = np.zeros(at.SETTINGS)
        settings[at.MAX_STEP] = np.inf
        method.write(settings)
        stated = together(model, problem.velocities, also)
        speeds = np.where(np.isfinite(stated.changes), stated.changes, 0.0)
        _refuse_rows(method, settings, stated)
        posture = model.home
        for term in terms:
            if isinstance(term, RestPosture) and term.q is not None:
                posture = model.check_q(term.q, "q of the RestPosture")
        estimated = settings[at.RULE] in _ESTIMATED
        if isinstance(method, Pseudoinverse) or settings[at.METHOD] in _READS_VALUES or estimated:
            rank = _rank(model, problem)
            _refuse_form(method, m, n, rank)
            settings[at.DROP] = m - rank
            if settings[at.DROP] and settings[at.METHOD] == at.DAMPED and estimated:
                settings[at.METHOD] = at.FILTERED  # an inverse iteration would find the values that are always zero
        plan = _plan(model, tasks, problem, settings, len(stated.most))
        places = problem.section("coordinates")["q"]
        self._model = self._potential = None
        own: list[int] = []
        if potential is not None:
            self._model, self._potential = model, potential
            own = [*problem.velocities, model.nv]
        row, side = -(-n // WIDTH) * WIDTH, -(-m // WIDTH) * WIDTH
        kept = int(settings[at.OPTION]) if settings[at.METHOD] == at.LBFGS else 0
        big = max(m * row, m * side, n * n + n, m * (n + m), 2 * kept * (n + 1), 3 * n + 2 * n * n, plan.rows)
        big += 6 * len(problem.section("units")) if clear is not None else 0
        big += model.nv * (1 + model.nv) if own else 0
        self.problem = problem.extended(
            {
                "settings": settings,
                "speeds": speeds,
                "inequalities": np.column_stack([stated.rows, stated.most]).ravel(),
                "posture": posture,
                "bounds": np.column_stack([model.lower[places], model.upper[places]]).ravel(),
                "plan": plan.numbers,
                "plan_reals": plan.reals,
                "criteria": criteria.numbers,
                "criteria_reals": criteria.reals,
                "velocities": own,
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
                "room": big,
            },
        )
        self.characters = method.capabilities.characters and potential is None
        self._compile()

    def _compile(self) -> None:
        """Compile the user's functions, where there are any."""
        self._functions: Compiled | None = None
        if self._potential is not None and self._model is not None:
            self._functions = Compiled(
                self._model, self._potential, curved=isinstance(self.method, ExtendedJacobian)
            )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name != "_functions"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._compile()

    def bound(self) -> Bound:
        """The problem in this process, with the routine of the method."""
        routine = ROUTINES[int(self.problem.section("settings")[at.METHOD])]
        functions = (0, 0) if self._functions is None else (self._functions.gradient, self._functions.hessian)
        return Bound(self.problem, routine, functions)

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


def _terms(method: Method) -> tuple[NullSpace, ...]:
    """What the method asks of the null space."""
    if isinstance(method, ExtendedJacobian):
        return (method.criterion,)
    return method.terms if isinstance(method, NullSpaceMethod) else ()


def _plan(model: Model, tasks: Sequence[Task], problem: Problem, settings: Array, stated: int) -> Plan:
    """What the method's kernel reads beside the problem, under `stated` inequalities."""
    method = settings[at.METHOD]
    if method == at.CCD:
        return sweep(problem)
    if method == at.FABRIK:
        return skeleton(model, problem)
    if method == at.BOUNDED:
        return ranking(tasks, problem, stated)
    if method in (at.LEXICOGRAPHIC, at.PROJECTED):
        plan = ranking(tasks, problem, stated)
        _refuse_levels(model, tasks, problem, plan)
        return plan
    if method == at.PAIRWISE:
        return pairs(model, tasks, problem, printed=settings[at.RULE_A] == 1.0)
    if method == at.EXTENDED:
        return Plan(NO_PLAN.numbers, extension(problem))
    return NO_PLAN


def _refuse_form(method: Method, rows: int, columns: int, rank: int) -> None:
    """Raises ValueError for a form of the pseudoinverse that would divide by zero in every pose."""
    if isinstance(method, Pseudoinverse) and method.form != "svd":
        size, what = (rows, "rows") if method.form == "rows" else (columns, "columns")
        if rank < size:
            raise ValueError(
                f"form={method.form!r} needs a Jacobian of independent {what}, and of these {size} only {rank} ever "
                "are: use form='svd'"
            )


def _refuse_rows(method: Method, settings: Array, stated: Inequalities) -> None:
    """Raises ValueError for inequalities between joints with a method that has no active set."""
    able = settings[at.METHOD] == at.LEXICOGRAPHIC or (isinstance(method, BoundedLeastSquares) and method.way == "box")
    if len(stated.most) and not able:
        raise ValueError(
            f"the method {method.name!r}, with these settings, keeps no inequalities between joints: choose 'qp' or "
            "'priority' as they are by default, or leave the LinearLimit out"
        )


def _rank(model: Model, problem: Problem, rows: npt.NDArray[np.int64] | slice = slice(None)) -> int:
    """The rank that the Jacobian of the tasks, or these rows of it, has in general: its largest over a few poses."""
    ranks = [0]
    with bind(problem).scratch() as scratch:
        scratch.goal[:] = np.tile([0.3, 0.4, 0.5, 1.0, 0.0, 0.0, 0.0], len(scratch.goal) // GOAL_NUMBERS)
        for q in model.sample(_POSES, seed=0):
            scratch.start[:] = q
            _, _, jacobian = active_rows(problem, scratch)
            if jacobian.shape[1]:
                ranks.append(int(np.linalg.matrix_rank(jacobian[rows], rtol=1e-9)))
    return max(ranks)


def refuse(model: Model, tasks: Sequence[Task], method: Method, *, limits: bool) -> None:
    """Raises ValueError, with the way out, for what the method cannot do."""
    can, name = method.capabilities, method.name
    for term in _terms(method):
        if not limits and isinstance(term, JointCentring | LimitDistance):
            raise ValueError(f"{type(term).__name__} reads the joint limits, which limits=False takes away")
        if isinstance(term, JointCentring | LimitDistance) and not np.isfinite([model.lower, model.upper]).all(0).any():
            raise ValueError(f"{type(term).__name__} reads the joint limits, and {model.name} has none: leave it out")
        if isinstance(method, TaskPriority) and isinstance(term, Manipulability):
            raise ValueError(f"{type(term).__name__} is no criterion of the last level of priorities: leave it out")
    if limits and not can.limits and np.isfinite([model.lower, model.upper]).any():
        raise ValueError(
            f"the method {name!r} does not keep joint limits, and {model.name} has some: pass limits=False to let "
            "joints leave them, or choose another method, such as 'lm'"
        )
    if limits and isinstance(method, BoundedLeastSquares) and method.way == "penalty":
        raise ValueError("way='penalty' breaks the joint limits a little: pass limits=False, or choose way='box'")
    stated = levels(tasks)
    if len(stated) > 1 and not can.priorities:
        raise ValueError(
            f"the method {name!r} does not heed priorities, and the tasks have {', '.join(map(str, stated))}: choose "
            "'priority', which does, or give all tasks the same"
        )
    for task in tasks:
        if can.tasks == "positions" and task.leads != (POSITION,):
            raise ValueError(f"the method {name!r} follows positions only, not {task.label}")
        if can.tasks == "poses" and not task.leads:
            raise ValueError(f"the method {name!r} follows poses only, not {task.label}")
        if can.tasks != "any" and not task.in_world:
            raise ValueError(f"the method {name!r} follows frames in the world only, not {task.label}")
        _refuse_weights(task, method)
        _refuse_criteria(task, method)
    _refuse_joints(model, tasks, method)
    if isinstance(method, ExtendedJacobian) and isinstance(method.criterion, Manipulability | Clearance):
        _refuse_balls(model, tasks, type(method.criterion).__name__)


def _refuse_criteria(task: Task, method: Method) -> None:
    if not any(isinstance(term, Manipulability) for term in _terms(method)):
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
            alike = "the same along all axes" if heeds == "blocks" else "1"
            raise ValueError(
                f"the method {method.name!r} needs weights that are {alike}; the {field} of {task.label} "
                f"is {getattr(task, field)!r}: change it, or choose another method, such as 'lm'"
            )


def _refuse_levels(model: Model, tasks: Sequence[Task], problem: Problem, plan: Plan) -> None:
    """Raises ValueError for a level that can never do anything."""
    stated, n = levels(tasks), len(problem.velocities)
    count = len(stated)
    first, order = plan.numbers[1 : count + 2], plan.numbers[count + 2 :]
    for k, priority in enumerate(stated):
        names = ", ".join(task.label for task in tasks if task.priority == priority)
        if _rank(model, problem, order[first[k] : first[k + 1]]) == 0:
            raise ValueError(f"priority {priority} holds no row that a joint can change: {names}; look at the weights")
        if k and _rank(model, problem, order[: first[k]]) == n:
            raise ValueError(
                f"priority {priority} can never act: the rows of the levels before it take up all {n} directions in "
                f"which {model.name} moves them; drop {names}, or leave it some with weights of 0 or fewer rows"
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


def _refuse_balls(model: Model, tasks: Sequence[Task], criterion: str) -> None:
    places = {model.tree.units[u].iv for task in tasks for u in task.moving(model)}
    for joint in model.joints:
        if joint.quaternion_at is not None and places.intersection(_velocities(model, joint)):
            raise ValueError(
                f"the method 'extended' has no Hessian of the {criterion} for balls, and {joint.name!r} turns "
                "as one: choose another criterion"
            )


def _velocities(model: Model, joint: Joint) -> range:
    """The places in v of a joint, unless it follows another."""
    at = model.velocity_index(joint.name) if joint.nv else slice(0, 0)
    return range(at.start, at.stop)
