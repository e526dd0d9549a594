"""How an arm with accelerations goes to its target: as fast as lets it stop there, seen from the target.

A step towards a target is as long as the way that is left, and the next one would have to be none.  An arm that may
change its velocity by little in a step would fly past and swing.  So it brakes, but not for what a target does itself.
With d_k the step that the method proposes and x_k the one that is taken, d_{k-1} - x_{k-1} was left, and what has come
to it is the target's own motion, seen by the joints:

    u_k = d_k - (d_{k-1} - x_{k-1}).

Seen from a target that goes on like this, r = d_k - u_k is left of the way, and

    x_k = u_k + w,    w the relative step from which a full stop ends at r.

A target that is followed leaves r = 0, and the step is the method's own: nothing is braked for.  Without a jerk all
entries of w are the same share of r, as large as lets each joint stop.  With one, w is the root of
S(w, w - w_{k-1}) = r, S being the way to stand still from a velocity and its change, within what the limits leave.
Each joint plans with the share of its limits that lets it arrive together with the last, less what the target's own
changes take of them.  Heavy joints, of `heavy_joints`, share with each other alone.

Beyond reach, and near a singular pose, a method proposes more than there is.  With y_k = d_{k-1} - d_k, what a step has
lessened the way by, r is divided by sum(x . y) / sum(x . x) of the last steps towards a target at rest, where that is
above 1 (Barzilai and Borwein 1988).  That is beside a jerk: with an acceleration alone the arm brakes in time anyway.

Walls, limits and the bend of the arm change what a method proposes, too.  Counted as the target's own motion that would
feed on itself: an arm would go along with what it has just done, and off a wall that it comes to.  With e the errors,
t_k = e_k - (e_{k-1} - J x_{k-1}) is what the target has moved by, seen by the tasks, and what a least-squares step
makes of that has |J u|^2 <= J u . t.  Of a u that is more than twice that, only so much is counted.

A target at rest has u = 0, and so has one before the first step.  Where no arm with these limits could go along with
u, the target has jumped, or is noise, and u is what it was, but for a little towards what it seems to be.
"""

from poise.kernels.algebra.blocks import times
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, store
from poise.kernels.machine.memory import FRESH, JUMP, LAST_JUMP, LESSENED, MOVED, WENT
from poise.kernels.requirements.braking import NO_LIMIT, fastest, way_to_stand
from poise.kernels.requirements.heavy_joints import any_heavy_joint, is_heavy_joint
from poise.kernels.requirements.trust_radius import away_from_last_targets, store_targets

_FIRM = 0.7
"""Share of the limits that a stop is planned with; the linear model does not know the rest."""
_LEFT = 0.15
"""Share of them that is left to it at least, where the target turns back towards the arm."""
_ALONE = 0.15
"""Share of them with which a joint plans at least, however short its way is beside those of others."""
_FOLLOWED = 1.5
"""How far beyond the limits the changes of a target are, in two steps, that is followed, and not taken for a jump."""
_EXPLAINED = 2.0
"""How many times as much as it explains a target's motion counts, for what damping and the arm's bend make of it."""
_SLOWLY = 0.1
"""Share of the acceleration by which the velocity counted on for a jumping target changes in a step, at most the
jerk."""
_POLE = 0.2
"""What a step leaves of a short way, where no limit is near."""
_LAG, _DRAG = (1.0 + _POLE) / (1.0 - _POLE), (_POLE / (1.0 - _POLE)) ** 2
"""S(w, change) adds _LAG w + _DRAG change to the way that the limits ask for.  Where that way is negligible,
r = _LAG w_k + _DRAG (w_k - w_{k-1}) with r_{k+1} = r_k - w_k has a double pole at `_POLE`: r shrinks by that factor in
each step, with no overshoot."""
_TRIALS = 4
"""Chords on the way to the root of S; the one before it is the exact root where the limits have no say."""
_RECALLED = 0.98
"""What each step leaves of what is known of the steps before."""
_NOTHING = 1e-18
"""Squares of steps below this are rounding, and their quotient says nothing [rad^2 or m^2]."""


