"""All branches of six axes that lie anyhow: zeros of a determinant, and Newton's steps from each, in lanes.

Each zero must lead to a solution of its own, and nothing else may be found; else another choice of the angle that the
determinant is of is tried as well.  Where one choice has all that any has found, nothing is missing; where some of its
zeros cannot be told apart, another choice must say the same.
"""

import numpy as np

from poise.kernels.algebra.scalar import sincos
from poise.kernels.algebra.vectors import cross, dot, minus, plus, scaled, turned, vector
from poise.kernels.closed_form.candidates import FITS, LOOSE, PLACE_ERROR, SCORE, TURN, TURN_ERROR, put
from poise.kernels.closed_form.circle import ENDS, FOUND, value, zeros
from poise.kernels.closed_form.elimination import coefficients, line_of, put_vector
from poise.kernels.closed_form.other_angles import ANGLES, OTHERS, angles
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, store
from poise.kernels.machine.layout import WIDTH
from poise.kernels.solver.state import INSIDE

MOST = 32
"""Branches of a value, at most."""
_FINITE = 16
"""Branches that are no line of solutions, at most."""
_STARTS = 64
_ROW = 8
"""Numbers of a start: six angles [rad], and its zero."""
_ONE, _EVEN, _ODD = range(3)
"""Kinds of zeros: one that is alone, and pieces with an even number of them, such as none, or with an odd one."""
_AT, _KIND = OTHERS, OTHERS + _ROW * _STARTS
"""Where stand starts, and the kinds of all zeros."""
_SOLUTIONS, _SCREWS = _KIND + 32, 0
"""Solutions that are known: six angles, the attempt in which it was seen last, and its zero; six screws."""
WORK = _SOLUTIONS + _ROW * MOST
"""Numbers that this works in."""
_ALIKE = 1e-6
"""Two branches whose angles differ by no more than this are one [rad]."""
_POLISHED = 1e-9
"""A start that Newton's steps leave with a larger error than this has led nowhere [m, rad]."""
_SINGULAR = 1e-5
"""Six axes are nearly dependent where a pivot of their screws is below this share of the first."""
_WIDE = 1e-4
"""A piece of the circle of this length or more in which the determinant is noise may hold anything [rad]."""


@kernel
def choice_of(arm, attempt):
    """The choice of an attempt: the arm's own first, then the others."""
    own = np.int64(arm.position)
    return own if attempt == 0 else attempt - 1 if attempt <= own else attempt


@kernel
def find_starts(arm, r, d, choice, work):
    """Write starts for all zeros; how many starts and zeros there are, and whether something may be missing."""
    noise = coefficients(arm, r, d, choice, work)
    if noise < 0.0:
        return 0, 0, True
    starts, doubt = 0, False
    count = zeros(work, noise)
    if count < 0:
        return 0, 0, True
    for i in range(count):
        low, high = work[FOUND + i], work[ENDS + i]
        wide = high - low
        doubt = doubt or wide > _WIDE
        middle, kind = 0.5 * (low + high), _ONE
        if wide > 0.0:
            before, _ = value(work, low - wide)
            after, _ = value(work, high + wide)
            kind = _EVEN if (before > 0.0) == (after > 0.0) else _ODD
        work[_KIND + i] = kind
        # From just outside a piece Newton's steps lead to the next of two solutions.
        for side in range(3 if wide > 0.0 else 1):
            s, c = sincos(middle if side == 0 else low - wide if side == 1 else high + wide)
            many, more = angles(arm, r, d, choice, work, s, c, wide)
            doubt = doubt or more
            for a in range(many):
                if starts == _STARTS:
                    return starts, count, True
                at = _AT + _ROW * starts
                for j in range(6):
                    work[at + j] = work[ANGLES + 6 * a + j]
                work[at + 6] = i
                starts += 1
    return starts, count, doubt


@kernel
def put_starts(p, v, start, swept, work, first, starts):
    """Write eight starts into the lanes of v.q; what is no start is the last one again."""
    arm = p.arms[0]
    store(v.search.branches, LOOSE, 0.0), store(v.search.branches, FITS, 1.0)
    for i in range(len(start)):
        store(v.q, i, start[i])
    if arm.swept != 0:
        store(v.q, p.coordinates[abs(arm.swept) - 1].q, swept)
    for i in range(6):
        c = p.coordinates[arm.joints[i]]
        for lane in range(WIDTH):
            v.q[c.q, lane] = work[_AT + _ROW * min(first + lane, starts - 1) + i]
        put(p, v, arm, start, i, load(v.q, c.q))


@kernel
def _known(p, v, arm, lane, work, kept):
    """Which of the solutions that are known is that of a lane; -1 if it is new."""
    for k in range(kept):
        alike = True
        for i in range(6):
            turns = (v.q[p.coordinates[arm.joints[i]].q, lane] * arm.rates[i] - work[_SOLUTIONS + _ROW * k + i]) / TURN
            alike = alike and abs(turns - np.rint(turns)) * TURN <= _ALIKE
        if alike:
            return k
    return -1


