"""Where an answer rests, what holds it there, and how it moves.

At rest q is the least of f(q) among the configurations with e(q) = 0, within the limits.  f is half of the squares of
what is left of the first tasks that are missed, or of the weighted way from a posture, or nothing.  Newton's steps lead
there from where a search ended.  A limit or a row that must not be crossed holds from where a step meets it for as
long as it pushes.
"""

from poise.kernels.algebra.scalar import uniform
from poise.kernels.gradients.conditions import MOST_CONTACTS, SHAPES, SIDE, SUM, evaluate_conditions, find_contacts
from poise.kernels.gradients.flat import find_flat, flat_size
from poise.kernels.gradients.holding import AT_LIMIT, MAY_RELEASE, WEAK, find_active_set, find_standing
from poise.kernels.gradients.split import (
    FALLING,
    FLAT,
    NO_LEAST,
    decompose_active,
    find_gradient,
    find_multipliers,
    is_wanted,
    largest_curvature,
    move,
    rank_of,
    split,
    turn_between,
)
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import pitch, sqrt
from poise.kernels.machine.layout import CALL
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.solver.ends import aim_at

FOUND, NOT_UNIQUE, INVALID_TARGET, NOT_CONVERGED, SINGULAR, FALLS, DEGENERATE, NOT_LEAST, COUPLED = range(9)
"""How the search ends: at rest; there, but where many q answer as well; not, and why: numbers that make no target, no
rest nearby, fewer directions tied than beside it, no minimum, no curvature in it alone, no function that is least, a
posture that draws several joints together along what is missed."""
_STILL = 1e-9
"""A Newton step towards rest that is this short [rad or m] is the last."""
_NEAR = 0.03
"""How far from rest an answer may be [rad or m]."""
_STEPS = 12
_ASIDE = 0.02
"""How far from an answer it is looked whether rank or curvature are lost there alone [rad or m]."""
_NO_SAY = 1e-12
"""What a joint moves of a row that it has no say in, at most [m or rad a rad or m]."""
_LOOKS = 2
_BACK = 3
_BENT = 1e-5
"""Newton's steps that lead back to rest from there, and the curvature that counts there, against the largest."""


@entry_point(WHOLE)
def conditions_at(address):
    """w.condition_residual and w.condition_rows at w.start for w.goal, with the contacts at hand; whether these are
    numbers."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    for i in range(len(w.q)):
        w.q[i] = w.start[i]
    if not aim_at(p, w.goal, w.target):
        return 0
    evaluate_conditions(p, w, request, True)
    return 1


@entry_point(WHOLE)
def contacts_at(address):
    """w.contact at w.start."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    for i in range(len(w.q)):
        w.q[i] = w.start[i]
    find_contacts(p, w, request)
    return 0


