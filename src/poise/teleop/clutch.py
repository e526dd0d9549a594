"""A clutch: while it is pressed, the target moves as the device does, from where the target was."""

from dataclasses import dataclass, field
from typing import final

from poise.common.checks import finite_positive
from poise.common.errors import InvalidType
from poise.spatial import SE3, SO3
from poise.teleop.displacements import moved_pose, pose_difference


@final
@dataclass(slots=True, eq=False)
class Clutch:
    """While it is pressed, the target moves as the device has moved since then; else it stays.

    So nothing jumps when it is pressed, wherever the device is by then.  The place moves `scale` times as far, the
    rotation as far.  `axes` turns what is seen along the device's axes into what is seen along the robot's.

    What it begins at is the target, which is a command, and never a measured pose: an arm that hangs a little under its
    weight, or one of five joints that cannot turn as it is told, would sink and turn on at each press.

    It has a past: one for each device.  Raises ValueError for a scale that is not positive, TypeError for other axes.
    """

    scale: float = 1.0
    axes: SO3 = field(default_factory=SO3.identity)
    _latched: tuple[SE3, SE3] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        finite_positive("scale", self.scale)
        if not isinstance(self.axes, SO3):
            raise InvalidType(
                "not-a-rotation",
                f"axes is {self.axes!r}; it must be an SO3, as in axes=SO3.from_rpy([0, 0, np.pi / 2])",
            )

    @property
    def engaged(self) -> bool:
        """Whether the target moves with the device."""
        return self._latched is not None

    def release(self) -> None:
        """Leave the target where it is; the next press begins anew."""
        self._latched = None

    def step(self, device: SE3, pressed: bool, target: SE3) -> SE3:
        """Where the target is to be, which is at `target` now, for a device that is at `device`."""
        if not pressed:
            self.release()
            return target
        if self._latched is None:
            self._latched = device, target
        begin, at = self._latched
        place, turn = pose_difference(begin, device)
        return moved_pose(at, self.scale * self.axes.act(place), self.axes.act(turn))
