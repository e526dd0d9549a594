"""A method proposes a step for some of the tasks, which `poise.methods.priority` completes by the others.

It has a problem and a workspace of its own, with the tasks that are delegated to it alone.
"""

from poise.kernels.machine.jit import call, routine
from poise.kernels.machine.layout import CALL, METHOD
from poise.kernels.machine.memory import ELSEWHERE, FAILED, FRESH, PREDICTED, forget
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.methods.delegated import put_targets
from poise.kernels.requirements.limits import difference


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
    put_targets(p, w, w1)
    for i in range(len(w.q)):
        w1.q[i] = w.q[i]
    w1.memory[FAILED] = 0.0
    call(w1.routines[METHOD], p1, w1)
    if w1.memory[FAILED] > 0.5:
        w.memory[FAILED] = 1.0
    difference(p, w.q, w1.q, w.delegated_step)
    # Beyond a step's bounds J_k w.delegated_step asks for what the step does not lead to, however it is cut off.
    ratio = 1.0
    for a in range(len(w.delegated_step)):
        ratio = max(ratio, abs(w.delegated_step[a]) / min(p.speeds[a], p.common[0].max_step))
    for a in range(len(w.delegated_step)):
        w.delegated_step[a] /= ratio
