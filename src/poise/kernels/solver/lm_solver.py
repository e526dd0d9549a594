"""The driver: one problem solved, first from the caller's start alone, then from eight starts in eight lanes.

1. From q0, one number wide, as long as the error falls fast: a target that moves a little ends here.
2. Eight lanes: from q0 a bold descent and a careful one, the others from random starts.  A lane that stalls is kept as
   a candidate and starts anew elsewhere, until `max_restarts` random starts have been spent.
3. A lane has converged: the descents from q0 go on while they may end nearer to it, and of all lanes that have
   converged the nearest wins.  Where the first shall win, nothing is waited for, and no lane is careful.
4. No start converged: the eight best candidates descend together to where the error falls no more, and the best
   is the answer, the caller's own unless another is clearly better (see `_BETTER`).

What lies where is said in `poise.kernels.machine.layout`.
"""

import functools

import numpy as np

from poise.kernels.algebra.rotations import normalised
from poise.kernels.algebra.scalar import uniform
from poise.kernels.algebra.swing_twist import kept, random_rotation
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import REALS, TABLE, WHOLE, call, entry_point, kernel, routine
from poise.kernels.machine.lanes import any_of, floor, load, select, splat, sqrt, store
from poise.kernels.machine.layout import (
    ANSWER,
    BAD_GOAL,
    BAD_START,
    BEGIN,
    BLOCKED,
    CALL,
    CLEAR,
    CLOSED_FORM,
    CODE,
    COST,
    DIRECTION,
    DISTANCE,
    END,
    GOAL,
    GOAL_NUMBERS,
    ITERATIONS,
    PLACE,
    RESTARTS,
    RUNNING,
    SEARCH,
    SOLVED,
    START,
    STATIONARY,
    TURN,
    UNSOLVED,
    WIDTH,
)
from poise.kernels.machine.views import entry_at, narrow, problem_at, wide
from poise.kernels.rows.residuals import residuals
from poise.kernels.solver.limits import any_ball_limited, hold_balls, hold_pushed, room_of_sums
from poise.kernels.solver.nearness import near_turn, square_between, square_of
from poise.kernels.solver.pose_step import hold_for_pose, pose_direction
from poise.kernels.solver.step import advance, damping_factor, direction, hold, longest_column

(
    _MU, LIMIT, SLOW, AGE, _COST, SCORE, STARTED, FRESH, _PATIENCE, _MARK, _NU, _PREDICTED, _POOL_COST, _POOL_AGE,
    _POOL_START, PROBLEM, MEASURE, _HOLDS, LEAST, ROOM,
) = range(20)  # fmt: skip
"""Rows of `state`; layout.STATE is their number.  STARTED is the number of a lane's start: 0 for q0, -1 for none.
_PATIENCE is 0 for all lanes but a careful one, to which _MARK, _NU and _PREDICTED belong.  PROBLEM is the number of a
lane's problem in a batch, MEASURE that of its stored start, LEAST the least sum of squares that its starts came to, and
ROOM how much was left at the best of the solutions that did not hold, -inf before the first.  _HOLDS is 1 for one that
does."""
_MU_LOW = 0.03
"""Chan and Lawrence's gain; the smallest mu."""
_MU_LAST = 1e-5
"""The smallest mu of the last descent, which has flat valleys to follow."""
_FLOOR = 1e-13
"""Damping that remains at the target, so that a singular pose is no division by zero [m^2]."""
INSIDE = 0.9998
"""A lane must be this far inside the squared tolerances, so that rounding in the other width cannot undo it."""
_EAGER = 48.0
"""Starts that are bold, and given up as soon as they fall slowly.  Every other of the later ones descends and may take
its time: by then the target is likely out of reach, and what counts is how near each comes."""
_FAR = 1.0
"""Errors beyond this [m^2, rad^2 a block] damp no more: a base that can travel is not held back by the distance."""
_BOLD = 4.0
"""A step of the search may raise the error this much: the way to a solution often leads over a ridge."""
_CAREFUL = 1.000000001
"""A step of the last descent may not, but for rounding."""
_NEAR = 0.1
"""A start whose error [m^2, rad^2 a block] is more than this is not tried alone."""
_HOPE, _FAR_HOPE, _NEARBY = 0.9, 0.5, 2.0
"""A descent from q0 is waited for while its distance from there [rad or m] is less than the first share of the nearest
solution's; where it is more than the third, less than the second share."""
_WAIT = 20.0
"""Iterations that it is waited for at most: what takes longer, one answer in a hundred, is a tenth nearer then."""
_HASTY = 2.5
"""Slow iterations after which a lane is given up."""
_LEAST_PATIENCE, _MORE_PATIENCE, _CLOSE = 6.0, 44.0, 1.0
"""Iterations without a real fall after which the careful lane is given up, and how many more for a target that is near:
half of them at this error at q0 [m^2, rad^2 a block]."""
_FALL, _ALMOST = 0.9, 1e-5
"""The factor of a real fall of the careful lane's error, and the error [m^2, rad^2 a block] below which any will do."""
_POLISH = 300
"""Iterations of the last descent, at most."""
_LEVEL = 1.0 - 1e-7
"""A lane that falls by less than this factor in that time is at rest."""
_PAUSE = 10
"""Iterations between two looks at whether the last descent still gains."""
_PROMISING = 1e-1
"""Below this error [m^2, rad^2 a block] more starts are worth while than usual: by the fourth root of the ratio, and
the more, the more velocities there are."""
_BLOCKED = 5
"""So many times as many starts are worth while where there are solutions, but none that holds: among crowds
of 20 and 45 obstacles they found a free solution of a Panda's pose wherever twenty times as many more did."""
_BETTER = 0.99
"""A candidate must undercut the caller's own start by this factor, so that two that are much alike do not take turns
as a target moves."""


