"""The step of `poise.kernels.solver.step` for a single pose: its 6 x 6 system never leaves the registers."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.views import section
from poise.kernels.solver.limits import free_joints
from poise.kernels.solver.step import screw


@kernel
def hold_for_pose(p, w):
    """`poise.kernels.solver.step.hold` for a single pose."""
    slots, e, step = p.slots, w.e, w.step
    count = len(slots)
    linear = section(w.jacobian, p.blocks[0].start, 3 * count)
    angular = section(w.jacobian, p.blocks[1].start, 3 * count)
    e0, e1, e2 = load(e, 0), load(e, 1), load(e, 2)
    e3, e4, e5 = load(e, 3), load(e, 4), load(e, 5)
    for c in range(count):
        i = 3 * c
        gradient = (load(linear, i) * e0 + load(linear, i + 1) * e1 + load(linear, i + 2) * e2) + (
            load(angular, i) * e3 + load(angular, i + 1) * e4 + load(angular, i + 2) * e5
        )
        store(step, slots[c], gradient)
    free_joints(p, w, step)


@kernel
def pose_direction(p, w, bold, damping):
    """dq = J_F^T (J_F J_F^T + damping I)^-1 e over the free joints F, into w.step."""
    slots, e, free, step = p.slots, w.e, w.free, w.step
    count = len(slots)
    linear = section(w.jacobian, p.blocks[0].start, 3 * count)
    angular = section(w.jacobian, p.blocks[1].start, 3 * count)
    o = splat(e, 0.0)
    e0, e1, e2 = load(e, 0), load(e, 1), load(e, 2)
    e3, e4, e5 = load(e, 3), load(e, 4), load(e, 5)
    a00 = a11 = a22 = a33 = a44 = a55 = damping
    a10 = a20 = a21 = a30 = a31 = a32 = a40 = a41 = a42 = a43 = a50 = a51 = a52 = a53 = a54 = o
    for c in range(count):
        i, f = 3 * c, load(free, slots[c])
        j0, j1, j2 = load(linear, i), load(linear, i + 1), load(linear, i + 2)
        j3, j4, j5 = load(angular, i), load(angular, i + 1), load(angular, i + 2)
        f0, f1, f2, f3, f4, f5 = j0 * f, j1 * f, j2 * f, j3 * f, j4 * f, j5 * f
        a00 = a00 + f0 * j0
        a10, a11 = a10 + f1 * j0, a11 + f1 * j1
        a20, a21, a22 = a20 + f2 * j0, a21 + f2 * j1, a22 + f2 * j2
        a30, a31, a32, a33 = a30 + f3 * j0, a31 + f3 * j1, a32 + f3 * j2, a33 + f3 * j3
        a40, a41, a42, a43, a44 = a40 + f4 * j0, a41 + f4 * j1, a42 + f4 * j2, a43 + f4 * j3, a44 + f4 * j4
        a50, a51, a52 = a50 + f5 * j0, a51 + f5 * j1, a52 + f5 * j2
        a53, a54, a55 = a53 + f5 * j3, a54 + f5 * j4, a55 + f5 * j5
    if p.effectors[0].weighing == 0:
        v0, v1, v2 = screw(e0, e1, e2, e3, e4, e5)
        e0, e1, e2 = select(bold, v0, e0), select(bold, v1, e1), select(bold, v2, e2)
    # Cholesky, with the inverses of the diagonal.
    a00 = 1.0 / sqrt(a00)
    a10, a20, a30, a40, a50 = a10 * a00, a20 * a00, a30 * a00, a40 * a00, a50 * a00
    a11 = 1.0 / sqrt(a11 - a10 * a10)
    a21, a31 = (a21 - a20 * a10) * a11, (a31 - a30 * a10) * a11
    a41, a51 = (a41 - a40 * a10) * a11, (a51 - a50 * a10) * a11
    a22 = 1.0 / sqrt(a22 - a20 * a20 - a21 * a21)
    a32 = (a32 - a30 * a20 - a31 * a21) * a22
    a42 = (a42 - a40 * a20 - a41 * a21) * a22
    a52 = (a52 - a50 * a20 - a51 * a21) * a22
    a33 = 1.0 / sqrt(a33 - a30 * a30 - a31 * a31 - a32 * a32)
    a43 = (a43 - a40 * a30 - a41 * a31 - a42 * a32) * a33
    a53 = (a53 - a50 * a30 - a51 * a31 - a52 * a32) * a33
    a44 = 1.0 / sqrt(a44 - a40 * a40 - a41 * a41 - a42 * a42 - a43 * a43)
    a54 = (a54 - a50 * a40 - a51 * a41 - a52 * a42 - a53 * a43) * a44
    a55 = 1.0 / sqrt(a55 - a50 * a50 - a51 * a51 - a52 * a52 - a53 * a53 - a54 * a54)
    y0 = e0 * a00
    y1 = (e1 - a10 * y0) * a11
    y2 = (e2 - a20 * y0 - a21 * y1) * a22
    y3 = (e3 - a30 * y0 - a31 * y1 - a32 * y2) * a33
    y4 = (e4 - a40 * y0 - a41 * y1 - a42 * y2 - a43 * y3) * a44
    y5 = (e5 - a50 * y0 - a51 * y1 - a52 * y2 - a53 * y3 - a54 * y4) * a55
    y5 = y5 * a55
    y4 = (y4 - a54 * y5) * a44
    y3 = (y3 - a43 * y4 - a53 * y5) * a33
    y2 = (y2 - a32 * y3 - a42 * y4 - a52 * y5) * a22
    y1 = (y1 - a21 * y2 - a31 * y3 - a41 * y4 - a51 * y5) * a11
    y0 = (y0 - a10 * y1 - a20 * y2 - a30 * y3 - a40 * y4 - a50 * y5) * a00
    store(w.y, 0, y0), store(w.y, 1, y1), store(w.y, 2, y2)
    store(w.y, 3, y3), store(w.y, 4, y4), store(w.y, 5, y5)
    for c in range(count):
        i, a = 3 * c, slots[c]
        move = (load(linear, i) * y0 + load(linear, i + 1) * y1 + load(linear, i + 2) * y2) + (
            load(angular, i) * y3 + load(angular, i + 1) * y4 + load(angular, i + 2) * y5
        )
        store(step, a, move * load(free, a))
