"""A method prepared for a model and its tasks: what the kernels of `methods.method_loop` read and work in."""

from collections.abc import Sequence
from dataclasses import replace
from typing import final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.jit import REALS, TABLE, WHOLES, address, prepare
from poise.kernels.machine.lanes import WIDTH, workspace
from poise.kernels.methods import method_loop
from poise.kernels.methods import settings as at
from poise.kernels.methods.memory import GOAL_AT, LENGTH, LOOP, MEMORY, SEEN
from poise.kernels.methods.routines import ROUTINES
from poise.kernels.solver import lm_solver
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
from poise.model.tree import HELICAL, PRISMATIC, TURN
from poise.solving.inequalities import Inequalities, Limit, together
from poise.solving.method_plans import NO_PLAN, Plan, extension, pairs, ranking, repelled, skeleton, sweep
from poise.solving.potential import Compiled
from poise.solving.problem import Packed
from poise.solving.solution import Trace
from poise.solving.task_arrays import moving
from poise.spatial import Array
from poise.tasks.base import FrameTask, OfFrame, levels
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask

_ESTIMATED = (at.ESTIMATED, at.ESTIMATED_TWO)
_READS_VALUES = (at.FILTERED, at.HYBRID)
_POSES = 3
"""Samples from which the rank that the tasks' Jacobian has in general is read."""


