"""Why a solve ended short of its target, in sentences: limits, reach, or too few joints."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.quaternions import quaternion_exp, quaternion_product
from poise.solving.answers.competing import Question, rivals
from poise.solving.answers.nonnegative import nonnegative
from poise.solving.arguments.arguments import each_goal
from poise.solving.arguments.unit_hints import millimetres
from poise.solving.problem.reach_bound import walk
from poise.solving.problem.rows import rows_at
from poise.solving.requirements.balls import named_balls
from poise.solving.requirements.outcome import Outcome, PreparedProblem
from poise.solving.requirements.positions import at_limits, pushed_out
from poise.solving.requirements.ranges import is_range
from poise.solving.requirements.status import Budget, Status
from poise.solving.requirements.sums import at_most, by_places, slack_of_sums
from poise.solving.unreachable.infeasibility import (
    by_lengths,
    chain_of_task,
    never_turned,
    posed,
    ruled_out,
    with_still_locked,
)
from poise.spatial import SE3
from poise.tasks.base import POSITION, ROTATION, Task
from poise.tasks.error import TaskError
from poise.tasks.frame import OfFrame
from poise.tasks.loop import LoopTask

if TYPE_CHECKING:
    from poise.solving.requirements.inequalities import Limit

_NUDGE = 1e-4
"""A turn that tells whether a ball is pushed out of its limits [rad]."""
_PUSHED = 1e-6
"""A pull on a joint that is this small beside the largest is none."""
_STATIONARY = (Status.LOCAL_MINIMUM, Status.LIMIT)
_SLIGHT = 2e-3
"""What rounding may leave [m or rad]: a right angle with three digits is off by 8e-4."""
_MARGIN = 1.05
"""A tolerance that would do is so much larger than what is left, at least."""
_RANK = 1e-7
"""Against the largest singular value of the loops' rows, one that counts as 0."""
_PLACED, _PLACED_AND_POINTED = 3, 5
"""Rows of a place, and of a place and a direction."""


def cause(outcome: Outcome) -> Status:
    """The status of a solve that ended short of its target."""
    if outcome.posture_alone:
        # Without other tasks every joint is at its posture but for the limits, which so are proven to be in the way.
        return Status.LOCAL_MINIMUM if outcome.prepared.tasks.of_frames else Status.LIMIT
    tasks, limits = outcome.prepared.tasks.all, outcome.prepared.problem.limits
    goals = list(zip(tasks, each_goal(tasks, outcome.goal[None]), strict=True))
    model = with_still_locked(outcome.model, outcome.q)
    if any(ruled_out(model, task, goal, limits=limits)[0] for task, goal in goals):
        return Status.UNREACHABLE
    if any(never_turned(model, task, goal, limits=limits) for task, (goal,) in goals):
        return Status.UNREACHABLE
    if in_the_way(outcome):
        return Status.COLLISION
    if not outcome.stationary:
        return Status.BUDGET
    if held_by(outcome):
        return Status.LIMIT
    collision = outcome.prepared.limits.collision
    if collision is not None and collision.holds_back(outcome.model, outcome.q, _descent(outcome)):
        return Status.COLLISION
    return Status.LOCAL_MINIMUM


def what_blocks(outcome: Outcome) -> Status:
    """The status of a solve all of whose solutions break what must hold beside the limits of joints."""
    if outcome.prepared.limits.collision is None or _sums_at_limits(outcome):
        return Status.LIMIT
    return Status.COLLISION


def task_errors(tasks: Sequence[Task], raw: Array) -> tuple[TaskError, ...]:
    """The error of each task, from the error of each block and the posture's in `raw` (blocks + 1,)."""
    left, out = raw.tolist(), []
    for task in tasks:
        count = len(task.blocks)
        out.append(task.error(left[:count] or left[-1:]))
        left = left[count:]
    return tuple(out)