@entry_point(WHOLE)
def find_stationary(address):
    """From the answer w.start for w.goal to its rest w.stationary, with w.residual_sensitivity and
    w.gradient_sensitivity there; how it ends.

    `given` says whether all that is required is fulfilled.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    code = stationary_from_start(p, w, request, True)
    return COUPLED if code == NOT_UNIQUE and find_flat(p, w) > 0 else code


@kernel
def stationary_from_start(p, w, request, check_nearby):
    """`find_stationary`, but for how a posture draws q along what is missed.

    Without `check_nearby` it is not looked beside the rest whether rank or curvature are lost there alone.
    """
    for i in range(len(w.q)):
        w.q[i], w.stationary[i], w.stationary_start[i] = w.start[i], w.start[i], w.start[i]
    for k in range(len(w.condition_residual)):
        w.active[k], w.missed[k], w.multiplier[k] = 0.0, 0.0, 0.0
    for i in range(len(w.releasable)):
        w.releasable[i] = 0.0
    if not aim_at(p, w.goal, w.target):
        return INVALID_TARGET
    if request.scene != 0:
        find_contacts(p, w, request)
    evaluate_conditions(p, w, request, True)
    for k in range(len(w.condition_residual)):
        if not abs(w.condition_residual[k]) < 1e300:
            return INVALID_TARGET
    partition_conditions(p, w, request)
    wanted = is_wanted(w)
    _begin(p, w, wanted)
    ended, code, active_rows = not wanted, FOUND, 0
    for _ in range(_STEPS):
        active_rows = find_active_set(p, w, wanted)
        code = _split_soundly(p, w, request, active_rows, check_nearby)
        if code > NOT_UNIQUE or not wanted:
            break
        ended = _step(p, w) <= _STILL
        if not ended:
            _stop_short(w)
        _go(p, w)
        if ended:
            break
        if not _distance(p, w) <= _NEAR:
            return NOT_CONVERGED
        evaluate_conditions(p, w, request, True)
    if code > NOT_UNIQUE:
        return code
    return _find_releasable(p, w, request, code, check_nearby) if ended else NOT_CONVERGED


# What there is ------------------------------------------------------------------------------------------------------


@kernel
def partition_conditions(p, w, request):
    """What of the tasks holds, and what is missed and to be least, into w.active, w.missed and w.posture_hessian.

    Levels are looked at in their order: what is fulfilled holds, and of the first that is not its rows are to be least.
    A range that is fulfilled asks for nothing but its sides.  A posture is to be least where nothing is missed, else
    over the joints that no row has a say in.
    """
    solved = request.given != 0
    missing, level, some = False, 0, True
    while some and not missing:
        some = False
        for b in range(len(p.ranks)):
            rank, block = p.ranks[b], p.blocks[b]
            if rank.level == level:
                some = True
                if not rank.loop and not (solved and rank.required):
                    square = 0.0
                    for r in range(3):
                        left = w.condition_residual[3 * b + r] * block.inverse_weight[r]
                        square += left * left
                    if not square * (block.inverse_square_tolerance + block.enough) <= 1.0:
                        missing = True
        for b in range(len(p.ranks)):
            rank = p.ranks[b]
            if rank.level == level:
                for r in range(3):
                    if rank.loop:
                        w.active[3 * b + r] = 1.0
                    elif missing:
                        w.missed[3 * b + r] = 1.0
                    elif not rank.sided:
                        w.active[3 * b + r] = 1.0
        level += 1
    counts = solved and len(p.posture_weights) > 0
    for a in range(len(w.posture_hessian)):
        w.posture_hessian[a] = p.posture_weights[a] * p.posture_weights[a] if counts and not missing else 0.0
    if counts and missing:
        _weigh_free_joints(p, w, request)


@kernel
def _weigh_free_joints(p, w, request):
    """Let a posture draw the joints that no row has a say in, at w.start, where w.q is, and beside it.

    Its weights are against the largest, for only their ratios count, and what is missed has units of its own.
    """
    n, largest = len(w.step), 0.0
    row = pitch(w.condition_rows, n)
    for a in range(n):
        largest = max(largest, p.posture_weights[a])
    for a in range(n):
        w.posture_hessian[a] = (p.posture_weights[a] / largest) ** 2 if largest > 0.0 else 0.0
    for t in range(_LOOKS):
        for k in range(len(w.condition_residual)):
            for a in range(n):
                if abs(w.condition_rows[k * row + a]) > _NO_SAY:
                    w.posture_hessian[a] = 0.0
        for a in range(n):
            w.moved[a] = _ASIDE * (2.0 * uniform(0, t * n + a) - 1.0) if t + 1 < _LOOKS else 0.0
        move(p, w.start, w.moved, 1.0, w.q)
        evaluate_conditions(p, w, request, True)
    for k in range(len(p.balls)):
        a = p.balls[k].v
        if w.posture_hessian[a] * w.posture_hessian[a + 1] * w.posture_hessian[a + 2] == 0.0:
            w.posture_hessian[a], w.posture_hessian[a + 1], w.posture_hessian[a + 2] = 0.0, 0.0, 0.0


@kernel
def _begin(p, w, wanted):
    """What stands at a limit or a border at w.q, and what may move."""
    c = len(w.e)
    for k in range(len(w.range_residual)):
        w.active[c + k] = 1.0 if w.condition_residual[c + k] <= (SIDE if wanted else AT_LIMIT) else 0.0
    c += len(w.range_residual)
    sums = len(p.inequalities) // (len(w.step) + 1)
    shapes = MOST_CONTACTS if len(w.contact) > 0 else 0
    for k in range(c, len(w.condition_residual)):
        near = SHAPES if c + sums <= k < c + sums + shapes else SUM
        w.active[k] = 1.0 if w.condition_residual[k] <= (near if wanted else AT_LIMIT) else 0.0
    for a in range(len(w.moving)):
        w.moving[a] = 1.0 if p.movable[a] > 0.5 or w.posture_hessian[a] > 0.0 else 0.0
        w.limit_side[a] = 0.0
    for k in range(len(p.coordinates)):
        x = p.coordinates[k]
        below, above = w.q[x.q] <= x.lower + AT_LIMIT, w.q[x.q] >= x.upper - AT_LIMIT
        if below or above:
            w.limit_side[x.v] = (2.0 if above else -1.0) if below else 1.0


# What is sound -----------------------------------------------------------------------------------------------------


@kernel
def _split_soundly(p, w, request, active_rows, check_nearby):
    """`split` at w.stationary, and whether it is sound, there and with `check_nearby` beside it: FOUND or NOT_UNIQUE,
    or why it is not."""
    free = 0
    for a in range(len(w.free)):
        free += 1 if w.free[a] > 0.5 else 0
    rank = rank_of(active_rows, w)
    if check_nearby and rank < min(active_rows, free) and _rank_nearby(p, w, request) > rank:
        return SINGULAR
    count, flat, kind = split(p, w, request, w.stationary, active_rows)
    if kind == NO_LEAST:
        return NOT_LEAST
    if kind == FALLING:
        return FALLS
    if check_nearby and kind == FLAT and _is_bent(p, w, request, count, flat):
        return DEGENERATE
    return NOT_UNIQUE if flat > 0 or (count > 0 and not is_wanted(w)) else FOUND


@kernel
def _look_again(p, w, request):
    """Let all be as at w.stationary; how many rows hold."""
    for i in range(len(w.q)):
        w.q[i] = w.stationary[i]
    evaluate_conditions(p, w, request, True)
    return decompose_active(w)


@kernel
def _rank_nearby(p, w, request):
    """The rank of what holds at configurations beside w.stationary."""
    n, best = len(w.step), 0
    for t in range(_LOOKS):
        for a in range(n):
            w.moved[a] = w.free[a] * _ASIDE * (2.0 * uniform(0, t * n + a) - 1.0)
        move(p, w.stationary, w.moved, 1.0, w.q)
        evaluate_conditions(p, w, request, True)
        best = max(best, rank_of(decompose_active(w), w))
    _look_again(p, w, request)
    return best


@kernel
def _is_bent(p, w, request, count, flat):
    """Whether fewer directions than those that are flat at w.stationary are flat beside it, at rest again there."""
    n = len(w.step)
    row, inner_row, bound = pitch(w.null_rows, n), pitch(w.inner_left, count), flat_size(w)
    for a in range(n):
        w.moved[a] = 0.0
    for t in range(count):
        if not w.inner_sizes[t] > bound:
            for a in range(n):
                for u in range(count):
                    w.moved[a] = w.moved[a] + w.inner_left[t * inner_row + u] * w.null_rows[u * row + a]
    for a in range(n):
        w.moved[a] = w.moved[a] * _ASIDE / sqrt(1.0 * flat)
    for i in range(len(w.q)):
        w.perturbed[i] = w.stationary[i]
    for _ in range(_BACK):
        move(p, w.perturbed, w.moved, 1.0, w.q)
        for i in range(len(w.q)):
            w.perturbed[i] = w.q[i]
        evaluate_conditions(p, w, request, True)
        active_rows = decompose_active(w)
        find_gradient(p, w, 0.0, w.lagrangian_gradient)
        find_multipliers(active_rows, w)
        count, _, _ = split(p, w, request, w.perturbed, active_rows)
        _step(p, w)
        for a in range(n):
            w.moved[a] = w.step[a]
    left, bound = 0, _BENT * largest_curvature(w)
    for t in range(count):
        left += 1 if w.inner_sizes[t] <= bound else 0
    active_rows = _look_again(p, w, request)
    find_gradient(p, w, 0.0, w.lagrangian_gradient)
    find_multipliers(active_rows, w)
    split(p, w, request, w.stationary, active_rows)
    return left < flat


# The way there ------------------------------------------------------------------------------------------------------


@kernel
def _step(p, w):
    """w.step, Newton's step from w.q, whose rows are at hand; its largest entry [rad or m]."""
    n, m, largest = len(w.step), len(w.condition_residual), 0.0
    find_gradient(p, w, 1.0, w.lagrangian_gradient)
    for a in range(n):
        value = 0.0
        for k in range(m):
            if w.active[k] > 0.5:
                value += w.residual_sensitivity[a * m + k] * w.condition_residual[k]
        for b in range(n):
            value -= w.gradient_sensitivity[a * n + b] * w.lagrangian_gradient[b]
        w.step[a] = value
        largest = max(largest, abs(value)) if value == value else 1e300
    return largest


