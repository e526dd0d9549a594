"""The derivatives of many answers by the pose of one frame: J^+, the least change, with the joints at limits held.

Eight answers side by side.  The rows of J over the free joints are made orthonormal one after the other, J = L Q
(modified Gram-Schmidt, Bjorck 1967), so J^+ = Q^T L^-1: with no product J J^T its error grows like the condition of J,
not like the square of that.  No lane knows of another, so an answer has the same derivative alone and among others, to
the bit.
"""

from poise.kernels.kinematics.forward import forward, jacobian_columns, tool_point
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import WHOLE
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import AT_LIMIT, CALL, WIDTH
from poise.kernels.machine.views import entry_at, problem_at, rows_at, section, wide

SINGULAR, SMOOTH, ONE_SIDED = 0, 1, 2
"""What is known of an answer: J is near to singular, and there is no derivative; it is smooth; or a joint that moves
the frame stands at a limit, and the derivative is one-sided."""
_LEAST = 1e-6
"""J is near to singular where less than this share of the longest row is left of one, beside those before it."""
_ROWS = 6


@entry_point(WHOLE)
def pose_inverses(address):
    """J^+ (n, active velocities, 6) by a twist of the target, or with cotangents (n, active velocities) these times
    J^+ (n, 6), into `answers`, and what is known of each into `found` (n), for `problems` answers q (n, nq) at
    `starts`; the cotangents are at `goals`, which is 0 without.
    """
    request = entry_at(address, CALL)
    p = problem_at(request.problem)
    v = wide(p, request.wide, request.wide_routines)
    count, n, many = len(v.q), len(v.free), request.problems
    q, known = rows_at(request.starts, many * count), rows_at(request.found, many)
    pulled = request.goals != 0
    cotangents = rows_at(request.goals, many * n if pulled else 0)
    out = rows_at(request.answers, many * (_ROWS if pulled else _ROWS * n))
    effector = p.effectors[0]
    for first in range(0, many, WIDTH):
        some = min(WIDTH, many - first)
        for lane in range(WIDTH):
            k = first + min(lane, some - 1)
            for i in range(count):
                v.q[i, lane] = q[k * count + i]
            for a in range(n if pulled else 0):
                v.step[a, lane] = cotangents[k * n + a]
        _factor(p, v)
        for lane in range(some):
            known[first + lane] = v.y[0, lane]
        if pulled:
            for i in range(_ROWS):
                value = splat(v.q, 0.0)
                for c in range(effector.columns):
                    a = p.slots[effector.first_slot + c]
                    value = value + load(v.jacobian, _row(effector, i, c)) * load(v.step, a)
                store(v.e, i, value)
            _divide(v.matrix, v.e)
            for lane in range(some):
                for i in range(_ROWS):
                    out[_ROWS * (first + lane) + i] = v.e[i, lane]
        else:
            for lane in range(some):
                for i in range(_ROWS * n):
                    out[_ROWS * n * (first + lane) + i] = 0.0
            for c in range(effector.columns):
                for i in range(_ROWS):
                    store(v.e, i, load(v.jacobian, _row(effector, i, c)))
                _divide(v.matrix, v.e)
                a = p.slots[effector.first_slot + c]
                for lane in range(some):
                    for i in range(_ROWS):
                        out[_ROWS * (n * (first + lane) + a) + i] = v.e[i, lane]
    return many


@kernel
def _row(effector, i, c):
    """Where entry i of column c of the Jacobian is: the linear rows, then the angular ones."""
    return effector.linear + 3 * c + i if i < 3 else effector.angular + 3 * c + i - 3


@kernel
def _factor(p, v):
    """L, its diagonal inverted, into v.matrix, and Q in the place of the Jacobian at v.q; what is known of each lane
    into row 0 of v.y."""
    forward(p.units, p.pieces, v.q, v.frames)
    effector, n = p.effectors[0], len(v.free)
    x, y, z = tool_point(effector, v.frames)
    linear = section(v.jacobian, effector.linear, 3 * effector.columns)
    angular = section(v.jacobian, effector.angular, 3 * effector.columns)
    jacobian_columns(p.columns, effector.first_column, effector.last_column, v.frames, x, y, z, linear, angular)
    for a in range(n):
        store(v.free, a, splat(v.q, 1.0))
    for c in range(len(p.coordinates)):
        coordinate = p.coordinates[c]
        at = load(v.q, coordinate.q)
        held = (at <= coordinate.lower + AT_LIMIT) | (at >= coordinate.upper - AT_LIMIT)
        store(v.free, coordinate.v, select(held, splat(v.q, 0.0), splat(v.q, 1.0)))
    known = splat(v.q, 1.0 * SMOOTH)
    for c in range(effector.columns):
        free, moves = load(v.free, p.slots[effector.first_slot + c]), splat(v.q, 0.0)
        for i in range(_ROWS):
            at = _row(effector, i, c)
            value = load(v.jacobian, at)
            moves = moves + value * value
            store(v.jacobian, at, free * value)
        known = select((free < 0.5) & (moves > 0.0), splat(v.q, 1.0 * ONE_SIDED), known)
    longest, least = splat(v.q, 0.0), splat(v.q, 1e300)
    for i in range(_ROWS):
        square = splat(v.q, 0.0)
        for c in range(effector.columns):
            value = load(v.jacobian, _row(effector, i, c))
            square = square + value * value
        longest = select(square > longest, square, longest)
    for i in range(_ROWS):
        square = splat(v.q, 0.0)
        for c in range(effector.columns):
            value = load(v.jacobian, _row(effector, i, c))
            square = square + value * value
        least = select(square < least, square, least)
        # Row i is what is left of it beside the rows before: its length is L_ii, stored inverted.
        shorter = 1.0 / sqrt(square)
        store(v.matrix, _ROWS * i + i, shorter)
        for c in range(effector.columns):
            at = _row(effector, i, c)
            store(v.jacobian, at, load(v.jacobian, at) * shorter)
        for j in range(i + 1, _ROWS):
            along = splat(v.q, 0.0)
            for c in range(effector.columns):
                along = along + load(v.jacobian, _row(effector, i, c)) * load(v.jacobian, _row(effector, j, c))
            store(v.matrix, _ROWS * j + i, along)
            for c in range(effector.columns):
                at = _row(effector, j, c)
                store(v.jacobian, at, load(v.jacobian, at) - along * load(v.jacobian, _row(effector, i, c)))
    store(v.y, 0, select(least > (_LEAST * _LEAST) * longest, known, splat(v.q, 1.0 * SINGULAR)))


@kernel
def _divide(matrix, x):
    """Replace x (6) by x L^-1, of L with its diagonal inverted."""
    for i in range(_ROWS - 1, -1, -1):
        value = load(x, i)
        for j in range(i + 1, _ROWS):
            value = value - load(x, j) * load(matrix, _ROWS * j + i)
        store(x, i, value * load(matrix, _ROWS * i + i))
