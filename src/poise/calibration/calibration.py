"""What a calibration found: the model, what changed of it, how well that is known, and what is not."""

import os
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.calibration.measurements import Measurements
from poise.calibration.parameters import BASE, has_placement
from poise.calibration.system import far
from poise.common.array import Array
from poise.common.tables import aligned
from poise.io.urdf_origins import write_origins
from poise.model.model import Model

_SHOWN: Final = 4
"""Directions, parameters of one, and measurements that a sentence names."""
_LITTLE: Final = 1e-3
"""A share that a sentence leaves out."""


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Calibration:
    """A calibrated model and what is known of it: print it, or take the numbers."""

    model: Model
    """The model as it was measured.  Its q are still what the joints read, and its limits are limits of that."""
    names: tuple[str, ...]
    """Of the k parameters, such as "elbow.rz"."""
    units: tuple[str, ...]
    """Of each, "m" or "rad"."""
    values: Array
    """(k,) what each is more than the model had."""
    covariance: Array
    """(k, k) of the values.  From the deviations that were stated, else from what is left; what `undetermined` names
    stands still in it."""
    undetermined: tuple[dict[str, float], ...]
    """Directions of the parameters in which no measurement changes: shares of parameters, the first of them 1.  They
    stay as the model had them."""
    measurements: tuple[Measurements, ...]
    before: tuple[Array, ...]
    """(n, 3 or 6) of each of the measurements, how far its frame was from where it was measured [m, rad], along the
    axes of its base."""
    after: tuple[Array, ...]
    """The same with the calibrated model."""
    noise: float
    """The standard deviation of what is left, over that which was stated: about 1 where the model and the deviations
    are right.  Where none was stated, the deviation itself [m and rad]; NaN where nothing is left to tell it from."""
    singular_values: Array
    """(rank,) of the derivative of all residuals, over their deviations, by the parameters [1/m and 1/rad]."""
    outliers: tuple[npt.NDArray[np.intp], ...]
    """Which of each of the measurements fit less than noise explains."""
    converged: bool
    """Whether the least squares came to rest."""

    @property
    def std(self) -> Array:
        """(k,) the standard deviation of each value [m or rad]; inf for what `undetermined` has a part of."""
        out = np.sqrt(np.diag(self.covariance))
        for direction in self.undetermined:
            out[[self.names.index(name) for name in direction]] = np.inf
        return out

    @property
    def condition(self) -> float:
        """The largest singular value over the smallest (Driels and Pathre 1990, doi:10.1002/rob.4620070206).

        More than 100 says that configurations tell some parameters badly (Schröer, after Nahvi and Hollerbach 1996).
        """
        return float(self.singular_values[0] / self.singular_values[-1])

    @property
    def observability(self) -> float:
        """The geometric mean of the singular values over the root of the number of measurements (Borm and Menq 1991,
        doi:10.1177/027836499101000106): of two sets of configurations, each tells more for its size which has more."""
        count = sum(map(len, self.measurements))
        return float(np.exp(np.log(self.singular_values).mean()) / np.sqrt(count))

    def table(self, *, width: int | None = None) -> str:
        """The parameters, what was found of each, and how well."""
        rows = [
            (name, f"{value:+.6f}", _deviation(deviation), unit)
            for name, value, deviation, unit in zip(self.names, self.values, self.std, self.units, strict=True)
        ]
        return aligned(("parameter", "found", "std", "unit"), rows, numbers=("found", "std"), width=width)

    def explain(self) -> str:
        """How well the model fits now, what could not be told, and what does not fit, in sentences."""
        return "\n".join([*self._fit(), *self._unidentifiable(), *self._astray()])

    def save_urdf(self, path: str | os.PathLike[str], source: str | os.PathLike[str]) -> None:
        """Write the URDF file `source`, from which the model was loaded, with what was calibrated, and nothing else
        changed.

        Origins of joints are written anew, and offsets of joints that mimic others.  The base, and frames that the file
        does not have, become links at its end.  Raises ModelError for a file of another robot, OSError for a place that
        cannot be written to.
        """
        owners = {name.rpartition(".")[0] for name in self.names}
        write_origins(path, source, self.model, owners, base=BASE in owners and not has_placement(self.model, BASE))

    def __str__(self) -> str:
        return f"{self.table()}\n\n{self.explain()}"

    def __repr__(self) -> str:
        lost = f", {len(self.undetermined)} undetermined" if self.undetermined else ""
        return f"Calibration({self.model.name}, {len(self.names)} parameters{lost})"

    def _fit(self) -> list[str]:
        lines = []
        for each, before, after in zip(self.measurements, self.before, self.after, strict=True):
            what = "positions" if each.rows == 3 else "poses"
            lines.append(
                f"{len(each)} {what} of {each.frame!r} from {each.base!r} are off by {_size(after)}, before by "
                f"{_size(before)}, root mean square."
            )
        if self.measurements[0].std is not None and np.isfinite(self.noise):
            lines.append(f"That is {self.noise:.3g} times the standard deviation that was stated.")
        if np.isnan(self.noise) and self.measurements[0].std is None:
            lines.append(
                "How well that is known is unknown: no more was measured than is free, so anything would fit. Measure "
                "more, or state std."
            )
        if any(far(each, after) for each, after in zip(self.measurements, self.after, strict=True)):
            lines.append(
                "No robot is wrong by so much: look at the names of frames, at units and at the order of quaternions, "
                "or start nearer."
            )
        if not self.converged:
            lines.append("The least squares did not come to rest: start nearer to the robot as it is, or free less.")
        return lines

    def _unidentifiable(self) -> list[str]:
        lines = []
        for direction in self.undetermined[:_SHOWN]:
            first, *others = (name for name, share in direction.items() if abs(share) > _LITTLE)
            if others:
                more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
                lines.append(
                    f"{first} cannot be told from {', '.join(others[:_SHOWN])}{more}: leave one of them out of free, "
                    "or give one a prior."
                )
            else:
                lines.append(f"{first} changes nothing that was measured: leave it out of free.")
        if len(self.undetermined) > _SHOWN:
            lines.append(f"{len(self.undetermined) - _SHOWN} more are not told either: see undetermined.")
        return lines

    def _astray(self) -> list[str]:
        lines = []
        for each, rows in zip(self.measurements, self.outliers, strict=True):
            if len(rows):
                more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
                shown = ", ".join(map(str, rows[:_SHOWN])) + more
                lines.append(
                    f"Of {each!r}, {shown} fit{'s' * (len(rows) == 1)} less than noise explains: look at "
                    f"{'it' if len(rows) == 1 else 'them'}, and calibrate without, measurements.without(...)."
                )
        return lines


def _deviation(size: float) -> str:
    """A standard deviation; inf is of what was not told, NaN of what was, nobody knows how well."""
    return "not told" if np.isinf(size) else "unknown" if np.isnan(size) else f"{size:.2g}"


def _size(lacking: Array) -> str:
    """The root mean square of what is left, of places and of turns."""
    place, turn = (np.sqrt(np.square(part).sum(axis=1).mean()) for part in (lacking[:, :3], lacking[:, 3:]))
    return f"{place:.3g} m" + (f" and {turn:.3g} rad" if lacking.shape[1] > 3 else "")