@kernel
def observe_targets(p, w):
    """MOVED: 1 where the targets have moved since the last step; what was learnt of targets at rest is then dropped."""
    moved = (away_from_last_targets(p, w) > 0.0) & (load(w.memory, FRESH) > 0.5)
    store(w.memory, MOVED, select(moved, splat(w.e, 1.0), 0.0))
    begun = moved | (load(w.memory, FRESH) < 0.5)
    for row in (LESSENED, WENT):
        store(w.memory, row, select(begun, 0.0, load(w.memory, row)))


@kernel
def approach(p, w):
    """Shorten w.step, which the method proposes, to x_k of the module, from which the arm can stop at the target.

    w.clamped_step becomes the same; bounds of the step are for others.  Of several updates the ones before,
    w.motion.step_so_far, are part of d_k and of x_k.
    """
    farther = _beyond_clamp(w)
    # How many times their limits the target's acceleration and jerk are, as joints see them.
    jumps = splat(w.e, 0.0)
    for a in range(len(w.step)):
        store(w.approach.proposed, a, load(w.motion.step_so_far, a) + farther * load(w.step, a))
        rate = p.rates[a]
        u = own_motion(w, a)
        change = u - load(w.approach.target_velocity, a)
        x = _size(change) * (1.0 / rate.change)
        jumps = select(x > jumps, x, jumps)
        x = _size(change - load(w.approach.target_velocity_change, a)) * (1.0 / rate.jerk)
        jumps = select(x > jumps, x, jumps)
    store(w.memory, JUMP, jumps)
    followed = (jumps <= _FOLLOWED) & (load(w.memory, LAST_JUMP) <= _FOLLOWED)
    for a in range(len(w.step)):
        u, _, _ = _seen(p.rates[a], w, a, followed)
        store(w.approach.feed_forward, a, u)
    counted = _explained(p, w)
    lessened, went = load(w.memory, LESSENED), load(w.memory, WENT)
    # 1 / (sum(x . y) / sum(x . x)), at most 1.
    shorter = select((lessened > went) & (went > _NOTHING), went / select(lessened > went, lessened, 1.0), 1.0)
    _brake_together(p, w, False, followed, counted, shorter, farther)
    if any_heavy_joint(p):
        _brake_together(p, w, True, followed, counted, splat(w.e, 1.0), farther)


@kernel
def _brake_together(p, w, heavy, followed, counted, shorter, farther):
    """Shorten w.step for the joints that are `heavy`, or for the others, so that all of them can stop; see the module.

    The two kinds do not wait for each other: limbs that are all but stretched ask for more than there is, and would
    keep a base from going.  `counted` is the share of w.approach.feed_forward that is the target's motion, `shorter`
    what r is multiplied by, `farther` by how much the errors are longer than their clamp.
    """
    # The longest way r against what of the acceleration, and of the jerk, is left for it: who arrives last.
    longest, hardest = splat(w.e, 0.0), splat(w.e, 0.0)
    for a in range(len(w.step)):
        if is_heavy_joint(p, a) == heavy:
            rate = p.rates[a]
            _, change, swing = _seen(rate, w, a, followed)
            u, change, swing = counted * load(w.approach.feed_forward, a), counted * change, counted * swing
            store(w.approach.feed_forward, a, u)
            r = load(w.approach.proposed, a) - u
            x = _size(r) / _reserve(rate.change, select(r < 0.0, change, -change))
            longest = select(x > longest, x, longest)
            x = _size(r) / _reserve(rate.jerk, select(r < 0.0, swing, -swing))
            hardest = select(x > hardest, x, hardest)
    # Without jerk: the share of r from which braking still stops in time, in the units of the longest way.
    share = select(longest > 1.0, fastest(splat(w.e, 1.0), 1.0 / select(longest > 1.0, longest, 1.0)), 1.0)
    for a in range(len(w.step)):
        if is_heavy_joint(p, a) == heavy:
            rate = p.rates[a]
            d, gone, u = load(w.approach.proposed, a), load(w.motion.step_so_far, a), load(w.approach.feed_forward, a)
            r = d - u
            if rate.jerk < NO_LIMIT:
                _, change, _ = _seen(rate, w, a, followed)
                most, jerk = _together(r, longest, rate.change), _together(r, hardest, rate.jerk)
                # The relative step before, w_{k-1} = x_{k-1} - u_{k-1}, and the bounds of this one.
                before = load(w.motion.displacement, a) - (u - counted * change)
                low, high = load(w.motion.least, a) - u, load(w.motion.largest, a) - u
                x = d - (r - _relative_step(shorter * r, before, low, high, most, jerk)) - gone
            else:
                x = select(share < 1.0, d - (1.0 - share) * r, d) - gone
            own = load(w.step, a)
            # Clamped errors: d_k stands for more than the method proposed, and x must not go beyond its own step.
            x = select((farther > 1.0) & (((own >= 0.0) & (x > own)) | ((own <= 0.0) & (x < own))), own, x)
            store(w.step, a, x), store(w.clamped_step, a, x)


