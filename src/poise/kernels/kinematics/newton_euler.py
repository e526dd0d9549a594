"""What joints must give for a motion beside the weight: the recursive Newton-Euler algorithm.

From the world outwards each unit's spin, its rate and the acceleration of its origin; back inwards the force and the
couple that move all that it carries (Luh, Walker and Paul 1980, "On-Line Computational Scheme for Mechanical
Manipulators", doi:10.1115/1.3149599).  All vectors are along the world's axes.
"""

from poise.kernels.algebra.vectors import cross, dot, plus, scaled, vector
from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import BATCH, REALS, TABLE, WHOLE
from poise.kernels.machine.layout import BALL_AXES, BALL_TURN, BY_FUNCTION, FRAME, HELICAL, PRISMATIC, STILL
from poise.kernels.machine.views import problem_at, section

BODY_NUMBERS = 10
"""Of a unit: the mass that hangs on it [kg], times its centre (3) [kg m], and its inertia about the unit's origin, xx,
xy, xz, yy, yz, zz [kg m^2], in the unit's frame."""
MOTION = 18
"""Of a unit: its spin (3), its rate (3), the acceleration of its origin (3), the way to that from its parent's (3), the
force (3) and the couple about it (3) that move all that it carries."""
_SPIN, _SPIN_RATE, _LIFT, _WAY, _FORCE, _COUPLE = 0, 3, 6, 9, 12, 15


@kernel
def _put(numbers, i, a):
    numbers[i], numbers[i + 1], numbers[i + 2] = a


@kernel
def _out(frames, u, a):
    """A vector of unit u's frame in the world."""
    at = FRAME * u
    x, y = scaled(a[0], vector(frames, at + 6)), scaled(a[1], vector(frames, at + 9))
    return plus(plus(x, y), scaled(a[2], vector(frames, at + 3)))


@kernel
def _back(frames, u, a):
    """A vector of the world in unit u's frame."""
    at = FRAME * u
    return dot(vector(frames, at + 6), a), dot(vector(frames, at + 9), a), dot(vector(frames, at + 3), a)


@kernel
def _shares(unit):
    """How much of what moves a unit turns it, and how much it slides it [m]."""
    kind = unit.kind - BY_FUNCTION if unit.kind >= BY_FUNCTION else unit.kind
    turn = 0.0 if kind in (PRISMATIC, BALL_AXES, STILL) else 1.0
    return turn, 1.0 if kind == PRISMATIC else unit.pitch if kind == HELICAL else 0.0


@kernel
def _moved(unit, u, frames, v, a):
    """How fast unit u moves about or along its axis, or as a ball, with velocities v and accelerations a (3,) from its
    own on, and how that changes, as it is seen from what carries it."""
    if unit.kind == BALL_TURN:
        return _out(frames, unit.parent, vector(v, 0)), _out(frames, unit.parent, vector(a, 0))
    axis = scaled(unit.multiplier, vector(frames, FRAME * u + 3))
    change = scaled(a[0], axis)
    if unit.kind >= BY_FUNCTION:
        change = plus(change, scaled(unit.multiplier * v[0] * v[0], vector(frames, FRAME * u + 6)))
    return scaled(v[0], axis), change


@kernel
def _whirled(spin, spin_rate, a):
    """The acceleration of the end of a, against its beginning."""
    return plus(cross(spin_rate, a), cross(spin, cross(spin, a)))