@kernel
def _stop_short(w):
    """Let w.step end at the first row that it would cross, which holds from there on (Nocedal and Wright 2006, equation
    16.41)."""
    n, first = len(w.step), -1
    row, share = pitch(w.condition_rows, n), 1.0
    for k in range(len(w.e), len(w.condition_residual)):
        if w.active[k] < 0.5:
            along, slack = 0.0, max(w.condition_residual[k], 0.0)
            for a in range(n):
                along += w.condition_rows[k * row + a] * w.step[a]
            if along > slack and slack < share * along:
                first, share = k, slack / along
    if first >= 0:
        w.active[first] = 1.0
        for a in range(n):
            w.step[a] = share * w.step[a]


@kernel
def _go(p, w):
    """Take w.step from w.stationary, within the limits, which hold what would have left them."""
    move(p, w.stationary, w.step, 1.0, w.q)
    for k in range(len(p.coordinates)):
        x = p.coordinates[k]
        if w.q[x.q] < x.lower:
            w.q[x.q] = x.lower
            w.limit_side[x.v] = w.limit_side[x.v] if w.limit_side[x.v] != 0.0 else -1.0
        if w.q[x.q] > x.upper:
            w.q[x.q] = x.upper
            w.limit_side[x.v] = w.limit_side[x.v] if w.limit_side[x.v] != 0.0 else 1.0
    for i in range(len(w.q)):
        w.stationary[i] = w.q[i]


