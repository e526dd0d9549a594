"""A random step that moves the outermost shape without turning it.

What is deep in something comes out as it is pulled out, which the directions of joints hit seldom.
"""

import numpy as np

from poise.kernels.algebra.cholesky import solve_symmetric
from poise.kernels.algebra.scalar import sincos, uniform
from poise.kernels.algebra.vectors import cross, minus, vector
from poise.kernels.collision.free_way import DRAWN, SEED
from poise.kernels.collision.placing import ORIGIN, part
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import PRISMATIC
from poise.kernels.machine.views import section

_SHIFT = 0.15
"""By how much it is moved [m]."""
_FLAT = 1e-4
"""Damping of such a step, as a share of the trace of J J^T."""
_TURN = 6.283185307179586


def shift_size(nv: int) -> int:
    """How many numbers its scratch has."""
    return 7 * nv + 42


@kernel
def shift_tip(s, x, buffer, scratch):
    """`scratch` begins with the step (nv) that moves the outermost shape from where it is placed, by _SHIFT in a random
    direction and without a turn: a damped least-squares step."""
    nv, seed, drawn = len(x.proximity.row), np.int64(buffer[SEED]), np.int64(buffer[DRAWN])
    step, rows = section(scratch, 0, nv), section(scratch, nv, 6 * nv)
    gram, force = section(scratch, 7 * nv, 36), section(scratch, 7 * nv + 36, 6)
    tip = 0
    for i in range(s.scene[0].movers):
        longest = s.chains[tip].last_column - s.chains[tip].first_column
        tip = i if s.chains[i].last_column - s.chains[i].first_column >= longest else tip
    for k in range(6 * nv):
        rows[k] = 0.0
    chain, p = s.chains[tip], part(x.proximity.shape_frames, tip, ORIGIN)
    for k in range(chain.first_column, chain.last_column):
        c = s.columns[k]
        z, at = vector(x.frames, c.axis), 6 * c.column
        turn = cross(z, minus(p, vector(x.frames, c.place)))
        for r in range(3):
            if c.kind == PRISMATIC:
                rows[at + r] += c.scale * z[r]
            else:
                rows[at + r] += c.scale * (turn[r] + c.pitch * z[r])
                rows[at + 3 + r] += c.scale * z[r]
    trace = 0.0
    for a in range(6):
        for b in range(a + 1):
            gram[6 * a + b] = 0.0
            for v in range(nv):
                gram[6 * a + b] += rows[6 * v + a] * rows[6 * v + b]
        trace += gram[7 * a]
        force[a] = 0.0
    for a in range(6):
        gram[7 * a] += _FLAT * trace + 1e-300
    up, (sine, cosine) = 2.0 * uniform(seed, drawn + 1) - 1.0, sincos(_TURN * uniform(seed, drawn + 2))
    across = sqrt(1.0 - up * up)
    force[0], force[1], force[2] = _SHIFT * across * cosine, _SHIFT * across * sine, _SHIFT * up
    buffer[DRAWN] += 3.0
    solve_symmetric(6, gram, force)
    for v in range(nv):
        step[v] = 0.0
        for a in range(6):
            step[v] += rows[6 * v + a] * force[a]
