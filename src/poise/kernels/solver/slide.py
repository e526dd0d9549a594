"""Slide within the null space of the tasks towards a posture.

Step.     dq = alpha (c - M J^T (J M J^T)^-1 J c) + M J^T (J M J^T)^-1 e over the free joints, with c = posture - q and
          M = W^-2.  With alpha = 1 it is the exact minimum of sum (w_i (dq_i - c_i))^2 subject to J dq = e, after
          Liegeois 1977, not the leaky damped projector.
Length.   alpha is the inverse of the curvature that the last step met, after Barzilai and Borwein 1988: along a null
          space that bends it is not 1.  It is halved while the way leads farther from the posture, and it is 0 where
          the tasks are missed by little, so that they are fulfilled exactly before the next distance is compared.
Limits.   A primal active set: a joint at a limit that the step would push out is held and the step found anew; the
          step ends where the first free joint meets its limit.
"""

import functools

import numpy as np

from poise.kernels.algebra.blocks import times, transpose_times
from poise.kernels.algebra.rotations import normalised, small_quaternion_step
from poise.kernels.algebra.swing_twist import clipped
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, store
from poise.kernels.solver.ends import evaluate
from poise.kernels.solver.limits import NEARLY, hold_balls
from poise.kernels.solver.state import INSIDE

BEST, LAST, SIZE, POOLED, ORIGIN = range(5)
"""Rows of `choice`, of which there are CHOICE.  Of a slide: the least squared distance where the tasks were
fulfilled, the last one, the factor of alpha."""
_DAMPING = 1e-12
_LEAST, _NONE = 0.01, 0.1
"""The smallest weight that the metric knows, and what it takes for none: such a joint moves easily, not wildly."""
_LONGEST = 0.5
"""Largest joint change of a step [rad or m]: beyond it the null space has turned away."""
_FLAT, _STEEP = 0.1, 20.0
"""Bounds of the curvature, which is 1 along a straight null space: alpha is 0.05 to 10."""
_SMALL = 0.05
"""The smallest factor of alpha, SIZE."""
_MISS = 1e-6
"""A sum of squares [m^2, rad^2] that the next step without alpha all but undoes."""
_LEVEL = 1.000001
"""A squared distance that has grown by less than this factor counts as the same."""


@kernel
def posture_errors(p, w, posture):
    """Fill w.phi with posture - q, 0 without a weight; return sum (w_i (q_i - posture_i))^2."""
    q, weight, c, cost = w.q, p.posture_weights, w.phi, splat(w.q, 0.0)
    for k in range(len(p.coordinates)):
        i, a = p.coordinates[k].q, p.coordinates[k].v
        away = posture[i] - load(q, i)
        cost = cost + (weight[a] * weight[a]) * (away * away)
        store(c, a, away if weight[a] > 0.0 else splat(q, 0.0))
    for k in range(len(p.balls)):
        i, a = p.balls[k].q, p.balls[k].v
        # Twice the vector part of posture * q^-1, which is the turn that is left to first order.
        w0, x0, y0, z0 = posture[i], posture[i + 1], posture[i + 2], posture[i + 3]
        w1, x1, y1, z1 = load(q, i), -load(q, i + 1), -load(q, i + 2), -load(q, i + 3)
        sign = select(w1 * w0 - x1 * x0 - y1 * y0 - z1 * z0 >= 0.0, splat(q, 2.0), splat(q, -2.0))
        turn = (
            sign * (x1 * w0 + w1 * x0 + z1 * y0 - y1 * z0),
            sign * (y1 * w0 - z1 * x0 + w1 * y0 + x1 * z0),
            sign * (z1 * w0 + y1 * x0 - x1 * y0 + w1 * z0),
        )
        for j in range(3):
            cost = cost + (weight[a + j] * weight[a + j]) * (turn[j] * turn[j])
            store(c, a + j, turn[j] if weight[a + j] > 0.0 else splat(q, 0.0))
    return cost


@kernel
def _null_step(p, w, scale):
    """The step of the module into w.step, c being w.phi; its direction t within the null space into w.gradient; alpha.

    w.moved is the last step s within the null space, and w.other the direction before it.  With y = other - t, the
    change of the gradient, alpha = s . M^-1 s / s . M^-1 y.  `scale` is SIZE, or 0 to fulfil the tasks first.
    """
    count, size, zero = len(w.step), len(w.e), splat(w.q, 0.0)
    weight, c, tangent = p.posture_weights, w.phi, w.gradient
    for a in range(count):
        store(w.free, a, 1.0 / (max(weight[a], _LEAST) if weight[a] > 0.0 else _NONE) ** 2)
    alpha = zero
    # w.free holds M: 0 for joints that are held.  Each pass holds at least one more, so n + 1 passes are enough.
    for _ in range(count + 1):
        gram(p, size, w.jacobian, w.free, w.matrix)
        factor(size, _DAMPING, w.matrix)
        for a in range(count):
            store(w.step, a, select(load(w.free, a) > 0.0, load(c, a), zero))
        times(p, w.jacobian, w.step, w.y)
        back_substitute(size, w.matrix, w.y, w.y)
        transpose_times(p, w.jacobian, w.y, tangent)
        square, curvature = zero, zero
        for a in range(count):
            free = load(w.free, a)
            metric = select(free > 0.0, 1.0 / select(free > 0.0, free, 1.0), zero)
            t = load(w.step, a) - load(tangent, a) * free
            moved = load(w.moved, a)
            square = square + metric * moved * moved
            curvature = curvature + metric * moved * (load(w.other, a) - t)
            store(tangent, a, t)
        flat, steep = select(scale < 0.5, splat(w.q, 1.0), _FLAT) * square, _STEEP * square
        curvature = select(curvature > flat, curvature, flat)
        curvature = select(curvature < steep, curvature, steep)
        alpha = scale * select(square > 0.0, square / select(square > 0.0, curvature, 1.0), splat(w.q, 1.0))
        # dq = alpha t + M J^T (J M J^T)^-1 e.
        back_substitute(size, w.matrix, w.e, w.y)
        transpose_times(p, w.jacobian, w.y, w.step)
        for a in range(count):
            store(w.step, a, alpha * load(tangent, a) + load(w.free, a) * load(w.step, a))
        held = False
        for k in range(len(p.coordinates)):
            i, a = p.coordinates[k].q, p.coordinates[k].v
            x, s, free = load(w.q, i), load(w.step, a), load(w.free, a)
            down = (x <= p.coordinates[k].lower) & (s < 0.0)
            up = (x >= p.coordinates[k].upper) & (s > 0.0)
            out = (free > 0.0) & (down | up)
            held = held | any_of(out)
            store(w.free, a, select(out, zero, free))
        pushed = hold_balls(p, w, splat(w.q, 1.0) > 0.0, w.step, c, NEARLY)
        if not (held or any_of(pushed > 0.0)):
            break
    return alpha


