"""The centre of mass and its Jacobian; `bodies` are of `poise.model.tree.bodies`."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, splat, store
from poise.kernels.machine.layout import FRAME, PRISMATIC


@kernel
def mass_moments(units, bodies, frames, moments):
    """Shares of the mass times where they are in the world: rows 3u of `moments` for all that unit u carries.

    The last three, of the world, which is the parent -1, are the centre of mass.
    """
    count = len(units)
    for i in range(3):
        store(moments, 3 * count + i, splat(frames, bodies[count].share * bodies[count].centre[i]))
    for u in range(count):
        body, at = bodies[u], FRAME * u
        share, x, y, z = body.share, body.centre[0], body.centre[1], body.centre[2]
        for i in range(3):
            moment = splat(frames, 0.0)
            if share > 0.0:  # else the x and y axes may not be there
                moment = load(frames, at + 6 + i) * x + load(frames, at + 9 + i) * y + load(frames, at + 3 + i) * z
                moment = share * (moment + load(frames, at + i))
            store(moments, 3 * u + i, moment)
    for k in range(count):
        u = count - 1 - k
        to = 3 * units[u].parent if units[u].parent >= 0 else 3 * count
        for i in range(3):
            store(moments, to + i, load(moments, to + i) + load(moments, 3 * u + i))


@kernel
def swept(c, axis, frames, share, moment):
    """How the `moment` (3) of a share of the mass, its points times their shares, moves with the COLUMN c.

    Its axis, times the slope of what it follows by, stands in the rows `axis` of the frames.
    """
    scale, place = c.scale, c.place
    z0, z1, z2 = load(frames, axis) * scale, load(frames, axis + 1) * scale, load(frames, axis + 2) * scale
    slide = share * (1.0 if c.kind == PRISMATIC else c.pitch)
    l0, l1, l2 = slide * z0, slide * z1, slide * z2
    if c.kind != PRISMATIC:
        d0 = moment[0] - share * load(frames, place)
        d1 = moment[1] - share * load(frames, place + 1)
        d2 = moment[2] - share * load(frames, place + 2)
        l0, l1, l2 = l0 + z1 * d2 - z2 * d1, l1 + z2 * d0 - z0 * d2, l2 + z0 * d1 - z1 * d0
    return l0, l1, l2


@kernel
def mass_columns(columns, start, stop, bodies, frames, moments, out):
    """Jacobian columns of the centre of mass: rows 3 * column of `out`.

    An axis moves all that its unit carries as one body: by the share of its mass, and about its centre.
    """
    for k in range(start, stop):
        c, column = columns[k], columns[k].column
        u = c.place // FRAME
        moment = load(moments, 3 * u), load(moments, 3 * u + 1), load(moments, 3 * u + 2)
        l0, l1, l2 = swept(c, c.axis, frames, bodies[u].carried, moment)
        if column < 0:
            column = -1 - column
            l0 = l0 + load(out, 3 * column)
            l1 = l1 + load(out, 3 * column + 1)
            l2 = l2 + load(out, 3 * column + 2)
        store(out, 3 * column, l0), store(out, 3 * column + 1, l1), store(out, 3 * column + 2, l2)
