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
from poise.kernels.machine.memory import COST, ELSEWHERE, FAILED, INVERSE_RADIUS, PREDICTED, SCORE, SEEN, SHARE, STEP
from poise.kernels.machine.views import section
from poise.kernels.methods.clamp import ADAPTIVE, clamp_errors
from poise.kernels.requirements.approach import approach
from poise.kernels.requirements.balls import turn_ball
from poise.kernels.requirements.limits import left, since_begun
from poise.kernels.solver.ends import evaluate
from poise.kernels.solver.limits import free_joints, hold_balls


@functools.partial(kernel, inline=True)
def linearise(p, w):
    """Clamped errors and Jacobian at w.q; joints at limits that the gradient pushes out are held; (cost, score)."""
    cost, score = measure(p, w, False)
    hold_joints_at_limits(p, w)
    return cost, score


@functools.partial(kernel, inline=True)
def measure(p, w, learning):
    """Clamped errors and Jacobian at w.q; (sum of squares, score).

    For a method that is `learning` from its last step, PREDICTED becomes ELSEWHERE where the targets have moved since.
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
    """Keep where this update starts: w.before = w.q, and COST."""
    for i in range(len(w.q)):
        store(w.before, i, load(w.q, i))
    store(w.memory, COST, cost)


@functools.partial(kernel, inline=True)
def notice_moved_targets(p, w):
    """PREDICTED = ELSEWHERE where the targets are not those of the last update: its prediction was for others."""
    away = splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        for i in range(SEEN):
            x = load(w.target, GOAL * k + i) - load(w.last_target, SEEN * k + i)
            away = away + x * x
    store(w.memory, PREDICTED, select(away > 0.0, ELSEWHERE, load(w.memory, PREDICTED)))


@functools.partial(kernel, inline=True)
def keep_targets(p, w):
    """Keep the targets and errors for the next update to compare with."""
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
    """w.free = 0 for joints at a limit that the gradient J^T e pushes out; w.gradient is that of the others.

    Directions that would take a ball out of its limits are projected out of J and of the gradient.
    """
    transpose_times(p, w.jacobian, w.clamped, w.gradient)
    free_joints(p, w, w.gradient)
    for a in range(len(w.free)):
        store(w.gradient, a, load(w.gradient, a) * load(w.free, a))
    hold_balls(p, w, splat(w.q, 1.0) > 0.0, w.gradient, w.gradient, 0.0)


@functools.partial(kernel, inline=True)
def hold_balls_at_limits(p, w):
    """Project directions that would take a ball out of its limits out of J and of w.gradient = J^T e; hold no joint."""
    transpose_times(p, w.jacobian, w.clamped, w.gradient)
    hold_balls(p, w, splat(w.q, 1.0) > 0.0, w.gradient, w.gradient, 0.0)


@functools.partial(kernel, inline=True)
def restrain(p, w):
    """Clamp the step to the method's max_step, to the trust radius and to the limits of speed.

    The first two shorten it as a whole.  Where it is too fast, either the whole step is shortened or each joint is
    clipped by itself: whichever leaves less of the error, to first order.  A step that is not finite becomes 0, and
    FAILED is set.
    """
    _bound(p, w, load(w.memory, INVERSE_RADIUS), True)


@functools.partial(kernel, inline=True)
def shorten(p, w, inverse_radius):
    """Clamp the step likewise, but always shorten it as a whole: so levels of tasks keep their order.

    `inverse_radius` is one over the trust radius, 0 where there is none.
    """
    _bound(p, w, inverse_radius, False)


@functools.partial(kernel, inline=True)
def _bound(p, w, inverse_radius, choosing):
    """Clamp the step; where it is too fast, with `choosing` by the better of the two ways, else as a whole.

    STEP becomes its largest entry and SHARE the share of it that is left, 0 where it was not finite.
    """
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
    # `ratio`: how many times too long by max_step and trust radius; `over`: by speeds; `faster`: the larger of both.
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
    """Whether accelerations have bent w.step away from w.clamped_step, what it was before; w.clamped is J times that.

    A method with limits inside its step solves again for these errors, within what accelerations leave.  A step that
    was not finite does not count.  One number wide.
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
    """w.step becomes w.step / faster, or w.step / ratio with each joint clipped: which leaves less |e - J dq|.

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


_PACE = 0.5
"""Share of its speed at which the swiftest joint goes straight to where it is known to end."""


@kernel
def go_straight(p, w, way):
    """One step along a way (n) in joints, in place of a method's: all of it, or as much as _PACE allows."""
    cost, score = evaluate(p, w)
    remember(w, cost)
    _, swiftest = size_of(p, way)
    share = min(1.0, _PACE / swiftest) if swiftest > 0.0 else 1.0
    for a in range(len(w.step)):
        w.step[a] = share * way[a]
    shorten(p, w, 0.0)
    move(p, w)
    w.memory[COST], w.memory[SCORE], w.memory[PREDICTED] = cost, score, ELSEWHERE


@kernel
def size_of(p, step):
    """The longest entry of a step, and the largest share of what a speed or a twist allows."""
    longest, swiftest = 0.0, 0.0
    for a in range(len(step)):
        x = abs(step[a])
        longest, swiftest = max(longest, x), max(swiftest, x / p.speeds[a])
    for k in range(len(p.twists)):
        swiftest = max(swiftest, length_of(p.twists[k], step) / p.twists[k].most)
    return longest, swiftest


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
    """In lanes `back`, take the last step back: w.before = w.prior, and no step; the others keep w.prior = w.before."""
    for i in range(len(w.q)):
        x = select(back, load(w.prior, i), load(w.before, i))
        store(w.before, i, x), store(w.prior, i, x)
    for a in range(len(w.step)):
        store(w.step, a, select(back, 0.0, load(w.step, a)))


@functools.partial(kernel, inline=True)
def move(p, w):
    """w.q is where w.step leads from w.before, clipped to the limits; w.step becomes the step that was made.

    A coordinate beyond a limit comes back by its speed at most.
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
