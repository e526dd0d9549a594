"""Ways in the joints between two configurations, as straight as their differences say.

`joints` (n x JOINT) has a row for each number of q that moves, and for each unit quaternion: its first place in q, its
first velocity, 1 for a quaternion, what motion costs, and the range [rad or m] that a number is drawn from.  Whatever
else q has stays as it is.
"""

from poise.kernels.algebra.rotations import quaternion_step, turn_since
from poise.kernels.algebra.scalar import sincos, uniform
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt

JOINT = 6
"""Numbers of a row."""
_TURN = 6.283185307179586


@kernel
def put(q, to):
    """`to` becomes q."""
    for i in range(len(q)):
        to[i] = q[i]


@kernel
def difference(joints, q0, q1, step):
    """step (nv): the motion from q0 to q1 (nq)."""
    for v in range(len(step)):
        step[v] = 0.0
    for r in range(0, len(joints), JOINT):
        i, v = int(joints[r]), int(joints[r + 1])
        if joints[r + 2] > 0.5:
            step[v], step[v + 1], step[v + 2] = turn_since(q0, q1, i)
        else:
            step[v] = q1[i] - q0[i]


@kernel
def move(joints, q0, step, share, q):
    """q (nq), which has elsewhere what q0 has: where a share of a step (nv) leads from q0."""
    for r in range(0, len(joints), JOINT):
        i, v = int(joints[r]), int(joints[r + 1])
        if joints[r + 2] > 0.5:
            q[i], q[i + 1], q[i + 2], q[i + 3] = quaternion_step(
                q0[i], q0[i + 1], q0[i + 2], q0[i + 3], share * step[v], share * step[v + 1], share * step[v + 2]
            )
        else:
            q[i] = q0[i] + share * step[v]


@kernel
def square_between(joints, q0, q1):
    """The square of what the motion from q0 to q1 costs [rad^2 and m^2]."""
    square = 0.0
    for r in range(0, len(joints), JOINT):
        i, cost = int(joints[r]), joints[r + 3]
        if joints[r + 2] > 0.5:
            a, b, c = turn_since(q0, q1, i)
            square += cost * cost * (a * a + b * b + c * c)
        else:
            square += (cost * (q1[i] - q0[i])) ** 2
    return square


@kernel
def draw(joints, seed, place, q):
    """q (nq) becomes a random configuration within all ranges, of any rotations; the place of the next number."""
    for r in range(0, len(joints), JOINT):
        i = int(joints[r])
        if joints[r + 2] > 0.5:  # Shoemake 1992, "Uniform Random Rotations"
            x = uniform(seed, place)
            (s0, c0), (s1, c1) = sincos(_TURN * uniform(seed, place + 1)), sincos(_TURN * uniform(seed, place + 2))
            a, b = sqrt(1.0 - x), sqrt(x)
            q[i], q[i + 1], q[i + 2], q[i + 3] = b * c1, a * s0, a * c0, b * s1
            place += 3
        else:
            low, high = joints[r + 4], joints[r + 5]
            q[i] = min(max(low + (high - low) * uniform(seed, place), low), high)
            place += 1
    return place


@kernel
def keep_within(joints, q):
    """q (nq) with every number in its range."""
    for r in range(0, len(joints), JOINT):
        if joints[r + 2] < 0.5:
            i = int(joints[r])
            q[i] = min(max(q[i], joints[r + 4]), joints[r + 5])
