"""The rows of each kind of task: routines that write the residual and the Jacobian of effector k.

- position: the displacement of the frame to the target [m];
- orientation: the rotation vector that takes the frame to the target [rad];
- aim: the rotation vector of the shortest turn that takes an axis of the frame to a direction [rad];
- distance: what the distance to a point lacks [m], in the first row;
- mass: the displacement of the centre of mass to the target [m];
- coupling: what a sum of coordinates lacks, in the first row [rad or m].
"""

from poise.kernels.algebra.rotations import aim_error
from poise.kernels.kinematics.mass import mass_columns, mass_moments
from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import GOAL
from poise.kernels.machine.views import section
from poise.kernels.rows.frame import seen_frame
from poise.kernels.rows.residuals import place_rows, turn_rows


@routine
def position_rows(p, w, k):
    place_rows(seen_frame(p, w, k), 0)


@routine
def orientation_rows(p, w, k):
    turn_rows(seen_frame(p, w, k), 0)


@routine
def axis_rows(p, w, k):
    f = seen_frame(p, w, k)
    d0, d1, d2 = load(f.target, 9), load(f.target, 10), load(f.target, 11)
    _aim(p, k, f, d0, d1, d2, splat(w.e, 0.0))


@routine
def look_at_rows(p, w, k):
    f = seen_frame(p, w, k)
    d0, d1, d2 = load(f.target, 9) - f.px, load(f.target, 10) - f.py, load(f.target, 11) - f.pz
    square = d0 * d0 + d1 * d1 + d2 * d2
    inverse = 1.0 / sqrt(select(square > 1e-24, square, 1e-24))
    _aim(p, k, f, d0 * inverse, d1 * inverse, d2 * inverse, inverse)


@kernel
def _aim(p, k, f, d0, d1, d2, inverse):
    """Rows of an aim along the unit vector d, at the distance 1 / inverse.

    A displacement v of the frame turns the direction by -d x v / distance, so the axis turns by w + d x v / distance
    relative to it; the spin about d is free and left out.
    """
    at = p.effectors[k].first_number
    x0, x1, x2 = p.numbers[at], p.numbers[at + 1], p.numbers[at + 2]
    a0 = f.r0 * x0 + f.r1 * x1 + f.r2 * x2
    a1 = f.r3 * x0 + f.r4 * x1 + f.r5 * x2
    a2 = f.r6 * x0 + f.r7 * x1 + f.r8 * x2
    e0, e1, e2 = aim_error(a0, a1, a2, d0, d1, d2)
    store(f.e, 0, e0), store(f.e, 1, e1), store(f.e, 2, e2)
    linear, angular = f.linear, f.angular
    for j in range(0, len(angular), 3):
        v0, v1, v2 = load(linear, j), load(linear, j + 1), load(linear, j + 2)
        w0 = load(angular, j) + (d1 * v2 - d2 * v1) * inverse
        w1 = load(angular, j + 1) + (d2 * v0 - d0 * v2) * inverse
        w2 = load(angular, j + 2) + (d0 * v1 - d1 * v0) * inverse
        spin = d0 * w0 + d1 * w1 + d2 * w2
        store(angular, j, w0 - spin * d0), store(angular, j + 1, w1 - spin * d1), store(angular, j + 2, w2 - spin * d2)


@routine
def distance_rows(p, w, k):
    f = seen_frame(p, w, k)
    x, y, z = load(f.target, 9) - f.px, load(f.target, 10) - f.py, load(f.target, 11) - f.pz
    square = x * x + y * y + z * z
    far = square > 1e-24  # at the point itself any direction leads away
    distance = sqrt(select(far, square, 1.0))
    u0, u1, u2 = select(far, -x / distance, 1.0), select(far, -y / distance, 0.0), select(far, -z / distance, 0.0)
    linear, o = f.linear, splat(f.e, 0.0)
    store(f.e, 0, load(f.target, 0) - select(far, distance, 0.0)), store(f.e, 1, o), store(f.e, 2, o)
    for j in range(0, len(linear), 3):
        along = u0 * load(linear, j) + u1 * load(linear, j + 1) + u2 * load(linear, j + 2)
        store(linear, j, along), store(linear, j + 1, o), store(linear, j + 2, o)


@routine
def mass_rows(p, w, k):
    effector = p.effectors[k]
    mass_moments(p.units, p.bodies, w.frames, w.scratch)
    row, goal, world = 3 * effector.first_block, GOAL * k + 9, 3 * len(p.units)
    for i in range(3):
        store(w.e, row + i, load(w.target, goal + i) - load(w.scratch, world + i))
    out = section(w.jacobian, p.blocks[effector.first_block].start, 3 * effector.columns)
    mass_columns(p.columns, effector.first_column, effector.last_column, p.bodies, w.frames, w.scratch, out)


@routine
def coupling_rows(p, w, k):
    """The place in q of each coefficient is its COLUMN's `axis`; the first number is what does not move."""
    effector = p.effectors[k]
    row, j, o = 3 * effector.first_block, p.blocks[effector.first_block].start, splat(w.e, 0.0)
    lacking = load(w.target, GOAL * k + 9) - p.numbers[effector.first_number]
    for r in range(effector.first_column, effector.last_column):
        c = p.columns[r]
        lacking = lacking - c.scale * load(w.q, c.axis)
        store(w.jacobian, j, splat(w.e, c.scale)), store(w.jacobian, j + 1, o), store(w.jacobian, j + 2, o)
        j += 3
    store(w.e, row, lacking), store(w.e, row + 1, o), store(w.e, row + 2, o)
