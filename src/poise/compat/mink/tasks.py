"""mink's tasks: costs in the inverse of m and rad, a gain, targets that are set."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from poise.compat.mink.configuration import Configuration
from poise.compat.mink.errors import TargetNotSet
from poise.compat.mink.se3 import SE3
from poise.compat.steps import Term, term
from poise.spatial import Array, ArrayLike
from poise.tasks.pose import PoseTask


class Task:
    """What a step works towards: cost, gain from 0 to 1, and damping by its error."""

    def __init__(self, gain: float = 1.0, lm_damping: float = 0.0) -> None:
        if not 0.0 <= gain <= 1.0:
            raise ValueError(f"gain is {gain!r}; it must be from 0 to 1")
        if not lm_damping >= 0.0:
            raise ValueError(f"lm_damping is {lm_damping!r}; it must be 0 or more")
        self.gain, self.lm_damping = gain, lm_damping

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """What it says of a step of `dt` [s]; raises TargetNotSet."""
        yield from ()


def costs(name: str, cost: ArrayLike, count: int) -> Array:
    """(count,) of one number or as many; raises ValueError for another shape and for negative ones."""
    given = np.atleast_1d(np.asarray(cost, dtype=np.float64))
    if given.shape not in ((1,), (count,)) or not (given >= 0.0).all():
        raise ValueError(f"{name} is {cost!r}; it must be one number or {count}, each 0 or more")
    return np.array(np.broadcast_to(given, count))


class _Framed(Task):
    """A frame seen from a root; None: the world."""

    target: SE3 | None = None

    def __init__(
        self, frame: tuple[Any, str], root: tuple[Any, str] | None, place: ArrayLike, turn: ArrayLike, gain: float,
        lm: float,
    ) -> None:  # fmt: skip
        super().__init__(gain, lm)
        self._frame, self._root = frame, root
        self.set_position_cost(place)
        self.set_orientation_cost(turn)

    def set_position_cost(self, position_cost: ArrayLike) -> None:
        """Of one number, or one an axis of the target [1/m]."""
        self._place = costs("position_cost", position_cost, 3)

    def set_orientation_cost(self, orientation_cost: ArrayLike) -> None:
        """Likewise [1/rad]."""
        self._turn = costs("orientation_cost", orientation_cost, 3)

    def set_target(self, transform: SE3) -> None:
        """Where to, in the world or in the root."""
        self.target = transform.copy()

    def seen(self, configuration: Configuration) -> SE3:
        """The pose of the frame, in the world or in the root."""
        here = configuration.get_transform_frame_to_world(*self._frame)
        root = None if self._root is None else configuration.get_transform_frame_to_world(*self._root)
        return here if root is None else root.inverse().multiply(here)

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where the frame is now."""
        self.set_target(self.seen(configuration))

    def compute_error(self, configuration: Configuration) -> Array:
        """(6,) twist [m, rad]: from the frame to the target, seen from the frame; with a root the other way round."""
        if self.target is None:
            raise TargetNotSet(self)
        return (1.0 if self._root is None else -1.0) * (self.seen(configuration).inverse() @ self.target).log()

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """Its rows, along the target's axes where costs are not alike."""
        if self.target is None:
            raise TargetNotSet(self)
        name, offset = configuration.place(*self._frame)
        base = None if self._root is None else configuration.place(*self._root)[0]
        place, turn = tuple(map(float, self._place)), tuple(map(float, self._turn))
        axes = "world" if len(set(place)) == len(set(turn)) == 1 else "target"
        if any(place) or any(turn):
            yield term(
                PoseTask, self.target.pose, frame=name, offset=offset, base=None if base == "world" else base,
                position_weight=place, rotation_weight=turn, gain=self.gain, axes=axes,
            )  # fmt: skip


@final
class FrameTask(_Framed):
    """Bring a frame to a pose of the world."""

    def __init__(
        self, frame_name: str | int, frame_type: str, position_cost: ArrayLike, orientation_cost: ArrayLike,
        gain: float = 1.0, lm_damping: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__((frame_name, frame_type), None, position_cost, orientation_cost, gain, lm_damping)


@final
class RelativeFrameTask(_Framed):
    """Bring a frame to a pose that is seen from another."""

    def __init__(
        self, frame_name: str | int, frame_type: str, root_name: str | int, root_type: str, position_cost: ArrayLike,
        orientation_cost: ArrayLike, gain: float = 1.0, lm_damping: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(
            (frame_name, frame_type), (root_name, root_type), position_cost, orientation_cost, gain, lm_damping
        )
