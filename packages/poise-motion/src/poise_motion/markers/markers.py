"""Measured markers over time, read from `.trc` and `.c3d` files and written to `.trc`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, final

import numpy as np

from poise import SO3, InvalidType, InvalidValue, ModelError, ShapeError
from poise.extending import Array, NameNotFound, finite, finite_positive, numbers
from poise_motion.markers.c3d import read_c3d
from poise_motion.markers.trc import UNITS, read_trc, write_trc

_SUFFIXES: Final = (".trc", ".c3d")
_SHOWN: Final = 6
_LARGEST: Final = 1e6
"""No marker is farther from the origin [m]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """Where markers were over time; a copy of what it is given, and never changed.

    Raises ShapeError for arrays that do not fit, ValueError for names that are there twice, times that do not grow, and
    places that are infinite.
    """

    names: Sequence[str]
    """A tuple of them."""
    times: Array
    """(frames,) growing [s]."""
    positions: Array
    """(frames, markers, 3) [m]; NaN where a marker was not seen."""
    name: str = ""
    notes: tuple[str, ...] = ()
    """What was assumed and mended while reading, in words."""

    def __post_init__(self) -> None:
        names, times = distinct(self.names), np.array(finite("times", self.times))
        positions = np.array(numbers("positions", self.positions))
        if times.ndim != 1 or positions.shape != (len(times), len(names), 3):
            raise ShapeError(
                f"markers need times (frames,) and positions (frames, {len(names)}, 3), got {times.shape} and "
                f"{positions.shape}"
            )
        if not positions.size:
            raise InvalidValue("empty", f"markers need one frame and one marker at least, got {positions.shape[:2]}")
        if (np.diff(times) <= 0.0).any():
            raise InvalidValue(
                "inconsistent", f"times must grow; times[{int(np.argmax(np.diff(times) <= 0.0)) + 1}] does not"
            )
        positions = near(names, positions)
        for array in (times, positions):
            array.flags.writeable = False
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "positions", positions)

    def __reduce__(self) -> tuple[object, ...]:
        return Markers, (self.names, self.times, self.positions, self.name, self.notes)

    def __repr__(self) -> str:
        gone = f", {100.0 * self.gaps.mean():.2g} % of places are gaps" if self.gaps.any() else ""
        return f"Markers({self.name!r}, {len(self.names)} markers, {len(self)} frames at {self.rate:.4g} Hz{gone})"

    def __len__(self) -> int:
        """How many frames there are."""
        return len(self.times)

    def __getitem__(self, frames: slice) -> "Markers":
        """A slice of the frames, which keep their times."""
        if not isinstance(frames, slice):
            raise InvalidType("wrong-type", f"markers take a slice of frames, as in [10:20], got {frames!r}")
        return replace(self, times=self.times[frames], positions=self.positions[frames])

    @property
    def rate(self) -> float:
        """Frames a second, on average; 0 for a single frame."""
        return (len(self) - 1) / float(self.times[-1] - self.times[0]) if len(self) > 1 else 0.0

    @property
    def gaps(self) -> Array:
        """(frames, markers) whether a marker was not seen, as bool."""
        missing: Array = np.isnan(self.positions[:, :, 0])
        return missing

    def between(self, start: float, stop: float) -> "Markers":
        """The frames from `start` to `stop`, both included [s]; a time may miss them by a thousandth of a step."""
        slack = 1e-3 / self.rate if len(self) > 1 else 1e-6
        inside = (self.times >= start - slack) & (self.times <= stop + slack)
        if not inside.any():
            raise InvalidValue(
                "empty", f"no frame is between {start:g} and {stop:g} s; they go from {self.times[0]:g} to "
                f"{self.times[-1]:g} s"
            )  # fmt: skip
        return replace(self, times=self.times[inside], positions=self.positions[inside])

    def of(self, names: Sequence[str]) -> "Markers":
        """Those markers alone, in this order; raises NameNotFound, with the nearest names."""
        for name in names:
            if name not in self.names:
                raise NameNotFound(name, self.names, owner=f"the markers {self.name!r}")
        return replace(self, names=tuple(names), positions=self.positions[:, [self.names.index(n) for n in names]])

    def renamed(self, names: Mapping[str, str]) -> "Markers":
        """Those that `names` tells get other names, as `{"RASI": "R.ASIS"}`; raises NameNotFound."""
        self.of(list(names))
        return replace(self, names=tuple(names.get(name, name) for name in self.names))

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
        for name in self.names:
            if not name or name != " ".join(name.split()):
                raise InvalidValue(
                    "not-supported", f"the marker {name!r} cannot be written: a .trc parts names by tabs, so give it a "
                    "name without tabs, ends of lines and outer blanks, with Markers.renamed"
                )  # fmt: skip
        write_trc(file, self.names, self.times, self.positions, self.rate, unit)


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names of markers; raises TypeError for a single text, ValueError for one that is there twice."""
    if isinstance(names, str):
        raise InvalidType("not-a-sequence", f"names must be a list of names, got {names!r}; put it in a list")
    found = tuple(map(str, names))
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InvalidValue("duplicate", f"the marker {twice!r} is there twice; give one another name")
    return found


def near(names: Sequence[str], positions: Array) -> Array:
    """A copy of positions (frames, markers, 3) [m], a place that is NaN in part NaN as a whole; raises ValueError for
    infinite ones."""
    found = np.array(positions, dtype=np.float64)
    found[np.isnan(found).any(axis=2)] = np.nan
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
    positions[(positions == 0.0).all(axis=2)] = np.nan
    never = [name for k, name in enumerate(names) if not np.isfinite(positions[:, k]).all(axis=1).any()]
    if never:
        more = f" and {len(never) - _SHOWN} more" if len(never) > _SHOWN else ""
        notes.append(f"never seen: {', '.join(never[:_SHOWN])}{more}")
    try:
        return Markers(tuple(names), times, positions, file.stem, tuple(notes))
    except ValueError as error:
        raise ModelError(str(error), file=str(file)) from None
