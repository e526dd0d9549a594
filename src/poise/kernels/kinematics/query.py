"""Poses of frames, and Jacobians of one frame and of the centre of mass, at many configurations.

The problem holds the units, an effector for each frame, their columns, and in `slots` the velocity of each.
"""

from poise.kernels.kinematics.forward import forward, jacobian_columns
from poise.kernels.kinematics.mass import mass_columns, mass_moments
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import BATCH, REALS, TABLE, WHOLE
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import FRAME
from poise.kernels.machine.views import problem_at, section


@kernel
def quaternion(rotation):
    """Unit quaternion w x y z, w >= 0, of a rotation matrix (9,), row by row; for one number only."""
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = rotation
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
def frame_pose(effector, frames, out):
    """Pose of the frame of an effector, place and quaternion w x y z (7), one number wide."""
    at, t = FRAME * effector.tip, effector.tool
    r0, r1, r2, r3, r4, r5, r6, r7, r8, px, py, pz = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    if effector.tip >= 0:
        px, py, pz = frames[at], frames[at + 1], frames[at + 2]
        r2, r5, r8 = frames[at + 3], frames[at + 4], frames[at + 5]
        r0, r3, r6 = frames[at + 6], frames[at + 7], frames[at + 8]
        r1, r4, r7 = frames[at + 9], frames[at + 10], frames[at + 11]
    out[0] = px + r0 * t[9] + r1 * t[10] + r2 * t[11]
    out[1] = py + r3 * t[9] + r4 * t[10] + r5 * t[11]
    out[2] = pz + r6 * t[9] + r7 * t[10] + r8 * t[11]
    rotation = (
        r0 * t[0] + r1 * t[3] + r2 * t[6], r0 * t[1] + r1 * t[4] + r2 * t[7], r0 * t[2] + r1 * t[5] + r2 * t[8],
        r3 * t[0] + r4 * t[3] + r5 * t[6], r3 * t[1] + r4 * t[4] + r5 * t[7], r3 * t[2] + r4 * t[5] + r5 * t[8],
        r6 * t[0] + r7 * t[3] + r8 * t[6], r6 * t[1] + r7 * t[4] + r8 * t[7], r6 * t[2] + r7 * t[5] + r8 * t[8],
    )  # fmt: skip
    out[3], out[4], out[5], out[6] = quaternion(rotation)


@entry_point(WHOLE, REALS, REALS, REALS, WHOLE)
def poses(problem, q, frames, out, count):
    """(count, effectors, 7) world poses of the frames at q (count, nq)."""
    p = problem_at(problem)
    width, each = len(q) // count, len(p.effectors)
    for i in range(count):
        forward(p.units, p.pieces, section(q, i * width, width), section(frames, 0, len(frames)))
        for k in range(each):
            frame_pose(p.effectors[k], section(frames, 0, len(frames)), section(out, 7 * (each * i + k), 7))


@entry_point(WHOLE, WHOLE, REALS, REALS, REALS, REALS, REALS, BATCH)
def jacobians(problem, which, q, frames, linear, angular, out_pose, out):
    """(n, 6, nv) world-aligned Jacobians of the frame of effector `which`, linear rows first, and its (n, 7) poses, at
    q (n, nq)."""
    p = problem_at(problem)
    count = len(out)
    width = len(q) // count
    effector = p.effectors[which]
    unit_poses = section(frames, 0, len(frames))
    slides, turns = section(linear, 0, len(linear)), section(angular, 0, len(angular))
    for i in range(count):
        forward(p.units, p.pieces, section(q, i * width, width), unit_poses)
        pose = section(out_pose, 7 * i, 7)
        frame_pose(effector, unit_poses, pose)
        first, last = effector.first_column, effector.last_column
        jacobian_columns(p.columns, first, last, unit_poses, pose[0], pose[1], pose[2], slides, turns)
        for k in range(effector.columns):
            v = p.slots[effector.first_slot + k]
            for r in range(3):
                out[i, r, v] = linear[3 * k + r]
                out[i, 3 + r, v] = angular[3 * k + r]


@entry_point(WHOLE, REALS, REALS, REALS, TABLE)
def mass_centres(problem, q, frames, moments, out):
    """(n, 3) centres of mass in the world at q (n, nq)."""
    p = problem_at(problem)
    count, units = len(out), len(p.units)
    width = len(q) // count
    unit_poses, sums = section(frames, 0, len(frames)), section(moments, 0, len(moments))
    for i in range(count):
        forward(p.units, p.pieces, section(q, i * width, width), unit_poses)
        mass_moments(p.units, p.bodies, unit_poses, sums)
        for k in range(3):
            out[i, k] = moments[3 * units + k]


@entry_point(WHOLE, REALS, REALS, REALS, REALS, BATCH)
def mass_centre_jacobians(problem, q, frames, moments, linear, out):
    """(n, 3, nv) Jacobians of the centre of mass at q (n, nq)."""
    p = problem_at(problem)
    count = len(out)
    width = len(q) // count
    unit_poses, sums, slides = (
        section(frames, 0, len(frames)),
        section(moments, 0, len(moments)),
        section(linear, 0, len(linear)),
    )
    for i in range(count):
        forward(p.units, p.pieces, section(q, i * width, width), unit_poses)
        mass_moments(p.units, p.bodies, unit_poses, sums)
        mass_columns(p.columns, 0, len(p.columns), p.bodies, unit_poses, sums, slides)
        for k in range(len(p.slots)):
            for r in range(3):
                out[i, r, p.slots[k]] = linear[3 * k + r]
