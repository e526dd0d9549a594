"""Among the configurations that fulfil the tasks, the nearest to a posture that a search of fixed length finds.

1. Eight lanes descend to the tasks, from the posture itself and from random starts drawn towards it.  Of those that
   arrive the seven nearest are kept, beside the answer that the solver found.
2. These eight slide side by side within the null space of the tasks towards the posture, for a few steps.
3. The one that came nearest slides on alone until it rests.

Step.     dq = alpha (c - M J^T (J M J^T)^-1 J c) + M J^T (J M J^T)^-1 e over the free joints, with c = posture - q and
          M = W^-2.  With alpha = 1 it is the exact minimum of sum (w_i (dq_i - c_i))^2 subject to J dq = e, after
          Liegeois 1977, not the leaky damped projector.
Length.   alpha after Barzilai and Borwein 1988: the inverse of the curvature that the last step met, which the plain
          step takes for 1 although the null space bends.
Limits.   A primal active set: a joint at a limit that the step would push out is held and the step found anew; the
          step ends where the first free joint meets its limit.
"""

import functools

import numpy as np

from poise.kernels.algebra.blocks import times, transpose_times
from poise.kernels.algebra.rotations import normalised, small_quaternion_step
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine.jit import WHOLE, entry_point, kernel
from poise.kernels.machine.lanes import any_of, floor, load, rint, select, splat, store
from poise.kernels.machine.layout import ANSWER, CALL, ITERATIONS, RESTARTS, WIDTH
from poise.kernels.machine.views import entry_at, narrow, problem_at, wide
from poise.kernels.solver.lm_solver import STARTED, begin, draw_offsets, evaluate, finish, improve

_KEPT, _BEST, _LAST, _AGE, _DONE, _FRESH, _SIZE = range(7)
"""Rows of `choice`; layout.CHOICE is their number."""
_TURN = 6.283185307179586
_INSIDE = 0.9998
"""As the solver has it: inside by so much that rounding in the other width cannot undo it."""
_STARTS = 40
"""Descents, one from the posture and the others from random starts."""
_DRAWN = 0.7
"""How much of the way from the posture to a random configuration is left to a start."""
_HASTE, _OLD = 5.0, 15.0
"""Iterations after which a descent must fall fast, and after which it is given up."""
_SIDE_BY_SIDE, _ALONE = 10, 400
"""Steps within the null space, at most."""
_DAMPING = 1e-12
_LEAST, _NONE = 0.01, 0.1
"""The smallest weight that the metric knows, and what it takes for none: such a joint moves easily, not wildly."""
_LONGEST = 0.5
"""Largest joint change of a step [rad or m]: beyond it the null space has turned away."""
_FLAT = 0.1
"""The least curvature of the squared distance along a step, relative to that of a straight null space."""
_STEEP = 20.0
_SMALL = 0.05
_MISS = 1e-6
_LEVEL = 1.000001
_STILL = 1e-7
"""A step shorter than this is rest [rad or m]."""


@kernel
def _posture_errors(p, w, posture):
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
def _turn_near(p, w, centre, which):
    """Turn the revolute coordinates of these lanes by whole turns towards `centre`, as far as their limits allow."""
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        if c.turns:
            x = load(w.q, c.q)
            up, down = floor((c.upper - x) / _TURN), -floor((x - c.lower) / _TURN)
            turns = rint((centre[c.q] - x) / _TURN)
            turns = select(turns > up, up, turns)
            turns = select(turns < down, down, turns)
            turns = select(up >= down, turns, 0.0)
            store(w.q, c.q, select(which, x + turns * _TURN, x))


@kernel
def _draw(p, w, offsets, centre, fresh):
    """Put each fresh lane at the start of its number, drawn towards `centre`; number 0 is there."""
    begin(p, w, fresh, offsets, centre)
    _turn_near(p, w, centre, fresh)
    for k in range(len(p.coordinates)):
        i = p.coordinates[k].q
        x = load(w.q, i)
        x = select(fresh, centre[i] + _DRAWN * (x - centre[i]), x)
        store(w.q, i, x), store(w.before, i, x)
    for k in range(len(p.balls)):
        i = p.balls[k].q
        x0, x1, x2, x3 = load(w.q, i), load(w.q, i + 1), load(w.q, i + 2), load(w.q, i + 3)
        c0, c1, c2, c3 = centre[i], centre[i + 1], centre[i + 2], centre[i + 3]
        share = select(x0 * c0 + x1 * c1 + x2 * c2 + x3 * c3 < 0.0, splat(w.q, -_DRAWN), splat(w.q, _DRAWN))
        rest = 1.0 - _DRAWN
        drawn = normalised(share * x0 + rest * c0, share * x1 + rest * c1, share * x2 + rest * c2, share * x3 + rest * c3)
        for j in range(4):
            x = select(fresh, drawn[j], load(w.q, i + j))
            store(w.q, i + j, x), store(w.before, i + j, x)