@kernel
def remember_target(p, w):
    """Keep what the next step compares with: d_k - x_k, u_k and its change, the errors that are left, the targets.

    To be called when the whole step, w.motion.displacement, is known.
    """
    lessened, went = _RECALLED * load(w.memory, LESSENED), _RECALLED * load(w.memory, WENT)
    for a in range(len(w.step)):
        last = load(w.motion.displacement, a) - load(w.motion.displacement_change, a)
        lessened = lessened + last * (load(w.approach.tracking_error, a) + last - load(w.approach.proposed, a))
        went = went + last * last
        u = own_motion(w, a)
        store(w.approach.target_velocity_change, a, u - load(w.approach.target_velocity, a))
        store(w.approach.target_velocity, a, u)
        store(w.approach.last_feed_forward, a, load(w.approach.feed_forward, a))
        store(w.approach.tracking_error, a, load(w.approach.proposed, a) - load(w.motion.displacement, a))
    store(w.memory, LESSENED, lessened), store(w.memory, WENT, went)
    store(w.memory, LAST_JUMP, load(w.memory, JUMP))
    times(p, w.jacobian, w.motion.displacement, w.y)
    for i in range(len(w.y)):
        store(w.approach.remaining_errors, i, load(w.approach.start_errors, i) - load(w.y, i))
    store_targets(p, w)


@kernel
def _explained(p, w):
    """The share of w.approach.feed_forward that the motion t of the targets explains: |J u|^2 <= _EXPLAINED J u . t.

    w.approach.start_errors (m) becomes e_k, the errors at w.begun: those at hand, and what the updates before took
    away.  Where a posture moves (`led`) the share is 1, for no error tells of it.
    """
    times(p, w.jacobian, w.motion.step_so_far, w.y)
    for i in range(len(w.e)):
        store(w.approach.start_errors, i, load(w.e, i) + load(w.y, i))
    times(p, w.jacobian, w.approach.feed_forward, w.y)
    square, along, led = splat(w.e, 0.0), splat(w.e, 0.0), splat(w.e, 0.0)
    for i in range(len(w.e)):
        x = load(w.y, i)
        gone = load(w.approach.start_errors, i) - load(w.approach.remaining_errors, i)
        square, along = square + x * x, along + x * gone
    for i in range(len(w.guide)):
        led = led + _size(load(w.guide, i) - load(w.last_guide, i))
    along = _EXPLAINED * select(along > 0.0, along, 0.0)
    over = (square > along) & (led <= 0.0)
    return select(over, along / select(over, square, 1.0), 1.0)


