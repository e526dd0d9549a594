"""What files of recordings have in common: configurations as they come, each with its time and where frames are."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from poise import SE3, InvalidType, InvalidValue, Model
from poise.extending import Array, ArrayLike, not_negative

_LATEST: Final = 9e9
"""The latest time [s]: files count nanoseconds in 64 bits."""


class Recording(ABC):
    """A file that configurations of a model are written to, one after the other; it is whole once it is closed, as at
    the end of a `with`."""

    def __init__(self, model: Model, frames: Sequence[str] | None) -> None:
        """Of the frames that are named, or of all links; raises FrameNotFound, and TypeError for one name alone."""
        if isinstance(frames, str):
            raise InvalidType("not-a-sequence", f"frames is {frames!r}; it must be a list of names")
        self.model, self.frames = model, tuple(model.links if frames is None else frames)
        model.poses(model.home, self.frames)

    def write(self, time: float, q: ArrayLike) -> None:
        """The configuration q (nq,) at a time [s] since whatever the file's clock begins with.

        Raises ShapeError, and ValueError for a time that is negative, not finite or beyond 285 years.
        """
        not_negative("time", time)
        if time > _LATEST:
            raise InvalidValue("out-of-range", f"time is {time:g} s; it must be {_LATEST:g} s at most")
        q = self.model.check_one_q(q)
        self._add(time, q, self.model.poses(q, self.frames))

    @abstractmethod
    def _add(self, time: float, q: Array, poses: SE3) -> None:
        """Write q (nq,) and the poses of the frames in the world, at a time [s]."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left; nothing can be written after it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
