"""A symmetric block tridiagonal system, whose blocks beside the diagonal are diagonal, by block Cholesky."""

from poise.kernels.algebra.cholesky import factor, substitute
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.views import section


@entry_point(WHOLE, REALS, REALS, REALS, REALS)
def solve_blocks(size, blocks, ties, x, buffer):
    """Replace x (n x size) by the solution y of A y = x; returns the least pivot, positive if A is positive definite.

    A has the symmetric blocks (n x size x size) on its diagonal, of which the lower triangles are read and overwritten,
    and beside them the diagonal matrices `ties` ((n - 1) x size).  `buffer` (size x size) is to work in.
    """
    n = len(x) // size
    least = 1e300
    for t in range(n):
        block = section(blocks, t * size * size, size * size)
        if t > 0:
            tie = section(ties, (t - 1) * size, size)
            eliminate(size, section(blocks, (t - 1) * size * size, size * size), tie, block, buffer)
        pivot = factor(size, block)
        if not pivot > 0.0:
            return pivot
        least = min(least, pivot)
    _substitute(size, blocks, ties, x, buffer)
    return least


@entry_point(WHOLE, REALS, REALS, REALS, REALS)
def solve_again(size, blocks, ties, x, buffer):
    """`solve_blocks` with another x, and the blocks as that has left them."""
    _substitute(size, blocks, ties, x, buffer)


@kernel
def _substitute(size, blocks, ties, x, buffer):
    """Replace x by the solution, with the factors of all blocks."""
    n = len(x) // size
    for t in range(n):
        part = section(x, t * size, size)
        if t > 0:
            for i in range(size):
                part[i] = part[i] - ties[(t - 1) * size + i] * x[(t - 1) * size + i]
        substitute(size, section(blocks, t * size * size, size * size), part)
    for t in range(n - 2, -1, -1):
        for i in range(size):
            buffer[i] = ties[t * size + i] * x[(t + 1) * size + i]
        substitute(size, section(blocks, t * size * size, size * size), section(buffer, 0, size))
        for i in range(size):
            x[t * size + i] = x[t * size + i] - buffer[i]


@kernel
def eliminate(size, lower, tie, block, buffer):
    """Take O S^-1 O from the lower triangle of a block, with S = L L^T and the diagonal O of a tie: Y^T Y, L Y = O."""
    for i in range(size):
        row = i * size
        for j in range(i):
            buffer[row + j] = 0.0
        buffer[row + i] = tie[i]
        for k in range(i):
            share = lower[row + k]
            for j in range(k + 1):
                buffer[row + j] = buffer[row + j] - share * buffer[k * size + j]
        inverse = 1.0 / lower[row + i]
        for j in range(i + 1):
            buffer[row + j] = buffer[row + j] * inverse
    for k in range(size):
        for i in range(k + 1):
            share = buffer[k * size + i]
            for j in range(i + 1):
                block[i * size + j] = block[i * size + j] - share * buffer[k * size + j]
