"""Ways in the joints through corners: how long they are, their rows, and where one shorter than another can pass."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.model.model import Model

_BEYOND_ENDS: Final = 2.0 * np.pi
"""How far beyond both ends of a way others may reach, where limits let them [rad or m]: a turn, or about six metres."""


def length(model: Model, way: Array) -> float:
    """The sum of the lengths of all parts of a way (k, nq), by what joints cost [rad and m]."""
    return float(np.linalg.norm(ways_between(model, way[:-1], way[1:]), axis=1).sum())


def ways_between(model: Model, q0: Array, q1: Array) -> Array:
    """(..., nv) what motion from q0 to q1 (..., nq) costs by joint [rad and m]."""
    return model._costs * model.difference(q0, q1)


def in_steps(model: Model, way: Array, step: float) -> Array:
    """(k, nq) a way with corners (m, nq) in steps of at most `step` [rad or m], but for its first configuration."""
    moves = model.difference(way[:-1], way[1:])
    pieces = np.maximum(1, np.ceil(np.abs(moves).max(axis=1, initial=0.0) / step)).astype(np.int64)
    leg, ends = np.repeat(np.arange(len(pieces)), pieces), np.cumsum(pieces)
    shares = (np.arange(len(leg)) - (ends - pieces)[leg] + 1) / pieces[leg]
    rows = model.integrate(way[leg], shares[:, None] * moves[leg])
    rows[ends - 1] = way[1:]
    return rows


def aims_between(
    model: Model, q0: Array, q1: Array, plain: npt.NDArray[Any], best: Array | None
) -> tuple[Array, Array]:
    """The bounds of what is aimed at from q0 to q1 (nq,), of the numbers `plain` of q: around both ends, as limits may
    be a million turns away; and where there is a way, `best` (k, nq), the box around the ellipsoid of all points whose
    ways to both ends are together no longer."""
    low = np.maximum(np.minimum(q0, q1) - _BEYOND_ENDS, model.lower)[plain]
    high = np.minimum(np.maximum(q0, q1) + _BEYOND_ENDS, model.upper)[plain]
    low, high = np.minimum(low, high), np.maximum(low, high)
    if best is None:
        return low, high
    at_q, at_v = model._plain
    costs = np.ones(model.nq)
    costs[at_q] = model._costs[at_v]
    axis, whole = (costs * (q1 - q0))[plain], length(model, best)
    share = axis**2 / max(float(axis @ axis), 1e-300)
    half = (0.5 / costs[plain]) * np.sqrt(whole**2 * share + max(whole**2 - float(axis @ axis), 0.0) * (1.0 - share))
    middle = 0.5 * (q0 + q1)[plain]
    return np.clip(middle - half, low, high), np.clip(middle + half, low, high)
