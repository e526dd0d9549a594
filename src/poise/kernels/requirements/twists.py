"""Twists of free bases, which steps keep short: the linear part and the angular part of each as a length."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import any_of, load, select, splat, sqrt, store


@kernel
def keep_twist(twist, most, w, bent):
    """Shorten the entries of w.motion.step_so_far that belong to a twist to a length of at most `most`; 1 where it did
    so.

    They are moved towards y, the last step clipped to the box: the box is convex, so it holds all points between.
    Where y is too long itself, the last step takes its place: it kept the length.  `bent` is what is returned else.
    """
    first, count = twist.first, twist.count
    longest = most * most
    square, other = splat(w.q, 0.0), splat(w.q, 0.0)
    for a in range(first, first + count):
        x, y = load(w.motion.step_so_far, a), _last_step_clamped(w, a)
        square, other = square + x * x, other + y * y
    over, astray = square > longest, other > longest
    if not any_of(over):
        return bent
    # The largest share s with |y + s (x - y)| <= most, x being the step: the larger root of aa s^2 + 2 ab s = slack.
    aa, ab, bb = splat(w.q, 0.0), splat(w.q, 0.0), splat(w.q, 0.0)
    for a in range(first, first + count):
        y = select(astray, load(w.motion.displacement, a), _last_step_clamped(w, a))
        d = load(w.motion.step_so_far, a) - y
        aa, ab, bb = aa + d * d, ab + d * y, bb + y * y
    slack = longest - bb  # negative only where y is too long by rounding
    root = sqrt(ab * ab + aa * select(slack < 0.0, 0.0, slack))
    # Of the two forms of the root, the one without a difference of near numbers.
    share = select(ab > 0.0, slack / select(ab > 0.0, ab + root, 1.0), (root - ab) / select(aa > 0.0, aa, 1.0))
    share = select(share < 0.0, 0.0, select(share > 1.0, 1.0, share))
    for a in range(first, first + count):
        x = load(w.motion.step_so_far, a)
        y = select(astray, load(w.motion.displacement, a), _last_step_clamped(w, a))
        store(w.motion.step_so_far, a, select(over, y + share * (x - y), x))
    return select(over, 1.0, bent)


@kernel
def _last_step_clamped(w, a):
    """Entry a of the last step, clipped to the box of this one."""
    y, low, high = load(w.motion.displacement, a), load(w.motion.least, a), load(w.motion.largest, a)
    return select(y < low, low, select(y > high, high, y))