@functools.partial(kernel, inline=True)
def aim_at(p, goal, target):
    """Read each effector's goal numbers into `target` (one number wide); False if one is no goal."""
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        g, at, tool = GOAL_NUMBERS * k, GOAL * k, effector.tool
        r0, r1, r2, r3, r4, r5, r6, r7, r8 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
        w, x, y, z = goal[g + 3], goal[g + 4], goal[g + 5], goal[g + 6]
        square = w * w + x * x + y * y + z * z
        if not square < 1e300:
            return False
        if effector.goal & TURN:
            if not square > 1e-24:
                return False
            s = 2.0 / square
            r0, r1, r2 = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
            r3, r4, r5 = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
            r6, r7, r8 = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)
            # R_target R_tool^T is compared with the unit's own rotation: the same error, one product less a step.
            for i in range(3):
                target[at + i] = r0 * tool[3 * i] + r1 * tool[3 * i + 1] + r2 * tool[3 * i + 2]
                target[at + 3 + i] = r3 * tool[3 * i] + r4 * tool[3 * i + 1] + r5 * tool[3 * i + 2]
                target[at + 6 + i] = r6 * tool[3 * i] + r7 * tool[3 * i + 1] + r8 * tool[3 * i + 2]
        else:
            target[at], target[at + 1], target[at + 2], target[at + 3] = w, x, y, z
        if effector.goal & (PLACE | DIRECTION):
            x, y, z = goal[g], goal[g + 1], goal[g + 2]
            if not abs(x) + abs(y) + abs(z) < 1e300:
                return False
            if effector.goal & DIRECTION:
                length = sqrt(x * x + y * y + z * z)
                if not length > 1e-12:
                    return False
                x, y, z = x / length, y / length, z / length
            target[at + 9], target[at + 10], target[at + 11] = x, y, z
        if effector.weighing:
            if effector.weighing == 1:
                r0, r1, r2, r3, r4, r5, r6, r7, r8 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
            for b in range(effector.first_block, min(effector.last_block, effector.first_block + 2)):
                i, weight = at + 12 + 9 * (b - effector.first_block), p.blocks[b].weight
                u, v, t = weight[0], weight[1], weight[2]
                target[i], target[i + 1], target[i + 2] = u * r0, u * r3, u * r6
                target[i + 3], target[i + 4], target[i + 5] = v * r1, v * r4, v * r7
                target[i + 6], target[i + 7], target[i + 8] = t * r2, t * r5, t * r8
    return True


