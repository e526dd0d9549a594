"""One time step of a Tracker, which is taken again where it leads too far ahead of the measured q."""

from poise.kernels.machine.jit import call, entry_point, routine
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.layout import BAD_START, CALL, SOLVED, TAKE_STEP
from poise.kernels.machine.memory import CREPT, INVERSE_RADIUS, SCOUT, SHORTENED, TURNED, WAITED
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.requirements.following_error import (
    is_measured,
    read_measured,
    remember,
    return_to_past,
    tightens,
)
from poise.kernels.stepping.method_loop import step_towards_goal


@routine
def take_step(address):
    """`updates` updates from `start` towards `goal`; the code is that of the call, the new q is in `out`."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    request.code = step_towards_goal(p, w, request.updates, request.anti_chatter, address)


@entry_point(WHOLE)
def step(address):
    """Take `updates` updates from `start` towards `goal`; the new q is in `out` from ANSWER on.

    Where there is a measured q, a step that leads too far ahead of it is taken again, in a problem with tighter limits.
    TAKE_STEP is called by its address: what is compiled as one takes a problem not to change.
    """
    request = entry_at(address, CALL)
    p, f = problem_at(request.problem), problem_at(request.following)
    w, v = narrow(p, request.narrow, request.routines), narrow(f, request.following_work, request.routines)
    measured = is_measured(v)
    if measured:
        if not read_measured(p, f, v):
            return BAD_START
        remember(request, w)
    call(w.routines[TAKE_STEP], address)
    if measured and request.code == SOLVED and tightens(request, p, w, f, v):
        return_to_past(request, w)
        whole = request.problem
        request.problem = request.past
        call(w.routines[TAKE_STEP], address)
        request.problem = whole
        # It waits for the robot: nothing is to be learned of steps that are rounding.
        for row in (CREPT, INVERSE_RADIUS, TURNED, SCOUT, WAITED):
            w.memory[row] = 0.0
        w.memory[SHORTENED] = 1.0
    return request.code
