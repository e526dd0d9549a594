"""The centre of mass and its Jacobian; `bodies` is of `poise.model.tree.bodies`."""

from poise.kernels.kinematics.forward import FRAME
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, splat, store

_PRISMATIC = 1


@kernel
def mass_moments(units, bodies, frames, moments):
    """Shares of the mass times where they are in the world: rows 3u of `moments` for all that unit u carries.

    The last three, of the world, which is the parent -1, are the centre of mass.
    """
    count = units.shape[0]
    for i in range(3):
        store(moments, 3 * count + i, splat(frames, bodies[count, 0] * bodies[count, 1 + i]))
    for u in range(count):
        share, x, y, z, at = bodies[u, 0], bodies[u, 1], bodies[u, 2], bodies[u, 3], FRAME * u
        for i in range(3):
            moment = splat(frames, 0.0)
            if share > 0.0:  # else the x and y axes may not be there
                moment = load(frames, at + 6 + i) * x + load(frames, at + 9 + i) * y + load(frames, at + 3 + i) * z
                moment = share * (moment + load(frames, at + i))
            store(moments, 3 * u + i, moment)
    for k in range(count):
        u = count - 1 - k
        to = 3 * units[u, 0] if units[u, 0] >= 0 else 3 * count
        for i in range(3):
            store(moments, to + i, load(moments, to + i) + load(moments, 3 * u + i))


@kernel
def mass_columns(start, stop, raw, scales, bodies, frames, moments, out):
    """Jacobian columns of the centre of mass: rows 3 * column of `out`; `raw` and `scales` as for `.tree.columns`.

    An axis moves all that its unit carries as one body: by the share of its mass, and about its centre.
    """
    for k in range(start, stop):
        axis, place, kind, column = raw[k, 0], raw[k, 1], raw[k, 2], raw[k, 3]
        u, scale = place // FRAME, scales[k, 0]
        share = bodies[u, 4]
        z0, z1, z2 = load(frames, axis) * scale, load(frames, axis + 1) * scale, load(frames, axis + 2) * scale
        slide = share * (1.0 if kind == _PRISMATIC else scales[k, 1])
        l0, l1, l2 = slide * z0, slide * z1, slide * z2
        if kind != _PRISMATIC:
            d0 = load(moments, 3 * u) - share * load(frames, place)
            d1 = load(moments, 3 * u + 1) - share * load(frames, place + 1)
            d2 = load(moments, 3 * u + 2) - share * load(frames, place + 2)
            l0, l1, l2 = l0 + z1 * d2 - z2 * d1, l1 + z2 * d0 - z0 * d2, l2 + z0 * d1 - z1 * d0
        if column < 0:
            column = -1 - column
            l0 = l0 + load(out, 3 * column)
            l1 = l1 + load(out, 3 * column + 1)
            l2 = l2 + load(out, 3 * column + 2)
        store(out, 3 * column, l0), store(out, 3 * column + 1, l1), store(out, 3 * column + 2, l2)