@functools.partial(kernel, inline=True)
def clip_start(p, q0, q):
    """Copy q0 into q, coordinates within their limits, quaternions to unit length; False if one is too large."""
    for i in range(len(q0)):
        if not abs(q0[i]) <= p.farthest[i]:
            return False
        q[i] = q0[i]
    for c in range(len(p.coordinates)):
        i = p.coordinates[c].q
        q[i] = min(max(q[i], p.coordinates[c].lower), p.coordinates[c].upper)
    for c in range(len(p.idle)):
        i = p.idle[c].q
        q[i] = min(max(q[i], p.idle[c].lower), p.idle[c].upper)
    for c in range(len(p.balls)):
        if not _put_ball(q, p.balls[c]):
            return False
    for c in range(len(p.idle_balls)):
        if not _put_ball(q, p.idle_balls[c]):
            return False
    return True


@kernel
def _put_ball(q, ball):
    """Scale a quaternion of q to unit length and pull it in to its limits; False if it is zero."""
    i = ball.q
    square = q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3]
    if not square > 1e-24:
        return False
    w, x, y, z = normalised(q[i], q[i + 1], q[i + 2], q[i + 3])
    q[i], q[i + 1], q[i + 2], q[i + 3] = kept(ball, w, x, y, z)
    return True


@functools.partial(kernel, inline=True)
def evaluate(p, w):
    """Errors and Jacobians at w.q; the sum of squares and the score, which is at most 1 within the tolerances."""
    forward(p.units, w.q, w.frames)
    return residuals(p, w)


@functools.partial(kernel, inline=True)
def improve(p, w, cost, bold, some_careful):
    """Move w.q by one step, from the errors and Jacobians there.

    A bold lane goes along the screw to a pose and may raise the error; the others descend on the sum of squares, and
    the careful ones damp by what their last step gained.
    """
    slack, low = select(bold, _BOLD, _CAREFUL), select(bold, _MU_LOW, _MU_LAST)
    limit, mu = load(w.state, LIMIT), load(w.state, _MU)
    accepted = cost <= limit * slack
    far = _FAR * len(p.blocks)
    damping = select(cost < far, cost, far) * mu + _FLOOR
    # From the border of a ball's limits the straight way to where a step has led goes through the inside, not along.
    back = splat(w.q, 0.0 if any_ball_limited(p) else 0.25)
    after = select(accepted, select(mu > 2.0 * low, 0.5 * mu, low), mu * 4.0)
    if some_careful:
        careful = load(w.state, _PATIENCE) > 0.0
        judged = gain_damping(p, w, cost, limit, accepted, mu)
        damping = select(careful, judged, damping)
        after, back = select(careful, judged, after), select(careful, 0.0, back)
    damped_direction(p, w, bold, damping)
    advance(p, w, accepted, back)
    if some_careful:
        predict(w, cost, damping, accepted)
    store(w.state, _MU, after)
    # A limit below zero marks a start that has not been looked at yet.
    store(w.state, LIMIT, select(accepted, cost, select(limit < 0.0, np.inf, limit)))


@functools.partial(kernel, inline=True)
def damped_direction(p, w, bold, damping):
    """The damped step into w.step.  Lanes that are not bold hold the joints that it would push out of their limits."""
    if len(p.effectors) == 1 and p.effectors[0].rows < 0:
        hold_for_pose(p, w)
        hold_balls(p, w, splat(w.free, 1.0) > 0.0, w.step, w.step, 0.0)
        pose_direction(p, w, bold, damping)
        if hold_pushed(p, w, bold):
            pose_direction(p, w, bold, damping)
    else:
        hold(p, w)
        hold_balls(p, w, splat(w.free, 1.0) > 0.0, w.step, w.step, 0.0)
        direction(p, w, bold, damping)
        if hold_pushed(p, w, bold):
            direction(p, w, bold, damping)


@functools.partial(kernel, inline=True)
def gain_damping(p, w, cost, limit, accepted, mu):
    """The damping of a careful lane: by the ratio of what its last step gained to what was predicted (Nielsen 1999)."""
    predicted, nu = load(w.state, _PREDICTED), load(w.state, _NU)
    judged = predicted > 0.0
    change = damping_factor(limit - cost, select(judged, predicted, 1.0))
    store(w.state, _NU, select(accepted, 2.0, 2.0 * nu))
    mu = mu * select(accepted, select(judged, change, 1.0), nu)
    return select(load(w.state, AGE) > 0.5, mu, longest_column(p, w))


