"""Close loops from a configuration that may be far from closed ones, by Newton's steps of least length.

Each of them is the shortest that closes the loops to first order, within the limits of joints and of their sums.
Joints that are driven do not take part: they are where they are told to, or led there on a straight way in steps so
short that the others follow without a jump, so that the links stay put together as they are.
"""

from poise.kernels.algebra.working_set import NONE
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.lanes import pitch, sqrt
from poise.kernels.machine.layout import CLOSED, EXACT
from poise.kernels.machine.views import narrow, problem_at, section
from poise.kernels.requirements.integrate import integrate
from poise.kernels.requirements.loops import evaluate_loops, least_change
from poise.kernels.rows.sums import put_sum, slack_of_sum, slack_of_sums, sum_count

_AIM = 1e-14
"""Newton's steps go on down to this, as long as they gain [m or rad]."""
_ON_THE_WAY = 1e-4
"""Loops that are open by no more where a way is not at its end are followed well enough [m or rad]."""
_STEPS = 60
"""Newton's steps, at most."""
_LONGEST = 0.5
"""The longest of them, by its largest entry, so that they lead to a near solution [rad or m]."""
_SHARE = 0.1
_LEAST = 1e-3
"""How far driven joints are led at once, and what of that is tried before a way is given up [rad or m]."""
_PARTS = 20000
"""Parts of a way, at most: a kernel that does not end could not be interrupted."""
_ROUNDING = 1e-12
"""What a turn may be longer than it should [rad]."""


@entry_point(WHOLE, WHOLE)
def open_by(problem, work):
    """w.closure.residual and w.closure.rows at w.q; the largest gap [m or rad]."""
    p = problem_at(problem)
    w = narrow(p, work, work)
    return evaluate_loops(p, w, w.q)


