"""A method proposes a step for some of the tasks, which `poise.methods.priority` completes by the others.

It has a problem and a workspace of its own, with the tasks that are delegated to it alone.
"""

from poise.kernels.machine.jit import call, routine
from poise.kernels.machine.layout import CALL, GOAL, METHOD
from poise.kernels.machine.memory import ELSEWHERE, FAILED, FRESH, PREDICTED, forget
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.requirements.limits import difference

_READ = 12
"""Rows of a target before its weights, which are of another scale in the proposing method's problem."""


@routine
def propose(p, w, address):
    """w.delegated_step (n) is the step from w.q that the method of the call's `proposer` takes."""
    request = entry_at(entry_at(address, CALL).proposer, CALL)
    p1 = problem_at(request.problem)
    w1 = narrow(p1, request.narrow, request.routines)
    # The proposing method has a memory of its own: it begins anew with the other, and judges no step that was changed.
    if w.memory[FRESH] < 0.5:
        forget(w1)
    if w.memory[PREDICTED] == ELSEWHERE:
        w1.memory[PREDICTED] = ELSEWHERE
    w.memory[PREDICTED] = 0.0
    for k in range(len(p.delegated)):
        at, scale = GOAL * p.delegated[k].effector, p.delegated[k].scale
        for i in range(GOAL):
            w1.target[GOAL * k + i] = w.target[at + i] * (1.0 if i < _READ else scale)
    for i in range(len(w.q)):
        w1.q[i] = w.q[i]
    w1.memory[FAILED] = 0.0
    call(w1.routines[METHOD], p1, w1)
    if w1.memory[FAILED] > 0.5:
        w.memory[FAILED] = 1.0
    difference(p, w.q, w1.q, w.delegated_step)
