"""The stationary point next to an answer, its active constraints, and the sensitivity of q there.

The stationary point, the rest, is the least of f(q) among the configurations with e(q) = 0, within the limits and the
inequalities.  f is |residuals|^2 / 2 of the first level of tasks that is missed, or half the weighted square of the way
from a posture, or nothing.  Newton's steps on the Lagrangian lead there from where a search ended.  A limit or an
inequality is active from where a step meets it, for as long as its multiplier has the right sign.
"""

from poise.kernels.algebra.scalar import uniform
from poise.kernels.gradients.conditions import MOST_CONTACTS, SHAPES, SIDE, SUM, evaluate_conditions, find_contacts
from poise.kernels.gradients.flat import find_flat, flat_size
from poise.kernels.gradients.holding import MAY_RELEASE, WEAK, find_active_set, find_standing
from poise.kernels.gradients.split import (
    FALLING,
    FLAT,
    NO_LEAST,
    decompose_active,
    find_gradient,
    find_multipliers,
    is_wanted,
    largest_curvature,
    rank_of,
    split,
)
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import pitch, sqrt
from poise.kernels.machine.layout import AT_LIMIT, CALL
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.requirements.integrate import move
from poise.kernels.rows.sums import sum_count
from poise.kernels.solver.ends import aim_at
from poise.kernels.solver.nearness import square_between

FOUND, NOT_UNIQUE, INVALID_TARGET, NOT_CONVERGED, SINGULAR, FALLS, DEGENERATE, NOT_LEAST, COUPLED = range(9)
"""How the search ends, in this order: at a rest; at one of many that answer as well; then why there is no derivative:
the numbers make no target; no rest nearby; the rank of the active rows is lower there than beside it; a saddle or
maximum along some direction; the curvature vanishes there alone; residuals whose rows are not their derivatives; a
posture that decides along directions in which what is missed is flat, so that joints are coupled."""
STILL = 1e-9
"""A Newton step towards rest that is this short [rad or m] is the last: sensitivities are those of where it began."""
NEARLY_STILL = 1e-6
"""The same where only the rest is asked for: the next one would be about the square of it."""
_NEAR = 0.03
"""How far Newton's steps may lead from the answer [rad or m]: a rest farther away is of another answer."""
_STEPS = 12
"""Newton's steps at most."""
_ASIDE = 0.02
"""How far beside the rest rank and curvature are compared [rad or m], to see whether they are lost there alone."""
_NO_SAY = 1e-12
"""A joint does not move a row where its entry is no more than this [m or rad a rad or m]."""
_LOOKS = 2
"""Configurations that are looked at in such a comparison."""
_ALONG = 1e-3
"""The cosine up to which a direction is across a row."""
_BACK = 3
"""Newton's steps that lead from beside the rest back to what is stationary there."""
_BENT = 1e-5
"""A curvature there counts as none up to this share of the largest: looser than at the rest, for it is not exact."""


@entry_point(WHOLE)
def conditions_at(address):
    """w.kkt.residual and w.kkt.rows at w.start for w.goal, with the pairs of w.kkt.contact; 0 for no goal."""
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
    """Find the pairs of shapes in contact at w.start, into w.kkt.contact."""
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    for i in range(len(w.q)):
        w.q[i] = w.start[i]
    find_contacts(p, w, request)


