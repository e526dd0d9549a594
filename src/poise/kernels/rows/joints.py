"""Rows of what a cut joint held together: a frame as another sees it, whose place and turn the joint left partly free.

All is along the axes of the frame that sees it, the base.  A hinge, a cylinder and a plane keep the two axes z
parallel: with c the third number of the frame's z, and x and y the first two, the rows are

    (y, -x) sqrt(2 / (1 + c)),

the chord 2 sin(angle / 2) about the axis of the shortest turn, so that only the one direction is a zero, and none of
the rows is lost where the frames are turned against each other by half a turn.  A universal joint keeps the x of its
first frame square to the y of its second: one row, the cosine between them.
"""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import IS_SQUARE, IS_SQUARE_TO, KEEPS_AXIS, OPPOSITE, TURNS_NOT
from poise.kernels.rows.residuals import place_rows, turn_rows


@kernel
def joint_rows(f, turn):
    """All six residual rows of a `Seen` frame whose target is the identity: place [m], then turn [rad or a sine].

    The columns of its angular motion become the Jacobian of the last three; rows that `turn` leaves free are 0.
    """
    place_rows(f, 0)
    if turn == TURNS_NOT:
        turn_rows(f, 3)
        return
    o = splat(f.e, 0.0)
    store(f.e, 3, o), store(f.e, 4, o), store(f.e, 5, o)
    # Which axis of the frame is looked at; the target's rows are those of the tool turned back.
    at = 6 if turn == KEEPS_AXIS else 0 if turn == IS_SQUARE else 3
    t0, t1, t2 = load(f.target, at), load(f.target, at + 1), load(f.target, at + 2)
    x = f.r0 * t0 + f.r1 * t1 + f.r2 * t2
    y = f.r3 * t0 + f.r4 * t1 + f.r5 * t2
    z = f.r6 * t0 + f.r7 * t1 + f.r8 * t2
    if turn == KEEPS_AXIS:
        square = select(1.0 + z > OPPOSITE, 1.0 + z, OPPOSITE)
        longer = sqrt(2.0 / square)
        store(f.e, 3, longer * y), store(f.e, 4, -longer * x)
        steeper = 0.5 * longer / square
        for j in range(0, len(f.angular), 3):
            w0, w1, w2 = load(f.angular, j), load(f.angular, j + 1), load(f.angular, j + 2)
            dx, dy, dz = w1 * z - w2 * y, w2 * x - w0 * z, w0 * y - w1 * x
            store(f.angular, j, steeper * y * dz - longer * dy)
            store(f.angular, j + 1, longer * dx - steeper * x * dz)
            store(f.angular, j + 2, o)
        return
    if turn == IS_SQUARE:
        store(f.e, 5, -y)
    elif turn == IS_SQUARE_TO:
        store(f.e, 5, x)
    for j in range(0, len(f.angular), 3):
        w0, w1, w2 = load(f.angular, j), load(f.angular, j + 1), load(f.angular, j + 2)
        row = o
        if turn == IS_SQUARE:
            row = w2 * x - w0 * z
        elif turn == IS_SQUARE_TO:
            row = w2 * y - w1 * z
        store(f.angular, j, o), store(f.angular, j + 1, o), store(f.angular, j + 2, row)
