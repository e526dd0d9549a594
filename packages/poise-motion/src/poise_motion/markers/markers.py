"""Measured markers over time, read from `.trc` and `.c3d` files and written to `.trc`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, final

import numpy as np

from poise import SO3, InvalidValue, ModelError
from poise.extending import Array, finite_positive, numbers
from poise_motion.markers.c3d import read_c3d
from poise_motion.markers.recording import Recording
from poise_motion.markers.trc import UNITS, read_trc, write_trc

_SUFFIXES: Final = (".trc", ".c3d")
_SHOWN: Final = 6
_LARGEST: Final = 1e6
"""No marker is farther from the origin [m]."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Markers(Recording):
    """Where markers were over time; a copy of what it is given, and never changed.

    Raises ShapeError for arrays that do not fit, ValueError for names that are there twice, times that do not grow, and
    places that are infinite.
    """

    names: Sequence[str]
    """A tuple of them."""
    times: Array
    """(frames,) growing [s]."""
    positions: Array
    """(frames, markers, 3) [m]; NaN where a marker was not seen, and what is given as 0 0 0 was not."""
    name: str = ""
    notes: tuple[str, ...] = ()
    """What was assumed and mended while reading, in words."""

    what: ClassVar[str] = "marker"
    measured: ClassVar[str] = "positions"
    width: ClassVar[int] = 3

    def __post_init__(self) -> None:
        self._keep(np.array(numbers("positions", self.positions)))
        self._put(near(self.names, self.positions))

    def __reduce__(self) -> tuple[object, ...]:
        return Markers, (self.names, self.times, self.positions, self.name, self.notes)

    def turned(self, rotation: SO3) -> "Markers":
        """All places turned; `SO3.from_rpy([-pi/2, 0, 0])` leads from a laboratory whose z is up to one whose y is."""
        return replace(self, positions=self.positions @ rotation.matrix().T)  # gaps stay

    def save(self, path: str | os.PathLike[str], *, unit: str = "mm") -> None:
        """Write a `.trc` file, in millimetres or another of its units; gaps are left empty.

        Raises ValueError for another suffix and unit, and for names that no `.trc` can have, OSError that names the
        file, the reason and the mend.
        """
        file = Path(path)
        if file.suffix.lower() != ".trc":
            raise InvalidValue("wrong-format", f"{file} must end in .trc, for markers to be written there")
        if unit not in UNITS:
            raise InvalidValue("unknown-word", f"unit must be one of {', '.join(UNITS)}, got {unit!r}")
        self._refuse_names(".trc")
        write_trc(file, self.names, self.times, self.positions, self.rate, unit)


def near(names: Sequence[str], positions: Array) -> Array:
    """A copy of positions (frames, markers, 3) [m], a place that is NaN in part or 0 0 0 NaN as a whole; raises
    ValueError for infinite ones."""
    found = np.array(positions, dtype=np.float64)
    found[np.isnan(found).any(axis=2) | (found == 0.0).all(axis=2)] = np.nan
    if (np.abs(found) > _LARGEST).any():
        where = np.argwhere(np.abs(found) > _LARGEST)[0]
        raise InvalidValue(
            "not-finite",
            f"the marker {names[where[1]]!r} is too far away in frame {where[0]}; places are metres, NaN in gaps",
        )
    return found


def load_markers(path: str | os.PathLike[str], *, unit: float | None = None) -> Markers:
    """The markers in a `.trc` or `.c3d` file, in metres.

    `unit` is the metres that one unit of length in the file is; left out, the file says it.  Empty places, NaN and
    0 0 0 are gaps.  What was assumed and mended is in `notes`.  Raises ModelError, with file and line, for what is no
    such file; MissingExtra for a `.c3d` without ezc3d.
    """
    if unit is not None:
        finite_positive("unit", unit)
    file = Path(path).expanduser()
    kind = file.suffix.lower()
    if kind not in _SUFFIXES:
        raise ModelError("these are no markers; the name must end in .trc or .c3d", file=str(file))
    names, times, positions, notes = (read_trc if kind == ".trc" else read_c3d)(file, unit)
    notes = list(notes)
    try:
        found = Markers(tuple(names), times, positions, file.stem)
    except ValueError as error:
        raise ModelError(str(error), file=str(file)) from None
    never = [name for k, name in enumerate(names) if found.gaps[:, k].all()]
    if never:
        more = f" and {len(never) - _SHOWN} more" if len(never) > _SHOWN else ""
        notes.append(f"never seen: {', '.join(never[:_SHOWN])}{more}")
    return replace(found, notes=tuple(notes))