@entry_point(WHOLE)
def find_stationary(address):
    """From the answer w.start for w.goal to its rest w.kkt.stationary; a code, see FOUND.

    There w.kkt.residual_sensitivity (n x c) is dq by changes of the conditions' residuals, w.kkt.gradient_sensitivity
    (n x n) minus dq by changes of the gradient.  `given` says whether all required tasks are fulfilled.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    w = narrow(p, request.narrow, request.routines)
    code = stationary_from_start(p, w, request, True, STILL)
    return COUPLED if code == NOT_UNIQUE and find_flat(p, w) > 0 else code


@kernel
def stationary_from_start(p, w, request, check_nearby, still):
    """`find_stationary` without the code COUPLED; a step of `still` that nothing cuts short is the last.

    Without `check_nearby` rank and curvature are not compared with those beside the rest.
    """
    for i in range(len(w.q)):
        w.q[i], w.kkt.stationary[i], w.kkt.stationary_start[i] = w.start[i], w.start[i], w.start[i]
    for k in range(len(w.kkt.residual)):
        w.kkt.active[k], w.kkt.missed[k], w.kkt.multiplier[k] = 0.0, 0.0, 0.0
    for i in range(len(w.kkt.releasable)):
        w.kkt.releasable[i] = 0.0
    if not aim_at(p, w.goal, w.target):
        return INVALID_TARGET
    if request.scene != 0:
        find_contacts(p, w, request)
    evaluate_conditions(p, w, request, True)
    for k in range(len(w.kkt.residual)):
        if not abs(w.kkt.residual[k]) < 1e300:
            return INVALID_TARGET
    partition_conditions(p, w, request)
    wanted = is_wanted(w)
    _begin(p, w, wanted)
    # Without an f to be least, the answer itself is the rest, and only its sensitivity is asked for.
    ended, code, active_rows = not wanted, FOUND, 0
    for _ in range(_STEPS):
        active_rows = find_active_set(p, w, wanted)
        code = _split_soundly(p, w, request, active_rows, check_nearby)
        if code > NOT_UNIQUE or not wanted:
            break
        size = _step(p, w)
        ended = size <= STILL
        cut = not ended and _stop_short(w)
        ended = not (_go(p, w) or cut or size > still) or ended
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
    """Sort the tasks' rows into equations, w.kkt.active, and residuals to be least, w.kkt.missed; and
    w.kkt.posture_hessian (n).

    Levels are looked at in their order: those that are fulfilled are equations, and of the first that is not the rows
    are missed; levels after that have no say.  A range that is fulfilled gives only its sides.  A posture is to be
    least where nothing is missed, else over the joints that no row moves with.
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
                        left = w.kkt.residual[3 * b + r] * block.inverse_weight[r]
                        square += left * left
                    if not square * (block.inverse_square_tolerance + block.enough) <= 1.0:
                        missing = True
        for b in range(len(p.ranks)):
            rank = p.ranks[b]
            if rank.level == level:
                for r in range(3):
                    if rank.loop:
                        w.kkt.active[3 * b + r] = 1.0
                    elif missing:
                        w.kkt.missed[3 * b + r] = 1.0
                    elif not rank.sided:
                        w.kkt.active[3 * b + r] = 1.0
        level += 1
    counts = solved and len(p.posture_weights) > 0
    for a in range(len(w.kkt.posture_hessian)):
        w.kkt.posture_hessian[a] = p.posture_weights[a] * p.posture_weights[a] if counts and not missing else 0.0
    if counts and missing:
        _weigh_free_joints(p, w, request)


@kernel
def _weigh_free_joints(p, w, request):
    """Keep w.kkt.posture_hessian for the joints alone that move no row, neither at w.start, where w.q is, nor beside
    it.

    Its weights are relative to the largest: only their ratios count, for what is missed has units of its own.  A ball
    counts as a whole.
    """
    n, largest = len(w.step), 0.0
    row = pitch(w.kkt.rows, n)
    for a in range(n):
        largest = max(largest, p.posture_weights[a])
    for a in range(n):
        w.kkt.posture_hessian[a] = (p.posture_weights[a] / largest) ** 2 if largest > 0.0 else 0.0
    for t in range(_LOOKS):
        for k in range(len(w.kkt.residual)):
            for a in range(n):
                if abs(w.kkt.rows[k * row + a]) > _NO_SAY:
                    w.kkt.posture_hessian[a] = 0.0
        for a in range(n):
            w.moved[a] = _ASIDE * (2.0 * uniform(0, t * n + a) - 1.0) if t + 1 < _LOOKS else 0.0
        move(p, w.start, w.moved, 1.0, w.q)
        evaluate_conditions(p, w, request, True)
    for k in range(len(p.balls)):
        a = p.balls[k].v
        if w.kkt.posture_hessian[a] * w.kkt.posture_hessian[a + 1] * w.kkt.posture_hessian[a + 2] == 0.0:
            w.kkt.posture_hessian[a], w.kkt.posture_hessian[a + 1], w.kkt.posture_hessian[a + 2] = 0.0, 0.0, 0.0


@kernel
def _begin(p, w, wanted):
    """The first guess of the active set at w.q: rows and limits that it stands at; and w.kkt.moving, what may move.

    Steps keep a reserve of sides, sums and distances, so where f pushes an answer stands that far from them.
    """
    c = len(w.e)
    for k in range(len(w.sides.residual)):
        w.kkt.active[c + k] = 1.0 if w.kkt.residual[c + k] <= (SIDE if wanted else AT_LIMIT) else 0.0
    c += len(w.sides.residual)
    sums = sum_count(p, len(w.q))
    shapes = MOST_CONTACTS if len(w.kkt.contact) > 0 else 0
    for k in range(c, len(w.kkt.residual)):
        near = SHAPES if c + sums <= k < c + sums + shapes else SUM
        w.kkt.active[k] = 1.0 if w.kkt.residual[k] <= (near if wanted else AT_LIMIT) else 0.0
    for a in range(len(w.kkt.moving)):
        w.kkt.moving[a] = 1.0 if p.movable[a] > 0.5 or w.kkt.posture_hessian[a] > 0.0 else 0.0
        w.kkt.limit_side[a] = 0.0
    for k in range(len(p.coordinates)):
        x = p.coordinates[k]
        below, above = w.q[x.q] <= x.lower + AT_LIMIT, w.q[x.q] >= x.upper - AT_LIMIT
        if below or above:
            w.kkt.limit_side[x.v] = (2.0 if above else -1.0) if below else 1.0