@kernel
def own_motion(w, a):
    """u_k of an entry, d_k less what the last step left; 0 where the targets stand."""
    return select(load(w.memory, MOVED) > 0.5, load(w.approach.proposed, a) - load(w.approach.tracking_error, a), 0.0)


@kernel
def _seen(rate, w, a, followed):
    """u of an entry as it is counted on, its change, and the change of that; the last two are 0 while targets jump.

    Of a target that is not `followed`, u goes from what it was towards what it seems to be, by a little a step.
    """
    u = own_motion(w, a)
    change = u - load(w.approach.target_velocity, a)
    swing = change - load(w.approach.target_velocity_change, a)
    last = load(w.approach.last_feed_forward, a)
    little = min(rate.jerk, _SLOWLY * rate.change)
    deviation = u - last
    deviation = select(deviation > little, little, select(deviation < -little, -little, deviation))
    counted = followed | (load(w.memory, MOVED) < 0.5)
    known = counted & (load(w.memory, MOVED) > 0.5)
    return select(counted, u, last + deviation), select(known, change, 0.0), select(known, swing, 0.0)


@kernel
def _beyond_clamp(w):
    """How many times as long the errors are as the clamped ones that the method has seen, along them; at least 1."""
    square, seen = splat(w.e, 0.0), splat(w.e, 0.0)
    for i in range(len(w.e)):
        e = load(w.e, i)
        square, seen = square + e * e, seen + e * load(w.clamped, i)
    longer = (square > seen) & (seen > 0.0)
    return select(longer, square / select(longer, seen, 1.0), 1.0)


@kernel
def _size(x):
    return select(x < 0.0, -x, x)


@kernel
def _reserve(limit, taken):
    """The share of a limit that a stop is planned with, less the target's own change where that adds to braking."""
    rest = _FIRM * limit - select(taken > 0.0, taken, 0.0)
    return select(rest > _LEFT * limit, rest, _LEFT * limit)


@kernel
def _together(r, ways, limit):
    """The limit with which an entry arrives together with the last: |r| / ways, ways being the largest |r| / limit."""
    share = _size(r) / select(ways > 0.0, ways, 1.0)
    return select(share > _ALONE * limit, share, _ALONE * limit)


@kernel
def _relative_step(r, before, low, high, most, jerk):
    """The step w in [low, high] after `before` with S(w, w - before) = r, or the end of the interval that is nearer.

    It is r itself where the limits let the arm stand still after it: the way is then gone in one step.
    """
    at_once = (r >= low) & (r <= high) & (_size(r) <= most) & (_size(r) <= jerk) & (_size(before - 2.0 * r) <= jerk)
    under, over = _stop(low, before, most, jerk) - r, _stop(high, before, most, jerk) - r
    # Regula falsi, since S rises with w; the first guess solves S without the way that limits ask for.
    x = (r + _DRAG * before) / (_LAG + _DRAG)
    x = select(x < low, low, select(x > high, high, x))
    below, above = low, high
    for _ in range(_TRIALS):
        miss = _stop(x, before, most, jerk) - r
        short = miss <= 0.0
        # The end that stays counts half (Illinois): so neither stays for long.
        halved_over, halved_under = select(over > 0.0, 0.5 * over, over), select(under < 0.0, 0.5 * under, under)
        below, under, over = (
            select(short, x, below),
            select(short, miss, halved_under),
            select(short, halved_over, over),
        )
        above, over = select(short, above, x), select(short, over, miss)
        gap = over - under
        share = -under / select(gap > 0.0, gap, 1.0)
        share = select((gap > 0.0) & (share > 0.0), select(share < 1.0, share, 1.0), 0.0)
        x = below + share * (above - below)
    return select(at_once, r, x)


@kernel
def _stop(v, before, most, jerk):
    """S(v, v - before): the way of a full stop that begins with the step v after `before`."""
    rise = v - before
    return way_to_stand(v, rise, most, jerk) + _LAG * v + _DRAG * rise
