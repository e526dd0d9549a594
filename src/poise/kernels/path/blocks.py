"""A block tridiagonal system, whose neighbours are tied coordinate by coordinate."""

from poise.kernels.algebra.cholesky import factor, substitute
from poise.kernels.machine.jit import REALS, WHOLE, entry_point
from poise.kernels.machine.views import section


@entry_point(WHOLE, REALS, REALS, REALS, REALS)
def solve_blocks(size, blocks, ties, x, room):
    """Replace x (n x size) by the solution of A y = x; returns the least pivot, positive if A is positive definite.

    A has the symmetric blocks (n x size x size) on its diagonal, which are overwritten, and beside them the diagonal
    matrices `ties` ((n - 1) x size).  `room` (size) is to work in.  By block elimination, as of Thomas.
    """
    n = len(x) // size
    least = 1e300
    for t in range(n):
        block = section(blocks, t * size * size, size * size)
        part = section(x, t * size, size)
        if t > 0:
            # S_t = D_t - O S_(t-1)^-1 O, and the same for the right side.
            former = section(blocks, (t - 1) * size * size, size * size)
            tie = section(ties, (t - 1) * size, size)
            for j in range(size):
                for i in range(size):
                    room[i] = 0.0
                room[j] = tie[j]
                substitute(size, former, section(room, 0, size))
                for i in range(size):
                    block[i * size + j] = block[i * size + j] - tie[i] * room[i]
            for i in range(size):
                part[i] = part[i] - tie[i] * x[(t - 1) * size + i]
        pivot = factor(size, block)
        if not pivot > 0.0:
            return pivot
        least = min(least, pivot)
        substitute(size, block, part)
    for t in range(n - 2, -1, -1):
        for i in range(size):
            room[i] = ties[t * size + i] * x[(t + 1) * size + i]
        substitute(size, section(blocks, t * size * size, size * size), section(room, 0, size))
        for i in range(size):
            x[t * size + i] = x[t * size + i] - room[i]
    return least