@kernel
def sort_out(p, v, score, work, first, starts, attempt, kept):
    """Keep new solutions among the lanes, and give the others a score that is none.

    Returns how many are known then, and whether two zeros have led to one solution.
    """
    arm, known, twice = p.arms[0], v.search.branches, False
    store(known, SCORE, score)
    for lane in range(WIDTH):
        here = first + lane
        at = _AT + _ROW * here
        error = max(known[PLACE_ERROR, lane], known[TURN_ERROR, lane])
        good = here < starts and known[SCORE, lane] <= INSIDE and error <= _POLISHED
        k = _known(p, v, arm, lane, work, kept) if good else -1
        if good:
            zero = work[at + 6]
            if k >= 0:
                seen = _SOLUTIONS + _ROW * k
                twice = twice or (work[seen + 6] == attempt and work[seen + 7] != zero)
            elif kept < MOST:
                seen = _SOLUTIONS + _ROW * kept
                for i in range(6):
                    work[seen + i] = v.q[p.coordinates[arm.joints[i]].q, lane] * arm.rates[i]
                kept += 1
            else:
                good = False
                seen = _SOLUTIONS
            work[seen + 6], work[seen + 7] = attempt, zero
        if not good or k >= 0:
            known[SCORE, lane] = 1e300
    return kept, twice


NO, PERHAPS, YES = range(3)


@kernel
def all_there(arm, work, zeros, attempt, kept):
    """Whether an attempt has all that are known, and from each zero as many as it must give.

    A piece where signs at both ends are alike gives two, or a singular one, which is double; none where two have just
    vanished, as near a border of the reach, or where no start led to them.  How many times such a piece is a zero is
    not known, only whether that is even: so it says perhaps.
    """
    if kept > _FINITE:
        return NO
    for k in range(kept):
        if work[_SOLUTIONS + _ROW * k + 6] != attempt:
            return NO
    # That there is none is said by two, where the first has left a doubt.
    said = YES if zeros > 0 or attempt == 0 else PERHAPS
    for i in range(zeros):
        kind, found, singular = work[_KIND + i], 0, False
        for k in range(kept):
            if work[_SOLUTIONS + _ROW * k + 7] == i:
                found += 1
                singular = singular or (kind != _ONE and _is_singular(arm, work, _SOLUTIONS + _ROW * k))
        if found == 0 or (kind != _ONE and not singular and found % 2 != (kind == _ODD)):
            return NO
        if kind != _ONE:
            said = PERHAPS
    return said


@kernel
def _carried(x, y, z, a):
    """a along three axes."""
    return plus(plus(scaled(a[0], x), scaled(a[1], y)), scaled(a[2], z))


@kernel
def _is_singular(arm, work, at):
    """Whether the six axes are nearly dependent at six angles that stand in `work` from `at` on."""
    size, origin = 1e-300, vector(arm.first, 0)
    x, y, z, o = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), origin
    for i in range(6):
        h, p = line_of(arm, i)
        # Where the turns so far have carried the axis: columns x, y, z and the place of `first`.
        k = _carried(x, y, z, h)
        q = plus(minus(o, origin), _carried(x, y, z, minus(p, origin)))
        put_vector(work, _SCREWS + 6 * i, k)
        put_vector(work, _SCREWS + 6 * i + 3, cross(q, k))
        size = max(size, dot(q, q))
        turn = sincos(work[at + i])
        x, y, z = turned(k, turn, x), turned(k, turn, y), turned(k, turn, z)
        centre = plus(q, origin)
        o = plus(centre, turned(k, turn, minus(o, centre)))
    scale = 1.0 / size**0.5
    for i in range(36):
        if i % 6 >= 3:
            work[_SCREWS + i] *= scale
    first = 0.0
    for step in range(6):
        row, column, most = step, step, -1.0
        for i in range(step, 6):
            for j in range(step, 6):
                if abs(work[_SCREWS + 6 * i + j]) > most:
                    row, column, most = i, j, abs(work[_SCREWS + 6 * i + j])
        if step == 0:
            first = most
        if not most > _SINGULAR * first:
            return True
        for j in range(6):
            a, b = _SCREWS + 6 * step + j, _SCREWS + 6 * row + j
            work[a], work[b] = work[b], work[a]
        for i in range(6):
            a, b = _SCREWS + 6 * i + step, _SCREWS + 6 * i + column
            work[a], work[b] = work[b], work[a]
        for i in range(step + 1, 6):
            factor = work[_SCREWS + 6 * i + step] / work[_SCREWS + 7 * step]
            for j in range(step, 6):
                work[_SCREWS + 6 * i + j] -= factor * work[_SCREWS + 6 * step + j]
    return False
