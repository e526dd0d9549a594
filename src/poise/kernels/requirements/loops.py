"""Loops that stay closed: by how much they are open, and the least change of a step that closes them.

The configurations in which all loops are closed are a surface c(q) = 0.  A step along its tangent leads beside it by
the square of its length; Newton's steps of least length bring it back, within the box of the step.
"""

from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.working_set import Levels, Limits, along, between
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import pitch, sqrt
from poise.kernels.machine.layout import CLOSED, EXACT
from poise.kernels.machine.memory import LOOP_RESIDUAL
from poise.kernels.machine.views import section
from poise.kernels.requirements.integrate import integrate
from poise.kernels.rows.frame import seen_frame
from poise.kernels.rows.joints import joint_rows

_NEWTON = 8
"""Newton's steps, at most."""


@kernel
def evaluate_loops(p, w, q):
    """w.closure.residual (m), by how much loops are open at q [m, rad], and its Jacobian w.closure.rows; the largest
    gap."""
    forward(p.units, p.pieces, q, w.frames)
    n, largest = len(w.step), 0.0
    row = pitch(w.closure.rows, n)
    for i in range(len(w.closure.residual) * row):
        w.closure.rows[i] = 0.0
    for r in range(len(p.loops)):
        loop = p.loops[r]
        f, effector = seen_frame(p, w, loop.effector), p.effectors[loop.effector]
        joint_rows(f, loop.turn)
        i = loop.first
        for k in range(6):
            if loop.held >> k & 1 == 0:
                continue
            w.closure.residual[i] = f.e[k]
            largest = max(largest, abs(f.e[k])) if abs(f.e[k]) < 1e300 else 1e300
            for c in range(effector.columns):
                a = p.slots[effector.first_slot + c]
                w.closure.rows[i * row + a] = f.linear[3 * c + k] if k < 3 else f.angular[3 * c + k - 3]
            i += 1
    return largest


@kernel
def loop_level(p, w, desired, by_metric):
    """The `Levels` of a step: first that it closes the loops, to first order, then that it is nearest to `desired`.

    With `by_metric`, where there is a metric, it is nearest to what `aim_by_metric` was told.
    """
    m, every = len(w.closure.residual), len(w.closure.target)
    rows = every if by_metric else m
    count = (1 if m > 0 else 0) + (1 if rows > m else 0)
    return Levels(
        count, section(p.loop_plan, 0, count + 1), section(p.loop_plan, len(p.loop_plan) - every, rows),
        w.closure.rows, section(w.closure.target, 0, rows), w.closure.damping, desired, 1,
    )  # fmt: skip


@kernel
def put_metric(w, factor):
    """Let |L^T dq| be the length of a step; `factor` (n x n) has L in its lower triangle."""
    n, first = len(w.step), len(w.closure.residual)
    row = pitch(w.closure.rows, n)
    for a in range(n):
        for b in range(row):
            w.closure.rows[(first + a) * row + b] = factor[b * n + a] if a <= b < n else 0.0


@kernel
def aim_by_metric(w, step):
    """Let a step be nearest to this one (n) by the metric."""
    for i in range(len(w.closure.residual), len(w.closure.target)):
        w.closure.target[i] = along(len(step), w.closure.rows, i, step)


@kernel
def aim_at_closed(w):
    """w.closure.target (m) = residual: what a change is to take away, to first order."""
    for i in range(len(w.closure.residual)):
        w.closure.target[i] = w.closure.residual[i]


@kernel
def least_change(p, w, low, high, sums):
    """w.closure.change (n) is the shortest change within the box that closes loops to first order, and keeps the first
    `sums` of w.constraints.rows."""
    n, change = len(w.step), w.closure.change
    aim_at_closed(w)
    for a in range(n):
        change[a] = 0.0
    for c in range(n + sums):
        w.constraints.sides[c] = 0.0
    rows, most = section(w.constraints.rows, 0, sums * pitch(w.closure.rows, n)), section(w.constraints.bounds, 0, sums)
    levels = loop_level(p, w, change, False)
    sides = section(w.constraints.sides, 0, n + sums)
    minimise(levels, Limits(low, high, rows, most), change, sides, w.constraints.buffer)


@kernel
def project_to_loops(p, w, start, step, low, high, q):
    """Change `step` (n), by Newton's steps of least length within the box, until it closes all loops at q (nq).

    False where they do not close, or where the change is longer than the step was: such a closed configuration belongs
    to another assembly mode of the links.  That is let pass where loops were open at the start.
    """
    n, first = len(step), w.closure.unclosed
    for a in range(n):
        first[a] = step[a]
    for _ in range(_NEWTON):
        integrate(p, w, start, step, q)
        largest = evaluate_loops(p, w, q)
        if largest <= EXACT or not largest < 1e300:
            break
        # Of changes, not of steps: no change is within the box, and most often at none of its bounds.
        for a in range(n):
            if low[a] > high[a]:
                low[a] = high[a] = 0.5 * (low[a] + high[a])
            w.closure.least[a], w.closure.most[a] = low[a] - step[a], high[a] - step[a]
        least_change(p, w, w.closure.least, w.closure.most, 0)
        for a in range(n):
            step[a] = between(low[a], step[a] + w.closure.change[a], high[a])
    # How far the step was changed, and how long it was.
    aside, way = 0.0, 0.0
    for a in range(n):
        aside, way = aside + (step[a] - first[a]) ** 2, way + first[a] ** 2
    return largest <= EXACT and (aside <= (sqrt(way) + CLOSED) ** 2 or w.memory[LOOP_RESIDUAL] > CLOSED)
