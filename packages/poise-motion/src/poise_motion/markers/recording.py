"""What measured markers and orientations have in common: names, times, and numbers of each of them in each frame."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from poise import InvalidType, InvalidValue, ShapeError
from poise.extending import Array, NameNotFound, finite


class Recording:
    """The base of `Markers` and `Orientations`, which are frozen dataclasses with the fields `names`, `times`, `name`
    and `notes`, and one of numbers."""

    __slots__ = ()
    names: Sequence[str]
    times: Array
    name: str
    notes: tuple[str, ...]
    what: ClassVar[str]
    """One of those that have names, as a word."""
    measured: ClassVar[str]
    """The field of the numbers (frames, names, width), NaN in gaps."""
    width: ClassVar[int]

    def __repr__(self) -> str:
        gone = f", {100.0 * self.gaps.mean():.2g} % are gaps" if self.gaps.any() else ""
        kind = f"{type(self).__name__}({self.name!r}, {len(self.names)} {self.what}s"
        return f"{kind}, {len(self)} frames at {self.rate:.4g} Hz{gone})"

    def __len__(self) -> int:
        """How many frames there are."""
        return len(self.times)

    def __getitem__(self, frames: slice) -> Self:
        """A slice of the frames, which keep their times."""
        if not isinstance(frames, slice):
            raise InvalidType("wrong-type", f"{self.what}s take a slice of frames, as in [10:20], got {frames!r}")
        return self._with(self._numbers[frames], times=self.times[frames])

    @property
    def rate(self) -> float:
        """Frames a second, on average; 0 for a single frame."""
        return (len(self) - 1) / float(self.times[-1] - self.times[0]) if len(self) > 1 else 0.0

    @property
    def gaps(self) -> npt.NDArray[np.bool_]:
        """(frames, names) whether one was not measured."""
        missing: npt.NDArray[np.bool_] = np.isnan(self._numbers[:, :, 0])
        return missing

    def between(self, start: float, stop: float) -> Self:
        """The frames from `start` to `stop`, both included [s]; a time may miss them by a thousandth of a step."""
        slack = 1e-3 / self.rate if len(self) > 1 else 1e-6
        inside = (self.times >= start - slack) & (self.times <= stop + slack)
        if not inside.any():
            raise InvalidValue(
                "empty", f"no frame is between {start:g} and {stop:g} s; they go from {self.times[0]:g} to "
                f"{self.times[-1]:g} s"
            )  # fmt: skip
        return self._with(self._numbers[inside], times=self.times[inside])

    def of(self, names: Sequence[str]) -> Self:
        """Those names alone, in this order; raises NameNotFound, with the nearest names."""
        for name in names:
            if name not in self.names:
                raise NameNotFound(name, self.names, owner=f"the {self.what}s {self.name!r}")
        return self._with(self._numbers[:, [self.names.index(n) for n in names]], names=tuple(names))

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Those that `names` tells get other names, as `{"RASI": "R.ASIS"}`; raises NameNotFound."""
        self.of(list(names))
        return self._with(self._numbers, names=tuple(names.get(name, name) for name in self.names))

    def _refuse_names(self, kind: str) -> None:
        """Raises ValueError for names that a table with tabs between them cannot have."""
        for name in self.names:
            if not name or name != " ".join(name.split()):
                raise InvalidValue(
                    "not-supported", f"the {self.what} {name!r} cannot be written: a {kind} parts names by tabs, so "
                    f"give it a name without tabs, ends of lines and outer blanks, with {type(self).__name__}.renamed"
                )  # fmt: skip

    @property
    def _numbers(self) -> Array:
        numbers: Array = getattr(self, self.measured)
        return numbers

    def _with(self, numbers: Array, **fields: Any) -> Self:
        return replace(self, **{self.measured: numbers}, **fields)  # type: ignore[type-var]

    def _keep(self, numbers: Array) -> None:
        """Check names and times against the numbers, and keep all of them where nobody changes them."""
        names, times = distinct(self.names, self.what), np.array(finite("times", self.times))
        if times.ndim != 1 or numbers.shape != (len(times), len(names), self.width):
            raise ShapeError(
                f"{self.what}s need times (frames,) and {self.measured} (frames, {len(names)}, {self.width}), got "
                f"{times.shape} and {numbers.shape}"
            )
        if not numbers.size:
            shape = numbers.shape[:2]
            raise InvalidValue("empty", f"{self.what}s need one frame and one {self.what} at least, got {shape}")
        if (np.diff(times) <= 0.0).any():
            raise InvalidValue(
                "inconsistent", f"times must grow; times[{int(np.argmax(np.diff(times) <= 0.0)) + 1}] does not"
            )
        times.flags.writeable = False
        for field, value in (("names", names), ("times", times)):
            object.__setattr__(self, field, value)
        self._put(numbers)

    def _put(self, numbers: Array) -> None:
        numbers.flags.writeable = False
        object.__setattr__(self, self.measured, numbers)


def distinct(names: Sequence[str], what: str = "marker") -> tuple[str, ...]:
    """The names of markers or sensors; raises TypeError for a single text, ValueError for one that is there twice."""
    if isinstance(names, str):
        raise InvalidType("not-a-sequence", f"names must be a list of names, got {names!r}; put it in a list")
    found = tuple(map(str, names))
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InvalidValue("duplicate", f"the {what} {twice!r} is there twice; give one another name")
    return found