# What is sound -----------------------------------------------------------------------------------------------------


@kernel
def _split_soundly(p, w, request, active_rows, check_nearby):
    """`split` at w.kkt.stationary: FOUND or NOT_UNIQUE where the derivative exists, else the code that says why not.

    With `check_nearby` rank and flatness must be the same beside it.
    """
    free = 0
    for a in range(len(w.free)):  # without those that only a posture moves
        free += 1 if w.free[a] > 0.5 and p.movable[a] > 0.5 else 0
    rank = rank_of(active_rows, w)
    if check_nearby and rank < min(active_rows, free) and _rank_nearby(p, w, request) > rank:
        return SINGULAR
    count, flat, kind = split(p, w, request, w.kkt.stationary, active_rows)
    if kind == NO_LEAST:
        return NOT_LEAST
    if kind == FALLING:
        return FALLS
    if check_nearby and kind == FLAT and _is_bent(p, w, request, count, flat):
        return DEGENERATE
    return NOT_UNIQUE if flat > 0 or (count > 0 and not is_wanted(w)) else FOUND


@kernel
def _look_again(p, w, request):
    """Evaluate and decompose the active rows at w.kkt.stationary again; how many there are."""
    for i in range(len(w.q)):
        w.q[i] = w.kkt.stationary[i]
    evaluate_conditions(p, w, request, True)
    return decompose_active(w)


@kernel
def _rank_nearby(p, w, request):
    """The largest rank of the active rows at configurations beside w.kkt.stationary."""
    n, best = len(w.step), 0
    for t in range(_LOOKS):
        for a in range(n):
            w.moved[a] = w.free[a] * _ASIDE * (2.0 * uniform(0, t * n + a) - 1.0)
        move(p, w.kkt.stationary, w.moved, 1.0, w.q)
        evaluate_conditions(p, w, request, True)
        best = max(best, rank_of(decompose_active(w), w))
    _look_again(p, w, request)
    return best


@kernel
def _changes_missed(w):
    """Whether w.moved changes what is missed to first order."""
    n = len(w.step)
    row = pitch(w.kkt.rows, n)
    for k in range(len(w.kkt.missed)):
        along, square, length = 0.0, 0.0, 0.0
        for a in range(n if w.kkt.missed[k] > 0.5 else 0):
            along += w.kkt.rows[k * row + a] * w.moved[a]
            square += w.kkt.rows[k * row + a] ** 2
            length += w.moved[a] ** 2
        if along * along > _ALONG * _ALONG * square * length:
            return True
    return False


@kernel
def _is_bent(p, w, request, count, flat):
    """Whether fewer than `flat` directions are flat at the stationary point that is next to w.kkt.stationary, _ASIDE
    along the flat ones: then the curvature vanishes at w.kkt.stationary alone, and q is no smooth function there.  Nor
    is it where a flat direction changes what is missed, as around the centre of a sphere: any change of the target
    leads all along it."""
    n = len(w.step)
    row, inner_row, bound = pitch(w.kkt.null_rows, n), pitch(w.kkt.inner_left, count), flat_size(w)
    for a in range(n):
        w.moved[a] = 0.0
    for t in range(count):
        if not w.kkt.inner_sizes[t] > bound:
            for a in range(n):
                for u in range(count):
                    w.moved[a] = w.moved[a] + w.kkt.inner_left[t * inner_row + u] * w.kkt.null_rows[u * row + a]
    if _changes_missed(w):
        return True
    for a in range(n):
        w.moved[a] = w.moved[a] * _ASIDE / sqrt(1.0 * flat)
    for i in range(len(w.q)):
        w.kkt.perturbed[i] = w.kkt.stationary[i]
    for _ in range(_BACK):
        move(p, w.kkt.perturbed, w.moved, 1.0, w.q)
        for i in range(len(w.q)):
            w.kkt.perturbed[i] = w.q[i]
        evaluate_conditions(p, w, request, True)
        active_rows = decompose_active(w)
        find_gradient(p, w, 0.0, w.kkt.lagrangian_gradient)
        find_multipliers(active_rows, w)
        count, _, _ = split(p, w, request, w.kkt.perturbed, active_rows)
        _step(p, w)
        for a in range(n):
            w.moved[a] = w.step[a]
    left, bound = 0, _BENT * largest_curvature(w)
    for t in range(count):
        left += 1 if w.kkt.inner_sizes[t] <= bound else 0
    active_rows = _look_again(p, w, request)
    find_gradient(p, w, 0.0, w.kkt.lagrangian_gradient)
    find_multipliers(active_rows, w)
    split(p, w, request, w.kkt.stationary, active_rows)
    return left < flat


