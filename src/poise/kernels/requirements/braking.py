"""How fast a coordinate may be so that it can still stop: speed, acceleration, jerk and room, in exact discrete time.

Time is counted in steps: a velocity is the way of one step [rad or m], an acceleration the change of it from one step
to the next, a jerk the change of that.  A state is viable if some way of braking from it keeps all limits until the
coordinate rests; a step is allowed if the state that it leads to is viable.  So a step that is allowed leaves one, the
next of that way of braking, and limits never contradict one another once all hold.

Acceleration alone.  From the velocity v on, braking by a in each step, v + (v - a) + ... is at most x exactly if
v <= (x + a k (k + 1) / 2) / (k + 1) for each whole k, and the least of these is that of
k = floor((sqrt(1 + 8 x / a) - 1) / 2).
Jerk.  Braking lowers the acceleration by the jerk in each step down to its limit.  The way that it takes is convex in
the first step, and grows with it: Newton's method comes to the largest allowed step from above, chords from below, and
what is taken is the chord's, so that a search that is cut short is too careful and never too bold.  The way ends before
the acceleration is back at 0; that this fits within the speeds and the range is seen to by
`solving.requirements.inequalities`, which lowers the acceleration of a joint whose range is too short for it.
"""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import floor, select, sqrt
from poise.kernels.rows.rounding import LAST_DIGIT

NO_LIMIT = 1e300
"""An acceleration or a jerk that is none."""
_FARTHEST = 1e20
"""More room than there is anywhere [rad or m], of which one can still compute the braking distance."""
_SPARE = 1e-6
"""The share of an acceleration or jerk that braking is not planned with, so that rounding cannot use it up; LAST_DIGIT
comes to it, but no more than half."""
BELOW = 0.25
"""By this share of the jerk steps of braking are below their S-curve, at most."""
_TRIALS = 4
"""Newton's steps and chords; a range of allowed steps is at most two jerks wide, and all but straight within it."""


@kernel
def _sure(limit):
    """What of an acceleration or jerk braking is planned with."""
    sure = limit * (1.0 - _SPARE) - LAST_DIGIT
    return select(sure > 0.5 * limit, sure, 0.5 * limit)


@kernel
def fastest(distance, slowing):
    """The largest v with v + (v - slowing) + (v - 2 slowing) + ... <= distance, over its positive terms.

    A negative distance is returned as it is: the velocity that is back at the limit after one step.
    """
    ahead = select(distance < 0.0, 0.0, select(distance < _FARTHEST, distance, _FARTHEST))
    # k steps follow the first one: k (k + 1) / 2 <= ahead / slowing.
    k = floor(0.5 * (sqrt(1.0 + 8.0 * ahead / slowing) - 1.0))
    return select(distance < 0.0, distance, (ahead + 0.5 * slowing * k * (k + 1.0)) / (k + 1.0))


@kernel
def way_to_rest(first, rise, most, jerk):
    """How far a step and what follows it lead until they turn back, and the derivative by `first`.

    `first` is the step, `rise` the acceleration that it took, which falls by `jerk` in each step from now on, to -most.
    The derivative counts that `rise` grows with `first`, the step before being given.
    """
    # While the acceleration falls, step i is v_i = first + i rise - jerk i (i + 1) / 2; it falls `falling` times.
    falling = floor((rise + most) / jerk)
    falling = select(falling < 0.0, 0.0, falling)
    # n, the last i with v_i >= 0, is the root of that.
    half = rise - 0.5 * jerk
    square = half * half + 2.0 * jerk * first
    n = floor((half + sqrt(select(square < 0.0, 0.0, square))) / jerk)
    n = select((square < 0.0) | (n < 0.0), 0.0, n)
    n = select(n < falling, n, falling)
    # v_0 + ... + v_n, then k steps of constant deceleration after v_falling = left.
    way = (n + 1.0) * (first + n * (0.5 * rise - jerk * (n + 2.0) / 6.0))
    slope = (n + 1.0) * (1.0 + 0.5 * n)
    left = first + falling * (rise - 0.5 * jerk * (falling + 1.0))
    k = floor(left / most)
    k = select((n < falling) | (k < 0.0), 0.0, k)
    return way + k * (left - 0.5 * most * (k + 1.0)), slope + k * (1.0 + falling)


@kernel
def way_to_stand(v, rise, most, jerk):
    """How far a velocity v, which changes by `rise`, leads until it rests and changes no more; odd in both.

    By a constant jerk down to a deceleration, that itself, and a jerk back (an S-curve), in continuous time.  Where v
    turns back before it can stop changing, that is the way back that follows.
    """
    size = select(rise < 0.0, -rise, rise)
    # The velocity that is left when a jerk alone has taken `rise` to 0; where it is negative all is mirrored.
    back = v + 0.5 * rise * size / jerk < 0.0
    v, rise = select(back, -v, v), select(back, -rise, rise)
    # The peak of the deceleration without a plateau, top^2 = jerk v + rise^2 / 2, at most `most`, at least -rise.
    square = jerk * v + 0.5 * rise * rise
    top = sqrt(select(square < 0.0, 0.0, square))
    top = select(top < most, top, most)
    top = select(top < -rise, -rise, top)
    onset = (rise + top) / jerk  # the time in which the acceleration falls to -top, and the way of it
    way = onset * (v + onset * (0.5 * rise - jerk * onset * (1.0 / 6.0)))
    v = v + onset * (rise - 0.5 * jerk * onset)
    last = 0.5 * top * top / jerk  # the velocity that the jerk back to 0 takes away, by top^3 / (6 jerk^2) of way
    hold = (v - last) / select(top > 0.0, top, 1.0)  # the time of the plateau
    hold = select(hold < 0.0, 0.0, hold)
    way = way + 0.5 * hold * (v + last) + top * last * (1.0 / 3.0) / jerk
    return select(back, -way, way)


