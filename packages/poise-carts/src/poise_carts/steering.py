"""The shortest way of a cart from each pose to another where nothing is in the way."""

from typing import Final, final

import numpy as np

from poise.extending import Array
from poise_carts.arcs import seen_from
from poise_carts.cart import Cart
from poise_carts.words import shortest, wrapped

_SAME: Final = 1e-9
"""Places that are one [m]."""


@final
class Steering:
    """How a cart gets from pose to pose, x, y [m] and angle [rad], forwards alone or with cusps too."""

    def __init__(self, cart: Cart, *, cusps: bool) -> None:
        self._curvature, self._cusps, self.straight = cart.curvature, cusps, cart.sideways
        self._lever = max(float(np.hypot(wheel.x, wheel.y)) for wheel in cart.wheels)

    def between(self, starts: Array, ends: Array) -> tuple[Array, Array]:
        """(n, 5) lengths [m], negative backwards, and (n, 5) turns [rad] of the parts of the ways from poses (n, 3) to
        poses (n, 3): arcs, lines, and turns on the spot, whose length is 0; what is not needed of the five is 0.

        A cart that goes sideways goes straight and turns meanwhile: one part, as long as both are together.
        """
        seen = seen_from(starts, ends)
        if self.straight:
            lengths, turns = np.zeros((2, len(seen), 5))
            lengths[:, 0] = np.linalg.norm([*seen[:, :2].T, self._lever * wrapped(seen[:, 2])], axis=0)
            return lengths, turns
        if np.isfinite(self._curvature):
            lengths, turns = shortest(seen * [self._curvature, self._curvature, 1.0], cusps=self._cusps)
            return lengths / self._curvature, turns
        return self._on_the_spot(seen)

    def sizes(self, lengths: Array, turns: Array) -> Array:
        """(..., 5) how long parts of ways are [m]: of a turn on the spot, how far the wheels go."""
        return np.where(lengths == 0.0, self._lever * np.abs(turns), np.abs(lengths))

    def drawn(self, sizes: Array, direction: float, rng: np.random.Generator) -> tuple[Array, Array]:
        """(n,) lengths [m] and turns [rad] of random arcs, lines and turns on the spot of these sizes (n,) [m]:
        backwards, without cusps, where `direction` is -1, and forwards where it is 1."""
        n = len(sizes)
        ways, side = rng.choice([-1.0, 1.0], n) if self._cusps else np.full(n, direction), rng.integers(-1, 2, n)
        lengths = ways * sizes
        if np.isfinite(self._curvature):
            return lengths, side * self._curvature * lengths
        return np.where(side == 0, lengths, 0.0), side * sizes / self._lever

    def _on_the_spot(self, seen: Array) -> tuple[Array, Array]:
        """A turn towards the place, or its opposite, a straight line, and a turn there."""
        far, direction = np.hypot(seen[:, 0], seen[:, 1]), np.arctan2(seen[:, 1], seen[:, 0])
        direction, far = np.where(far < _SAME, 0.0, direction), np.where(far < _SAME, 0.0, far)
        lengths, turns = np.zeros((2, len(seen), 5))
        lengths[:, 1], turns[:, 0] = far, wrapped(direction)
        if self._cusps:
            back = wrapped(direction + np.pi)
            behind = (far > 0.0) & (
                np.abs(back) + np.abs(wrapped(seen[:, 2] - back))
                < np.abs(turns[:, 0]) + np.abs(wrapped(seen[:, 2] - turns[:, 0]))
            )
            lengths[:, 1], turns[:, 0] = np.where(behind, -far, far), np.where(behind, back, turns[:, 0])
        turns[:, 2] = wrapped(seen[:, 2] - turns[:, 0])
        return lengths, turns