@entry_point(WHOLE, WHOLE, REALS, WHOLE)
def close(problem, work, table, whole):
    """Let each row of a table, nq numbers of q and one more, close the loops without the velocities whose w.free (n) is
    0; that one becomes by how much they are open, or a sum is beyond its limit, then.

    It is 1e300 where a number is none.  If `whole`, the rows after one that does not close stay as they are.
    """
    p = problem_at(problem)
    w = narrow(p, work, work)
    nq = len(w.q)
    for k in range(len(table) // (nq + 1)):
        row = section(table, k * (nq + 1), nq + 1)
        for i in range(nq):
            w.q[i] = row[i]
        _be_still(w)
        row[nq], _ = _newton(p, w, _AIM)
        for i in range(nq):
            row[i] = w.q[i]
        if whole and row[nq] > CLOSED:
            break


@entry_point(WHOLE, WHOLE)
def lead(problem, work):
    """Lead the velocities whose w.free (n) is 0 from where they are in w.q (nq) to where they are in w.start (nq), and
    let w.q close the loops; by how much they are open then, 1e300 where the way leads past a dead point."""
    p = problem_at(problem)
    w = narrow(p, work, work)
    _be_still(w)
    return _lead(p, w)


@kernel
def _be_still(w):
    """Begin with no step behind, and nothing driven."""
    for a in range(len(w.step)):
        w.closure.unclosed[a], w.step[a], w.last_step[a] = 0.0, 0.0, 0.0


@kernel
def _open_by(p, w):
    """By how much loops are open at w.q, or a sum is beyond its limit."""
    return max(evaluate_loops(p, w, w.q), -slack_of_sums(p, w.q))


@kernel
def _newton(p, w, enough):
    """Newton's steps from w.q until loops are open by no more than `enough`, or by rounding alone.

    By how much they are open then, and how long the steps were together.
    """
    gap, aside = _open_by(p, w), 0.0
    for _ in range(_STEPS):
        if gap <= enough or not gap < 1e300:
            break
        _find_step(p, w)
        aside += _go(p, w)
        left = _open_by(p, w)
        slow = left > 0.5 * gap and gap <= CLOSED
        if slow and left >= gap:
            for i in range(len(w.q)):
                w.q[i] = w.before[i]
        else:
            gap = left
        if slow:
            break
    return gap, aside


@kernel
def _lead(p, w):
    """Lead what is driven straight from w.q to w.start; by how much loops are open there, or 1e300."""
    longest = 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        w.prior[c.q] = w.q[c.q]
        if w.free[c.v] == 0.0:
            longest = max(longest, abs(w.start[c.q] - w.q[c.q]))
    most = 1.0 if longest <= _SHARE else _SHARE / longest
    share, part, gap = 0.0, most, 1e300
    for _ in range(_PARTS):
        tried = share + part if share + part < 1.0 else 1.0
        gap = _led_to(p, w, tried)
        if gap < 1e300:
            share, part = tried, min(2.0 * part, most)
            if share == 1.0:
                return gap
        else:
            for i in range(len(w.q)):
                w.q[i] = w.begun[i]
            part = 0.5 * part
            if part * longest < _LEAST:
                break
    return 1e300


@kernel
def _led_to(p, w, share):
    """Lead what is driven on to this share of its way: by what it asks of the others, and Newton's steps back.

    By how much loops are open there; 1e300 where they do not close, or where that was a jump.
    """
    evaluate_loops(p, w, w.q)
    for i in range(len(w.q)):
        w.begun[i] = w.q[i]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        if w.free[c.v] == 0.0:
            there = w.prior[c.q] + share * (w.start[c.q] - w.prior[c.q]) if share < 1.0 else w.start[c.q]
            w.closure.unclosed[c.v] = there - w.q[c.q]
    size = _find_step(p, w)
    for a in range(len(w.step)):
        w.closure.unclosed[a] = 0.0
    if not size <= _LONGEST:
        return 1e300
    way = _go(p, w)
    enough = _AIM if share == 1.0 else _ON_THE_WAY
    gap, aside = _newton(p, w, enough)
    return gap if gap <= max(enough, EXACT) and aside <= 0.5 * way + EXACT else 1e300


@kernel
def _find_step(p, w):
    """w.step (n) is the shortest that closes loops from w.q to first order, within the limits of joints and their sums;
    its largest entry.

    What is driven goes as w.closure.unclosed (n) says.  A ball that the last step took to its border turns no farther
    out.
    """
    n, m, rows = len(w.step), len(w.closure.residual), w.closure.rows
    row = pitch(rows, n)
    for b in range(len(p.balls)):
        if p.balls[b].limited:
            _hold(w, p.balls[b].v, row)
    low, high, sums, most = w.closure.least, w.closure.most, w.constraints.rows, w.constraints.bounds
    count = sum_count(p, len(w.q))
    for i in range(count):
        put_sum(p, w, i, sums, i)
        most[i] = slack_of_sum(p, i, w.q)[0]
    for a in range(n):
        low[a], high[a] = -2.0 * NONE, 2.0 * NONE
        if w.free[a] == 0.0:
            for i in range(m):
                w.closure.residual[i] -= rows[i * row + a] * w.closure.unclosed[a]
                rows[i * row + a] = 0.0
            for i in range(count):
                most[i] -= sums[i * row + a] * w.closure.unclosed[a]
                sums[i * row + a] = 0.0
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        if w.free[c.v] != 0.0:
            low[c.v], high[c.v] = c.lower - w.q[c.q], c.upper - w.q[c.q]
    least_change(p, w, low, high, count)
    size = 0.0
    for a in range(n):
        w.step[a] = w.closure.unclosed[a] if w.free[a] == 0.0 else w.closure.change[a]
        size = max(size, abs(w.step[a])) if abs(w.step[a]) < 1e300 else 1e300
    return size


@kernel
def _hold(w, first, row):
    """Take the turn by which the last step left a ball's limits, which begin at velocity `first`, out of the rows."""
    wanted, made = section(w.last_step, first, 3), section(w.step, first, 3)
    o0, o1, o2 = wanted[0] - made[0], wanted[1] - made[1], wanted[2] - made[2]
    length = sqrt(o0 * o0 + o1 * o1 + o2 * o2)
    if length <= _ROUNDING:
        return
    o0, o1, o2 = o0 / length, o1 / length, o2 / length
    for i in range(len(w.closure.residual)):
        turns = section(w.closure.rows, i * row + first, 3)
        out = turns[0] * o0 + turns[1] * o1 + turns[2] * o2
        turns[0], turns[1], turns[2] = turns[0] - out * o0, turns[1] - out * o1, turns[2] - out * o2


@kernel
def _go(p, w):
    """Let w.q go by w.step (n), or by as much of it as is not longer than a step may be; the length of that."""
    n, largest, square = len(w.step), _LONGEST, 0.0
    for a in range(n):
        largest = max(largest, abs(w.step[a]))
    for i in range(len(w.q)):
        w.before[i] = w.q[i]
    for a in range(n):
        w.step[a] = w.step[a] * (_LONGEST / largest)
        w.last_step[a] = w.step[a]
        square += w.step[a] * w.step[a]
    integrate(p, w, w.before, w.step, w.q)
    return sqrt(square)