@kernel
def _advance(p, w, alpha):
    """Take the share t of w.step that _LONGEST and the first limit on the way allow; the largest entry of w.step."""
    longest, one = splat(w.q, 0.0), splat(w.q, 1.0)
    for a in range(len(w.step)):
        s = load(w.step, a)
        s = select(s < 0.0, -s, s)
        longest = select(s > longest, s, longest)
    t = select(longest > _LONGEST, _LONGEST / select(longest > 0.0, longest, one), one)
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        share = _share_to_limit(c, load(w.q, c.q), load(w.step, c.v), one)
        t = select(share < t, share, t)
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        x, s = load(w.q, c.q), load(w.step, c.v)
        meets = _share_to_limit(c, x, s, one) <= t
        limit = select(s < 0.0, splat(w.q, c.lower), splat(w.q, c.upper))
        x = select(meets, limit, x + t * s)
        x = select(x < c.lower, splat(w.q, c.lower), x)
        store(w.q, c.q, select(x > c.upper, splat(w.q, c.upper), x))
    for k in range(len(p.balls)):
        i, a = p.balls[k].q, p.balls[k].v
        turned = small_quaternion_step(
            load(w.q, i), load(w.q, i + 1), load(w.q, i + 2), load(w.q, i + 3),
            t * load(w.step, a), t * load(w.step, a + 1), t * load(w.step, a + 2),
        )  # fmt: skip
        turned = normalised(turned[0], turned[1], turned[2], turned[3])
        turned = clipped(p.balls[k], turned[0], turned[1], turned[2], turned[3])
        for j in range(4):
            store(w.q, i + j, turned[j])
    for a in range(len(w.step)):
        store(w.other, a, select(alpha > 0.0, load(w.gradient, a), load(w.other, a)))
        store(w.moved, a, select(alpha > 0.0, t * alpha * load(w.gradient, a), load(w.moved, a)))
    return longest


@functools.partial(kernel, inline=True)
def _share_to_limit(c, x, s, one):
    """The share of a step after which a coordinate meets its limit; 2 where it does not move."""
    moves = (s < 0.0) | (s > 0.0)
    return select(moves, select(s < 0.0, c.lower - x, c.upper - x) / select(moves, s, one), 2.0 * one)


@kernel
def slide(p, w, posture, iterations, still):
    """Slide from w.q towards `posture`, until steps are shorter than `still` or for so many, and count them.

    w.before becomes the nearest configuration on the way that fulfils the tasks, and row BEST its squared distance.
    """
    for i in range(len(w.q)):
        store(w.before, i, load(w.q, i))
    for a in range(len(w.step)):
        store(w.moved, a, 0.0), store(w.other, a, 0.0)
    store(w.search.choice, BEST, splat(w.q, np.inf)), store(w.search.choice, LAST, splat(w.q, np.inf))
    store(w.search.choice, SIZE, splat(w.q, 1.0))
    for k in range(iterations):
        cost, score = evaluate(p, w)
        distance, best = posture_errors(p, w, posture), load(w.search.choice, BEST)
        last, size = load(w.search.choice, LAST), load(w.search.choice, SIZE)
        # Only distances at which the tasks are fulfilled are compared.
        there, nearer = score <= INSIDE, distance < best
        grown, less = select(size < 0.5, 2.0 * size, 1.0), select(size > 2.0 * _SMALL, 0.5 * size, _SMALL)
        away = select(size > _SMALL, 0.95 * size, _SMALL)
        size = select(there, select(distance > _LEVEL * last, less, grown), select(cost < _MISS, size, away))
        store(w.search.choice, LAST, select(there, distance, last))
        store(w.search.choice, SIZE, size)
        if any_of(there & nearer):
            store(w.search.choice, BEST, select(there & nearer, distance, best))
            for i in range(len(w.q)):
                store(w.before, i, select(there & nearer, load(w.q, i), load(w.before, i)))
        alpha = _null_step(p, w, select((score > INSIDE) & (cost < _MISS), 0.0, size))
        if not any_of((_advance(p, w, alpha) > still) | (score > INSIDE)):
            return k
    return iterations
