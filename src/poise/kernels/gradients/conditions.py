"""The conditions of an answer: rows of tasks, sides of ranges, sums of joints, distances of shapes, limits of balls.

A condition has a residual e and a row J = -de/dq, so that a step dq takes it to e - J dq.  Of an inequality e is the
slack.  The problem has a column for each velocity of the model.
"""

import numpy as np

from poise.kernels.algebra.rotations import quaternion_step
from poise.kernels.algebra.swing_twist import margins, parts, since_rest
from poise.kernels.collision.near import DISTANCE, FIRST, SECOND, distance_row, find_near, place_all, place_movers
from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import MEASURE, NEAR
from poise.kernels.machine.views import narrow, problem_at, section
from poise.kernels.requirements.ranges import evaluate_ranges
from poise.kernels.rows.sums import put_sum, slack_of_sum, sum_count
from poise.kernels.solver.ends import evaluate

MOST_CONTACTS = 8
"""Pairs of shapes that are looked for, at most."""
SIDE, SUM, SHAPES = 2e-5, 1e-6, 1e-3
"""Slack up to which a side of a range [m or rad], a sum [rad or m] and a distance [m] may be active: twice the reserve
that steps keep of it."""
_TURN = 1e-2
"""Step of differences of the fourth order of the slacks of swing and twist [rad]."""
_NOWHERE = 1e3
"""The slack of places in w.kkt.contact without a pair [m]: never active."""


@kernel
def evaluate_conditions(p, w, request, fully):
    """w.kkt.residual (c) and w.kkt.rows (c, packed) at w.q for w.target; without `fully` only those that
    depend on targets, tasks and sides of ranges."""
    n = len(w.step)
    row, c = pitch(w.kkt.rows, n), len(w.e)
    evaluate(p, w)
    for i in range((c + len(w.sides.residual)) * row):
        w.kkt.rows[i] = 0.0
    for i in range(c):
        w.kkt.residual[i] = w.e[i]
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        for b in range(effector.first_block, effector.last_block):
            for s in range(effector.columns):
                a = p.slots[effector.first_slot + s]
                for r in range(3):
                    w.kkt.rows[(3 * b + r) * row + a] = w.jacobian[p.blocks[b].start + 3 * s + r]
    if len(w.sides.residual) > 0:
        evaluate_ranges(p, w, w.q)
        for i in range(len(w.sides.residual)):
            w.kkt.residual[c + i] = -w.sides.residual[i]
            for a in range(n):
                w.kkt.rows[(c + i) * row + a] = w.sides.jacobian[i * row + a]
    if fully:
        c += len(w.sides.residual)
        for i in range(sum_count(p, len(w.q))):
            put_sum(p, w, i, w.kkt.rows, c)
            slack, rounding = slack_of_sum(p, i, w.q)
            w.kkt.residual[c], c = 0.0 if abs(slack) <= rounding else slack, c + 1
        if request.scene != 0:
            c = _add_contacts(w, request, c)
        _add_balls(p, w, c)


@kernel
def find_contacts(p, w, request):
    """w.kkt.contact = the pairs of shapes that are as near at w.q as they may be, the nearest of each two groups."""
    s = problem_at(request.scene)
    x = narrow(s, request.scene_work, request.routines)
    for i in range(2 * MOST_CONTACTS):
        w.kkt.contact[i] = -1.0
    for i in range(len(w.q)):
        x.q[i] = w.q[i]
    place_all(s, x)
    find_near(s, x, p.collision[0].distance + SHAPES, False)
    for t in range(MOST_CONTACTS):
        best = -1
        for k in range(np.int64(x.proximity.near[0])):
            at = 1 + NEAR * k
            if best >= 0 and not x.proximity.near[at + DISTANCE] < x.proximity.near[1 + NEAR * best + DISTANCE]:
                continue
            i, j, new = np.int64(x.proximity.near[at + FIRST]), np.int64(x.proximity.near[at + SECOND]), True
            for r in range(t):
                first, second = np.int64(w.kkt.contact[2 * r]), np.int64(w.kkt.contact[2 * r + 1])
                if s.chains[first].group == s.chains[i].group and s.chains[second].group == s.chains[j].group:
                    new = False
            if new:
                best = k
        if best < 0:
            return
        pair = section(x.proximity.near, 1 + NEAR * best, NEAR)
        w.kkt.contact[2 * t], w.kkt.contact[2 * t + 1] = pair[FIRST], pair[SECOND]


