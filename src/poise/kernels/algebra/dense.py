"""`active_set.minimise` of dense matrices, called from Python."""

from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.working_set import NONE, Levels, Limits, buffer_size
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, TABLE, WHOLES
from poise.kernels.machine.lanes import pitch, sqrt
from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.views import section

_ROUNDING = 1e-8
"""A side that x is beyond by no more than this, against its length and bound, is not broken."""


def dense_buffer_size(m, n, p):
    """Numbers that m rows of levels, n unknowns and p inequalities need to work in."""
    row = WIDTH * ((n + WIDTH - 1) // WIDTH)
    return buffer_size(m, n, p) + (m + p) * row + WIDTH * ((3 * n + p + WIDTH - 1) // WIDTH)


@entry_point(WHOLES, TABLE, REALS, REALS, TABLE, REALS, REALS, REALS)
def minimise_dense(plan, rows, wants, squares, sides, most, last, buffer):
    """The minimum in levels of |rows x - wants|^2 + lambda^2 |x|^2 with sides x <= most, of those the shortest.

    `plan` is the number of levels, the first row of each and the end of the last, then the numbers of the rows in their
    order; `squares` are lambda^2.  `last` (2 n + p) is x (n), and behind it what is tried to hold it, and then does: as
    `side` of `minimise`, of which sides of one entry are bounds.  Returns by how much x is beyond the side that it
    breaks most, 0 if that is rounding, and NaN if a number is none.
    """
    m, n = rows.shape
    p, row = len(most), pitch(buffer, n)
    packed, others, at = section(buffer, 0, m * row), section(buffer, m * row, p * row), (m + p) * row
    low, high, nothing = section(buffer, at, n), section(buffer, at + n, n), section(buffer, at + 2 * n, n)
    ends, at = section(buffer, at + 3 * n, p), at + pitch(buffer, 3 * n + p)
    for i in range(m):
        _pack(rows, i, packed, i)
    for a in range(n):
        low[a], high[a], nothing[a] = -2.0 * NONE, 2.0 * NONE, 0.0
    general = _state(sides, most, low, high, others, ends)
    limits = Limits(low, high, section(others, 0, general * row), section(ends, 0, general))
    levels = Levels(plan[0], plan[1 : plan[0] + 2], plan[plan[0] + 2 :], packed, wants, squares, nothing, 1)
    x = section(last, 0, n)
    minimise(levels, limits, x, section(last, n, n + general), section(buffer, at, len(buffer) - at))
    return _beyond(sides, most, x)


@kernel
def _pack(rows, i, packed, to):
    """Row i of `rows` as row `to` in packs."""
    n = rows.shape[1]
    row = pitch(packed, n)
    for c in range(row):
        packed[to * row + c] = rows[i, c] if c < n else 0.0


@kernel
def _state(sides, most, low, high, others, ends):
    """The sides of one entry as `low` and `high`, the rest as `others`, in packs, and `ends`; how many these are."""
    n, general = sides.shape[1], 0
    for i in range(len(most)):
        entries, a = 0, 0
        for c in range(n):
            if sides[i, c] != 0.0:
                entries, a = entries + 1, c
        if entries != 1:
            _pack(sides, i, others, general)
            ends[general] = most[i]
            general += 1
        elif sides[i, a] < 0.0:
            low[a] = low[a] if low[a] >= most[i] / sides[i, a] else most[i] / sides[i, a]
        else:
            high[a] = high[a] if high[a] <= most[i] / sides[i, a] else most[i] / sides[i, a]
    return general


@kernel
def _beyond(sides, most, x):
    """By how much x is beyond the side that it breaks most."""
    beyond = 0.0
    for a in range(len(x)):
        beyond = beyond + 0.0 * x[a]
    for i in range(len(most)):
        value, square = -most[i], 0.0
        for a in range(len(x)):
            value = value + sides[i, a] * x[a]
            square = square + sides[i, a] * sides[i, a]
        if value > max(_ROUNDING * (sqrt(square) + abs(most[i])), beyond):
            beyond = value
    return beyond
