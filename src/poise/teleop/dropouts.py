"""What a target does while nothing comes from the device: it holds, eases to rest, and is let go."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from poise.common.checks import finite_positive
from poise.common.errors import InvalidValue
from poise.spatial import SE3
from poise.teleop.displacements import moved_pose, pose_difference

State: TypeAlias = Literal["idle", "engaged", "easing", "lost"]
"""Of a `Stream`: the clutch is open; the target moves with the device; nothing comes, and the arm comes to rest; the
device was silent for so long that the clutch must be released and pressed anew."""


@final
@dataclass(frozen=True, slots=True)
class Dropouts:
    """For how long nothing may come.

    Up to `hold` [s] the target stays, so that a picture that is lost is not felt.  Then it goes, over `ease` [s], to
    where the hand is by then, so that the arm comes to rest there and does not go on blindly to an old target.  After
    `timeout` [s] the clutch is let go: what comes back moves nothing until it is released and pressed anew.

    Raises ValueError for a time that is not positive, and for a timeout before `hold` is over.
    """

    hold: float = 0.1
    ease: float = 0.3
    timeout: float = 1.0

    def __post_init__(self) -> None:
        for name in ("hold", "ease", "timeout"):
            finite_positive(name, getattr(self, name))
        if self.timeout < self.hold:
            raise InvalidValue(
                "inconsistent", f"timeout is {self.timeout:g} s, less than hold, {self.hold:g} s: it would come first"
            )

    def state(self, silent: float) -> State:
        """What a target does that was engaged, after so many seconds of silence."""
        return "engaged" if silent <= self.hold else "easing" if silent <= self.timeout else "lost"

    def step(self, target: SE3, at: SE3, silent: float, dt: float) -> SE3:
        """The target, on its way to rest at `at` after so many seconds of silence, the last `dt` of them new.

        Of the way that is left it goes in each step so much that all is gone, evenly, when `ease` is over.
        """
        since = silent - self.hold
        if since <= 0.0:
            return target
        left = self.ease - (since - min(dt, since))
        part = 1.0 if left <= dt else dt / left
        place, turn = pose_difference(target, at)
        return moved_pose(target, part * place, part * turn)
