"""What kernels take, by names that need no compiler; `poise.kernels.compiling.types` has Numba's types of them."""

from typing import Final

REAL: Final = "d"
WHOLE: Final = "q"
"""A number of eight bytes."""
REALS: Final = "d1"
TABLE: Final = "d2"
BATCH: Final = "d3"
WHOLES: Final = "q1"
WHOLE_TABLE: Final = "q2"
"""Contiguous arrays of so many axes."""
FROZEN: Final = "d1 read-only"
FROZEN_TABLE: Final = "d2 read-only"
PROBLEM_VIEW: Final = "problem"
NARROW: Final = "work1"
WIDE: Final = "work2"
"""A problem, and a workspace of one number and of eight, see `poise.kernels.machine.views`."""
ROWS: Final = {1: "rows1", 2: "rows2"}
"""Rows of either."""
