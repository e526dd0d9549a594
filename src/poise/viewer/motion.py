"""A joint path in a file, as it is played: times and configurations."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from poise.model.model import Model
from poise.motion.tables import read_table
from poise.spatial import Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Configurations over time."""

    times: Array
    """(n,) growing, from 0 on [s]."""
    q: Array
    """(n, nq)"""

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.times[-1])

    def at(self, model: Model, time: float) -> Array:
        """(nq,) the configuration at a time; before the first and after the last row those."""
        k = int(np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, max(len(self.times) - 2, 0)))
        if len(self.times) == 1 or time >= self.duration:
            return self.q[-1 if time >= self.duration else 0]
        share = (time - self.times[k]) / (self.times[k + 1] - self.times[k])
        return model.interpolate(self.q[k], self.q[k + 1], max(share, 0.0))


def read_motion(file: Path, model: Model) -> Motion:
    """The motion in a CSV or NPZ file, as `poise.motion.tables` reads them.

    A CSV has a column for each coordinate of the model, such as `elbow`, `q_elbow` or `elbow [rad]`, and one of times,
    `time_s`, `time` or `time [s]`; an NPZ has `time_s` (n,), `q` (n, nq) and `joints` (nq,).  Without times a row is
    1/30 s.  Raises PoiseError for what is no motion of this model.
    """
    return Motion(*read_table(file, model))
