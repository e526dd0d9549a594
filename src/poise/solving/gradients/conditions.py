"""What an answer fulfils, as a problem of its own: tasks, sides of ranges, sums of joints, distances of shapes.

It has a column for each velocity of the model; see `poise.kernels.gradients.conditions`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.gradients.conditions import MOST_CONTACTS
from poise.kernels.machine import packing
from poise.kernels.machine.layout import COLLISION, GOAL_NUMBERS, GOAL_STEP, PLACE, RANK, TURN, WIDTH
from poise.kernels.machine.packing import in_group, joined
from poise.model.loosening import Loose
from poise.model.model import Model
from poise.solving.problem.prepared_tasks import PreparedTasks
from poise.solving.problem.problem import Problem, pack
from poise.solving.problem.workspace import Bound, Scratch
from poise.solving.requirements.collision import CollisionLimit
from poise.solving.requirements.limits import Limits
from poise.solving.requirements.outcome import PreparedProblem
from poise.solving.requirements.ranges import range_records, range_rows, ranges
from poise.solving.requirements.sums import by_places, sums_of
from poise.tasks.base import Task, levels
from poise.tasks.loop import LoopTask
from poise.tasks.posture import PostureTask

_NARROW: Final = 2e-2
"""A limit of swing or twist that is this narrow has no sides to tell from each other [rad]."""
SAVED: Final = (
    "multiplier",
    "active",
    "missed",
    "posture_hessian",
    "residual_sensitivity",
    "gradient_sensitivity",
    "contact",
    "stationary",
)
"""What of the group `kkt` is kept of an answer, in the order of a workspace."""


@final
class Conditions:
    """All rows of a problem on a model, without the limits of joints: those of its tasks first, then the others."""

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        sums: tuple[Array, Array],
        collision: CollisionLimit | None,
        balls: Sequence[str],
        *,
        limits: bool = False,
        parts: Mapping[str, Any] | None = None,
    ) -> None:
        """`sums` are rows (p, nv) and the most of each, `balls` the joints whose limits of swing and twist count,
        `parts` more sections of the problem."""
        self.model, self.collision, self._sums, self._balls = model, collision, sums, balls
        found = ((n, b) for n in balls for b in model.ball_limits if b.place == model.index(n).start)
        self.narrow = next((n for n, b in found if min(b.half, *np.ravel(b.semi_axes)) <= _NARROW), "")
        """A joint whose limits have no sides to tell from each other, if there is one."""
        problem = _limited(pack(model, tasks, limits=limits, also=range(model.nv)), model, balls)
        range_tasks, inequality_rows = ranges(tasks), sum(task.inequality_rows for task in ranges(tasks))
        sections = {
            "inequalities": np.column_stack([by_places(model, sums[0]), sums[1]]).ravel(),
            "ranks": _ranks(tasks),
        }
        sections |= {} if parts is None else parts
        if inequality_rows:
            sections["ranges"] = range_records(tasks, None)
        if collision is not None:
            sections["collision"] = joined(COLLISION, [[1]], [[collision.min_distance, 0.0, 0.0, 0.0, 0.0]])
        self.tasks, shapes = 3 * problem.blocks, MOST_CONTACTS if collision is not None else 0
        """Rows of the tasks."""
        self.count = self.tasks + inequality_rows + len(sums[1]) + shapes + 2 * len(balls)
        """All rows."""
        rows = _rows(model, self.count, shapes, posture=len(sections.get("posture_weights", ())) > 0)
        problem = problem.extended(sections, rows | (range_rows(inequality_rows, model.nv) if inequality_rows else {}))
        self.bound = Bound(
            problem, (*(["ranges"] if inequality_rows else []), *(["shapes"] if shapes else [])), collision=collision
        )
        self._inequality_names = [task.label for task in range_tasks for _ in range(task.inequality_rows)] + [
            "a sum of joints"
        ] * len(sums[1])
        self._swing_twist_names = [f"{name}.{what}" for name in balls for what in ("swing", "twist")]
        problem = self.bound.problem
        self.at = {name: problem.rows(f"kkt.{name}") for name in (*SAVED, "residual", "rows", "releasable")}
        """Where sections of the group `kkt` are in a workspace."""
        first, last = self.at[SAVED[0]].start, self.at[SAVED[-1]].stop
        self.memory = slice(first, last)
        """Where in a workspace lies what is kept of an answer."""
        self.places = {name: slice(self.at[name].start - first, self.at[name].stop - first) for name in SAVED}
        """Where a section is within that."""
        self.steps = len(problem.section("goal_steps"))
        """How many goal steps there are."""
        self.columns = self.steps + (model.nv if len(sections.get("posture_weights", ())) else 0)
        """These, and the velocities of the posture."""

    def labels(self, scratch: Scratch) -> list[str]:
        """What the rows behind the tasks' are of, for the contacts at hand."""
        shapes = [" and ".join(map(repr, pair)) for pair in self.pairs(scratch)]
        return [*self._inequality_names, *shapes, *self._swing_twist_names]

    def pairs(self, scratch: Scratch) -> list[tuple[str, str]]:
        """The names of the shapes of each contact."""
        if scratch.scene is None:
            return []
        names = scratch.scene.names
        numbers = scratch.narrow[self.at["contact"]].astype(int).reshape(-1, 2)
        return [(names[i], names[j]) if i >= 0 else ("", "") for i, j in numbers]

    def on(self, loose: Loose, tasks: Sequence[Task]) -> "Conditions":
        """The same on the model with a placement let loose, for the same tasks there."""
        rows, most = self._sums
        spread = np.zeros((len(most), loose.model.nv))
        spread[:, loose.velocities] = rows
        return Conditions(loose.model, tasks, (spread, most), self.collision, self._balls)