@functools.partial(kernel, inline=True)
def predict(w, cost, damping, accepted):
    """Remember by how much the linear model says that the step, within limits, lowers the error.

    With y = (J J^T + lambda^2 I)^-1 e, which is in w.y, what is left of e is lambda^2 y.
    """
    left = splat(w.e, 0.0)
    for i in range(len(w.y)):
        left = left + load(w.y, i) * load(w.y, i)
    fall = cost - damping * damping * left
    store(w.state, _PREDICTED, select(accepted, select(fall > 1e-300, fall, 1e-300), 0.0))


@kernel
def track(p, w, start, max_iterations):
    """Iterate from `start` as long as the error falls fast; (iterations, sum of squares, score) at w.q.

    The sum of squares at `start` goes to `out`.
    """
    near = _NEAR * len(p.blocks)
    for i in range(len(start)):
        w.q[i] = start[i]
        w.before[i] = start[i]
    w.state[_MU] = _MU_LOW
    w.state[LIMIT] = np.inf
    cost, score = evaluate(p, w)
    w.out[COST] = cost
    if score <= INSIDE or cost > near:
        return 0, cost, score
    for i in range(max_iterations):
        improve(p, w, cost, cost >= 0.0, False)
        last = cost
        cost, score = evaluate(p, w)
        if score <= INSIDE or not cost < 0.3 * last:
            return i + 1, cost, score
    return max_iterations, cost, score


@kernel
def draw_offsets(offsets, seed):
    """Where the sequence of random starts begins in each coordinate."""
    for c in range(len(offsets)):
        offsets[c] = uniform(seed, c)


@kernel
def _spread(p, offsets, place, start):
    """Coordinate `place` of point number `start` of an additive low-discrepancy sequence in the unit cube.

    It depends on the seed and its arguments alone, so the starts of a solve are the same in any order, on any thread.
    """
    x = offsets[place] + start * p.strides[place]
    return x - floor(x)


@kernel
def begin(p, w, fresh, offsets, q0):
    """Put each fresh lane at the start of its number: number 0 is the caller's `q0` (nq rows, of one number for all
    lanes or of one for each), the others are random."""
    start = load(w.state, STARTED)
    given = start < 0.5
    for c in range(len(p.coordinates)):
        coordinate = p.coordinates[c]
        i = coordinate.q
        x = load(q0, i)
        low, high = splat(w.q, coordinate.sample_lower), splat(w.q, coordinate.sample_upper)
        if coordinate.centred:
            low, high = x + low, x + high
            low = select(low < coordinate.lower, coordinate.lower, low)
            high = select(high > coordinate.upper, coordinate.upper, high)
        value = low + _spread(p, offsets, c, start) * (high - low)
        value = select(given, x, select(value > high, high, value))
        _put(w, i, fresh, value)
    for c in range(len(p.balls)):
        i, place = p.balls[c].q, len(p.coordinates) + 3 * c
        drawn = random_rotation(
            p.balls[c],
            _spread(p, offsets, place, start),
            _spread(p, offsets, place + 1, start),
            _spread(p, offsets, place + 2, start),
        )
        for k in range(4):
            _put(w, i + k, fresh, select(given, load(q0, i + k), drawn[k]))
    # A lane not looked at yet has a limit below zero, and so counts as rejected once.
    store(w.state, _MU, select(fresh, 0.25 * _MU_LOW, load(w.state, _MU)))
    store(w.state, LIMIT, select(fresh, -1.0, load(w.state, LIMIT)))
    store(w.state, SLOW, select(fresh, 0.0, load(w.state, SLOW)))
    store(w.state, AGE, select(fresh, -1.0, load(w.state, AGE)))
    store(w.state, SCORE, select(fresh, np.inf, load(w.state, SCORE)))
    store(w.state, _HOLDS, select(fresh, 0.0, load(w.state, _HOLDS)))


@kernel
def _put(w, i, fresh, value):
    store(w.q, i, select(fresh, value, load(w.q, i)))
    store(w.before, i, select(fresh, value, load(w.before, i)))