# The way there ------------------------------------------------------------------------------------------------------


@kernel
def _step(p, w):
    """w.step = R e - G g, Newton's step from w.q, R and G being the sensitivities there, g the gradient of the
    Lagrangian; its largest entry [rad or m]."""
    n, m, largest = len(w.step), len(w.kkt.residual), 0.0
    find_gradient(p, w, 1.0, w.kkt.lagrangian_gradient)
    for a in range(n):
        value = 0.0
        for k in range(m):
            if w.kkt.active[k] > 0.5:
                value += w.kkt.residual_sensitivity[a * m + k] * w.kkt.residual[k]
        for b in range(n):
            value -= w.kkt.gradient_sensitivity[a * n + b] * w.kkt.lagrangian_gradient[b]
        w.step[a] = value
        largest = max(largest, abs(value)) if value == value else 1e300
    return largest


@kernel
def _stop_short(w):
    """Shorten w.step to end at the first inequality that it would cross, which is active from there on (Nocedal and
    Wright 2006, equation 16.41); whether there is one."""
    n, first = len(w.step), -1
    row, share = pitch(w.kkt.rows, n), 1.0
    for k in range(len(w.e), len(w.kkt.residual)):
        if w.kkt.active[k] < 0.5:
            along, slack = 0.0, max(w.kkt.residual[k], 0.0)
            for a in range(n):
                along += w.kkt.rows[k * row + a] * w.step[a]
            if along > slack and slack < share * along:
                first, share = k, slack / along
    if first >= 0:
        w.kkt.active[first] = 1.0
        for a in range(n):
            w.step[a] = share * w.step[a]
    return first >= 0


@kernel
def _go(p, w):
    """Move w.kkt.stationary by w.step, clipped to the limits; a joint that is clipped is held there,
    w.kkt.limit_side.  Whether one is."""
    clipped = False
    move(p, w.kkt.stationary, w.step, 1.0, w.q)
    for k in range(len(p.coordinates)):
        x = p.coordinates[k]
        if w.q[x.q] < x.lower:
            w.q[x.q], clipped = x.lower, True
            w.kkt.limit_side[x.v] = w.kkt.limit_side[x.v] if w.kkt.limit_side[x.v] != 0.0 else -1.0
        if w.q[x.q] > x.upper:
            w.q[x.q], clipped = x.upper, True
            w.kkt.limit_side[x.v] = w.kkt.limit_side[x.v] if w.kkt.limit_side[x.v] != 0.0 else 1.0
    for i in range(len(w.q)):
        w.kkt.stationary[i] = w.q[i]
    return clipped


@kernel
def _distance(p, w):
    """How far w.kkt.stationary is from where the search for it began [rad or m]."""
    return sqrt(square_between(p, w.kkt.stationary, w.kkt.stationary_start))


@kernel
def _find_releasable(p, w, request, code, check_nearby):
    """Find the weakly active limits, whose multiplier is zero, and release each for a trial: w.kkt.releasable is kept
    for those that change the derivative, which is then one-sided.  The code, or that of a trial without a
    derivative."""
    n, m, some = len(w.step), len(w.kkt.residual), False
    find_standing(p, w)
    for a in range(n):
        if w.kkt.releasable[a] == MAY_RELEASE:
            some = True
            w.free[a] = 1.0
            other = _split_soundly(p, w, request, decompose_active(w), check_nearby)
            if other > NOT_UNIQUE:
                return other
            largest = 0.0
            for k in range(m):
                largest = max(largest, abs(w.kkt.residual_sensitivity[a * m + k]))
            for b in range(n):
                largest = max(largest, abs(w.kkt.gradient_sensitivity[a * n + b]))
            w.kkt.releasable[a] = MAY_RELEASE if largest > WEAK else 0.0
            w.free[a] = 0.0
    if some:
        split(p, w, request, w.kkt.stationary, decompose_active(w))
    return code
