"""The step of `poise.kernels.solver.step` for a single pose: its 6 x 6 system is written out, to stay in registers."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store
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
    # A = L D L^T, with the inverses of D in place of the diagonal: no roots, whose latency a chain of six would add up.
    a00 = 1.0 / a00
    l10, l20, l30, l40, l50 = a10 * a00, a20 * a00, a30 * a00, a40 * a00, a50 * a00
    a11, a21, a31, a41, a51 = a11 - l10 * a10, a21 - l20 * a10, a31 - l30 * a10, a41 - l40 * a10, a51 - l50 * a10
    a22, a32, a42, a52 = a22 - l20 * a20, a32 - l30 * a20, a42 - l40 * a20, a52 - l50 * a20
    a33, a43, a53 = a33 - l30 * a30, a43 - l40 * a30, a53 - l50 * a30
    a44, a54 = a44 - l40 * a40, a54 - l50 * a40
    a55 = a55 - l50 * a50
    a11 = 1.0 / a11
    l21, l31, l41, l51 = a21 * a11, a31 * a11, a41 * a11, a51 * a11
    a22, a32, a42, a52 = a22 - l21 * a21, a32 - l31 * a21, a42 - l41 * a21, a52 - l51 * a21
    a33, a43, a53 = a33 - l31 * a31, a43 - l41 * a31, a53 - l51 * a31
    a44, a54 = a44 - l41 * a41, a54 - l51 * a41
    a55 = a55 - l51 * a51
    a22 = 1.0 / a22
    l32, l42, l52 = a32 * a22, a42 * a22, a52 * a22
    a33, a43, a53 = a33 - l32 * a32, a43 - l42 * a32, a53 - l52 * a32
    a44, a54 = a44 - l42 * a42, a54 - l52 * a42
    a55 = a55 - l52 * a52
    a33 = 1.0 / a33
    l43, l53 = a43 * a33, a53 * a33
    a44, a54 = a44 - l43 * a43, a54 - l53 * a43
    a55 = a55 - l53 * a53
    a44 = 1.0 / a44
    l54 = a54 * a44
    a55 = a55 - l54 * a54
    a55 = 1.0 / a55
    # Forward with L, then D^-1 and back with L^T: y = A^-1 e.
    y0 = e0
    y1 = e1 - l10 * y0
    y2 = e2 - l20 * y0 - l21 * y1
    y3 = e3 - l30 * y0 - l31 * y1 - l32 * y2
    y4 = e4 - l40 * y0 - l41 * y1 - l42 * y2 - l43 * y3
    y5 = e5 - l50 * y0 - l51 * y1 - l52 * y2 - l53 * y3 - l54 * y4
    y5 = y5 * a55
    y4 = y4 * a44 - l54 * y5
    y3 = y3 * a33 - l43 * y4 - l53 * y5
    y2 = y2 * a22 - l32 * y3 - l42 * y4 - l52 * y5
    y1 = y1 * a11 - l21 * y2 - l31 * y3 - l41 * y4 - l51 * y5
    y0 = y0 * a00 - l10 * y1 - l20 * y2 - l30 * y3 - l40 * y4 - l50 * y5
    store(w.y, 0, y0), store(w.y, 1, y1), store(w.y, 2, y2)
    store(w.y, 3, y3), store(w.y, 4, y4), store(w.y, 5, y5)
    for c in range(count):
        i, a = 3 * c, slots[c]
        move = (load(linear, i) * y0 + load(linear, i + 1) * y1 + load(linear, i + 2) * y2) + (
            load(angular, i) * y3 + load(angular, i + 1) * y4 + load(angular, i + 2) * y5
        )
        store(step, a, move * load(free, a))
