"""The sides of ranges along a path: how far each configuration is beyond them, and what joints do to that."""

from poise.kernels.machine.jit import entry_point
from poise.kernels.machine.kinds import BATCH, TABLE, WHOLE
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import BAD_GOAL, CALL, GOAL_NUMBERS, SOLVED
from poise.kernels.machine.views import entry_at, narrow, problem_at, rows_at, section
from poise.kernels.requirements.ranges import evaluate_ranges
from poise.kernels.solver.ends import aim_at


@entry_point(WHOLE, TABLE, BATCH)
def sides_along(address, beyond, jacobians):
    """By how much `path` (steps x nq) is beyond each side [m or rad], `beyond` (steps, sides), less than 0 inside, and
    its derivatives `jacobians` (steps, sides, active velocities); a code."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    count, numbers, row = len(w.q), GOAL_NUMBERS * len(p.effectors), pitch(w.sides.jacobian, len(w.step))
    goals, path = rows_at(request.goals, request.steps * numbers), rows_at(request.path, request.steps * count)
    for k in range(request.steps):
        if not aim_at(p, section(goals, k * numbers, numbers), w.target):
            return BAD_GOAL
        evaluate_ranges(p, w, section(path, k * count, count))
        for i in range(len(w.sides.residual)):
            beyond[k, i] = w.sides.residual[i]
            for a in range(len(w.step)):
                jacobians[k, i, a] = w.sides.jacobian[i * row + a]
    return SOLVED
