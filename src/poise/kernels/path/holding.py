"""Whether all that must hold does so on a straight way: sums of joints, shapes, and what Python is asked.

The scratch ends with room for corners (nq each), and after it three numbers: where that begins, how many corners were
found, and the address of a function of Python's, which is asked of each way that is free of the rest, or -1.  It finds
both ends among the corners, and leaves the corners of the way there.
"""

from poise.kernels.collision.free_way import is_free
from poise.kernels.kinematics.joint_rows import put
from poise.kernels.machine.jit import call, kernel
from poise.kernels.machine.views import section
from poise.kernels.rows.sums import slack_of_sums

BEGIN, FOUND, ASKED = 3, 2, 1
"""How far from the end of the scratch these numbers are."""


@kernel
def is_clear(s, x, joints, buffer, q0, q1):
    """Whether sums of joints and distances hold from q0, where they do, to q1 (nq): sums change evenly on the way."""
    return slack_of_sums(s, q1) >= 0.0 and is_free(s, x, joints, buffer, q0, q1)


@kernel
def holds(s, x, joints, buffer, scratch, q0, q1):
    """Whether all holds on the way from q0 to q1 (nq), which are moved to where loops are closed; its corners are then
    in the scratch."""
    nq, size = len(q0), len(scratch)
    corners, place = corners_in(scratch), int(scratch[size - ASKED])
    put(q0, section(corners, 0, nq)), put(q1, section(corners, nq, nq))
    scratch[size - FOUND] = 2.0
    if not is_clear(s, x, joints, buffer, q0, q1):
        return False
    if place >= 0:
        call(place)
        count = int(scratch[size - FOUND])
        if count == 0:
            return False
        put(section(corners, 0, nq), q0), put(section(corners, (count - 1) * nq, nq), q1)
    return True


@kernel
def corners_in(scratch):
    """The corners of the way that was looked at last, and room for more."""
    begin = int(scratch[len(scratch) - BEGIN])
    return section(scratch, begin, len(scratch) - BEGIN - begin)


@kernel
def corners_found(scratch):
    """How many of them there are."""
    return int(scratch[len(scratch) - FOUND])
