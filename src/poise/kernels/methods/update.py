"""One update of a classical method: errors, Jacobian, a step, and where it leads.

The methods differ in the step alone; the clamps, the limits and the way to the new configuration are the same for
all.  `p` is a problem, `s` the settings, `w` the workspace of `poise.kernels.solver.lm_solver`, `d` that of `.memory`.
"""

import functools

from poise.kernels.algebra.blocks import transpose_times
from poise.kernels.algebra.scalar import sincos
from poise.kernels.kinematics.forward import columns
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, section, select, splat, sqrt, store
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
    PACED,
    SETTINGS,
)
from poise.kernels.methods.transpose import transpose_step
from poise.kernels.rows.residuals import GOAL, POSITION
from poise.kernels.solver.lm_solver import evaluate


@functools.partial(kernel, inline=True)
def jacobian_update(step, p, s, plan, w, d):
    """Move w.q by one update of a method with this step; the sum of squares and the score before it."""
    cost, score = linearise(p, s, w, d)
    if s[NULL]:
        pull(p, s, plan, w, d)
    step(p, s, plan, w, d)
    restrain(s, w, d)
    move(p, w)
    store(d.memory, FRESH, 1.0)
    return cost, score


@functools.partial(kernel, inline=True)
def judged_update(p, s, plan, w, d):
    """An update of damped least squares whose lambda follows from what the last step gained; see `damping.Gain`."""
    cost, score = measure(p, s, w, d, True)
    hold_joints_at_limits(p, w, d)
    back = judge_last(p, w, d, cost, score)
    damped_step(p, s, plan, w, d)
    restrain(s, w, d)
    take_back(w, d, back)
    move(p, w)
    predict(p, w, d)
    store(d.memory, PREDICTED, select(back, 0.0, load(d.memory, PREDICTED)))
    store(d.memory, FRESH, 1.0)
    return cost, score


@functools.partial(kernel, inline=True)
def das_update(p, s, plan, w, d):
    """An update of Das, Slotine and Sheridan's law."""
    cost, score = measure(p, s, w, d, s[OPTION] == 1.0)
    stiffen(p, s, d)
    hold_joints_at_limits(p, w, d)
    if s[NULL]:
        pull(p, s, plan, w, d)
    das_step(p, s, plan, w, d)
    restrain(s, w, d)
    move(p, w)
    store(d.memory, FRESH, 1.0)
    return cost, score


@functools.partial(kernel, inline=True)
def linearise(p, s, w, d):
    """Errors, clamped, and Jacobian at w.q, joints held that the descent would push out; (sum of squares, score)."""
    cost, score = measure(p, s, w, d, False)
    hold_joints_at_limits(p, w, d)
    return cost, score


@functools.partial(kernel, inline=True)
def measure(p, s, w, d, learning):
    """Errors, clamped, and Jacobian at w.q; (sum of squares, score).

    A method that is `learning` from its last step is told whether the targets have moved since.
    """
    cost, score = evaluate(p, w)
    remember(w, d, cost)
    watching = learning or s[CLAMP] >= ADAPTIVE
    if watching:
        notice_moved_targets(p, w, d)
    clamp_errors(p, s, w, d)
    if watching:
        keep_targets(p, w, d)
    if s[AT_TARGET] == 1.0:
        take_columns_at_targets(p, w)
    return cost, score


@functools.partial(kernel, inline=True)
def remember(w, d, cost):
    """Where this update starts from."""
    for i in range(w.q.shape[0]):
        store(w.before, i, load(w.q, i))
    store(d.memory, COST, cost)


@functools.partial(kernel, inline=True)
def notice_moved_targets(p, w, d):
    """What the last update predicted no longer counts if the targets have moved since."""
    away = splat(w.e, 0.0)
    for k in range(p.effectors.shape[0]):
        for i in range(SEEN):
            x = load(w.target, GOAL * k + i) - load(d.seen, SEEN * k + i)
            away = away + x * x
    store(d.memory, PREDICTED, select(away > 0.0, ELSEWHERE, load(d.memory, PREDICTED)))


@functools.partial(kernel, inline=True)
def keep_targets(p, w, d):
    """The targets and errors that the next update compares with."""
    for k in range(p.effectors.shape[0]):
        for i in range(SEEN):
            store(d.seen, SEEN * k + i, load(w.target, GOAL * k + i))
    for i in range(d.last.shape[0]):
        store(d.last, i, load(w.e, i))


@functools.partial(kernel, inline=True)
def take_columns_at_targets(p, w):
    """The target Jacobian: v x (t - p) for the joints that turn, in place of v x (s - p) (Buss 2004, section 2)."""
    for k in range(p.effectors.shape[0]):
        if p.effectors[k, 1] <= POSITION and not p.effectors[k, 7] and not p.effectors[k, 9]:
            count, at = 3 * p.effectors[k, 6], GOAL * k + 9
            columns(
                p.raw, p.scales, p.effectors[k, 2], p.effectors[k, 3], w.frames,
                load(w.target, at), load(w.target, at + 1), load(w.target, at + 2),
                section(w.jacobian, p.blocks[p.effectors[k, 4]], count), section(w.scratch, 0, count),
            )  # fmt: skip