@final
class Updates:
    """The arrays of one method on one problem."""

    __slots__ = (
        "_compiled",
        "_nq",
        "_routine",
        "_rows",
        "_wide",
        "address",
        "floats",
        "ints",
        "method",
        "packed",
        "work",
    )

    def __init__(
        self,
        model: Model,
        tasks: Sequence[FrameTask],
        packed: Packed,
        method: Method,
        *,
        limits: bool,
        also: Sequence[Limit] = (),
    ) -> None:
        """Raises ValueError for what the method cannot do; `also` are limits beside those of the joints' positions."""
        refuse(model, tasks, method, limits=limits)
        self.method = method
        n, m = len(packed.velocities), 3 * packed.blocks
        terms = _terms(method)
        clear = next((term for term in terms if isinstance(term, Clearance)), None)
        potential = next((term for term in terms if isinstance(term, Potential)), None)
        plan = NO_PLAN
        if clear is not None or isinstance(method, DasSlotineSheridan):
            packed, plan = repelled(model, tasks, packed, clear)
        settings = np.zeros(at.SETTINGS + n + model.nq)
        settings[at.MAX_STEP] = np.inf
        method.write(settings)
        stated = together(model, packed.velocities, also)
        finite = np.isfinite(stated.changes)
        settings[at.PACED] = float(finite.any())
        settings[at.SETTINGS : at.SETTINGS + n] = np.where(finite, stated.changes, 0.0)
        _refuse_rows(method, settings, stated)
        posture = model.home
        for term in terms:
            if isinstance(term, RestPosture) and term.q is not None:
                posture = model.check_q(term.q, "q of the RestPosture")
        settings[at.SETTINGS + n :] = posture
        estimated = settings[at.RULE] in _ESTIMATED
        if isinstance(method, Pseudoinverse) or settings[at.METHOD] in _READS_VALUES or estimated:
            rank = _rank(model, packed)
            _refuse_form(method, m, n, rank)
            settings[at.DROP] = m - rank
            if settings[at.DROP] and settings[at.METHOD] == at.DAMPED and estimated:
                settings[at.METHOD] = at.FILTERED  # an inverse iteration would find the values that are always zero
        plan = _plan(model, tasks, packed, settings, plan, len(stated.most))
        if isinstance(method, BoundedLeastSquares):
            settings = np.concatenate([settings, packed.limits])
        self.packed, self._compiled = packed, None
        own: list[int] = []
        if potential is not None:
            self._compiled = Compiled(model, potential, curved=isinstance(method, ExtendedJacobian))
            own = [*packed.velocities, model.nv, self._compiled.gradient, self._compiled.hessian]
        self.ints = np.concatenate([packed.ints, plan.numbers, np.array(own, dtype=np.int64)])
        rows_and_most = np.column_stack([stated.rows, stated.most]).ravel()
        own_floats = packed.floats if limits else packed.without_limits()
        self.floats = np.concatenate([own_floats, settings, plan.reals, rows_and_most])
        row, side = -(-n // WIDTH) * WIDTH, -(-m // WIDTH) * WIDTH
        kept = int(settings[at.OPTION]) if settings[at.METHOD] == at.LBFGS else 0
        big = max(m * row, m * side, n * n + n, m * (n + m), 2 * kept * (n + 1), 3 * n + 2 * n * n, plan.rows)
        big += 6 * int(packed.ints[0]) if clear is not None else 0
        big += model.nv * (1 + model.nv) if own else 0
        rows = MEMORY + LOOP + 7 * len(tasks) + 3 * model.nq + 6 * m + 3 * n + (SEEN + 1) * packed.blocks
        rows += m * row + 2 * m * side + packed.entries + big
        self._rows, self._nq = packed.rows + rows, model.nq
        self.work = workspace(self._rows)
        self._wide: Array | None = None
        self._routine = ROUTINES[int(settings[at.METHOD])]
        self.address = address(self._routine, WHOLES, REALS, REALS)

    @property
    def characters(self) -> bool:
        """Whether eight characters can be led at once, which a user's function cannot."""
        return self.method.capabilities.characters and self._compiled is None

    @property
    def goal(self) -> Array:
        """(7 tasks,) the goals of the next step, to be written into."""
        return self.work[self.memory(GOAL_AT) :][: 7 * int(self.packed.ints[1])]

    @property
    def answer(self) -> Array:
        """(nq,) where the last step led."""
        return self.work[self.memory(GOAL_AT) + 7 * int(self.packed.ints[1]) :][: self._nq]

    def wide(self) -> tuple[int, Array]:
        """Address and workspace of the update of eight lanes."""
        if self._wide is None:
            self._wide = workspace(self._rows, WIDTH)
        return address(self._routine, WHOLES, REALS, TABLE), self._wide

    def memory(self, row: int) -> int:
        """Where in `work` a row of `poise.kernels.methods.memory` is."""
        return self.packed.rows + row

    def empty_trace(self, rows: int) -> Array:
        """Room for a trace."""
        return np.full((rows, method_loop.TRACE + 3 * self.packed.blocks + self._nq), np.nan)

    def trace(self, table: Array) -> Trace:
        """The trace that `poise.kernels.methods.method_loop` wrote into `table`."""
        m, first = 3 * self.packed.blocks, method_loop.TRACE
        rows = table[: int(self.work[self.memory(MEMORY + LENGTH)])].copy()
        values = np.sort(rows[:, first : first + m], axis=1)[:, ::-1]
        return Trace(np.sqrt(rows[:, 0]), rows[:, 2], rows[:, 3], values, rows[:, first + m :])


def _terms(method: Method) -> tuple[NullSpace, ...]:
    """What the method asks of the null space."""
    if isinstance(method, ExtendedJacobian):
        return (method.criterion,)
    return method.terms if isinstance(method, NullSpaceMethod) else ()


def _plan(
    model: Model, tasks: Sequence[FrameTask], packed: Packed, settings: Array, criteria: Plan, stated: int
) -> Plan:
    """What the method's kernel reads beside the problem; what the criteria read comes last."""
    method = settings[at.METHOD]
    if method == at.CCD:
        return sweep(packed)
    if method == at.FABRIK:
        return skeleton(model, packed)
    if method == at.BOUNDED:
        return ranking(tasks, packed, stated)
    if method in (at.LEXICOGRAPHIC, at.PROJECTED):
        plan = ranking(tasks, packed, stated)
        _refuse_levels(model, tasks, packed, plan)
        return Plan(np.concatenate([plan.numbers, criteria.numbers]), plan.rows, criteria.reals)
    if method == at.PAIRWISE:
        return pairs(model, tasks, packed, printed=settings[at.RULE_A] == 1.0)
    if method == at.EXTENDED:
        return replace(criteria, rows=extension(packed))
    return criteria


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


def _rank(model: Model, packed: Packed, rows: npt.NDArray[np.int64] | slice = slice(None)) -> int:
    """The rank that the Jacobian of the tasks, or these rows of it, has in general: its largest over a few poses."""
    prepare(lm_solver.linearise)
    m, n = 3 * packed.blocks, len(packed.velocities)
    goal = np.tile([0.3, 0.4, 0.5, 1.0, 0.0, 0.0, 0.0], int(packed.ints[1]))
    work, e, jacobian = np.zeros(packed.rows), np.zeros(m), np.zeros((m, n))
    ranks = [0]
    for q in model.sample(_POSES, seed=0):
        lm_solver.linearise(packed.ints, packed.floats, goal, np.array(q), work, e, jacobian)
        if n:
            ranks.append(int(np.linalg.matrix_rank(jacobian[rows], rtol=1e-9)))
    return max(ranks)


def refuse(model: Model, tasks: Sequence[FrameTask], method: Method, *, limits: bool) -> None:
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
        if can.tasks == "positions" and not isinstance(task, PositionTask):
            raise ValueError(f"the method {name!r} follows positions only, not {task.label}")
        if can.tasks == "poses" and not isinstance(task, (PoseTask, PositionTask, OrientationTask)):
            raise ValueError(f"the method {name!r} follows poses only, not {task.label}")
        if can.tasks != "any" and isinstance(task, OfFrame) and task.base is not None:
            raise ValueError(f"the method {name!r} follows frames in the world only, not {task.label}")
        _refuse_weights(task, method)
        _refuse_criteria(task, method)
    _refuse_joints(model, tasks, method)
    if isinstance(method, ExtendedJacobian) and isinstance(method.criterion, Manipulability | Clearance):
        _refuse_balls(model, tasks, type(method.criterion).__name__)


def _refuse_criteria(task: FrameTask, method: Method) -> None:
    if not any(isinstance(term, Manipulability) for term in _terms(method)):
        return
    place = task.label
    if not isinstance(task, (PoseTask, PositionTask, OrientationTask)) or task.base is not None:
        raise ValueError(
            f"Manipulability is of positions and rotations in the world, not of {place}: leave it out of the criteria"
        )
    names = ("position_weight", "rotation_weight") if isinstance(task, PoseTask) else ("weight",)
    if any((np.asarray(getattr(task, name)) != 1.0).any() for name in names):
        raise ValueError(f"Manipulability needs tasks without weights, and {place} has some: leave one of them out")


def _refuse_weights(task: FrameTask, method: Method) -> None:
    heeds = method.capabilities.weights
    if heeds == "any" or not isinstance(task, (PoseTask, PositionTask, OrientationTask)):
        return
    names = ("position_weight", "rotation_weight") if isinstance(task, PoseTask) else ("weight",)
    for field in names:
        weight = np.broadcast_to(getattr(task, field), 3)
        if (heeds == "none" and (weight != 1.0).any()) or np.ptp(weight) > 0.0:
            alike = "the same along all axes" if heeds == "blocks" else "1"
            raise ValueError(
                f"the method {method.name!r} needs weights that are {alike}; the {field} of {task.label} "
                f"is {getattr(task, field)!r}: change it, or choose another method, such as 'lm'"
            )


def _refuse_levels(model: Model, tasks: Sequence[FrameTask], packed: Packed, plan: Plan) -> None:
    """Raises ValueError for a level that can never do anything."""
    stated, n = levels(tasks), len(packed.velocities)
    count = len(stated)
    first, order = plan.numbers[1 : count + 2], plan.numbers[count + 2 :]
    for k, priority in enumerate(stated):
        names = ", ".join(task.label for task in tasks if task.priority == priority)
        if _rank(model, packed, order[first[k] : first[k + 1]]) == 0:
            raise ValueError(f"priority {priority} holds no row that a joint can change: {names}; look at the weights")
        if k and _rank(model, packed, order[: first[k]]) == n:
            raise ValueError(
                f"priority {priority} can never act: the rows of the levels before it take up all {n} directions in "
                f"which {model.name} moves them; drop {names}, or leave it some with weights of 0 or fewer rows"
            )


def _refuse_joints(model: Model, tasks: Sequence[FrameTask], method: Method) -> None:
    can, tree = method.capabilities, model.tree
    names = {v: joint.name for joint in model.joints for v in _velocities(model, joint)}
    seen: set[int] = set()
    for u in sorted({u for task in tasks for u in moving(model, task)}):
        unit = tree.units[u]
        if unit.kind == TURN or unit.multiplier == 0.0:
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


def _refuse_balls(model: Model, tasks: Sequence[FrameTask], criterion: str) -> None:
    places = {model.tree.units[u].iv for task in tasks for u in moving(model, task)}
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