@kernel
def _add_contacts(w, request, first):
    """Write slack and row of the distance of each pair of w.kkt.contact from row `first` on; the row after them."""
    s = problem_at(request.scene)
    x = narrow(s, request.scene_work, request.routines)
    n, least = len(w.step), problem_at(request.problem).collision[0].distance
    row = pitch(w.kkt.rows, n)
    for i in range(len(w.q)):
        x.q[i] = w.q[i]
    if w.kkt.contact[0] >= 0.0:
        place_movers(s, x)
    for t in range(MOST_CONTACTS):
        at = (first + t) * row
        w.kkt.residual[first + t] = _NOWHERE
        for a in range(n):
            w.kkt.rows[at + a] = 0.0
        if w.kkt.contact[2 * t] >= 0.0:
            x.proximity.pair[DISTANCE] = _NOWHERE
            call(x.routines[MEASURE], s, x, np.int64(w.kkt.contact[2 * t]), np.int64(w.kkt.contact[2 * t + 1]))
            w.kkt.residual[first + t] = x.proximity.pair[DISTANCE] - least
            distance_row(s, x, section(x.proximity.pair, 0, NEAR))
            for a in range(n):
                w.kkt.rows[at + a] = -x.proximity.row[a]
    return first + MOST_CONTACTS


@kernel
def _add_balls(p, w, first):
    """Write slacks and rows of swing and twist of each ball with limits, from row `first` on."""
    n = len(w.step)
    row, at = pitch(w.kkt.rows, n), first
    for k in range(len(p.balls)):
        ball = p.balls[k]
        if ball.limited:
            q = w.q[ball.q], w.q[ball.q + 1], w.q[ball.q + 2], w.q[ball.q + 3]
            w.kkt.residual[at], w.kkt.residual[at + 1] = _slacks(ball, q[0], q[1], q[2], q[3])
            for i in range(2 * row):
                w.kkt.rows[at * row + i] = 0.0
            for r in range(3):
                s1, t1 = _change(ball, q, r, _TURN)
                s2, t2 = _change(ball, q, r, 2.0 * _TURN)
                w.kkt.rows[at * row + ball.v + r] = -(8.0 * s1 - s2) / (12.0 * _TURN)
                w.kkt.rows[(at + 1) * row + ball.v + r] = -(8.0 * t1 - t2) / (12.0 * _TURN)
            at += 2


@kernel
def _change(ball, q, axis, turn):
    """By how much the slacks of a ball are larger after a turn about an axis than after the turn back."""
    x, y, z = turn if axis == 0 else 0.0, turn if axis == 1 else 0.0, turn if axis == 2 else 0.0
    a, b, c, d = quaternion_step(q[0], q[1], q[2], q[3], x, y, z)
    swing, twist = _slacks(ball, a, b, c, d)
    a, b, c, d = quaternion_step(q[0], q[1], q[2], q[3], -x, -y, -z)
    other, other_twist = _slacks(ball, a, b, c, d)
    return swing - other, twist - other_twist


@kernel
def _slacks(ball, w, x, y, z):
    """How far a unit quaternion is from its limits of swing and of twist [rad]."""
    w, x, y, z = since_rest(ball, w, x, y, z)
    _, x, y, ratio, twist = parts(ball, w, x, y, z)
    return margins(ball, x * ratio, y * ratio, twist)
