"""Targets for a robot's hand from a hand's landmarks: vectors between them, along the hand's own axes, and pinches.

Axes.     z from the wrist to the knuckle of the middle finger, x out of the palm, y = z x x: on a right hand towards
          the index finger, on a left one towards the little finger.
Pinch.    DexPilot (Handa et al. 2020, arXiv:1910.03135): where the thumb is nearer to a finger than `near`, and until
          it is farther than `away`, the vector between the two is drawn in to the length `touch` along its direction
          and weighs much more; two fingers that both pinch, and are near, keep the length `beside`.
"""

from poise.kernels.algebra.vectors import cross, dot, minus, scaled, vector
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.layout import GOAL
from poise.kernels.machine.memory import MEMORY

SIDE, EACH, PAIRS, FINGERS, KNUCKLE, INDEX, LANDMARKS, COUNT = range(8)
"""Places in the problem's `plan`: 1 for a right hand whose own axes count, -1 for a left one, 0 for the axes as they
are; 1 where each coordinate has a loss of its own; the pairs of fingertips, which are the first effectors, the thumb's
before all others; the fingers; the landmarks of the knuckles of the middle and the index finger, and how many landmarks
there are; how many effectors are vectors, before the loops of a hand.  From VECTORS on stand the landmarks of each of
them, from and to; from is -1 for the origin."""
VECTORS = COUNT + 1
SCALE, HUBER, CHANGE, ALPHA, NEAR, AWAY, TOUCH, BESIDE, THUMB_WEIGHT, FINGER_WEIGHT, TURN, SETTINGS = (*range(11), 19)
"""Places in the problem's `settings`; TURN is a rotation, row by row, from the hand's axes to the robot's."""
_SHORTEST = 1e-6
"""Knuckles that are nearer to a line than this have no palm [m]."""
_WEIGHT = GOAL - 1
"""Row of a target where its weight is."""


@kernel
def weight_of(w, k):
    """Of effector k, the weight that the last landmarks gave it."""
    return w.target[GOAL * k + _WEIGHT]


@kernel
def aim_at_landmarks(p, w, points):
    """Write the targets and weights of all effectors from the landmarks (3 each) [m]; False if they are no hand.

    w.memory holds, behind MEMORY, a number for each pair of fingertips: 1 where it pinches.
    """
    s, plan = p.settings, p.plan
    for i in range(3 * plan[LANDMARKS]):
        if not abs(points[i]) < 1e100:
            return False
    sound, x, y, z = _axes(p, points)
    if not sound:
        return False
    pairs, fingers = plan[PAIRS], plan[FINGERS]
    for k in range(p.plan[COUNT]):
        a, b = plan[VECTORS + 2 * k], plan[VECTORS + 2 * k + 1]
        v = vector(points, 3 * b)
        if a >= 0:
            v = minus(v, vector(points, 3 * a))
        scale, weight = s[SCALE], 1.0
        if k < pairs:
            length = sqrt(dot(v, v))
            if _pinches(p, w, k, length):
                scale = s[TOUCH if k < fingers - 1 else BESIDE] / (length + 1e-6)
                weight = s[THUMB_WEIGHT if k < fingers - 1 else FINGER_WEIGHT]
        elif pairs > 0:
            weight = 1.0 * (pairs + fingers)
        v = scaled(scale, (dot(x, v), dot(y, v), dot(z, v)))
        at = GOAL * k
        for i in range(3):
            w.target[at + 9 + i] = dot(vector(s, TURN + 3 * i), v)
        w.target[at + _WEIGHT] = weight
    return True


@kernel
def _axes(p, points):
    """Whether the hand has axes, and these: x, y, z."""
    side = p.plan[SIDE]
    if side == 0:
        return True, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    middle = vector(points, 3 * p.plan[KNUCKLE])
    z = minus(middle, vector(points, 0))
    across = scaled(1.0 * side, minus(vector(points, 3 * p.plan[INDEX]), middle))
    x = cross(across, z)
    length, far = sqrt(dot(x, x)), sqrt(dot(z, z))
    sound = (far > _SHORTEST) & (length > _SHORTEST * far)
    x, z = scaled(1.0 / length, x), scaled(1.0 / far, z)
    return sound, x, cross(z, x), z


@kernel
def _pinches(p, w, k, length):
    """Whether pair k of fingertips, `length` apart [m], pinches now."""
    s, others = p.settings, p.plan[FINGERS] - 1
    if k < others:
        if length < s[NEAR]:
            w.memory[MEMORY + k] = 1.0
        elif length > s[AWAY]:
            w.memory[MEMORY + k] = 0.0
    else:
        # Pairs of fingers in order: (0, 1), (0, 2), ..., (1, 2), ..., each by its pairs with the thumb.
        first, rest = 0, k - others
        while rest >= others - 1 - first:
            rest -= others - 1 - first
            first += 1
        both = (w.memory[MEMORY + first] > 0.5) & (w.memory[MEMORY + first + 1 + rest] > 0.5)
        w.memory[MEMORY + k] = 1.0 if both and length <= s[NEAR] else 0.0
    return w.memory[MEMORY + k] > 0.5
