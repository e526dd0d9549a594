"""What joints must give for a motion beside the weight."""

from typing import TYPE_CHECKING, Final

import numpy as np

from poise.common.array import Array
from poise.kernels.kinematics.newton_euler import BODY_NUMBERS, MOTION
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import BALL_TURN, FRAME
from poise.model.changes import shifted
from poise.model.kinematics import Query
from poise.model.tree import Columns, carrying, massless, unit_arrays

if TYPE_CHECKING:
    from poise.model.model import Model

_UPPER: Final = np.triu_indices(3)


def motion_torques(model: "Model", q: Array, velocity: Array, acceleration: Array) -> Array:
    """(n, nv) M(q) a + C(q, v) v, forces [N] and torques [N m], for rows of q (n, nq), v and a (n, nv); no weight.

    It is linear in a for v = 0, and on a curve q(s) the sum of M q' d2s/dt2 and (M q'' + C(q, q') q') (ds/dt)^2.
    Raises ValueError for a model without masses.
    """
    if model.still:  # what they bear is asked for too
        model = model.queries.setdefault(motion_torques, model._moving(frozenset(), {}))
    bodies = model.queries.get(BODY_NUMBERS)
    if bodies is None:
        bodies = model.queries.setdefault(BODY_NUMBERS, _bodies(model))  # another thread may have been first
    out = np.zeros((len(q), model.nv))
    evaluate = prepare("kinematics.newton_euler.motion_torques")
    if len(q):
        rows, rates = np.array(q, order="C").ravel(), np.array([velocity, acceleration])
        motion = np.empty((bodies.frames // FRAME, MOTION))
        evaluate(bodies.address, rows, rates, np.empty(bodies.frames), motion, out)
    return out


def _bodies(model: "Model") -> Query:
    """The units that carry a mass, what hangs on each itself, and where its velocities begin."""
    if model.mass == 0.0:
        raise massless(model)
    units, number = carrying(model.tree, np.flatnonzero(model.tree.masses[:-1]).tolist())
    arrays = unit_arrays(units, set(range(len(units))))
    numbers = np.zeros((len(units) + 1, BODY_NUMBERS))
    for link, (mass, centre) in model.masses.items():
        unit, hangs = model.tree.links[link]
        if unit in number:
            seen = arrays.seen_from(number[unit], hangs)
            turn, point = seen.rotation.matrix(), seen.act(centre)
            inertia = turn @ model.inertias.get(link, np.zeros((3, 3))) @ turn.T + shifted(mass, point)
            numbers[number[unit]] += [mass, *(mass * point), *inertia[_UPPER]]
    first = tuple(units[unit.parent].iv if unit.kind == BALL_TURN else unit.iv for unit in units)
    slots = Columns(first, np.zeros((0, 4), dtype=np.int64), np.zeros((0, 2)))
    return Query(arrays, [slots], numbers=numbers[:-1].ravel())
