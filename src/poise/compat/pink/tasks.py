"""pink's tasks: costs in the inverse of m and rad, a gain, targets that are set."""

from collections.abc import Iterator
from typing import Any, final

import numpy as np
import pinocchio as pin

from poise.compat.pink.configuration import Configuration, TargetNotSet
from poise.compat.pink.from_pinocchio import pose
from poise.compat.steps import Term, term
from poise.spatial import Array, ArrayLike
from poise.tasks.pose import PoseTask


class Task:
    """What a step works towards: a cost, a gain from 0 to 1, and damping by its error."""

    target: Any = None

    def __init__(self, cost: ArrayLike, count: int, lm_damping: float = 0.0, gain: float = 1.0) -> None:
        given = np.asarray(cost, dtype=np.float64)
        if given.shape not in ((), (count,)) or not (given >= 0.0).all():
            raise ValueError(f"cost is {cost!r}; it must be one number or {count}, each 0 or more")
        self.cost = np.array(np.broadcast_to(given, count))
        self.gain, self.lm_damping = gain, lm_damping

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """What it says of a step of `dt` [s]; raises TargetNotSet."""
        yield from ()


@final
class FrameTask(Task):
    """Bring a frame to a pose of the world; costs are one number, or one an axis of the target."""

    def __init__(
        self, frame: str, position_cost: ArrayLike, orientation_cost: ArrayLike, lm_damping: float = 0.0,
        gain: float = 1.0,
    ) -> None:  # fmt: skip
        both = [np.broadcast_to(np.asarray(c, dtype=np.float64), 3) for c in (position_cost, orientation_cost)]
        super().__init__(np.concatenate(both), 6, lm_damping, gain)
        self.frame = frame

    def set_target(self, transform_target_to_world: Any) -> None:
        """Where to, a `pin.SE3`."""
        self.target = transform_target_to_world.copy()

    def set_target_from_configuration(self, configuration: Configuration) -> None:
        """Where the frame is now."""
        self.set_target(configuration.get_transform_frame_to_world(self.frame))

    def compute_error(self, configuration: Configuration) -> Array:
        """(6,) twist [m, rad] from the frame to the target, seen from the frame."""
        if self.target is None:
            raise TargetNotSet(self)
        here = configuration.get_transform_frame_to_world(self.frame)
        return np.asarray(pin.log(here.actInv(self.target)).vector)

    def terms(self, configuration: Configuration, dt: float) -> Iterator[Term]:
        """Its rows."""
        if self.target is None:
            raise TargetNotSet(self)
        frame = configuration.model.frames[configuration.frame(self.frame)]
        place, turn = tuple(map(float, self.cost[:3])), tuple(map(float, self.cost[3:]))
        if any(place) or any(turn):
            yield term(
                PoseTask, pose(self.target), frame=str(frame.parentJoint), offset=pose(frame.placement),
                position_weight=place, rotation_weight=turn, gain=self.gain,
                axes="world" if len(set(place)) == len(set(turn)) == 1 else "target",
            )  # fmt: skip