def explain(outcome: Outcome, status: Status, budget: Budget | None) -> str:
    """A sentence or two: what was reached, and what stands in the way of the rest."""
    left, soft = (what_is_left(outcome.prepared, outcome.errors, required=required) for required in (True, False))
    if status is Status.CONVERGED:
        if not soft:
            return f"Every task is within its tolerances: {left}."
        parts = [f"Every required task is within its tolerances: {left}."] if left else []
        parts.append(f"As well as it goes, what is left of the others: {soft}.")
        if not outcome.stationary and not all(task.required for task in outcome.prepared.tasks.of_frames):
            parts.append("They could perhaps be missed less: the last descent had not come to rest.")
        return " ".join(parts + _rivals(outcome))
    parts = [f"Not reached: {status.message}. What is left: {left}."]
    if soft:
        parts.append(f"Not required, and left: {soft}.")
    broken = _broken_sums(outcome)
    parts += broken
    if outcome.posture_alone and broken:
        return " ".join(parts)
    if outcome.posture_alone:
        parts.append("Only the posture is farther away than its tolerance; the other tasks are within theirs.")
        return " ".join(parts if outcome.prepared.tasks.of_frames else parts[:1])
    parts += out_of_reach(outcome) + in_the_way(outcome)
    held = held_by(outcome)
    if held:
        parts.append("At their limits, and pushed against them: " + ", ".join(held) + ".")
    parts += sides(outcome.model, outcome.prepared.tasks.all, outcome.q)
    enough = _enough(outcome) if outcome.stationary and status in _STATIONARY else []
    if enough:
        parts.append(
            f"That is a minimum, and next to nothing: it cannot be met better from here, and {' and '.join(enough)} "
            "would do. Files and targets that are rounded leave as much."
        )
    parts += _too_few_joints(outcome, outcome.errors)
    if budget == "iterations":
        parts.append("The error was still falling: more max_iterations or max_restarts may help.")
    if status is not Status.BUDGET and len(parts) == 1:
        attempts = outcome.restarts + 1
        starts = f"All {attempts} starts" if attempts > 1 else "The start"
        if outcome.stationary:
            parts.append(f"{starts} came to rest short of the target; that is no proof that it cannot be reached.")
        else:
            parts.append("The steps there had not come to rest: a solve with this q as q0 may come nearer.")
    return " ".join(parts if enough or status is Status.UNREACHABLE else parts + _rivals(outcome))


def _rivals(outcome: Outcome) -> list[str]:
    """A sentence for each task that other tasks keep short of its target, where the answer is at rest."""
    prepared = outcome.prepared
    if not outcome.stationary:
        return []
    tasks = prepared.tasks
    return rivals(Question(outcome.model, tasks.all, tasks.stated, prepared.bound, outcome.q, outcome.goal))


def _enough(outcome: Outcome) -> list[str]:
    """The tolerances with which what is left would do, where that is as little as rounding leaves; else none."""
    found = []
    for task, error in zip(outcome.prepared.tasks.all, outcome.errors, strict=True):
        if not (task.required and task.blocks):
            continue
        names = task.tolerance_names
        sizes = [size for size in (error.position, error.rotation, error.residual) if size is not None]
        if not sizes:  # of many joints, which has words of its own
            return []
        pairs = zip(names, sizes, strict=True) if len(names) == len(sizes) else [(names[0], max(sizes))]
        for name, size in pairs:
            if size > getattr(task, name):
                if isinstance(task, LoopTask) or not size < _SLIGHT:
                    return []
                found.append(f"{name}={10.0 ** math.ceil(math.log10(_MARGIN * size)):.0e}")
    return found


def what_is_left(prepared: PreparedProblem, errors: Sequence[TaskError], *, required: bool) -> str:
    """The error of each task by which an answer is judged, or of each of the others, in words; of loops that are closed
    how many there are."""
    both = zip(prepared.tasks.all, errors, strict=True)
    return "; ".join(in_words([(task, error) for task, error in both if task.required is required]))


def in_words(left: Sequence[tuple[Task, TaskError]]) -> list[str]:
    """What is left of each task; of the loops that are closed, how many there are and the most that is left of one."""
    closed = [error for task, error in left if isinstance(task, LoopTask) and _closed(task, error)]
    parts = [task.words(error) for task, error in left if not (isinstance(task, LoopTask) and _closed(task, error))]
    if closed:
        most = max(max(error.position or 0.0, error.rotation or 0.0) for error in closed)
        count = f"{len(closed)} loops are" if len(closed) > 1 else "the loop is"
        parts.append(f"{count} closed to {most:.1g}")
    return parts


def _closed(task: LoopTask, error: TaskError) -> bool:
    return max(error.position or 0.0, error.rotation or 0.0) <= task.tolerance


def sides(model: Model, tasks: Sequence[Task], q: Array) -> list[str]:
    """A sentence for each required range that stands at its sides at q (nq,), or beyond, and can say at which."""
    found = [(task, task.at_sides(model, q)) for task in tasks if is_range(task)]
    return [f"{task.label} is at its limits: {', '.join(names)}." for task, names in found if names]


