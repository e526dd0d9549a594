"""Limits as bounds and rows: low <= dq <= high and G dq <= h of an update, and what all updates of a step keep."""

import functools
from collections import namedtuple

import numpy as np

from poise.kernels.algebra.rotations import normalised, quaternion_step, turn_since
from poise.kernels.algebra.working_set import Limits
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, pitch, select, splat, store
from poise.kernels.machine.memory import COLLISION_COUNT, ELSEWHERE, FRESH, PREDICTED
from poise.kernels.machine.views import section
from poise.kernels.requirements.balls import BALL_ROWS, ball_rows
from poise.kernels.requirements.braking import NO_LIMIT, allowed, allowed_anywhere
from poise.kernels.requirements.twists import keep_twist
from poise.kernels.rows.rounding import LAST_DIGIT
from poise.kernels.rows.sums import put_sum, slack_of_sum, sum_count
from poise.kernels.solver.ends import clip_start
from poise.kernels.solver.limits import limited_balls

_ANYWHERE = 1e20
"""The room of a coordinate without limits [rad]."""
_AHEAD = 0.2
"""The longest entry that is proposed for a ball with limits [rad]: the rows are tangents of a border that bends, and a
longer step along them ends beyond it."""


@kernel
def read_start(p, q0, q):
    """Copy the start q0 into q, quaternions to unit length; False if a number is too large.

    Coordinates are clipped to their limits.  With `timed` they are not: an update brings back at its speed what is
    beyond, and what no task moves stays where it is.
    """
    if not clip_start(p, q0, q):
        return False
    if p.common[0].timed:
        # `clip_start` has judged the numbers; its clipping is undone.
        put_unclipped(p, q0, q)
    return True


@kernel
def put_unclipped(p, q0, q):
    """Copy q0 into q, which may be the same, quaternions to unit length."""
    for i in range(len(q0)):
        q[i] = q0[i]
    for c in range(len(p.balls)):
        _put_unit(q0, p.balls[c].q, q)
    for c in range(len(p.idle_balls)):
        _put_unit(q0, p.idle_balls[c].q, q)


@kernel
def _put_unit(q0, i, q):
    q[i], q[i + 1], q[i + 2], q[i + 3] = normalised(q0[i], q0[i + 1], q0[i + 2], q0[i + 3])


StepConstraints = namedtuple("StepConstraints", "limits side squares buffer")
"""Of an update: its `Limits`; `side` (n + rows), the active set of the last one, with which this one begins; `squares`,
lambda^2 of each level; `buffer`, the room of `minimise`."""


@functools.partial(kernel, inline=True)
def left_to_limits(p, w, longest, low, high):
    """The box of an update from w.before, low <= dq <= high (n each) [rad or m], which is never empty.

    low = max(l - q, -v dt) and high = min(u - q, v dt); beyond a limit the update comes back by v dt at most.  With
    accelerations it is [w.motion.least, w.motion.largest] of the whole step, less w.motion.step_so_far.  `longest`
    bounds the entries as well, as far as that leaves the box a point.  One number wide.
    """
    if len(p.rates) > 0:
        since_begun(p, w, w.before)
        for a in range(len(low)):
            low[a], high[a] = left(p, w, a)
            # Accelerations can demand more than `longest`: then the box is the end that is nearest to 0.
            low[a] = max(low[a], min(-longest, high[a]))
            high[a] = min(high[a], max(longest, low[a]))
        return
    left_to_speeds(p, w.before, 1.0, longest, low, high)


@functools.partial(kernel, inline=True)
def left_to_speeds(p, q, updates, longest, low, high):
    """The box of this many updates from q (nq), low <= dq <= high (n each), by speeds and limits of position alone."""
    for a in range(len(low)):
        high[a] = min(longest, updates * p.speeds[a])
        low[a] = -high[a]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        fast = updates * p.speeds[c.v]
        # Beyond a limit c.lower - q is positive: capped by `fast`, so that the box keeps a point.
        low[c.v] = max(low[c.v], min(c.lower - q[c.q], fast))
        high[c.v] = min(high[c.v], max(c.upper - q[c.q], -fast))


@functools.partial(kernel, inline=True)
def left(p, w, a):
    """The bounds of entry a of an update from w.before, w.motion.step_so_far being the way from w.begun to there."""
    if len(p.rates) > 0:
        gone = load(w.motion.step_so_far, a)
        return load(w.motion.least, a) - gone, load(w.motion.largest, a) - gone
    return splat(w.q, -p.speeds[a]), splat(w.q, p.speeds[a])


