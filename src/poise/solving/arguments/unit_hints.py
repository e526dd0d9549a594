"""Numbers that look as if they had another unit: asked about in words, never changed."""

from typing import Final

import numpy as np

from poise.common.array import Array
from poise.model.model import Model
from poise.model.units import in_degrees

_FAR: Final = 10.0
"""A target so many times as far away as the reach is hardly meant in metres."""
_ROUNDING: Final = 1e-9
"""What is over a limit by no more is not worth a word [rad or m]."""
_NAMED: Final = 3
"""Coordinates that are named, at most."""


def millimetres(place: Array, root: Array, reach: float) -> str:
    """A question if `place` (3,) is far beyond `reach` from `root` (3,) [m], and within it as millimetres; else ''."""
    far = float(np.linalg.norm(place - root)) > _FAR * reach
    return ": millimetres? Lengths are in metres" if far and np.linalg.norm(1e-3 * place - root) <= reach else ""


def pulled_in(model: Model, q0: Array) -> str:
    """Further sentences, of what of the start `q0` (nq,) is beyond the limits: what was pulled in, and what stands
    still there; '' where nothing is."""
    unit = model.normalize(q0)
    clipped = model.clip(unit)
    places, still = np.flatnonzero(np.abs(clipped - unit) > _ROUNDING), " ".join(["", *still_beyond(model, unit)])
    if not len(places):
        return still
    named = [f"{model.coordinates[i]} from {q0[i]:.6g} to {clipped[i]:.6g}" for i in places[:_NAMED]]
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    question = ": degrees? numpy.radians makes them radians" if in_degrees(model, q0) else ""
    return f" q0 was pulled in to the limits, {', '.join(named)}{more}{question}.{still}"


def still_beyond(model: Model, q: Array) -> list[str]:
    """A sentence for each joint that stands still beyond its limits at q (nq,)."""
    beyond = np.maximum(model.lower - q, q - model.upper) > _ROUNDING
    for ball in model.ball_limits:
        beyond[ball.place] = not ball.inside(q[ball.place : ball.place + 4])
    names = (name for name in model.joint_names if name in model.still and beyond[model.index(name)].any())
    return [f"{name!r} stands still beyond its limits." for name in names]
