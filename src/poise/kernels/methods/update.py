"""One update of a classical method: errors, Jacobian, a step, and where it leads.

The methods differ in the step alone; the clamps, the limits and the way to the new configuration are the same for
all.  `p` is a problem, `w` the workspace.
"""

import functools

from poise.kernels.algebra.blocks import times, transpose_times
from poise.kernels.kinematics.forward import jacobian_columns
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.machine.memory import COST, ELSEWHERE, FAILED, INVERSE_RADIUS, PREDICTED, SEEN, SHARE, STEP
from poise.kernels.machine.views import section
from poise.kernels.methods.clamp import ADAPTIVE, clamp_errors
from poise.kernels.requirements.approach import approach
from poise.kernels.requirements.balls import turn_ball
from poise.kernels.requirements.limits import left, since_begun
from poise.kernels.solver.ends import evaluate
from poise.kernels.solver.limits import free_joints, hold_balls


@functools.partial(kernel, inline=True)
def linearise(p, w):
    """Errors, clamped, and Jacobian at w.q, joints held that the descent would push out; (sum of squares, score)."""
    cost, score = measure(p, w, False)
    hold_joints_at_limits(p, w)
    return cost, score


@functools.partial(kernel, inline=True)
def measure(p, w, learning):
    """Errors, clamped, and Jacobian at w.q; (sum of squares, score).

    A method that is `learning` from its last step is told whether the targets have moved since.
    """
    cost, score = evaluate(p, w)
    remember(w, cost)
    watching = learning or p.common[0].clamp >= ADAPTIVE
    if watching:
        notice_moved_targets(p, w)
    clamp_errors(p, w)
    if watching:
        keep_targets(p, w)
    if p.common[0].at_target:
        take_columns_at_targets(p, w)
    return cost, score


@functools.partial(kernel, inline=True)
def remember(w, cost):
    """Where this update starts from."""
    for i in range(len(w.q)):
        store(w.before, i, load(w.q, i))
    store(w.memory, COST, cost)


@functools.partial(kernel, inline=True)
def notice_moved_targets(p, w):
    """What the last update predicted no longer counts if the targets have moved since."""
    away = splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        for i in range(SEEN):
            x = load(w.target, GOAL * k + i) - load(w.last_target, SEEN * k + i)
            away = away + x * x
    store(w.memory, PREDICTED, select(away > 0.0, ELSEWHERE, load(w.memory, PREDICTED)))


@functools.partial(kernel, inline=True)
def keep_targets(p, w):
    """The targets and errors that the next update compares with."""
    for k in range(len(p.effectors)):
        for i in range(SEEN):
            store(w.last_target, SEEN * k + i, load(w.target, GOAL * k + i))
    for i in range(len(w.last_errors)):
        store(w.last_errors, i, load(w.e, i))


@functools.partial(kernel, inline=True)
def take_columns_at_targets(p, w):
    """The target Jacobian: v x (t - p) for the joints that turn, in place of v x (s - p) (Buss 2004, section 2)."""
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        if effector.position >= 0 and not effector.weighing and not effector.base:
            count, at = 3 * effector.columns, GOAL * k + 9
            jacobian_columns(
                p.columns, effector.first_column, effector.last_column, w.frames,
                load(w.target, at), load(w.target, at + 1), load(w.target, at + 2),
                section(w.jacobian, p.blocks[effector.position].start, count), section(w.scratch, 0, count),
            )  # fmt: skip


@functools.partial(kernel, inline=True)
def hold_joints_at_limits(p, w):
    """w.free is 0 for a joint at a limit that the descent would push out; w.gradient is J^T e of the others.

    What would take a ball out of its limits is no part of either J or the gradient.
    """
    transpose_times(p, w.jacobian, w.clamped, w.gradient)
    free_joints(p, w, w.gradient)
    for a in range(len(w.free)):
        store(w.gradient, a, load(w.gradient, a) * load(w.free, a))
    hold_balls(p, w, splat(w.q, 1.0) > 0.0, w.gradient, w.gradient, 0.0)


@functools.partial(kernel, inline=True)
def hold_balls_at_limits(p, w):
    """Only what would take a ball out of its limits is taken out of J; the gradient is J^T e before."""
    transpose_times(p, w.jacobian, w.clamped, w.gradient)
    hold_balls(p, w, splat(w.q, 1.0) > 0.0, w.gradient, w.gradient, 0.0)


@functools.partial(kernel, inline=True)
def restrain(p, w):
    """Clamp the step to the method's largest entry, to what `settling` allows and to what limits leave.

    The first two keep its direction.  Where it is too fast, either the whole step is shortened or each joint goes as
    far as it may by itself: whichever leaves less of the error, to first order.  A step that holds something that is no
    finite number becomes 0 and is marked.
    """
    _bound(p, w, load(w.memory, INVERSE_RADIUS), True)


@functools.partial(kernel, inline=True)
def shorten(p, w, inverse_radius):
    """Clamp the step likewise, but always the whole step, as levels of tasks need it.

    `inverse_radius` is one over the longest entry that `settling` allows, 0 where any.
    """
    _bound(p, w, inverse_radius, False)