@kernel
def keep_candidate(w, lane):
    """Put what a lane found into the pool, in place of the worst there; place 0 holds the caller's own start."""
    cost, best = w.state[_COST, lane], True
    if not cost <= w.state[LIMIT, lane]:
        cost, best = w.state[LIMIT, lane], False
    if not 0.0 <= cost < np.inf:
        return
    slot = 1
    for k in range(1, WIDTH):
        other = w.state[_POOL_COST, k]
        if abs(other - cost) < 0.001 * cost:  # most likely the same valley; the others are worth more
            slot = k
            break
        if other > w.state[_POOL_COST, slot]:
            slot = k
    if w.state[_POOL_COST, slot] <= cost:
        return
    w.state[_POOL_COST, slot], w.state[_POOL_AGE, slot] = cost, w.state[AGE, lane]
    w.state[_POOL_START, slot] = w.state[STARTED, lane]
    for i in range(len(w.q)):
        w.pool[i, slot] = w.q[i, lane] if best else w.before[i, lane]


@kernel
def nearest(p, w, q0, spare):
    """The converged lane whose q is nearest to q0, and the square of its distance."""
    found, least = 0, np.inf
    for lane in range(WIDTH):
        if w.state[SCORE, lane] <= INSIDE:
            square = square_of(p, w, lane, q0, spare)
            if square < least:
                found, least = lane, square
    return found, least


@kernel
def hopeful(p, w, q0, spare, found, least, max_iterations):
    """Whether a descent from q0 may still end nearer to it than lane `found` did, whose distance squared is `least`."""
    bound = min(_HOPE * _HOPE * least, max(_FAR_HOPE * _FAR_HOPE * least, _NEARBY * _NEARBY))
    for lane in range(2):
        if (
            w.state[STARTED, lane] == 0.0
            and w.state[SCORE, lane] > INSIDE
            and not exhausted(w, lane, max_iterations)
            and w.state[AGE, lane] < w.state[AGE, found] + _WAIT
            and square_of(p, w, lane, q0, spare) < bound
        ):
            return True
    return False


@functools.partial(kernel, inline=True)
def exhausted(w, lane, max_iterations):
    """Whether a lane has been slow for too long, or is at the end of its iterations."""
    patience = w.state[_PATIENCE, lane]
    return w.state[SLOW, lane] > (patience if patience > 0.0 else _HASTY) or w.state[AGE, lane] >= max_iterations


@kernel
def promises(p, w, usual_restarts, restarts):
    """How many random starts the least error so far is worth: the smaller it is, the likelier is a solution."""
    least = np.inf
    for lane in range(WIDTH):
        if lane > 0:
            least = min(least, w.state[_POOL_COST, lane])
        least = min(least, w.state[LIMIT, lane])
    share = least / (_PROMISING * len(p.blocks))
    return min(restarts, usual_restarts * len(w.step) / 6.0 * share**-0.25) if share < 1.0 else usual_restarts


@kernel
def holds(p, w, address):
    """Whether limits of sums hold at w.q, one number wide, and all shapes are as far apart as asked.

    w.best is the best q where they do not.
    """
    w.clearance[0] = room_of_sums(p, w, w.q)
    if entry_at(address, CALL).scene:
        room = w.clearance[0]
        call(w.routines[CLEAR], p, w, address)
        w.clearance[0] = min(w.clearance[0] - p.guard[0].distance, room)
    if w.clearance[0] >= 0.0:
        return True
    if w.clearance[0] > w.clearance[1]:
        w.clearance[1] = w.clearance[0]
        for i in range(len(w.q)):
            w.best[i] = w.q[i]
    return False


@kernel
def judged(p, w, code, looking, address):
    """The code of an answer at w.q that has this one unless something does not hold there."""
    if not looking or (code == SOLVED and holds(p, w, address)):
        return code
    return BLOCKED if w.clearance[1] > -np.inf else code


@kernel
def reject(p, w, v, address):
    """Let lanes that have converged to where something does not hold begin anew."""
    for lane in range(WIDTH):
        if v.state[SCORE, lane] <= INSIDE and v.state[_HOLDS, lane] < 0.5:
            for i in range(len(w.q)):
                w.q[i] = v.q[i, lane]
            near_turn(p, w, w.pool)
            if holds(p, w, address):
                v.state[_HOLDS, lane] = 1.0
            else:
                v.state[SCORE, lane], v.state[SLOW, lane] = np.inf, np.inf
                v.state[_COST, lane], v.state[LIMIT, lane] = np.inf, np.inf