@kernel
def _outwards(p, frames, velocity, acceleration, motion):
    """Write the motion of each unit."""
    for u in range(len(p.units)):
        unit, own = p.units[u], motion[u]
        spin, spin_rate, lift = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        way = vector(frames, FRAME * u)
        if unit.parent >= 0:
            carrier = motion[unit.parent]
            spin, spin_rate, lift = vector(carrier, _SPIN), vector(carrier, _SPIN_RATE), vector(carrier, _LIFT)
            way = plus(way, scaled(-1.0, vector(frames, FRAME * unit.parent)))
        lift = plus(lift, _whirled(spin, spin_rate, way))
        turn, slide = _shares(unit)
        if turn != 0.0 or slide != 0.0:
            first = p.slots[u]
            rate, change = _moved(unit, u, frames, velocity[first:], acceleration[first:])
            twist = cross(spin, rate)
            lift = plus(lift, scaled(slide, plus(change, scaled(2.0, twist))))
            spin_rate = plus(spin_rate, scaled(turn, plus(change, twist)))
            spin = plus(spin, scaled(turn, rate))
        _put(own, _SPIN, spin), _put(own, _SPIN_RATE, spin_rate), _put(own, _LIFT, lift), _put(own, _WAY, way)


@kernel
def _taken(p, frames, u, own):
    """The force and the couple about its origin that move what hangs on unit u itself."""
    at = BODY_NUMBERS * u
    mass, moment = p.numbers[at], _out(frames, u, vector(p.numbers, at + 1))
    spin, spin_rate, lift = vector(own, _SPIN), vector(own, _SPIN_RATE), vector(own, _LIFT)
    xx, xy, xz = vector(p.numbers, at + 4)
    yy, yz, zz = vector(p.numbers, at + 7)
    rows, s, r = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), _back(frames, u, spin), _back(frames, u, spin_rate)
    momentum = _out(frames, u, (dot(rows[0], s), dot(rows[1], s), dot(rows[2], s)))
    couple = _out(frames, u, (dot(rows[0], r), dot(rows[1], r), dot(rows[2], r)))
    force = plus(scaled(mass, lift), _whirled(spin, spin_rate, moment))
    return force, plus(plus(couple, cross(spin, momentum)), cross(moment, lift))


@kernel
def _inwards(p, frames, motion, torques):
    """Write the forces and couples of each unit, and add what joints give to `torques` (nv,)."""
    for u in range(len(p.units)):
        for k in range(_FORCE, MOTION):
            motion[u, k] = 0.0
    for k in range(len(p.units)):
        u = len(p.units) - 1 - k
        unit, own = p.units[u], motion[u]
        force, couple = vector(own, _FORCE), vector(own, _COUPLE)
        if p.numbers[BODY_NUMBERS * u] > 0.0:
            more, about = _taken(p, frames, u, own)
            force, couple = plus(force, more), plus(couple, about)
        if unit.parent >= 0:
            carrier = motion[unit.parent]
            _put(carrier, _FORCE, plus(vector(carrier, _FORCE), force))
            couples = plus(couple, cross(vector(own, _WAY), force))
            _put(carrier, _COUPLE, plus(vector(carrier, _COUPLE), couples))
        turn, slide = _shares(unit)
        first = p.slots[u]
        if unit.kind == BALL_TURN:
            x, y, z = _back(frames, unit.parent, couple)
            torques[first], torques[first + 1], torques[first + 2] = x, y, z
        elif turn != 0.0 or slide != 0.0:
            both = plus(scaled(turn, couple), scaled(slide, force))
            torques[first] += unit.multiplier * dot(vector(frames, FRAME * u + 3), both)


@entry_point(WHOLE, REALS, BATCH, REALS, TABLE, TABLE)
def motion_torques(problem, q, rates, frames, motion, out):
    """Write into out (n, nv) what joints give at q (n, nq) for velocities and accelerations `rates` (2, n, nv).

    The problem's `numbers` are BODY_NUMBERS a unit, its `slots` the first velocity of each unit; `frames` and `motion`
    (units, MOTION) are scratch.
    """
    p = problem_at(problem)
    width = len(q) // len(out)
    for i in range(len(out)):
        forward(p.units, p.pieces, section(q, i * width, width), section(frames, 0, len(frames)))
        _outwards(p, frames, rates[0, i], rates[1, i], motion)
        out[i] = 0.0
        _inwards(p, frames, motion, out[i])
