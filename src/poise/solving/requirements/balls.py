"""Limits of swing and twist of spherical joints: which of them a configuration stands at, and what they say of a path.

Their formulas are `poise.kernels.algebra.swing_twist`, which `poise.model.swing` has for arrays.
"""

from collections.abc import Iterator
from typing import final

import numpy as np

from poise.common.array import Array
from poise.kernels.rows.rounding import ROUNDING
from poise.model.model import Model
from poise.model.swing import BallLimits
from poise.solving.requirements.active_limit import ActiveLimit
from poise.solving.requirements.path_constraint import OnTheWay


def named_balls(model: Model) -> Iterator[tuple[str, BallLimits]]:
    """The limits of balls, and of which joint each is."""
    yield from zip((joint.name for joint in model.joints if joint.ball is not None), model.ball_limits, strict=True)


def at_ball_limits(model: Model, q: Array) -> Iterator[tuple[int, ActiveLimit]]:
    """The limits of balls that q (nq,) stands at, each with the place of the ball in q."""
    for name, ball in named_balls(model):
        for what, (value, bound) in ball.met(q[ball.place : ball.place + 4]).items():
            yield ball.place, ActiveLimit("position", f"{name}.{what}", value, bound)


@final
class SphericalLimits(OnTheWay):
    """Limits of swing and twist of what may move, which are kept at waypoints as those of coordinates are: on the ways
    between them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.balls = [ball for ball in model.ball_limits if not model._standing[ball.place]]

    def __call__(self, q: Array) -> Array:
        """See `PathConstraint`: [rad]."""
        slacks = [ball.margins(q[:, ball.place : ball.place + 4]).min(axis=-1) for ball in self.balls]
        return np.asarray(np.min(slacks, axis=0) + ROUNDING, dtype=np.float64)

    def beyond(self, far: float) -> str:
        """See `PathConstraint`."""
        return f"a ball swings or twists {far:.3g} rad beyond its limits"