@kernel
def search(
    p, own, w, q0, spare, offsets, max_iterations, restarts, usual_restarts, spent, chunk, wait, looking, address
):
    """Eight lanes until one converges, the restarts are spent, or `chunk` iterations have passed.

    With `wait` the descents from q0 go on then, while they may end nearer.  After `usual_restarts` there are more, up
    to `restarts`, the smaller the least error is.  Where one is `looking`, a solution counts where all that must hold
    does.  Returns (lane or -1, restarts spent, whether it may go on).
    """
    for _ in range(chunk):
        caring = w.state[_PATIENCE, 1] > 0.0
        cost, score = evaluate(p, w)
        limit, start = load(w.state, LIMIT), load(w.state, STARTED)
        score = select(start < 0.0, np.inf, score)
        # A lane that has converged grows no older while it waits.
        age = load(w.state, AGE) + select(load(w.state, SCORE) > INSIDE, splat(w.q, 1.0), 0.0)
        bold = (start < _EAGER) | (start - 2.0 * floor(0.5 * start) > 0.5)
        hope, patience = select(bold, 0.25, splat(w.q, 0.97)), splat(w.q, _HASTY)
        slow = load(w.state, SLOW) + select((age > 6.0) & (cost > hope * limit), splat(w.q, 1.0), 0.0)
        if caring:
            careful, mark = load(w.state, _PATIENCE) > 0.0, load(w.state, _MARK)
            fallen = (cost < _FALL * mark) | (cost < _ALMOST * len(p.blocks))
            store(w.state, _MARK, select(fallen, cost, mark))
            slow = select(careful, select(fallen, 0.0, load(w.state, SLOW) + 1.0), slow)
            patience = select(careful, load(w.state, _PATIENCE), patience)
            bold = bold & (load(w.state, _PATIENCE) <= 0.0)
        store(w.state, _COST, cost), store(w.state, SCORE, score)
        store(w.state, AGE, age), store(w.state, SLOW, slow)
        if looking and any_of(score <= INSIDE):
            reject(p, own, w, address)
            score, slow = load(w.state, SCORE), load(w.state, SLOW)
        if any_of(score <= INSIDE):
            lane, least = nearest(p, w, q0, spare)
            if not (wait and hopeful(p, w, q0, spare, lane, least, max_iterations)):
                return lane, spent, False
        elif any_of((slow > patience) | (age >= max_iterations)):
            alive = False
            for lane in range(WIDTH):
                w.state[FRESH, lane] = 0.0
                if exhausted(w, lane, max_iterations):
                    if w.state[STARTED, lane] >= 0.0:
                        keep_candidate(w, lane)
                    w.state[_PATIENCE, lane] = 0.0
                    blocked = looking and own.clearance[1] > -np.inf
                    most = min(_BLOCKED * usual_restarts, restarts) if blocked else usual_restarts
                    if spent < most or (not blocked and spent < promises(p, w, usual_restarts, restarts)):
                        spent += 1
                        w.state[STARTED, lane] = spent
                        w.state[FRESH, lane] = 1.0
                    else:
                        w.state[STARTED, lane] = -1.0
                        w.state[SLOW, lane] = 0.0
                        w.state[AGE, lane] = -1e18
                alive = alive or w.state[STARTED, lane] >= 0.0
            if not alive:
                return -1, spent, False
            begin(p, w, load(w.state, FRESH) > 0.5, offsets, q0)
        improve(p, w, cost, bold, caring)
    return -1, spent, True


