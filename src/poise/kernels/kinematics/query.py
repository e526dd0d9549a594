"""Poses and Jacobians of one frame, and of the centre of mass, at many configurations."""

from poise.kernels.kinematics.forward import FRAME, columns, forward
from poise.kernels.kinematics.mass import mass_columns, mass_moments
from poise.kernels.machine.jit import BATCH, REALS, TABLE, WHOLE, WHOLE_TABLE, WHOLES, border, kernel
from poise.kernels.machine.lanes import sqrt


@kernel
def quaternion(r0, r1, r2, r3, r4, r5, r6, r7, r8):
    """Unit quaternion w x y z, w >= 0, of a rotation matrix given row by row; for one number only."""
    if r0 + r4 + r8 > 0.0:
        w, x, y, z = 1.0 + r0 + r4 + r8, r7 - r5, r2 - r6, r3 - r1
    elif r0 >= r4 and r0 >= r8:
        w, x, y, z = r7 - r5, 1.0 + r0 - r4 - r8, r1 + r3, r2 + r6
    elif r4 >= r8:
        w, x, y, z = r2 - r6, r1 + r3, 1.0 - r0 + r4 - r8, r5 + r7
    else:
        w, x, y, z = r3 - r1, r2 + r6, r5 + r7, 1.0 - r0 - r4 + r8
    scale = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    if w < 0.0:
        scale = -scale
    return w * scale, x * scale, y * scale, z * scale


@kernel
def _poses(units, places, tip, tool, q, frames, out):
    """(n, 7) world poses of the frame that hangs at `tool` (12: rotation, place) on unit `tip`, at q (n, nq)."""
    for i in range(q.shape[0]):
        forward(units, places, q[i], frames)
        at = FRAME * tip
        if tip < 0:
            r0, r1, r2, r3, r4, r5, r6, r7, r8, px, py, pz = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
        else:
            px, py, pz = frames[at], frames[at + 1], frames[at + 2]
            r2, r5, r8 = frames[at + 3], frames[at + 4], frames[at + 5]
            r0, r3, r6 = frames[at + 6], frames[at + 7], frames[at + 8]
            r1, r4, r7 = frames[at + 9], frames[at + 10], frames[at + 11]
        t = tool
        out[i, 0] = px + r0 * t[9] + r1 * t[10] + r2 * t[11]
        out[i, 1] = py + r3 * t[9] + r4 * t[10] + r5 * t[11]
        out[i, 2] = pz + r6 * t[9] + r7 * t[10] + r8 * t[11]
        out[i, 3], out[i, 4], out[i, 5], out[i, 6] = quaternion(
            r0 * t[0] + r1 * t[3] + r2 * t[6],
            r0 * t[1] + r1 * t[4] + r2 * t[7],
            r0 * t[2] + r1 * t[5] + r2 * t[8],
            r3 * t[0] + r4 * t[3] + r5 * t[6],
            r3 * t[1] + r4 * t[4] + r5 * t[7],
            r3 * t[2] + r4 * t[5] + r5 * t[8],
            r6 * t[0] + r7 * t[3] + r8 * t[6],
            r6 * t[1] + r7 * t[4] + r8 * t[7],
            r6 * t[2] + r7 * t[5] + r8 * t[8],
        )


@border(WHOLE_TABLE, TABLE, WHOLE, REALS, TABLE, REALS, TABLE)
def poses(units, places, tip, tool, q, frames, out):
    """(n, 7) world poses of the frame that hangs at `tool` (12: rotation, place) on unit `tip`, at q (n, nq)."""
    _poses(units, places, tip, tool, q, frames, out)


@border(WHOLE_TABLE, TABLE, WHOLE_TABLE, TABLE, WHOLES, WHOLE, REALS, TABLE, REALS, REALS, REALS, TABLE, BATCH)
def jacobians(units, places, raw, scales, velocities, tip, tool, q, frames, linear, angular, out_pose, out):
    """(n, 6, nv) world-aligned Jacobians of the same frame, linear rows first, and its (n, 7) poses."""
    _poses(units, places, tip, tool, q, frames, out_pose)
    for i in range(q.shape[0]):
        if q.shape[0] > 1:
            forward(units, places, q[i], frames)
        columns(raw, scales, 0, raw.shape[0], frames, out_pose[i, 0], out_pose[i, 1], out_pose[i, 2], linear, angular)
        for k in range(velocities.shape[0]):
            for r in range(3):
                out[i, r, velocities[k]] = linear[3 * k + r]
                out[i, 3 + r, velocities[k]] = angular[3 * k + r]


@border(WHOLE_TABLE, TABLE, TABLE, TABLE, REALS, REALS, TABLE)
def mass_centres(units, places, bodies, q, frames, moments, out):
    """(n, 3) centres of mass in the world at q (n, nq)."""
    for i in range(q.shape[0]):
        forward(units, places, q[i], frames)
        mass_moments(units, bodies, frames, moments)
        for k in range(3):
            out[i, k] = moments[3 * units.shape[0] + k]


@border(WHOLE_TABLE, TABLE, TABLE, WHOLE_TABLE, TABLE, WHOLES, TABLE, REALS, REALS, REALS, BATCH)
def mass_centre_jacobians(units, places, bodies, raw, scales, velocities, q, frames, moments, linear, out):
    """(n, 3, nv) Jacobians of the centre of mass at q (n, nq)."""
    for i in range(q.shape[0]):
        forward(units, places, q[i], frames)
        mass_moments(units, bodies, frames, moments)
        mass_columns(0, raw.shape[0], raw, scales, bodies, frames, moments, linear)
        for k in range(velocities.shape[0]):
            for r in range(3):
                out[i, r, velocities[k]] = linear[3 * k + r]