def held_by(outcome: Outcome) -> list[str]:
    """The limits of joints, and of sums of joints, that the answer stands at while the error pushes it beyond."""
    return joints_at_limits(outcome) + _sums_at_limits(outcome)


def _sums_at_limits(outcome: Outcome) -> list[str]:
    """The stated rows at whose most the answer stands while the remaining error pushes it beyond."""
    if not outcome.prepared.limits.others:
        return []
    downhill = _descent(outcome)
    return [
        repr(limit)
        for limit, rows, slack, rounding in _slacks(outcome)
        if (at_most(slack, rounding) & (rows @ downhill > 0.0)).any()
    ]


def _broken_sums(outcome: Outcome) -> list[str]:
    """A sentence for each stated row that the answer is beyond, as where limits contradict one another."""
    far = [(limit, -(slack + rounding) / np.abs(rows).max(axis=1)) for limit, rows, slack, rounding in _slacks(outcome)]
    return [
        f"{limit!r} is exceeded by {beyond.max():.3g} rad or m: nothing was found that keeps all limits."
        for limit, beyond in far
        if beyond.max(initial=0.0) > 0.0
    ]


def _slacks(outcome: Outcome) -> "Iterator[tuple[Limit, Array, Array, Array]]":
    """Each stated limit with its rows (p, nv), their slack (p,) at the answer, and its rounding (p,)."""
    model = outcome.model
    for limit in outcome.prepared.limits.others:
        found = limit.inequalities(model, range(model.nv), None)
        yield limit, found.rows, *slack_of_sums(by_places(model, found.rows), found.most, outcome.q)


def joints_at_limits(outcome: Outcome) -> list[str]:
    """The joints that stand at a limit while the remaining error pushes them out."""
    model, q = outcome.model, outcome.q
    if not outcome.prepared.problem.limits:
        return []
    downhill = _descent(outcome)
    scale = float(np.abs(downhill).max(initial=0.0))
    at_q, at_v = model._plain
    push = np.where(np.abs(downhill[at_v]) > _PUSHED * scale, downhill[at_v], 0.0)
    out = []
    for k in np.flatnonzero(pushed_out(q[at_q], model.lower[at_q], model.upper[at_q], push)):
        end, limit = ("lower", model.lower) if push[k] < 0.0 else ("upper", model.upper)
        out.append(f"{model.coordinates[at_q[k]]} ({end}, {limit[at_q[k]]:.4g})")
    for name, ball in named_balls(model):
        turn, wxyz = downhill[model.velocity_index(name)], q[ball.place : ball.place + 4]
        size = float(np.linalg.norm(turn))
        if size > _PUSHED * scale:
            out_there = quaternion_product(quaternion_exp(_NUDGE * turn / size), wxyz)
            if not ball.inside(out_there):
                out += [f"{name} ({what}, {limit:.4g})" for what, (_, limit) in ball.met(wxyz).items()]
    return out


def _descent(outcome: Outcome) -> Array:
    """(nv,) direction in which the error falls, J^T e; beside closed loops what is left of it along them, and at joints
    that stand at their limits how hard they are pushed out."""
    prepared = outcome.prepared
    e, jacobian = rows_at(outcome.model, prepared.tasks.all, prepared.bound, outcome.q, outcome.goal)
    tasks = prepared.tasks.of_frames
    counts = [3 * len(task.blocks) for task in tasks]
    judged = np.repeat([task.required for task in tasks], counts)
    loops = np.repeat([isinstance(task, LoopTask) for task in tasks], counts)
    if not loops.any():
        found: Array = e[judged] @ jacobian[judged]
        return found
    return _along_loops(outcome, e[judged & ~loops] @ jacobian[judged & ~loops], jacobian[loops])


def _along_loops(outcome: Outcome, pull: Array, rows: Array) -> Array:
    """(nv,) what is left of a pull (nv,) in the null space of the rows of loops, at limits the forces that hold it.

    A leg at its limit holds a platform that hangs on another: the pull J^T e itself is of the chain of that one alone.
    So it is J_l^T k and outward forces of joints at their limits, as nearly as such can be.
    """
    model, q = outcome.model, outcome.q
    sizes, right = np.linalg.svd(rows, full_matrices=False)[1:]
    span = right[sizes > _RANK * sizes.max(initial=0.0)]

    def free(x: Array) -> Array:
        """What of vectors (..., nv) the loops let happen."""
        left: Array = x - (x @ span.T) @ span
        return left

    at_q, at_v = model._plain
    below, above = at_limits(q[at_q], model.lower[at_q], model.upper[at_q])
    outward = [*((v, -1.0) for v in at_v[below]), *((v, 1.0) for v in at_v[above])]
    sides = np.zeros((len(outward), model.nv))
    for row, (v, sign) in zip(sides, outward, strict=True):
        row[v] = sign
    forces = nonnegative(free(sides).T, free(pull))
    left = free(pull) - forces @ free(sides)
    for v, _ in outward:
        left[v] = float(forces @ sides[:, v])
    return left