@functools.partial(kernel, inline=True)
def _bound(p, w, inverse_radius, choosing):
    """Clamp the step, `choosing` between the whole step and each joint by itself where it is too fast."""
    n = len(w.step)
    longest, over = splat(w.e, 0.0), splat(w.e, 0.0)
    total = splat(w.e, 0.0)
    for a in range(n):
        x = load(w.step, a)
        x = select(x < 0.0, -x, x)
        total = total + x
        longest = select(x > longest, x, longest)
        speed = x * (1.0 / p.speeds[a])
        over = select(speed > over, speed, over)
    finite = total < 1e300
    ratio, x = splat(w.e, 1.0), longest * (1.0 / p.common[0].max_step)
    ratio = select(x > ratio, x, ratio)
    x = longest * inverse_radius
    ratio = select(x > ratio, x, ratio)
    for k in range(len(p.twists)):
        x = length_of(p.twists[k], w.step) * (1.0 / p.twists[k].most)
        over = select(x > over, x, over)
    faster = select(over > ratio, over, ratio)
    for a in range(n):
        store(w.step, a, select(finite, load(w.step, a), 0.0))
    if len(p.rates) > 0:
        scale = 1.0 / ratio
        for a in range(n):
            store(w.step, a, load(w.step, a) * scale)
        since_begun(p, w, w.before)
        approach(p, w)
        for a in range(n):
            low, high = left(p, w, a)
            x = load(w.step, a)
            store(w.step, a, select(x < low, low, select(x > high, high, x)))
    elif choosing and any_of(finite & (over > ratio)):
        choose(p, w, ratio, faster)
    else:
        scale = 1.0 / faster
        for a in range(n):
            store(w.step, a, load(w.step, a) * scale)
    scale = 1.0 / faster
    store(w.memory, FAILED, select(finite, load(w.memory, FAILED), 1.0))
    store(w.memory, STEP, longest * scale)
    store(w.memory, SHARE, select(finite, scale, 0.0))


@kernel
def bent_by_limits(p, w):
    """Whether accelerations have bent the step; w.clamped is then what of the errors it was to take away.

    A method with limits inside its step finds another one for that.  What was no finite number has not been bent.  One
    number wide.
    """
    bent = False
    if len(p.rates) > 0 and w.memory[SHARE] > 0.0:
        for a in range(len(w.step)):
            bent = bent or w.step[a] != w.clamped_step[a]
    if bent:
        times(p, w.jacobian, w.clamped_step, w.clamped)
    return bent


@kernel
def choose(p, w, ratio, faster):
    """w.step / faster or w.step / ratio, each joint within its limits by itself: that which leaves less |e - J dq|.

    e is the clamped error.
    """
    n = len(w.step)
    own, whole = 1.0 / ratio, 1.0 / faster
    for a in range(n):
        x = load(w.step, a)
        low, high = left(p, w, a)
        y = own * x
        store(w.clamped_step, a, select(y < low, low, select(y > high, high, y)))
        y = whole * x
        store(w.step, a, select(y < low, low, select(y > high, high, y)))
    for k in range(len(p.twists)):
        twist = p.twists[k]
        over = length_of(twist, w.clamped_step) * (1.0 / twist.most)
        for a in range(twist.first, twist.first + twist.count):
            store(w.clamped_step, a, load(w.clamped_step, a) / select(over > 1.0, over, 1.0))
    better = _remaining(p, w, w.clamped_step) < _remaining(p, w, w.step)
    for a in range(n):
        store(w.step, a, select(better, load(w.clamped_step, a), load(w.step, a)))


@kernel
def _remaining(p, w, step):
    """|e - J step|^2."""
    times(p, w.jacobian, step, w.y)
    square = splat(w.e, 0.0)
    for i in range(len(w.y)):
        x = load(w.clamped, i) - load(w.y, i)
        square = square + x * x
    return square


@kernel
def length_of(twist, step):
    """The Euclidean length of some entries of a step."""
    square = splat(step, 0.0)
    for a in range(twist.first, twist.first + twist.count):
        x = load(step, a)
        square = square + x * x
    return sqrt(square)


@functools.partial(kernel, inline=True)
def undo_step(w, back):
    """Lanes whose last step raised the error return to where they were; the others remember where they are."""
    for i in range(len(w.q)):
        x = select(back, load(w.prior, i), load(w.before, i))
        store(w.before, i, x), store(w.prior, i, x)
    for a in range(len(w.step)):
        store(w.step, a, select(back, 0.0, load(w.step, a)))


@functools.partial(kernel, inline=True)
def move(p, w):
    """w.q is where w.step leads from w.before, within the limits; w.step becomes what was gone.

    What was beyond a limit comes back as far as its speed allows.
    """
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        i, a = c.q, c.v
        x0 = load(w.before, i)
        x = x0 + load(w.step, a)
        low, high = x0 + p.speeds[a], x0 - p.speeds[a]
        low, high = select(low < c.lower, low, c.lower), select(high > c.upper, high, c.upper)
        x = select(x < low, low, x)
        x = select(x > high, high, x)
        store(w.q, i, x)
        store(w.step, a, x - x0)
    for c in range(len(p.balls)):
        turn_ball(p.balls[c], w.before, w.step, p.speeds, 1.0, w.q)
