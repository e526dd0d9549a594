"""The rest of an answer: where soft tasks are missed least, a posture is nearest, or both, as gradients have it."""

import numpy as np

from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.layout import CALL, REST, SOLVED
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.solver.ends import clip_start, evaluate
from poise.kernels.solver.feasibility import is_feasible


@kernel
def come_to_rest(p, w, address):
    """Let w.q (one number wide), which fulfils what is required, be the rest beside it; whether there is one.

    See `gradients.stationary`.  It stays where nothing is at rest beside it, and where that does not fulfil what is
    required.  w.before is written over.
    """
    request = entry_at(address, CALL)
    if request.rest == 0:
        return False
    inner = entry_at(request.rest, CALL)
    w1 = narrow(problem_at(inner.problem), inner.narrow, inner.routines)
    for i in range(len(w.goal)):
        w1.goal[i] = w.goal[i]
    for i in range(len(w.posture_goal)):
        w1.posture_goal[i] = w.posture_goal[i]
    for i in range(len(w.q)):
        w1.start[i], w.before[i] = w.q[i], w.q[i]
    call(w.routines[REST], request.rest)
    if inner.code != SOLVED:
        return False
    clip_start(p, w1.start, w.q)
    _, score = evaluate(p, w)
    rests = score <= 1.0
    if rests and request.check_feasibility:
        w.clearance[1] = -np.inf
        rests = is_feasible(p, w, address)
    if rests:
        return True
    for i in range(len(w.q)):
        w.q[i] = w.before[i]
    return False