def out_of_reach(outcome: Outcome) -> list[str]:
    """A sentence for each target that the lengths between the axes rule out, or that no joint turns to."""
    out = []
    tasks, limits = outcome.prepared.tasks.all, outcome.prepared.problem.limits
    model = with_still_locked(outcome.model, outcome.q)
    for task, (goal,) in zip(tasks, each_goal(tasks, outcome.goal[None]), strict=True):
        if never_turned(model, task, goal, limits=limits):
            out.append(f"No joint turns {task.frame_names[0]!r}, and its target is turned.")
        if task.placed is None or by_lengths(model, task, goal, limits=limits) is None:
            continue
        assert isinstance(task, OfFrame)
        frame, tolerance = task.placed
        ball = walk(chain_of_task(model, task, limits=limits), of_pose=False, shortest=False)
        beyond = float(np.linalg.norm(goal[:3] - ball.centre)) - ball.radius
        if beyond > tolerance:
            question = millimetres(goal[:3], ball.centre, ball.radius)
            out.append(
                f"The target of {frame!r} is {beyond:.3g} m beyond the longest reach of {ball.radius:.4g} m{question}."
            )
        else:
            out.append(f"The target of {frame!r} is out of reach: the lengths between the axes do not let it there.")
    if out and outcome.model.still:
        names = [name for name in outcome.model.joint_names if name in outcome.model.still]
        out.append(f"What stands still does not help: {', '.join(map(repr, names))}.")
    return out


def in_the_way(outcome: Outcome) -> list[str]:
    """A sentence for each target at which the links of its frame are themselves too near to something."""
    tasks, limit, out = outcome.prepared.tasks.all, outcome.prepared.limits.collision, []
    for task, (goal,) in zip(tasks, each_goal(tasks, outcome.goal[None]), strict=True):
        if limit is None or not (posed(task) and task.in_world) or not np.isfinite(goal).all():
            continue
        assert isinstance(task, OfFrame)
        found = limit.at_target(outcome.model, task, SE3(goal))
        if found is not None and found[0].distance + found[1] < limit.least(outcome.model, *found[0].pair):
            (one, other), distance = found[0].pair, found[0].distance
            where = f"{-distance:.3g} m deep in" if distance < 0.0 else f"{distance:.3g} m from"
            out.append(f"At the target {one!r} itself is {where} {other!r}, so there is no solution.")
    return out


def _inside(task: Task, error: TaskError) -> bool:
    """Whether a task is a range that is fulfilled."""
    left = [x for x in (error.position, error.rotation, error.residual) if x is not None]
    return task.inequality_rows > 0 and all(x <= task.tolerance for x in left)


def _too_few_joints(outcome: Outcome, errors: Sequence[TaskError]) -> list[str]:
    """A sentence if the required tasks ask for more rows than there are joints, with ways out that they have.

    A range that is fulfilled asks for nothing.
    """
    both = zip(outcome.prepared.tasks.all, errors, strict=True)
    tasks = [task for task, error in both if task.blocks and task.required and not _inside(task, error)]
    if any(isinstance(task, LoopTask) for task in tasks):
        return []  # rows of loops depend on each other, and say nothing of how many joints there should be
    rows, joints = sum(task.weighted_rows for task in tasks), len(outcome.prepared.problem.velocities)
    if joints >= rows:
        return []
    ways = []
    if any(task.rows > 1 for task in tasks):
        ways.append("drop rows with a weight of 0")
    if any(task.frame_parts == (POSITION, ROTATION) for task in tasks):
        if joints >= _PLACED_AND_POINTED:
            ways.append("use a PositionTask with an AxisTask, which leaves the turn about the axis free")
        elif joints >= _PLACED:
            ways.append("use a PositionTask, which leaves the rotation free")
        if joints >= _PLACED and outcome.prepared.method is None:
            ways.append("give the position a PositionTask and the rotation an OrientationTask with required=False")
    if len(tasks) > 1:
        ways.append("leave out the task that matters least")
    few = f"{joints} joint{'s' * (joints != 1)} cannot follow {rows} rows in general"
    return [f"{few}: {', or '.join(ways)}." if ways else f"{few}."]