def differentiable_conditions(model: Model, prepared: PreparedProblem) -> Conditions:
    """Those of what was asked.

    Raises ValueError where the limits of a ball have no sides to tell from each other.
    """
    found = conditions_of(model, prepared)
    if found.narrow:
        raise InvalidValue(
            "not-supported",
            f"the swing or twist of {found.narrow!r} has no width, and its gradient is not at hand: make it a hinge, "
            "or take differences of two solves",
        )
    return found


def conditions_of(model: Model, prepared: PreparedProblem) -> Conditions:
    """Those of what was asked."""
    derived = prepared.bound.derived
    found: Conditions | None = derived.get(Conditions)
    if found is None:
        made = conditions_for(model, prepared.tasks, prepared.problem, prepared.limits)
        found = derived.setdefault(Conditions, made)
    return found


def conditions_for(model: Model, tasks: PreparedTasks, problem: Problem, limits: Limits) -> Conditions:
    """Those of tasks and limits that became this problem."""
    (factors, most), (at_q, at_v) = sums_of(problem), model._plain
    rows = np.zeros((len(most), model.nv))
    rows[:, at_v] = factors[:, at_q]
    limited = {int(ball["q"]) for ball in problem.section("balls") if ball["limited"]}
    balls = [j.name for j in model.joints if j.ball is not None and model.index(j.name).start in limited]
    posture = next((task for task in tasks.all if isinstance(task, PostureTask)), None)
    movable = np.zeros(model.nv)
    movable[list(problem.velocities)] = 1.0
    parts = {
        "movable": movable,
        "goal_steps": joined(GOAL_STEP, *_steps(tasks.stated_as_solved)),
        "posture_weights": () if posture is None else posture.weights(model),
    }
    return Conditions(
        model, tasks.of_frames, (rows, np.array(most)), limits.collision, balls,
        limits=problem.limits, parts=parts,
    )  # fmt: skip


def by_task(prepared: PreparedProblem, moved: Array) -> tuple[Array, ...]:
    """What is by all goal steps and velocities of the posture (..., columns), for each task that is stated."""
    tasks = prepared.tasks.stated_as_solved
    counts = [len(_changes(task)) for task in tasks]
    ends = np.cumsum(counts)
    posture = moved[..., sum(counts) :]
    return tuple(
        moved[..., end - count : end] if task.blocks else posture
        for task, count, end in zip(tasks, counts, ends, strict=True)
    )


def _steps(tasks: Sequence[Task]) -> tuple[list[list[int]], list[list[float]]]:
    """The whole numbers and the real ones of all goal steps."""
    whole, real, at = [], [], 0
    for task in tasks:
        for place, turn, scale in _changes(task):
            whole.append([at + place, turn])
            real.append([scale])
        at += GOAL_NUMBERS if task.blocks else 0
    return whole, real


def _changes(task: Task) -> list[tuple[int, int, float]]:
    """The changes of a task's target, one a column: the goal number, the axis of a turn or -1, how much a unit is."""
    if not task.takes_target or not task.blocks:
        return []
    if task.goal_kind & TURN:
        return [*((i, -1, 1.0) for i in range(3 if task.goal_kind & PLACE else 0)), *((3, i, 1.0) for i in range(3))]
    if task.to_point:
        scale = float(task.goal(np.ones(3))[0])
        return [(i, -1, scale) for i in range(3)]
    return [(i, -1, 1.0) for i in range(GOAL_NUMBERS if task.own else 1)]


def _ranks(tasks: Sequence[Task]) -> Any:
    """Records of `RANK`, one for each block of the tasks."""
    order = levels(tasks)
    ranks = [
        [order.index(task.level), int(task.required), int(isinstance(task, LoopTask)), int(task.inequality_rows > 0)]
        for task in tasks
        for _ in task.blocks
    ]
    return joined(RANK, ranks, ())


def _limited(problem: Problem, model: Model, balls: Sequence[str]) -> Problem:
    """It with limits of these balls alone."""
    words = problem.words.copy()
    found = packing.unpack(words, "balls")
    found["limited"] &= np.isin(found["q"], [model.index(name).start for name in balls])
    return Problem(words, problem.velocities, problem.kinds, problem.limits)


def _rows(model: Model, count: int, shapes: int, *, posture: bool) -> dict[str, int]:
    """Rows of a workspace for so many conditions, of which these are shapes that touch."""
    n, nq = model.nv, model.nq
    row, most = WIDTH * -(-n // WIDTH), max(n, count)
    packed = WIDTH * -(-most // WIDTH)
    conditions = {
        **dict.fromkeys(("residual", "multiplier", "active", "missed", "active_sigma", "residual_change"), count),
        **dict.fromkeys(("rows", "active_right"), count * row),
        **dict.fromkeys(
            ("posture_hessian", "limit_side", "moving", "lagrangian_gradient", "gradient_change", "inner_sizes"), n
        ),
        "posture_step": n,
        **dict.fromkeys(("stationary", "stationary_start", "perturbed", "towards_posture"), nq),
        **dict.fromkeys(("null_rows", "inner_left", "inner_right", "flat_rows"), n * row),
        **dict.fromkeys(("gradient_sensitivity", "hessian"), n * n),
        "residual_sensitivity": n * count,
        "contact": 2 * shapes,
        "releasable": n + count,
        "active_left": count * packed,
    }
    return {
        **in_group("kkt", **conditions),
        **dict.fromkeys(("other", "phi", "moved"), n),
        "posture_goal": nq if posture else 0,
    }
