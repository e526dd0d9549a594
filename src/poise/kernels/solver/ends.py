"""Both ends of a solve: target and start as they come in, the answer as it goes out."""

import functools

from poise.kernels.algebra.rotations import normalised
from poise.kernels.algebra.swing_twist import clipped
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import (
    ANSWER,
    CODE,
    COST,
    DIRECTION,
    DISTANCE,
    FAR,
    GOAL,
    GOAL_NUMBERS,
    ITERATIONS,
    LARGEST,
    PLACE,
    RESTARTS,
    SHORTEST,
    SOLVED,
    START,
    STATIONARY,
    TURN,
    UNSOLVED,
)
from poise.kernels.rows.residuals import residuals
from poise.kernels.solver.nearness import square_between


@functools.partial(kernel, inline=True)
def aim_at(p, goal, target):
    """Read GOAL_NUMBERS an effector of `goal` into `target` (one number wide); False if they are no goal.

    Rows of a target: with TURN its rotation times that of the tool transposed (9), else the last four goal numbers;
    place or unit direction (3); with weights diag(weight) R^T of the first two blocks (9 each).
    """
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        g, at, tool = GOAL_NUMBERS * k, GOAL * k, effector.tool
        for i in range(GOAL_NUMBERS):
            if not abs(goal[g + i]) <= (LARGEST if i < 3 else FAR):
                return False
        r0, r1, r2, r3, r4, r5, r6, r7, r8 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
        w, x, y, z = goal[g + 3], goal[g + 4], goal[g + 5], goal[g + 6]
        square = w * w + x * x + y * y + z * z
        if effector.goal & TURN:
            if not square > SHORTEST**2:
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
            if effector.goal & DIRECTION:
                length = sqrt(x * x + y * y + z * z)
                if not length > SHORTEST:
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
def is_posture(p, q):
    """Whether q is a configuration that can be followed, (nq,) or none: no number too large, no quaternion zero."""
    for i in range(len(q)):
        if not abs(q[i]) <= p.farthest[i]:
            return False
    for c in range(len(p.balls) if len(q) > 0 else 0):
        if not _square(q, p.balls[c].q) > SHORTEST**2:
            return False
    for c in range(len(p.idle_balls) if len(q) > 0 else 0):
        if not _square(q, p.idle_balls[c].q) > SHORTEST**2:
            return False
    return True


@kernel
def _square(q, i):
    """The square of the length of the quaternion at i."""
    return q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3]


@kernel
def _put_ball(q, ball):
    """Scale a quaternion of q to unit length and pull it in to its limits; False if it is zero."""
    i = ball.q
    if not _square(q, i) > SHORTEST**2:
        return False
    w, x, y, z = normalised(q[i], q[i + 1], q[i + 2], q[i + 3])
    q[i], q[i + 1], q[i + 2], q[i + 3] = clipped(ball, w, x, y, z)
    return True


@functools.partial(kernel, inline=True)
def evaluate(p, w):
    """Errors and Jacobians at w.q; the sum of squares and the score, which is at most 1 within the tolerances."""
    forward(p.units, p.pieces, w.q, w.frames)
    return residuals(p, w)


@kernel
def spread_jacobian(p, w, out):
    """The Jacobian at w.q (one number wide) into `out` (m, active velocities), whose other entries stay."""
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        for b in range(effector.first_block, effector.last_block):
            for s in range(effector.columns):
                for r in range(3):
                    out[3 * b + r, p.slots[effector.first_slot + s]] = w.jacobian[p.blocks[b].start + 3 * s + r]


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