@functools.partial(kernel, inline=True)
def hold_joints_at_limits(p, w, d):
    """w.free is 0 for a joint at a limit that the descent would push out, else 1; d.g is J^T e of the free ones."""
    transpose_times(p.effectors, p.blocks, p.slots, w.jacobian, d.e, d.g)
    for a in range(w.free.shape[0]):
        store(w.free, a, splat(w.e, 1.0))
    for c in range(p.coords.shape[0]):
        x, a = load(w.q, p.coords[c, 0]), p.coords[c, 1]
        g = load(d.g, a)
        held = ((x <= p.limits[c, 0]) & (g < 0.0)) | ((x >= p.limits[c, 1]) & (g > 0.0))
        store(w.free, a, select(held, 0.0, load(w.free, a)))
        store(d.g, a, select(held, 0.0, g))


@functools.partial(kernel, inline=True)
def hybrid_step(p, s, plan, w, d):
    """Newton's step where sigma_min >= OPTION_A sigma_max and it lowers the error, else the transpose (see `hybrid`).

    Once left, Newton's step comes back only above OPTION_A; it is left below OPTION_B.
    """
    transpose_step(p, s, plan, w, d)
    for a in range(w.step.shape[0]):
        store(d.h, a, load(w.step, a))
    filtered_step(p, s, plan, w, d)
    top, low = splat(w.e, 0.0), splat(w.e, 0.0)
    for i in range(d.sigma.shape[0]):
        x = load(d.sigma, i)
        top = select(x > top, x, top)
    low = ranked(d.sigma, s[DROP])
    edge = select(load(d.memory, NEWTON) > 0.5, s[OPTION_B], splat(w.e, s[OPTION_A]))
    newton = low >= edge * top
    restrain(s, w, d)
    move(p, w)
    after, _ = evaluate(p, w)
    newton = newton & (after < 0.9999 * load(d.memory, COST))
    store(d.memory, NEWTON, select(newton, 1.0, splat(w.e, 0.0)))
    for a in range(w.step.shape[0]):
        store(w.step, a, select(newton, load(w.step, a), load(d.h, a)))


@functools.partial(kernel, inline=True)
def restrain(s, w, d):
    """Clamp the step to the method's largest entry and to the joints' speeds, keeping its direction.

    A step that holds something that is no finite number becomes 0 and is marked.
    """
    n = w.step.shape[0]
    longest, ratio = splat(w.e, 0.0), splat(w.e, 1.0)
    total = splat(w.e, 0.0)
    for a in range(n):
        x = load(w.step, a)
        x = select(x < 0.0, -x, x)
        total = total + x
        longest = select(x > longest, x, longest)
        if s[PACED] == 1.0 and s[SETTINGS + a] > 0.0:
            over = x * (1.0 / s[SETTINGS + a])
            ratio = select(over > ratio, over, ratio)
    finite = total < 1e300
    over = longest * (1.0 / s[MAX_STEP])
    ratio = select(over > ratio, over, ratio)
    scale = 1.0 / ratio
    for a in range(n):
        store(w.step, a, select(finite, load(w.step, a) * scale, 0.0))
    store(d.memory, FAILED, select(finite, load(d.memory, FAILED), 1.0))
    store(d.memory, STEP, longest * scale)


@functools.partial(kernel, inline=True)
def take_back(w, d, back):
    """Lanes whose last step raised the error return to where they were; the others remember where they are."""
    for i in range(w.q.shape[0]):
        x = select(back, load(d.prior, i), load(w.before, i))
        store(w.before, i, x), store(d.prior, i, x)
    for a in range(w.step.shape[0]):
        store(w.step, a, select(back, 0.0, load(w.step, a)))


@functools.partial(kernel, inline=True)
def move(p, w):
    """w.q is where w.step leads from w.before, within the limits; w.step becomes what was gone."""
    for c in range(p.coords.shape[0]):
        i, a = p.coords[c, 0], p.coords[c, 1]
        x0 = load(w.before, i)
        x = x0 + load(w.step, a)
        x = select(x < p.limits[c, 0], p.limits[c, 0], x)
        x = select(x > p.limits[c, 1], p.limits[c, 1], x)
        store(w.q, i, x)
        store(w.step, a, x - x0)
    for c in range(p.balls.shape[0]):
        i, a = p.balls[c, 0], p.balls[c, 1]
        w0, x0, y0, z0 = load(w.before, i), load(w.before, i + 1), load(w.before, i + 2), load(w.before, i + 3)
        u0, u1, u2 = load(w.step, a), load(w.step, a + 1), load(w.step, a + 2)
        angle = sqrt(u0 * u0 + u1 * u1 + u2 * u2)
        s, c0 = sincos(0.5 * angle)
        s = select(angle > 1e-8, s / select(angle > 1e-8, angle, 1.0), 0.5)
        u0, u1, u2 = u0 * s, u1 * s, u2 * s
        nw = c0 * w0 - u0 * x0 - u1 * y0 - u2 * z0
        nx = c0 * x0 + u0 * w0 + u1 * z0 - u2 * y0
        ny = c0 * y0 + u1 * w0 + u2 * x0 - u0 * z0
        nz = c0 * z0 + u2 * w0 + u0 * y0 - u1 * x0
        scale = 1.0 / sqrt(nw * nw + nx * nx + ny * ny + nz * nz)
        store(w.q, i, nw * scale), store(w.q, i + 1, nx * scale)
        store(w.q, i + 2, ny * scale), store(w.q, i + 3, nz * scale)
