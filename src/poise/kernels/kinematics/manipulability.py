"""Manipulability of a frame at many configurations, one number each (Yoshikawa 1985, doi:10.1177/027836498500400201).

The problem is that of `query`: the units, one effector for the frame, and the columns.
"""

from poise.kernels.algebra.cholesky import factor
from poise.kernels.kinematics.forward import forward, jacobian_columns, tool_point
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, TABLE, WHOLE
from poise.kernels.machine.lanes import load, store
from poise.kernels.machine.views import problem_at, section


@entry_point(WHOLE, TABLE, REALS, REALS, REALS, REALS, REALS, REALS)
def manipulabilities(problem, basis, q, frames, linear, angular, scratch, out):
    """(n,) products of the singular values of B J at q (n, nq), 0 where J loses rank; J has a column for each joint.

    `basis` is B (r, 6), orthonormal rows.  `scratch` holds B J (r * joints), then the smaller of B J (B J)^T
    and (B J)^T B J, whose determinant is the square of the product.
    """
    p = problem_at(problem)
    rank, joints, width = len(basis), len(linear) // 3, len(q) // len(out)
    unit_poses = section(frames, 0, len(frames))
    slides, turns = section(linear, 0, len(linear)), section(angular, 0, len(angular))
    rows, small = section(scratch, 0, rank * joints), min(rank, joints)
    matrix = section(scratch, rank * joints, small * small)
    for i in range(len(out)):
        forward(p.units, p.pieces, section(q, i * width, width), unit_poses)
        x, y, z = tool_point(p.effectors[0], unit_poses)
        jacobian_columns(p.columns, 0, len(p.columns), unit_poses, x, y, z, slides, turns)
        for a in range(rank):
            for k in range(joints):
                value = 0.0
                for c in range(3):
                    value = value + basis[a, c] * load(slides, 3 * k + c) + basis[a, 3 + c] * load(turns, 3 * k + c)
                store(rows, a * joints + k, value)
        if rank <= joints:
            out[i] = _volume(rank, joints, joints, 1, rows, matrix)
        else:
            out[i] = _volume(joints, rank, 1, joints, rows, matrix)


@kernel
def _volume(n, length, stride, step, rows, matrix):
    """sqrt(det(A A^T)) of A (n x length), whose entry i, k is at row stride i + step k of `rows`; `matrix` (n x n)."""
    for i in range(n):
        for j in range(i + 1):
            value = 0.0
            for k in range(length):
                value = value + load(rows, stride * i + step * k) * load(rows, stride * j + step * k)
            store(matrix, n * i + j, value)
    if not factor(n, matrix) > 0.0:
        return 0.0
    product = 1.0
    for i in range(n):
        product = product * load(matrix, n * i + i)
    return product