@kernel
def braking_curve(speed, rise, most, jerk):
    """The curve on which a joint comes to rest that brakes by itself far from its limits: see `speed_on_curve`.

    `speed` is the last step, `rise` what it rose by, of which it does not turn back: rise >= 0, or
    speed >= rise (rise / jerk - 1) / 2.  What is returned: the height of the curve and, in steps from there, when it is
    entered, when the deceleration has come to its peak, and when all is at rest.

    That is an S-curve in continuous time, entered half a step later than its deceleration says: steps are nowhere above
    it, and BELOW at most.
    """
    if jerk >= NO_LIMIT:
        return speed, 0.0, 0.0, speed / most
    a_jerk = 1.0 / jerk
    begun = 0.5 - rise * a_jerk
    level = max(begun - most * a_jerk, 0.0)
    peak = speed + 0.5 * jerk * (begun * begun - level * level)
    square = peak * a_jerk
    top = min(sqrt(square), most * a_jerk)
    return peak, begun, top, top + (square / top if top > 0.0 else 0.0)


@kernel
def speed_on_curve(peak, begun, top, end, most, jerk, t):
    """The speed on a curve, t steps after it was entered: the deceleration rises, stays, and falls; with acceleration
    alone it is the same all the time."""
    if jerk >= NO_LIMIT:
        return max(peak - most * t, 0.0)
    t = min(begun + t, end)
    level, back = max(t - top, 0.0), max(t - end + top, 0.0)
    return peak - 0.5 * jerk * (t * t - level * level - back * back)


@kernel
def _braked(distance, v, low, high, most, jerk):
    """The largest step in [low, high] after v from which braking keeps within `distance`; low if there is none."""
    most, jerk = _sure(most), _sure(jerk)
    way_low, _ = way_to_rest(low, low - v, most, jerk)
    way_high, slope = way_to_rest(high, high - v, most, jerk)
    inside, hopeless = way_high <= distance, way_low > distance
    below, above = low, high
    for _ in range(_TRIALS):
        # No end is looked at again: near the root rounding would decide which of the two is taken.
        gap = way_high - way_low
        chord = below + (distance - way_low) * (above - below) / select(gap > 0.0, gap, 1.0)
        chord = select(chord < below, below, select(chord > above, above, chord))
        newton = above - (way_high - distance) / slope
        above = select(newton > chord, newton, chord)
        below = chord
        way_low, _ = way_to_rest(below, below - v, most, jerk)
        way_high, slope = way_to_rest(above, above - v, most, jerk)
    found = select(inside, high, select(hopeless, low, below))
    # Beyond the limit already: straight back to it, as far as the box lets it.
    back = select(distance < low, low, select(distance > high, high, distance))
    return select(distance < 0.0, back, found)


@kernel
def allowed_anywhere(v, a, speed, most, jerk):
    """The least and the largest next step after the step v, whose change was a, far from limits of position.

    `speed`, `most` and `jerk` are the limits of a step, of its change and of the change of that.
    """
    low, high = v - most, v + most
    jerking = jerk < NO_LIMIT
    if jerking:
        low = select(v + a - jerk > low, v + a - jerk, low)
        high = select(v + a + jerk < high, v + a + jerk, high)
        # The speed must be met with no acceleration left: it is a limit of v's room, and the jerk brakes the change.
        top, bottom = v + fastest(speed - v, _sure(jerk)), v - fastest(speed + v, _sure(jerk))
        top = select(top > low, top, low)
        bottom = select(bottom < high, bottom, high)
    else:
        top, bottom = select(speed > low, speed, low), select(-speed < high, -speed, high)
    high = select(top < high, top, high)
    low = select(bottom > low, bottom, low)
    return select(low < high, low, high), high


@kernel
def allowed(below, above, v, a, speed, most, jerk):
    """The least and the largest next step after the step v, whose change was a.

    `below` and `above` are the room left on either side, less than 0 beyond a limit; the others as above.  The range is
    never empty.  Where not all can be kept, the position yields first, then the speed: it comes back as fast as the
    others let it.
    """
    low, high = allowed_anywhere(v, a, speed, most, jerk)
    if jerk < NO_LIMIT:
        top, bottom = _braked(above, v, low, high, most, jerk), -_braked(below, -v, -high, -low, most, jerk)
    else:
        top, bottom = fastest(above, _sure(most)), -fastest(below, _sure(most))
        top = select(top < low, low, select(top > high, high, top))
        bottom = select(bottom < low, low, select(bottom > high, high, bottom))
    # With too little room on both sides the two cross: the side that is not yet broken decides.
    crossed, beyond = bottom > top, above < 0.0
    return select(crossed & (above >= 0.0), top, bottom), select(crossed & beyond, bottom, top)