@kernel
def set_step_bounds(p, w):
    """w.motion.least and w.motion.largest (n), the bounds of the whole step from w.begun by speeds, accelerations,
    jerks, positions.

    Nothing where no accelerations are limited.  The limits of a ball are no bounds of its entries, but rows.
    """
    if len(p.rates) == 0:
        return
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        low, high = allowed_from(
            p.rates[c.v],
            c,
            load(w.begun, c.q),
            load(w.motion.displacement, c.v),
            load(w.motion.displacement_change, c.v),
        )
        store(w.motion.least, c.v, low), store(w.motion.largest, c.v, high)
    for b in range(len(p.balls)):
        for k in range(3):
            a = p.balls[b].v + k
            rate, v, s = p.rates[a], load(w.motion.displacement, a), load(w.motion.displacement_change, a)
            low, high = allowed_anywhere(v, s, rate.speed, rate.change, rate.jerk)
            store(w.motion.least, a, low), store(w.motion.largest, a, high)


@kernel
def allowed_from(rate, c, x, v, s):
    """The least and the largest step of a coordinate from x, after the step v, whose change was s.

    `c` has the limits that the following error leaves in this step, `rate` those of the joint, which always hold.
    """
    low, high = allowed(x - c.lower, c.upper - x, v, s, rate.speed, rate.change, rate.jerk)
    if c.lower > rate.lower or c.upper < rate.upper:
        # The tighter limits move, so an arm may not be able to brake for them: they yield to those of the joint.
        least, largest = allowed(x - rate.lower, rate.upper - x, v, s, rate.speed, rate.change, rate.jerk)
        low = select(low < least, least, select(low > largest, largest, low))
        high = select(high < least, least, select(high > largest, largest, high))
    return low, high


@kernel
def jerking(p):
    """Whether the jerk of any velocity is limited."""
    for a in range(len(p.rates)):
        if p.rates[a].jerk < NO_LIMIT:
            return True
    return False


@kernel
def loosen_step_bounds(p, w):
    """w.motion.least and w.motion.largest of a proposed step: limits of position alone.

    A method that solves within bounds proposes in this box; `approach` and `set_step_bounds` cut its step afterwards.
    """
    if len(p.rates) == 0:
        return
    for a in range(len(p.rates)):
        store(w.motion.least, a, splat(w.q, -_ANYWHERE)), store(w.motion.largest, a, splat(w.q, _ANYWHERE))
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x = load(w.begun, c.q)
        store(w.motion.least, c.v, c.lower - x), store(w.motion.largest, c.v, c.upper - x)
    for b in range(len(p.balls)):
        for k in range(3 if p.balls[b].limited else 0):
            a = p.balls[b].v + k
            store(w.motion.least, a, splat(w.q, -_AHEAD)), store(w.motion.largest, a, splat(w.q, _AHEAD))


@kernel
def since_begun(p, w, q):
    """w.motion.step_so_far (n) becomes the step that leads from w.begun to q."""
    difference(p, w.begun, q, w.motion.step_so_far)


@kernel
def difference(p, q0, q1, step):
    """step (n) becomes that from q0 to q1 (nq each): differences, and rotation vectors of balls."""
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        store(step, c.v, load(q1, c.q) - load(q0, c.q))
    for b in range(len(p.balls)):
        a = p.balls[b].v
        u0, u1, u2 = turn_since(q0, q1, p.balls[b].q)
        store(step, a, u0), store(step, a + 1, u1), store(step, a + 2, u2)


@kernel
def clamp_whole_step(p, w, updates):
    """Clip the whole step from w.begun to w.q, entry by entry, to w.motion.least and w.motion.largest, and shorten its
    twists.

    w.motion.step_so_far is the clipped step, and w.q follows.
    """
    since_begun(p, w, w.q)
    bent = splat(w.q, 0.0)
    for a in range(len(w.motion.step_so_far)):
        x, low, high = load(w.motion.step_so_far, a), load(w.motion.least, a), load(w.motion.largest, a)
        clamped = select(x < low, low, select(x > high, high, x))
        bent = select((x < low) | (x > high), 1.0, bent)
        store(w.motion.step_so_far, a, clamped)
    for k in range(len(p.twists)):
        bent = keep_twist(p.twists[k], updates * p.twists[k].most, w, bent)
    changed = bent > 0.5
    if not any_of(changed):
        return
    for r in range(len(p.coordinates)):
        c, rate = p.coordinates[r], p.rates[p.coordinates[r].v]
        x0 = load(w.begun, c.q)
        x = x0 + load(w.motion.step_so_far, c.v)
        # q0 + (l - q0) need not be l: where the bound is the limit itself, q is the limit to the last bit, so that a
        # joint that brakes for a limit comes to stand at it and no check of limits fails by rounding.
        low, high = rate.lower - x0, rate.upper - x0
        x = select((x < rate.lower + LAST_DIGIT) & (load(w.motion.least, c.v) >= low - LAST_DIGIT), rate.lower, x)
        x = select((x > rate.upper - LAST_DIGIT) & (load(w.motion.largest, c.v) <= high + LAST_DIGIT), rate.upper, x)
        store(w.q, c.q, select(changed, x, load(w.q, c.q)))
    for b in range(len(p.balls)):
        i, a = p.balls[b].q, p.balls[b].v
        w0, x0, y0, z0 = load(w.begun, i), load(w.begun, i + 1), load(w.begun, i + 2), load(w.begun, i + 3)
        w1, x1, y1, z1 = quaternion_step(
            w0, x0, y0, z0,
            load(w.motion.step_so_far, a), load(w.motion.step_so_far, a + 1), load(w.motion.step_so_far, a + 2),
        )  # fmt: skip
        store(w.q, i, select(changed, w1, load(w.q, i))), store(w.q, i + 1, select(changed, x1, load(w.q, i + 1)))
        store(w.q, i + 2, select(changed, y1, load(w.q, i + 2)))
        store(w.q, i + 3, select(changed, z1, load(w.q, i + 3)))
    # q is not where the method's own step led: what it predicted there says nothing.
    store(w.memory, PREDICTED, select(changed, ELSEWHERE, load(w.memory, PREDICTED)))