@kernel
def _keep(v, lane):
    """Put what a lane found into the pool, in place of the farthest there; place 0 holds the solver's own answer."""
    slot = 1
    for k in range(2, WIDTH):
        if v.choice[_KEPT, k] > v.choice[_KEPT, slot]:
            slot = k
    if v.choice[_LAST, lane] < v.choice[_KEPT, slot]:
        v.choice[_KEPT, slot] = v.choice[_LAST, lane]
        for i in range(len(v.q)):
            v.pool[i, slot] = v.q[i, lane]


@kernel
def _gather(p, v, posture, centre, offsets, starts):
    """Descend to the tasks from this many starts around `centre`, and keep the nearest to `posture` in the pool."""
    for lane in range(WIDTH):
        v.state[STARTED, lane] = lane
    _draw(p, v, offsets, centre, load(v.state, STARTED) >= 0.0)
    store(v.choice, _AGE, -1.0), store(v.choice, _LAST, np.inf)
    spent, alive = WIDTH, True
    while alive:
        cost, score = evaluate(p, v)
        age = load(v.choice, _AGE) + 1.0
        arrived = score <= _INSIDE
        tired = (age > _OLD) | ((age > _HASTE) & (cost > 0.25 * load(v.choice, _LAST)))
        done = (age >= 0.0) & (arrived | tired)
        store(v.choice, _AGE, age), store(v.choice, _LAST, cost)
        if any_of(done):
            _turn_near(p, v, centre, done)
            distance = _posture_errors(p, v, posture)
            store(v.choice, _LAST, select(done, select(arrived, distance, np.inf), cost))
            store(v.choice, _DONE, select(done, splat(v.q, 1.0), 0.0))
            store(v.choice, _FRESH, 0.0)
            alive = False
            for lane in range(WIDTH):
                if v.choice[_DONE, lane] > 0.5:
                    _keep(v, lane)
                    v.choice[_LAST, lane] = np.inf
                    if spent < starts:
                        v.state[STARTED, lane] = spent
                        v.choice[_FRESH, lane], v.choice[_AGE, lane] = 1.0, -1.0
                        spent += 1
                        alive = True
                    else:
                        v.choice[_AGE, lane] = -1e18
                elif v.choice[_AGE, lane] >= 0.0:
                    alive = True
            _draw(p, v, offsets, centre, load(v.choice, _FRESH) > 0.5)
        improve(p, v, cost, cost >= 0.0)


@kernel
def _null_step(p, w, scale):
    """The step above into w.step, c being w.phi; its part within the null space into w.gradient, and alpha.

    `w.moved` is the last step within the null space, and `w.other` the gradient before it.
    """
    count, size, zero = len(w.step), len(w.e), splat(w.q, 0.0)
    weight, c, tangent = p.posture_weights, w.phi, w.gradient
    for a in range(count):
        store(w.free, a, 1.0 / (max(weight[a], _LEAST) if weight[a] > 0.0 else _NONE) ** 2)
    alpha = zero
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
        flat, steep = select(scale < 1.0, splat(w.q, 1.0), _FLAT) * square, _STEEP * square
        curvature = select(curvature > flat, curvature, flat)
        curvature = select(curvature < steep, curvature, steep)
        alpha = scale * select(square > 0.0, square / select(square > 0.0, curvature, 1.0), splat(w.q, 1.0))
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
        if not held:
            break
    return alpha


@kernel
def _advance(p, w, alpha):
    """Take w.step, or as much of it as the limits and _LONGEST allow; the largest entry of all of it."""
    longest, one = splat(w.q, 0.0), splat(w.q, 1.0)
    for a in range(len(w.step)):
        s = load(w.step, a)
        s = select(s < 0.0, -s, s)
        longest = select(s > longest, s, longest)
    t = select(longest > _LONGEST, _LONGEST / select(longest > 0.0, longest, one), one)
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        room = _room(c, load(w.q, c.q), load(w.step, c.v), one)
        t = select(room < t, room, t)
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        x, s = load(w.q, c.q), load(w.step, c.v)
        meets = _room(c, x, s, one) <= t
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
        for j in range(4):
            store(w.q, i + j, turned[j])
    for a in range(len(w.step)):
        store(w.other, a, select(alpha > 0.0, load(w.gradient, a), load(w.other, a)))
        store(w.moved, a, select(alpha > 0.0, t * alpha * load(w.gradient, a), load(w.moved, a)))
    return longest


