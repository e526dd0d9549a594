"""How one method did on the problems of a comparison."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from poise.bench.judge import Flags
from poise.common.array import Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """How one method did on N problems."""

    label: str
    """The short name, with the settings that are not the method's defaults."""
    limits: bool
    """Whether it was made to keep the joint limits; False for a method that cannot."""
    solved: Flags
    """(N,) whether the judge found every required task within its tolerances, and all kept that must hold."""
    claimed: Flags
    """(N,) whether the solver said that it converged."""
    outside: Flags
    """(N,) whether the judge found a joint beyond its limit, or another limit that was not kept."""
    position_error: Array
    """(N,) largest distance of a task, required or not, to its target [m]."""
    rotation_error: Array
    """(N,) largest angle of a task, required or not, to its target [rad]."""
    times: Array
    """(N,) what each call took [s]."""
    iterations: npt.NDArray[np.int64]
    """(N,) iterations of the start that came nearest."""
    oscillation: float
    """How much a step differs from the one before: the sum over the joints of |step_k - step_(k-1)|, its mean over the
    iterations of a solve, the median of that over the traced problems [rad or m]; NaN if all ended in two steps.  A
    method that converges in few long steps has a large one too, so compare those that take about as many."""
    curve: tuple[npt.NDArray[np.int64], Array]
    """Iterations, from 0 on and ever sparser, and the median error of the traced problems there: the root of the sum of
    the weighted squares [m and rad].  A solve that has ended counts with the error that it ended with."""

    @property
    def success(self) -> float:
        """The share of the problems that were solved, from 0 to 1."""
        return float(self.solved.mean())

    @property
    def median_time(self) -> float:
        """Of all calls, whether or not they solved their problem [s]."""
        return float(np.median(self.times))

    @property
    def p95_time(self) -> float:
        """The time that 95 % of all calls keep [s]."""
        return float(np.quantile(self.times, 0.95))

    @property
    def median_iterations(self) -> float:
        """Over the solved problems; NaN if there are none."""
        return float(np.median(self.iterations[self.solved])) if self.solved.any() else np.nan

    @property
    def broken(self) -> float:
        """The share of the answers that are beyond a limit."""
        return float(self.outside.mean())