@kernel
def polish(p, w, max_iterations):
    """Let the pool descend to where it falls no more; the best lane, whether it came to rest, and the iterations."""
    for lane in range(WIDTH):
        empty = not w.state[_POOL_COST, lane] < np.inf
        for i in range(len(w.q)):
            w.q[i, lane] = w.pool[i, 0] if empty else w.pool[i, lane]
            w.before[i, lane] = w.q[i, lane]
        w.state[_MU, lane] = _MU_LOW
        w.state[LIMIT, lane] = np.inf
        w.state[SLOW, lane] = np.inf
    resting, spent = False, 0
    for k in range(1, max_iterations + 1):
        spent = k
        cost, score = evaluate(p, w)
        store(w.state, _COST, cost), store(w.state, SCORE, score)
        if any_of(score <= INSIDE):
            break
        if k % _PAUSE == 0:
            resting = rested(w)
            if resting:
                break
        improve(p, w, cost, cost < 0.0, False)
    best = 0
    for lane in range(WIDTH):
        if not w.state[_COST, lane] <= w.state[LIMIT, lane]:
            w.state[_COST, lane] = w.state[LIMIT, lane]
            for i in range(len(w.q)):
                w.q[i, lane] = w.before[i, lane]
        margin = _BETTER if best == 0 else 1.0
        if w.state[_COST, lane] < margin * w.state[_COST, best]:
            best = lane
    return best, resting, np.int64(spent + max(w.state[_POOL_AGE, best], 0.0))


@kernel
def rested(w):
    """Whether no lane that can still win has fallen by more than rounding since this was last asked."""
    best = np.inf
    for lane in range(WIDTH):
        best = min(best, w.state[LIMIT, lane])
    resting = True
    for lane in range(WIDTH):
        now, then = w.state[LIMIT, lane], w.state[SLOW, lane]
        if now < 2.0 * best and not now > _LEVEL * then:
            resting = False
        w.state[SLOW, lane] = now
    return resting


@kernel
def finish(p, w, iterations, restarts, start, stationary):
    """Certify w.q (one number wide) by forward kinematics and write the answer into `out`; the code."""
    cost, score = evaluate(p, w)
    return answer(p, w, cost, score, iterations, restarts, start, stationary)


@kernel
def answer(p, w, cost, score, iterations, restarts, start, stationary):
    """Write w.q and what was measured there into `out`; the code.  w.pool is q0."""
    out, count = w.out, len(w.q)
    code = SOLVED if score <= 1.0 else UNSOLVED
    out[CODE], out[ITERATIONS], out[RESTARTS], out[START], out[COST], out[STATIONARY] = (
        code, iterations, restarts, start, cost, stationary,
    )  # fmt: skip
    out[DISTANCE] = sqrt(square_between(p, w.q, w.pool))
    for i in range(count):
        out[ANSWER + i] = w.q[i]
    for b in range(len(p.blocks)):
        x = w.e[3 * b] * p.blocks[b].inverse_weight[0]
        y = w.e[3 * b + 1] * p.blocks[b].inverse_weight[1]
        z = w.e[3 * b + 2] * p.blocks[b].inverse_weight[2]
        out[ANSWER + count + b] = sqrt(x * x + y * y + z * z)
    return code