@kernel
def _distance(p, w):
    """How far w.stationary is from where the search for it began [rad or m]."""
    square, q, r = 0.0, w.stationary, w.stationary_start
    for k in range(len(p.coordinates)):
        i = p.coordinates[k].q
        square += (q[i] - r[i]) ** 2
    for k in range(len(p.balls)):
        i = p.balls[k].q
        turn, x, y, z = turn_between(r[i], r[i + 1], r[i + 2], r[i + 3], q[i], q[i + 1], q[i + 2], q[i + 3])
        square += turn * turn * (x * x + y * y + z * z)
    return sqrt(square)


@kernel
def _find_releasable(p, w, request, code, check_nearby):
    """Let w.releasable be what holds with no multiplier and whose letting go would change the derivative; the code, or
    why there is none then."""
    n, m, some = len(w.step), len(w.condition_residual), False
    find_standing(p, w)
    for a in range(n):
        if w.releasable[a] == MAY_RELEASE:
            some = True
            w.free[a] = 1.0
            other = _split_soundly(p, w, request, decompose_active(w), check_nearby)
            if other > NOT_UNIQUE:
                return other
            largest = 0.0
            for k in range(m):
                largest = max(largest, abs(w.residual_sensitivity[a * m + k]))
            for b in range(n):
                largest = max(largest, abs(w.gradient_sensitivity[a * n + b]))
            w.releasable[a] = MAY_RELEASE if largest > WEAK else 0.0
            w.free[a] = 0.0
    if some:
        split(p, w, request, w.stationary, decompose_active(w))
    return code
