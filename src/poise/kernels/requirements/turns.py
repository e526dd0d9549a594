"""The best turn about an axis: the step of the methods that move one joint after the other.

With vectors d, which an axis a turns, and c, which they should come to, the sum of c . Rot(a, x) d is, but for a
constant, k cos x + l sin x, where k = sum of c . d - (c . a)(d . a) and l = sum of a . (d x c) (Welman 1993).
"""

from poise.kernels.algebra.rotations import angle
from poise.kernels.algebra.scalar import sincos
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, select, sqrt

_PI = 3.141592653589793
_NONE = 1e-12
"""Below this share of what the vectors' lengths allow, a turn does nothing but follow rounding errors."""


@kernel
def best_turn(k, l, size):  # noqa: E741
    """The x in [-pi, pi] at which k cos x + l sin x is largest; 0 if both are nothing beside `size`."""
    length = sqrt(k * k + l * l)
    still = length <= _NONE * size
    scale = 1.0 / select(still, 1.0, length)
    return angle(select(still, 1.0, k * scale), select(still, 0.0, l * scale))


@kernel
def best_turn_within(k, l, size, low, high):  # noqa: E741
    """The x in [low, high], which holds 0, at which k cos x + l sin x is largest."""
    x = best_turn(k, l, size)
    outside = (x < low) | (x > high)
    if any_of(outside):
        # The maximum a turn away may be inside; else the better end, for there is no other maximum between.
        around = select(x > 0.0, x - 2.0 * _PI, x + 2.0 * _PI)
        inside = (around >= low) & (around <= high)
        low, high = select(low < -2.0 * _PI, -2.0 * _PI, low), select(high > 2.0 * _PI, 2.0 * _PI, high)
        s0, c0 = sincos(low)
        s1, c1 = sincos(high)
        end = select(k * c0 + l * s0 > k * c1 + l * s1, low, high)
        x = select(outside, select(inside, around, end), x)
    return x