@functools.partial(kernel, inline=True)
def _room(c, x, s, one):
    """How much of a step a coordinate can take; 2 where it does not move."""
    moves = (s < 0.0) | (s > 0.0)
    return select(moves, select(s < 0.0, c.lower - x, c.upper - x) / select(moves, s, one), 2.0 * one)


@kernel
def _slide(p, w, posture, iterations):
    """Slide from w.q towards `posture`, until it rests or for so many steps, and count them.

    w.before becomes the nearest configuration on the way that fulfils the tasks, and row _BEST its squared distance.
    """
    for i in range(len(w.q)):
        store(w.before, i, load(w.q, i))
    for a in range(len(w.step)):
        store(w.moved, a, 0.0), store(w.other, a, 0.0)
    store(w.choice, _BEST, splat(w.q, np.inf)), store(w.choice, _LAST, splat(w.q, np.inf))
    store(w.choice, _SIZE, splat(w.q, 1.0))
    for k in range(iterations):
        cost, score = evaluate(p, w)
        distance, best = _posture_errors(p, w, posture), load(w.choice, _BEST)
        last, size = load(w.choice, _LAST), load(w.choice, _SIZE)
        there, nearer = score <= _INSIDE, distance < best
        grown, less = select(size < 0.5, 2.0 * size, 1.0), select(size > 2.0 * _SMALL, 0.5 * size, _SMALL)
        size = select(there, select(distance > _LEVEL * last, less, grown), size)
        store(w.choice, _LAST, select(there, distance, last))
        store(w.choice, _SIZE, size)
        if any_of(there & nearer):
            store(w.choice, _BEST, select(there & nearer, distance, best))
            for i in range(len(w.q)):
                store(w.before, i, select(there & nearer, load(w.q, i), load(w.before, i)))
        size = select((score > _INSIDE) & (cost < _MISS), 0.0, size)
        alpha = _null_step(p, w, size)
        if not any_of(_advance(p, w, alpha) > _STILL):
            return k
    return iterations


@kernel
def _choose(p, w, v, starts, seed):
    """Put the configuration of w.q or another that fulfils the tasks into w.q, whichever came nearest to the posture."""
    count, posture, centre = len(w.q), w.posture_goal, w.pool
    for i in range(len(w.target)):
        store(v.target, i, w.target[i])
    draw_offsets(w.offsets, seed)
    store(v.choice, _KEPT, splat(v.q, np.inf))
    for i in range(count):
        store(v.q, i, w.q[i]), store(v.pool, i, w.q[i])
    _gather(p, v, posture, centre, w.offsets, starts)
    for i in range(count):
        store(v.q, i, load(v.pool, i))
    _slide(p, v, posture, _SIDE_BY_SIDE)
    nearest = 0
    for lane in range(WIDTH):
        if v.choice[_BEST, lane] < v.choice[_BEST, nearest]:
            nearest = lane
    for i in range(count):
        w.q[i] = v.before[i, nearest]


@kernel
def _set_centre(p, w):
    """What random starts are drawn around into w.pool: the posture within the limits, w.q where it has no weight."""
    weight, posture, centre = p.posture_weights, w.posture_goal, w.pool
    for i in range(len(w.q)):
        centre[i] = w.q[i]
    for k in range(len(p.coordinates)):
        c = p.coordinates[k]
        if weight[c.v] > 0.0:
            centre[c.q] = min(max(posture[c.q], c.lower), c.upper)
    for k in range(len(p.balls)):
        i, a = p.balls[k].q, p.balls[k].v
        if weight[a] + weight[a + 1] + weight[a + 2] > 0.0:
            for j in range(4):
                centre[i + j] = posture[i + j]


@entry_point(WHOLE)
def settle(address):
    """Bring the solved configuration of `out` as near to `posture_goal` as the tasks allow, and certify it anew.

    The workspaces are as `lm_solver.solve` left them.  Without `max_restarts`, or after a method of the caller's, which
    has no lanes, there is no search: the configuration slides to where it rests.
    """
    told = entry_at(address, CALL)
    p = problem_at(told.problem)
    w = narrow(p, told.narrow, told.routines)
    out = w.out
    for i in range(len(w.q)):
        w.q[i] = out[ANSWER + i]
    _set_centre(p, w)
    _turn_near(p, w, w.pool, True)
    if told.wide != 0 and told.max_restarts > 0:
        _choose(p, w, wide(p, told.wide, told.wide_routines), min(_STARTS, WIDTH + told.max_restarts), told.seed)
    iterations = _slide(p, w, w.posture_goal, _ALONE)
    for i in range(len(w.q)):
        w.q[i] = w.before[i]
    return finish(p, w, np.int64(out[ITERATIONS]) + iterations, np.int64(out[RESTARTS]), False)
