"""The residual of each side of the ranges at a configuration, for callers outside of a step."""

from poise.kernels.machine.jit import entry_point
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, CALL, SOLVED
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.requirements.ranges import evaluate_ranges
from poise.kernels.solver.ends import aim_at, clip_start


@entry_point(WHOLE)
def range_residuals(address):
    """w.sides.residual [m or rad] and w.sides.jacobian at `start` for the targets of `goal`; a code."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    if not aim_at(p, w.goal, w.target):
        return BAD_GOAL
    if not clip_start(p, w.start, w.q):
        return BAD_START
    evaluate_ranges(p, w, w.q)
    return SOLVED
