"""One kernel text, two widths.

`Lanes` is a vector of eight float64, an LLVM `<8 x double>`; `Mask` holds eight truth values.  A kernel reads and
writes its workspace through `load` and `store`: rows of one number give float64 numbers, rows of eight give Lanes, and
nothing else in the kernel knows the width.

Every primitive has a plain Python body too, so that a kernel runs un-jitted (`NUMBA_DISABLE_JIT=1`): a row of a 2-D
workspace is then an array of eight.  For that mode a kernel writes `a = a + b`, never `a += b`, which would change
a row that another name still holds.
"""

import numpy as np

from poise.kernels.machine.jit import primitive
from poise.kernels.machine.layout import WIDTH


def workspace(*shape: int) -> np.ndarray:
    """Zeros whose first number is at a multiple of 64 bytes, so that a vector register is not read across two lines of
    the cache."""
    count = int(np.prod(shape))
    raw = np.zeros(count + WIDTH - 1)
    start = -(raw.ctypes.data // raw.itemsize) % WIDTH
    return raw[start : start + count].reshape(shape)


# The primitives -----------------------------------------------------------------------------------------------------


@primitive
def load(work, row):
    """Row `row` of a workspace: a float64 of a 1-D one, Lanes of a 2-D one."""
    return work[row].copy() if work.ndim == 2 else work[row]


@primitive
def store(work, row, value):
    """Write `value` to row `row` of a workspace."""
    work[row] = value


@primitive
def splat(work, number):
    """The number in the width of the workspace."""
    return np.full(work.shape[1], number) if work.ndim == 2 else np.float64(number)


@primitive
def select(condition, a, b):
    """`a` where the condition holds, else `b`."""
    return np.where(condition, a, b)[()]


@primitive
def any_of(condition):
    """Whether the condition holds in any lane."""
    return bool(np.any(condition))


@primitive
def sqrt(x):
    """Square root."""
    return np.sqrt(x)


@primitive
def floor(x):
    """Largest whole number not above x."""
    return np.floor(x)


@primitive
def fma(a, b, c):
    """a * b + c, which no optimisation may take apart; one rounding when compiled."""
    return a * b + c


@primitive
def packs(work, count):
    """Packs that a row of `count` numbers takes.

    A pack is a vector of eight: eight neighbours of a row in a 1-D workspace, one number of eight problems in a 2-D
    one.  A loop over packs is so one text that fills the registers in either width.
    """
    return count if work.ndim == 2 else (count + WIDTH - 1) // WIDTH


@primitive
def pitch(work, count):
    """Rows of a workspace from one row of `count` numbers, kept in packs, to the next."""
    return count if work.ndim == 2 else WIDTH * ((count + WIDTH - 1) // WIDTH)


@primitive
def load_pack(work, pack):
    """Pack number `pack`."""
    return work[pack].copy() if work.ndim == 2 else work[WIDTH * pack : WIDTH * pack + WIDTH].copy()


@primitive
def store_pack(work, pack, value):
    """Write pack number `pack`."""
    if work.ndim == 2:
        work[pack] = value
    else:
        work[WIDTH * pack : WIDTH * pack + WIDTH] = value


@primitive
def total(work, value):
    """The sum of what a loop over packs has added up for each of their places."""
    return value if work.ndim == 2 else np.sum(value)


@primitive
def zeros(work):
    """A pack of zeros."""
    return np.zeros(WIDTH)


@primitive
def rint(x):
    """Nearest whole number."""
    return np.rint(x)