@kernel
def remember_step(w, within_limits):
    """Keep w.step as w.motion.displacement, the velocity of the step, and its change as w.motion.displacement_change.

    After a step that was not `within_limits` the change counts as 0: it may be above the limit of acceleration, and no
    limit of jerk could be kept from there.
    """
    for a in range(len(w.step)):
        x = load(w.step, a)
        change = x - load(w.motion.displacement, a) if within_limits else splat(w.step, 0.0)
        store(w.motion.displacement_change, a, change)
        store(w.motion.displacement, a, x)


@functools.partial(kernel, inline=True)
def step_constraints(p, w, levels, longest):
    """The `StepConstraints` of an update from w.before, for so many levels.  They lie in w.room, which is sized by
    `poise.methods.ranking`: rows, their ends, sides, lambda^2, low, high, and the buffer behind them.
    """
    n = len(w.step)
    linear, range_sides = sum_count(p, len(w.q)), len(w.sides.bounds)
    fixed = linear + range_sides + BALL_ROWS * limited_balls(p)
    count, most = fixed + np.int64(w.memory[COLLISION_COUNT]), fixed + len(w.constraints.collision_bounds)
    row = pitch(w.rows, n)
    # Placed by `most`, not by `count`: `side` must be where the last update left it when pairs come and go.
    rows, ends = section(w.room, 0, count * row), section(w.room, most * row, count)
    side, at = section(w.room, most * row + most, n + count), most * (row + 2) + n
    squares, low, high = (
        section(w.room, at, levels),
        section(w.room, at + levels, n),
        section(w.room, at + levels + n, n),
    )
    at = pitch(w.rows, at + levels + 2 * n)
    left_to_limits(p, w, longest, low, high)
    before = section(w.room, most * row + most + n, most)
    for k in range(fixed, count):  # a pair's row may be another one than in the last update
        last = np.int64(w.constraints.collision_before[k - fixed])
        ends[k] = before[fixed + last] if last >= 0 else 0.0
    for k in range(fixed, count):
        side[n + k] = ends[k]
    put_rows(p, w, rows, ends)
    for c in range(n + count if w.memory[FRESH] < 0.5 else 0):
        side[c] = 0.0
    return StepConstraints(Limits(low, high, rows, ends), side, squares, section(w.room, at, len(w.room) - at))


@functools.partial(kernel, inline=True)
def put_rows(p, w, rows, most):
    """Write rows dq <= most (rows in packs) of a step from w.q: limits A q <= b, sides of ranges, balls, pairs of
    shapes, in this order, which `side` and the offsets of others rely on; how many there are."""
    n, range_sides, pairs = len(w.step), len(w.sides.bounds), np.int64(w.memory[COLLISION_COUNT])
    row, linear = pitch(rows, n), sum_count(p, len(w.q))
    fixed = linear + range_sides + BALL_ROWS * limited_balls(p)
    for i in range(linear):
        put_sum(p, w, i, rows, i)
        # The slack as it is: a step takes back what rounding left beyond, so that it does not add up.
        most[i] = slack_of_sum(p, i, w.q)[0]
    for i in range(range_sides):
        for c in range(row):
            rows[(linear + i) * row + c] = w.sides.jacobian[i * row + c]
        most[linear + i] = w.sides.bounds[i]
    ball_rows(p, w, linear + range_sides, rows, most)
    for k in range(pairs):
        for c in range(row):
            rows[(fixed + k) * row + c] = w.constraints.collision_rows[k * row + c]
        most[fixed + k] = w.constraints.collision_bounds[k]
    return fixed + pairs
