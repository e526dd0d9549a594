"""Which axis is up, as far as places tell."""

import numpy as np

from poise import Model
from poise.extending import Array


def up_of(points: Array) -> str:
    """The axis of y and z along which the places (frames, n, 3) of a frame are farthest apart, as a rule."""
    seen = points[(~np.isnan(points[:, :, 0])).sum(axis=1) > 1]
    if not len(seen):
        return "z"
    apart = np.median(np.nanmax(seen, axis=1) - np.nanmin(seen, axis=1), axis=0)
    return "y" if apart[1] > apart[2] else "z"


def up_of_model(model: Model, q: Array) -> str:
    """The same of a model's links at q (nq,)."""
    return up_of(model.poses(q[None], model.links).xyz)