@routine
def search_lanes(p, w, v, address):
    """Search from eight starts, or go on: w.q is where it led, and `out` says how; its code is RUNNING if it paused.

    A routine of its own, which `solve` calls through its address, so that the two widths can be compiled side by side.
    """
    told = entry_at(address, CALL)
    count, out = len(w.q), w.out
    if told.phase == BEGIN:
        for i in range(len(w.target)):
            store(v.target, i, w.target[i])
        draw_offsets(w.offsets, told.seed)
        for i in range(count):
            store(v.q, i, w.pool[i]), store(v.before, i, w.pool[i])
        own = 2 if told.nearest else 1
        spent = min(WIDTH - own, told.max_restarts)
        for lane in range(WIDTH):
            start = max(lane - own + 1, 0)
            v.state[STARTED, lane] = start if start <= spent else -1
        begin(p, v, load(v.state, STARTED) >= -1.0, w.offsets, w.pool)
        store(v.state, LIMIT, np.inf)
        store(v.state, _PATIENCE, 0.0), store(v.state, _MARK, np.inf)
        store(v.state, _NU, 2.0), store(v.state, _PREDICTED, 0.0)
        if told.nearest:
            far = out[COST] / (_CLOSE * len(p.blocks))
            v.state[_PATIENCE, 1] = _LEAST_PATIENCE + _MORE_PATIENCE / (1.0 + far * far)
        store(v.state, _POOL_COST, np.inf), store(v.state, _POOL_AGE, 0.0), store(v.state, _POOL_START, 0.0)
        v.state[_POOL_COST, 0] = 0.0
        for i in range(count):
            v.pool[i, 0] = w.pool[i]
        out[RESTARTS] = spent
    lane, spent, stationary = -1, np.int64(out[RESTARTS]), False
    if told.phase == END:
        found, least = nearest(p, v, w.pool, w.before)
        lane = found if least < np.inf else -1
    else:
        lane, spent, more = search(
            p, w, v, w.pool, w.before, w.offsets, told.max_iterations, told.max_restarts, told.usual_restarts, spent,
            told.chunk, told.nearest != 0, told.looking, address,
        )  # fmt: skip
        out[RESTARTS] = spent
        if lane < 0 and more:
            out[CODE] = RUNNING
            return
    out[STATIONARY] = 0.0
    if lane < 0 and told.looking and w.clearance[1] > -np.inf:
        out[CODE], out[ITERATIONS], out[START] = UNSOLVED, 0.0, 0.0
        for i in range(count):
            w.q[i] = w.best[i]
        return
    if lane < 0:
        for k in range(WIDTH):
            if v.state[STARTED, k] >= 0.0:
                keep_candidate(v, k)
        lane, stationary, iterations = polish(p, v, _POLISH)
        start = v.state[_POOL_START, lane]
    else:
        iterations, start = np.int64(max(v.state[AGE, lane], 0.0)), v.state[STARTED, lane]
    out[CODE], out[ITERATIONS], out[START], out[STATIONARY] = UNSOLVED, iterations, start, stationary
    for i in range(count):
        w.q[i] = v.q[i, lane]


@entry_point(WHOLE)
def solve(address):
    """Solve one problem; returns a code and fills `out`, see `poise.kernels.machine.layout`.

    After `chunk` iterations the search pauses and returns RUNNING: call again with the phase GO_ON, or with END to stop
    searching.
    """
    told = entry_at(address, CALL)
    p = problem_at(told.problem)
    w = narrow(p, told.narrow, told.routines)
    out = w.out
    if told.phase == BEGIN:
        if not aim_at(p, w.goal, w.target):
            return BAD_GOAL
        if not clip_start(p, w.start, w.pool):
            return BAD_START
        if told.looking:
            w.clearance[1] = -np.inf
        if len(p.arms) > 0 and told.max_restarts > 0:
            call(w.routines[CLOSED_FORM], p, w, wide(p, told.wide, told.wide_routines), address)
            if out[CODE] == SOLVED or out[CODE] == BLOCKED:
                return np.int64(out[CODE])
        iterations, cost, score = track(p, w, w.pool, told.max_iterations)
        turned = score <= INSIDE and near_turn(p, w, w.pool)
        if score <= INSIDE and (told.looking == 0 or holds(p, w, address)):
            if turned:
                cost, score = evaluate(p, w)
            return answer(p, w, cost, score, iterations, np.int64(0), np.int64(0), False)
    call(w.routines[SEARCH], p, w, wide(p, told.wide, told.wide_routines), address)
    if out[CODE] == RUNNING:
        return RUNNING
    near_turn(p, w, w.pool)
    restarts, start = np.int64(out[RESTARTS]), np.int64(out[START])
    code = finish(p, w, np.int64(out[ITERATIONS]), restarts, start, out[STATIONARY] > 0.5)
    return judged(p, w, code, told.looking, address)


@entry_point(WHOLE, REALS, TABLE)
def linearise(address, e, jacobian):
    """Residual rows `e` (m,) and Jacobian `jacobian` (m, active velocities) at `start`; a code."""
    told = entry_at(address, CALL)
    p = problem_at(told.problem)
    w = narrow(p, told.narrow, told.routines)
    if not aim_at(p, w.goal, w.target):
        return BAD_GOAL
    if not clip_start(p, w.start, w.q):
        return BAD_START
    evaluate(p, w)
    for i in range(len(e)):
        e[i] = w.e[i]
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        for b in range(effector.first_block, effector.last_block):
            for s in range(effector.columns):
                for r in range(3):
                    jacobian[3 * b + r, p.slots[effector.first_slot + s]] = w.jacobian[p.blocks[b].start + 3 * s + r]
    return SOLVED
