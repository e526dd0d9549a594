"""Why a solve ended short of its target, in sentences: limits, reach, or too few joints."""

import numpy as np

from poise.model.model import Model
from poise.model.tree import PRISMATIC
from poise.solving.solution import Solution, Status
from poise.spatial import Array
from poise.tasks.aim import AxisTask, LookAtTask
from poise.tasks.coupling import JointCouplingTask
from poise.tasks.distance import DistanceTask
from poise.tasks.pose import PoseTask, PositionTask
from poise.tasks.surface import LineTask, PlaneTask

_AT_LIMIT = 1e-6
"""A joint this near to a limit [rad or m] stands at it."""


_ROWS = {AxisTask: 2, LookAtTask: 2, LineTask: 2, PlaneTask: 1, DistanceTask: 1, JointCouplingTask: 1}
"""Rows of the tasks that always ask for as many."""
_MANY = 50
"""Starts that all came to rest short of the target before it is called out of reach."""


def cause(solution: Solution) -> Status:
    """The status of a solution that ended short of its target."""
    if _out_of_reach(solution):
        return Status.UNREACHABLE
    if not solution.stationary:
        return Status.MAX_ITERATIONS
    if joints_at_limits(solution):
        return Status.LIMIT_BLOCKED
    return Status.UNREACHABLE if solution.restarts >= _MANY else Status.STALLED


def explain(solution: Solution) -> str:
    """A sentence or two: what was reached, and what stands in the way of the rest."""
    errors = "; ".join(_left(e.task, e.position, e.rotation, e.posture) for e in solution.errors)
    if solution.success:
        return f"Every task is within its tolerances: {errors}."
    parts = [f"Not reached: {solution.status.message}. What is left: {errors}."]
    parts += _out_of_reach(solution)
    held = joints_at_limits(solution)
    if held:
        parts.append("At their limits, and pushed against them: " + ", ".join(held) + ".")
    parts += _too_few_joints(solution)
    if solution.status is Status.MAX_ITERATIONS:
        parts.append("More max_iterations or max_restarts may help.")
    if solution.status is not Status.MAX_ITERATIONS and solution.status is not Status.MAX_TIME and len(parts) == 1:
        tried = solution.restarts + (8 if solution.solver.method is None else 1)
        starts = f"All {tried} starts" if tried > 1 else "The start"
        parts.append(f"{starts} came to rest short of the target; that is no proof that it cannot be reached.")
    return " ".join(parts)


def joints_at_limits(solution: Solution) -> list[str]:
    """The joints that stand at a limit while the remaining error pushes them out."""
    model, q = solution.solver.model, solution.q
    downhill = _descent(solution)
    scale = float(np.abs(downhill).max(initial=0.0))
    out = []
    for name in model.joint_names:
        at, speed = model.index(name), model.velocity_index(name)
        if at.stop - at.start != speed.stop - speed.start:
            continue
        for i, v in zip(range(at.start, at.stop), range(speed.start, speed.stop), strict=True):
            push = downhill[v]
            if abs(push) <= 1e-6 * scale:
                continue
            if push < 0.0 and q[i] - model.lower[i] < _AT_LIMIT:
                out.append(f"{model.coordinates[i]} (lower, {model.lower[i]:.4g})")
            elif push > 0.0 and model.upper[i] - q[i] < _AT_LIMIT:
                out.append(f"{model.coordinates[i]} (upper, {model.upper[i]:.4g})")
    return out


def _left(task: str, position: float | None, rotation: float | None, posture: float | None) -> str:
    words = []
    if position is not None:
        words.append(f"{position:.3g} m")
    if rotation is not None:
        words.append(f"{rotation:.3g} rad")
    if posture is not None:
        words.append(f"{posture:.3g} rad or m from the posture")
    return f"{task} {' and '.join(words)}"


def _descent(solution: Solution) -> Array:
    """(nv,) direction in which the error falls: J^T e."""
    e, jacobian = solution.solver.rows_at(solution.q, solution.goal)
    return e @ jacobian


def _out_of_reach(solution: Solution) -> list[str]:
    """A sentence for each target that lies beyond the sum of all lengths between the first joint and the frame."""
    solver, out = solution.solver, []
    for task, goal in zip(solver.frame_tasks, solution.goal.reshape(-1, 7), strict=True):
        if not isinstance(task, PoseTask | PositionTask) or task.base is not None:
            continue
        weight = task.weight if isinstance(task, PositionTask) else task.position_weight
        if np.min(weight) == 0.0:
            continue
        root, reach = _reach(solver.model, task.frame)
        beyond = float(np.linalg.norm(goal[:3] - root)) - reach
        if beyond > (task.tolerance if isinstance(task, PositionTask) else task.position_tolerance):
            out.append(f"The target of {task.frame!r} is {beyond:.3g} m beyond the longest reach of {reach:.4g} m.")
    return out


def _reach(model: Model, frame: str) -> tuple[Array, float]:
    """Where the first joint stands, and how far the frame can ever be from there [m]; inf if it can go anywhere."""
    tree = model.tree
    unit, hangs = tree.links[model.frame(frame).link]
    path = tree.path(unit)
    reach = float(np.linalg.norm((hangs @ model.frame(frame).origin).xyz))
    for i in path:
        u = tree.units[i]
        if i != path[0]:
            reach += float(np.linalg.norm(u.placement.xyz))
        travel = 1.0 if u.kind == PRISMATIC else abs(u.pitch)
        if travel:
            ends = np.array([model.lower[u.iq], model.upper[u.iq]]) * u.multiplier + u.offset
            reach += travel * float(np.abs(ends).max())
    return tree.units[path[0]].placement.xyz, reach


def _too_few_joints(solution: Solution) -> list[str]:
    """A sentence if the tasks ask for more rows than there are joints to follow them."""
    solver = solution.solver
    rows = 0
    for task in solver.frame_tasks:
        if type(task) in _ROWS:
            rows += _ROWS[type(task)]
        elif isinstance(task, PoseTask):
            rows += int(np.count_nonzero(np.broadcast_to(task.position_weight, 3)))
            rows += int(np.count_nonzero(np.broadcast_to(task.rotation_weight, 3)))
        else:
            rows += int(np.count_nonzero(np.broadcast_to(task.weight, 3)))
    joints = len(solver.velocities)
    if joints >= rows:
        return []
    return [
        f"{joints} joints cannot follow {rows} rows in general: drop rows with a weight of 0, or use a PositionTask "
        "with an AxisTask, which leaves the turn about the axis free."
    ]
