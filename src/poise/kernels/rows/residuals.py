"""Residuals of tasks and their Jacobians, in blocks of three rows.

Every residual is `target - current` and is a number, or a rotation or a displacement along the world's axes, so that
the gradient of half its square is exactly `-J^T e` with the geometric Jacobian J.  Where the weights of a rotation are
not all the same J is the derivative of its vector itself.

Block b has the residual rows 3b..3b+2 of `e`; its Jacobian is stored by columns from row `blocks[b].start` of
`jacobian`.  The rows of a task are written by a routine of its own, which is called through its address, so that only
those in use are compiled; those of a pose, which most solves are of, are inside.
"""

from poise.kernels.algebra.rotations import change_of_turn, rotation_error, square_share
from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.lanes import load, select, splat, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.rows.frame import seen_frame


@kernel
def residuals(p, w):
    """Fill w.e and w.jacobian; return the sum of squares and the largest (error / tolerance)^2 of all blocks."""
    cost, score = splat(w.e, 0.0), splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        if effector.rows < 0:
            f = seen_frame(p, w, k)
            place_rows(f, 0)
            turn_rows(f, 3)
        else:
            call(w.routines[effector.rows], p, w, k)
        count = 3 * effector.columns
        for b in range(effector.first_block, effector.last_block):
            i, block = 3 * b, p.blocks[b]
            e0, e1, e2 = load(w.e, i), load(w.e, i + 1), load(w.e, i + 2)
            if effector.weighing:
                if b == effector.rotation and uneven(block.weight):
                    curve(w, i, block.start, count)
                at = weights_at(effector, k, b)
                e0, e1, e2 = weigh(e0, e1, e2, block.weight, w.target, at)
                store(w.e, i, e0), store(w.e, i + 1, e1), store(w.e, i + 2, e2)
                for j in range(block.start, block.start + count, 3):
                    c0, c1, c2 = load(w.jacobian, j), load(w.jacobian, j + 1), load(w.jacobian, j + 2)
                    c0, c1, c2 = weigh(c0, c1, c2, block.weight, w.target, at)
                    store(w.jacobian, j, c0), store(w.jacobian, j + 1, c1), store(w.jacobian, j + 2, c2)
                weight = block.inverse_weight
                u0, u1, u2 = e0 * weight[0], e1 * weight[1], e2 * weight[2]
                cost = cost + (e0 * e0 + e1 * e1 + e2 * e2)
                ratio = (u0 * u0 + u1 * u1 + u2 * u2) * block.inverse_square_tolerance
            else:
                square = e0 * e0 + e1 * e1 + e2 * e2
                cost = cost + square
                ratio = square * block.inverse_square_tolerance
            score = select(ratio > score, ratio, score)
    return cost, select(cost < 1e300, score, 1e300)  # an error that is no number is within no tolerance


@kernel
def place_rows(f, row):
    """Residual rows from `row` on: the displacement of a frame to its target [m]."""
    store(f.e, row, load(f.target, 9) - f.px)
    store(f.e, row + 1, load(f.target, 10) - f.py)
    store(f.e, row + 2, load(f.target, 11) - f.pz)


@kernel
def turn_rows(f, row):
    """Residual rows from `row` on: the rotation vector that takes a frame to its target [rad]."""
    t = f.target
    e0, e1, e2 = rotation_error(
        (load(t, 0), load(t, 1), load(t, 2), load(t, 3), load(t, 4), load(t, 5), load(t, 6), load(t, 7), load(t, 8)),
        (f.r0, f.r1, f.r2, f.r3, f.r4, f.r5, f.r6, f.r7, f.r8),
    )  # fmt: skip
    store(f.e, row, e0), store(f.e, row + 1, e1), store(f.e, row + 2, e2)


@kernel
def uneven(weight):
    """Whether the weights (3,) are not all the same."""
    return weight[0] != weight[1] or weight[1] != weight[2]


@kernel
def curve(w, i, start, count):
    """Let the Jacobian of a rotation, from row `start` on, be the derivative of its rotation vector, w.e from row i on.

    With weights that are all the same the angular velocity does as well: what else there is of the derivative has no
    part along the vector, and so none in the gradient.
    """
    t = load(w.e, i), load(w.e, i + 1), load(w.e, i + 2)
    share = square_share(t[0], t[1], t[2])
    for j in range(start, start + count, 3):
        c0, c1, c2 = load(w.jacobian, j), load(w.jacobian, j + 1), load(w.jacobian, j + 2)
        c0, c1, c2 = change_of_turn(t, share, c0, c1, c2)
        store(w.jacobian, j, c0), store(w.jacobian, j + 1, c1), store(w.jacobian, j + 2, c2)


@kernel
def weights_at(effector, k, b):
    """The row of `target` of the 3 x 3 matrix that weighs block b of effector k; -1 where weights do, one by one."""
    return GOAL * k + 12 + 9 * (b - effector.first_block) if effector.weighing == 2 else -1


@kernel
def weigh(x0, x1, x2, weight, target, at):
    """The 3 x 3 matrix at row `at` of `target`, times x; -1: x times the weights, one by one."""
    if at < 0:
        return weight[0] * x0, weight[1] * x1, weight[2] * x2
    return (
        load(target, at) * x0 + load(target, at + 1) * x1 + load(target, at + 2) * x2,
        load(target, at + 3) * x0 + load(target, at + 4) * x1 + load(target, at + 5) * x2,
        load(target, at + 6) * x0 + load(target, at + 7) * x1 + load(target, at + 8) * x2,
    )
