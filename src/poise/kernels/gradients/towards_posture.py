"""The rest of an answer; among the configurations where |missed|^2 is least, towards a posture.

Joints.   Joints that move no row, here and beside, are put to the posture.
Step.     dq = -F F^T W^2 (q - posture), where F are the directions in which |missed|^2 is flat, F^T W^2 F = 1: the
          exact minimum of |W (q + dq - posture)|^2 along them.
Rest.     They bend, so Newton's steps lead back to where |missed|^2 is least; see `stationary`.
Length.   A step counts if it came nearer to the posture and no more is missed than before; else a part of it is tried.
"""

from poise.kernels.gradients.conditions import evaluate_conditions
from poise.kernels.gradients.flat import find_flat
from poise.kernels.gradients.split import decompose_active, posture_gradient, split
from poise.kernels.gradients.stationary import (
    NEARLY_STILL,
    NOT_UNIQUE,
    STILL,
    partition_conditions,
    stationary_from_start,
)
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import CALL, SOLVED, UNSOLVED
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.requirements.integrate import move
from poise.kernels.solver.ends import aim_at, clip_start

_STEPS = 60
"""Steps that are tried, at most."""
_LONGEST = 0.3
"""The largest joint change of a step [rad or m]: from farther Newton's steps do not lead back."""
_PART, _STILL = 0.25, 1e-9
"""What is left of a step that did not count, and a step that is rest [rad or m]."""
_LEVEL = 1e-9
"""What is missed may have grown by this share, which is rounding."""


@routine
def move_towards_posture(address):
    """From the answer w.start, where all required tasks are fulfilled, to its rest, and on from there where it is one
    of many and a posture decides; w.start becomes where that leads.  The code of the call is UNSOLVED where there is no
    rest."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    request.code = UNSOLVED
    if aim_at(p, w.goal, w.target) and _move_towards_posture(p, w, request) <= NOT_UNIQUE:
        request.code = SOLVED
        for i in range(len(w.q)):
            w.start[i] = w.kkt.stationary[i]


@kernel
def _move_towards_posture(p, w, request):
    """The same; w.kkt.stationary is where it leads.  A code of `stationary`.

    Only which directions are flat, which a posture asks for, takes more than NEARLY_STILL.
    """
    if not _place_free_joints(p, w, request):
        return stationary_from_start(p, w, request, False, NEARLY_STILL)
    code = stationary_from_start(p, w, request, True, STILL)
    if code != NOT_UNIQUE:
        return code
    longest = _step_to_posture(p, w, request)
    missed, away, share = _missed(w), _away(p, w), 1.0
    for i in range(len(w.q)):
        w.kkt.towards_posture[i] = w.kkt.stationary[i]
    for _ in range(_STEPS):
        if not share * longest > _STILL:
            break
        move(p, w.kkt.towards_posture, w.kkt.posture_step, min(share, _LONGEST / longest), w.q)
        clip_start(p, w.q, w.start)
        rests = stationary_from_start(p, w, request, False, STILL) == NOT_UNIQUE
        if rests and _missed(w) <= (1.0 + _LEVEL) * missed and _away(p, w) < away:
            for i in range(len(w.q)):
                w.kkt.towards_posture[i] = w.kkt.stationary[i]
            missed, away, share = min(missed, _missed(w)), _away(p, w), 1.0
            longest = _step_to_posture(p, w, request)
        else:
            share = _PART * min(share, _LONGEST / longest)
    for i in range(len(w.q)):
        w.kkt.stationary[i] = w.kkt.towards_posture[i]
    return code


@kernel
def _place_free_joints(p, w, request):
    """Put the joints of w.start that move no row to the posture, as far as their limits allow, where anything is
    missed; whether it is."""
    soft, missed = False, False
    for b in range(len(p.ranks)):
        soft = soft or not p.ranks[b].required
    if not soft or len(p.posture_weights) == 0:
        return False
    for i in range(len(w.q)):
        w.q[i], w.kkt.towards_posture[i] = w.start[i], w.start[i]
    evaluate_conditions(p, w, request, True)
    for k in range(len(w.kkt.active)):
        w.kkt.active[k], w.kkt.missed[k] = 0.0, 0.0
    partition_conditions(p, w, request)
    for k in range(len(w.kkt.missed)):
        missed = missed or w.kkt.missed[k] > 0.5
    if not missed:
        return False
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        if w.kkt.posture_hessian[c.v] > 0.0:
            w.kkt.towards_posture[c.q] = w.posture_goal[c.q]
    for k in range(len(p.balls)):
        c = p.balls[k]
        if w.kkt.posture_hessian[c.v] > 0.0:
            for j in range(4):
                w.kkt.towards_posture[c.q + j] = w.posture_goal[c.q + j]
    clip_start(p, w.kkt.towards_posture, w.start)
    return True


@kernel
def _step_to_posture(p, w, request):
    """w.kkt.posture_step (n) at w.kkt.stationary, whose conditions are evaluated; its largest entry [rad or m].

    A joint whose limit is weakly active is released where the posture draws it inward.
    """
    n = len(w.step)
    row = pitch(w.kkt.rows, n)
    posture_gradient(p, w.posture_goal, p.posture_weights, w.kkt.stationary, w.kkt.posture_step)
    some = False
    for a in range(n):
        if w.kkt.releasable[a] > 0.5 and w.kkt.limit_side[a] * w.kkt.posture_step[a] > 0.0:
            w.free[a], some = 1.0, True
    if some:
        split(p, w, request, w.kkt.stationary, decompose_active(w))
    found, longest = find_flat(p, w), 0.0
    for a in range(n):
        w.kkt.lagrangian_gradient[a], w.kkt.posture_step[a] = p.posture_weights[a] * w.kkt.posture_step[a], 0.0
    for t in range(found):
        along = 0.0
        for a in range(n):
            along += w.kkt.flat_rows[t * row + a] * w.kkt.lagrangian_gradient[a]
        for a in range(n):
            w.kkt.posture_step[a] = w.kkt.posture_step[a] - along * w.kkt.flat_rows[t * row + a]
    for a in range(n):
        longest = max(longest, abs(w.kkt.posture_step[a]))
    return longest


@kernel
def _missed(w):
    """The squares of what is missed at w.kkt.stationary."""
    value = 0.0
    for k in range(len(w.kkt.residual)):
        value += w.kkt.residual[k] * w.kkt.residual[k] if w.kkt.missed[k] > 0.5 else 0.0
    return value


@kernel
def _away(p, w):
    """The weighted square of the way from w.kkt.stationary to the posture."""
    value = 0.0
    posture_gradient(p, w.posture_goal, p.posture_weights, w.kkt.stationary, w.kkt.lagrangian_gradient)
    for a in range(len(w.kkt.lagrangian_gradient)):
        value += w.kkt.lagrangian_gradient[a] * w.kkt.lagrangian_gradient[a]
    return value
