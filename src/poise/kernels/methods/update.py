"""One update of a classical method: errors, Jacobian, a step, and where it leads.

The methods differ in the step alone; the clamps, the limits and the way to the new configuration are the same for
all.  `p` is a problem, `s` the settings, `w` the workspace.
"""

import functools

from poise.kernels.algebra.blocks import transpose_times
from poise.kernels.algebra.rotations import quaternion_step
from poise.kernels.kinematics.forward import jacobian_columns
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.machine.views import section
from poise.kernels.methods.clamp import clamp_errors
from poise.kernels.methods.criteria import pull
from poise.kernels.methods.damped import damped_step, judge_last, predict
from poise.kernels.methods.damping import ranked
from poise.kernels.methods.das import das_step, stiffen
from poise.kernels.methods.filters import filtered_step
from poise.kernels.methods.memory import COST, ELSEWHERE, FAILED, FRESH, NEWTON, PREDICTED, SEEN, STEP
from poise.kernels.methods.settings import (
    ADAPTIVE,
    AT_TARGET,
    CLAMP,
    DROP,
    MAX_STEP,
    NULL,
    OPTION,
    OPTION_A,
    OPTION_B,
)
from poise.kernels.methods.transpose import transpose_step
from poise.kernels.solver.limits import free_joints
from poise.kernels.solver.lm_solver import evaluate


@functools.partial(kernel, inline=True)
def jacobian_update(step, p, s, w):
    """Move w.q by one update of a method with this step; the sum of squares and the score before it."""
    cost, score = linearise(p, s, w)
    if s[NULL]:
        pull(p, s, w)
    step(p, s, w)
    restrain(p, s, w)
    move(p, w)
    store(w.memory, FRESH, 1.0)
    return cost, score


@functools.partial(kernel, inline=True)
def judged_update(p, s, w):
    """An update of damped least squares whose lambda follows from what the last step gained; see `damping.Gain`."""
    cost, score = measure(p, s, w, True)
    hold_joints_at_limits(p, w)
    back = judge_last(p, w, cost, score)
    damped_step(p, s, w)
    restrain(p, s, w)
    take_back(w, back)
    move(p, w)
    predict(p, w)
    store(w.memory, PREDICTED, select(back, 0.0, load(w.memory, PREDICTED)))
    store(w.memory, FRESH, 1.0)
    return cost, score


@functools.partial(kernel, inline=True)
def das_update(p, s, w):
    """An update of Das, Slotine and Sheridan's law."""
    cost, score = measure(p, s, w, s[OPTION] == 1.0)
    stiffen(p, s, w)
    hold_joints_at_limits(p, w)
    if s[NULL]:
        pull(p, s, w)
    das_step(p, s, w)
    restrain(p, s, w)
    move(p, w)
    store(w.memory, FRESH, 1.0)
    return cost, score


@functools.partial(kernel, inline=True)
def linearise(p, s, w):
    """Errors, clamped, and Jacobian at w.q, joints held that the descent would push out; (sum of squares, score)."""
    cost, score = measure(p, s, w, False)
    hold_joints_at_limits(p, w)
    return cost, score


@functools.partial(kernel, inline=True)
def measure(p, s, w, learning):
    """Errors, clamped, and Jacobian at w.q; (sum of squares, score).

    A method that is `learning` from its last step is told whether the targets have moved since.
    """
    cost, score = evaluate(p, w)
    remember(w, cost)
    watching = learning or s[CLAMP] >= ADAPTIVE
    if watching:
        notice_moved_targets(p, w)
    clamp_errors(p, s, w)
    if watching:
        keep_targets(p, w)
    if s[AT_TARGET] == 1.0:
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
    """w.free is 0 for a joint at a limit that the descent would push out; w.gradient is J^T e of the others."""
    transpose_times(p, w.jacobian, w.clamped, w.gradient)
    free_joints(p, w, w.gradient)
    for a in range(len(w.free)):
        store(w.gradient, a, load(w.gradient, a) * load(w.free, a))


@functools.partial(kernel, inline=True)
def hybrid_step(p, s, w):
    """Newton's step where sigma_min >= OPTION_A sigma_max and it lowers the error, else the transpose (see `hybrid`).

    Once left, Newton's step comes back only above OPTION_A; it is left below OPTION_B.
    """
    transpose_step(p, s, w)
    for a in range(len(w.step)):
        store(w.other, a, load(w.step, a))
    filtered_step(p, s, w)
    top, low = splat(w.e, 0.0), splat(w.e, 0.0)
    for i in range(len(w.sigma)):
        x = load(w.sigma, i)
        top = select(x > top, x, top)
    low = ranked(w.sigma, s[DROP])
    edge = select(load(w.memory, NEWTON) > 0.5, s[OPTION_B], splat(w.e, s[OPTION_A]))
    newton = low >= edge * top
    restrain(p, s, w)
    move(p, w)
    after, _ = evaluate(p, w)
    newton = newton & (after < 0.9999 * load(w.memory, COST))
    store(w.memory, NEWTON, select(newton, 1.0, splat(w.e, 0.0)))
    for a in range(len(w.step)):
        store(w.step, a, select(newton, load(w.step, a), load(w.other, a)))


@functools.partial(kernel, inline=True)
def restrain(p, s, w):
    """Clamp the step to the method's largest entry and to the joints' speeds, keeping its direction.

    A step that holds something that is no finite number becomes 0 and is marked.
    """
    n = len(w.step)
    longest, ratio = splat(w.e, 0.0), splat(w.e, 1.0)
    total = splat(w.e, 0.0)
    for a in range(n):
        x = load(w.step, a)
        x = select(x < 0.0, -x, x)
        total = total + x
        longest = select(x > longest, x, longest)
        if p.speeds[a] > 0.0:
            over = x * (1.0 / p.speeds[a])
            ratio = select(over > ratio, over, ratio)
    finite = total < 1e300
    over = longest * (1.0 / s[MAX_STEP])
    ratio = select(over > ratio, over, ratio)
    scale = 1.0 / ratio
    for a in range(n):
        store(w.step, a, select(finite, load(w.step, a) * scale, 0.0))
    store(w.memory, FAILED, select(finite, load(w.memory, FAILED), 1.0))
    store(w.memory, STEP, longest * scale)


@functools.partial(kernel, inline=True)
def take_back(w, back):
    """Lanes whose last step raised the error return to where they were; the others remember where they are."""
    for i in range(len(w.q)):
        x = select(back, load(w.prior, i), load(w.before, i))
        store(w.before, i, x), store(w.prior, i, x)
    for a in range(len(w.step)):
        store(w.step, a, select(back, 0.0, load(w.step, a)))


@functools.partial(kernel, inline=True)
def move(p, w):
    """w.q is where w.step leads from w.before, within the limits; w.step becomes what was gone."""
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        i, a = c.q, c.v
        x0 = load(w.before, i)
        x = x0 + load(w.step, a)
        x = select(x < c.lower, c.lower, x)
        x = select(x > c.upper, c.upper, x)
        store(w.q, i, x)
        store(w.step, a, x - x0)
    for c in range(len(p.balls)):
        i, a = p.balls[c].q, p.balls[c].v
        w0, x0, y0, z0 = load(w.before, i), load(w.before, i + 1), load(w.before, i + 2), load(w.before, i + 3)
        w1, x1, y1, z1 = quaternion_step(
            w0, x0, y0, z0, load(w.step, a), load(w.step, a + 1), load(w.step, a + 2)
        )  # fmt: skip
        store(w.q, i, w1), store(w.q, i + 1, x1), store(w.q, i + 2, y1), store(w.q, i + 3, z1)
