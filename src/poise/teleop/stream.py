"""A stream of a device's poses, made into targets that an arm can follow."""

import math
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from poise.common.checks import finite_positive, masked_at
from poise.common.errors import InvalidType, InvalidValue
from poise.spatial import SE3, one_pose
from poise.teleop.clutch import Clutch
from poise.teleop.dropouts import Dropouts, State
from poise.teleop.filter import OneEuro
from poise.teleop.guards import Jumps, Lead, SpeedClip, Workspace


@final
@dataclass(frozen=True, slots=True)
class Sample:
    """What a device says: where it is, whether its clutch is pressed, how far its gripper is, and when that was.

    `pose` is an SE3 or what makes one.  `gripper` is any number, in the gripper's own unit.  `time` [s] is the
    device's, if it has a clock: a sample that is no newer than the last one is as none, but for a clutch that is
    released.

    Raises TypeError for what is no truth value or no number.
    """

    pose: Any
    pressed: bool = True
    gripper: float | None = None
    time: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.pressed, (bool, np.bool_)):
            raise InvalidType(
                "not-a-bool", f"pressed is {self.pressed!r}; it must be True or False: bool(...) makes a 1 one"
            )
        for name in ("gripper", "time"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, (int, float, np.number)):
                raise InvalidType("not-a-number", f"{name} is {value!r}; it must be a number, or None")


@final
@dataclass(frozen=True, slots=True)
class Command:
    """What a `Stream` makes of a sample: a target for a PoseTask, a number for the gripper, and what is going on."""

    target: SE3
    gripper: float | None
    state: State


@final
@dataclass(slots=True, eq=False)
class Stream:
    """Makes targets of an operator's samples: believed, smoothed, clutched, within a box, no faster than they may.

    Each part is a class of its own, of which the stream has copies, and None leaves it out.  `jumps` and `smooth` see
    the device, the clutch makes the target of it, and `workspace`, `speed` and `lead` bound that, in this order.  Where
    a sample is missing or is not believed, `dropouts` says what becomes of the target; when the device is back after
    more than a moment, or elsewhere, the clutch takes hold of it where it is, and nothing jumps.  A clutch that is
    released is heeded at once, whatever pose comes with it.  The gripper's number goes through, and stays while
    nothing comes.

    It holds no robot: there is one for each hand, and the targets of all go to one Tracker.  It has a past, so one
    thread steps it.

    Raises TypeError for a part that is another thing.
    """

    jumps: Jumps | None = field(default_factory=Jumps)
    smooth: OneEuro | None = field(default_factory=OneEuro)
    clutch: Clutch = field(default_factory=Clutch)
    workspace: Workspace | None = None
    lead: Lead | None = field(default_factory=Lead)
    speed: SpeedClip | None = field(default_factory=SpeedClip)
    dropouts: Dropouts = field(default_factory=Dropouts)
    rejected: int = field(default=0, init=False)
    """How many samples were not believed."""
    _target: SE3 | None = field(default=None, init=False, repr=False)
    _device: SE3 | None = field(default=None, init=False, repr=False)
    _gripper: float | None = field(default=None, init=False, repr=False)
    _silent: float = field(default=0.0, init=False, repr=False)
    _time: float = field(default=-math.inf, init=False, repr=False)
    _state: State = field(default="idle", init=False, repr=False)

    def __post_init__(self) -> None:
        for name, kind in _PARTS.items():
            part = getattr(self, name)
            if part is None and name not in ("clutch", "dropouts"):
                continue
            if not isinstance(part, kind):
                raise InvalidType(
                    "wrong-type", f"{name} is {part!r}; it must be a {kind.__name__}, as in {name}={kind.__name__}(...)"
                )
            setattr(self, name, copy(part))

    def reset(self) -> None:
        """Begin anew: the clutch is open, and the target is where the hand is at the next step."""
        self._gripper, self.rejected = None, 0
        self._target, self._device, self._state, self._silent, self._time = None, None, "idle", 0.0, -math.inf
        self._let_go()
        if self.jumps is not None:
            self.jumps.reset()

    def step(self, sample: Sample | None, at: Any, dt: float) -> Command:
        """The command of this tick, `dt` seconds after the last; None for a sample where none came.

        `at` is where the hand is by its last command, `arm.pose(frame, q)` of what was sent and not of what was
        measured.  The first target is there.

        Raises ShapeError or ValueError for a sample or an `at` that is no pose; where numbers of a sample are not
        finite, or are masked, as of a hand that is not seen, none came.
        """
        finite_positive("dt", dt)
        here = one_pose("at", at)
        last = here if self._target is None else self._target
        if not isinstance(sample, Sample | None):
            raise InvalidType("wrong-type", f"sample is {sample!r}; it must be a Sample, as in Sample(pose), or None")
        if sample is not None and not sample.pressed:
            self._state = "idle"
            self.clutch.release()
        if sample is not None and self._is_old(sample):
            sample = None
        device = self._believed(sample, dt)
        if sample is None or device is None:
            target = self._wait(last, here, dt)
        else:
            target = self._follow(sample, device, last, dt)
        self._target = self._bounded(last, target, here, dt)
        return Command(self._target, self._gripper, self._state)

    def _bounded(self, last: SE3, target: SE3, here: SE3, dt: float) -> SE3:
        """The target, which was at `last`, within the box, no faster than it may, and near the hand, at `here`.

        The lead comes last, for it holds of where the hand is now: it may go away from a target that is slow or stands.
        """
        if self.workspace is not None:
            target = self.workspace.step(last, target)
        if self.speed is not None:
            target = self.speed.step(last, target, dt)
        if self.lead is None:
            return target
        near = self.lead.step(here, target)
        return near if self.workspace is None else self.workspace.step(target, near)  # where the hand is outside

    def _is_old(self, sample: Sample) -> bool:
        """Whether a sample is no newer than the last, by the device's clock."""
        if sample.time is None:
            return False
        old = not sample.time > self._time
        if not old:
            self._time = sample.time
        return old

    def _believed(self, sample: Sample | None, dt: float) -> SE3 | None:
        """Where the device is, if that can be."""
        device = None if sample is None else _pose(sample.pose)
        if device is not None and device == self._device:  # at rest, or read once more
            if self.jumps is not None:
                self.jumps.step(None, dt)
            return device
        if self.jumps is not None and not self.jumps.step(device, dt) and device is not None:
            self.rejected += 1
            self._let_go()
            device = None
        if device is not None:
            self._device = device
        return device

    def _wait(self, last: SE3, here: SE3, dt: float) -> SE3:
        """The target of a tick without a sample."""
        self._silent += dt
        if self._silent > self.dropouts.timeout:
            self._time = -math.inf  # a device that was started anew has a new clock
        if self._state == "idle":
            return last
        self._state = self.dropouts.state(self._silent)
        return self.dropouts.step(last, here, self._silent, dt)

    def _follow(self, sample: Sample, device: SE3, last: SE3, dt: float) -> SE3:
        """The target of a tick with a sample, for a device that is at `device`."""
        if self._silent > self.dropouts.hold:
            self._let_go()
        if self.smooth is not None:
            device = self.smooth.step(device, self._silent + dt)
        self._silent = 0.0
        if sample.gripper is not None and math.isfinite(sample.gripper):
            self._gripper = float(sample.gripper)
        if not sample.pressed or self._state == "lost":
            return last
        self._state = "engaged"
        return self.clutch.step(device, True, last)

    def _let_go(self) -> None:
        """Let the clutch take hold of the device anew, where it is next believed to be."""
        self.clutch.release()
        if self.smooth is not None:
            self.smooth.reset()


_PARTS: Final[dict[str, type]] = {
    "jumps": Jumps,
    "smooth": OneEuro,
    "clutch": Clutch,
    "workspace": Workspace,
    "lead": Lead,
    "speed": SpeedClip,
    "dropouts": Dropouts,
}
"""The parts of a stream by their fields."""


def _pose(given: Any) -> SE3 | None:
    """A pose of what makes one, None where its numbers are not finite; raises ShapeError or ValueError for others."""
    if isinstance(given, (np.ndarray, list, tuple)):
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidValue(
                "not-a-pose", f"the pose of a sample is {given!r}; it must be an SE3, 7 numbers or a 4x4 matrix"
            ) from None
        if not np.isfinite(numbers).all() or masked_at(given) is not None:
            return None
    return one_pose("the pose of a sample", given)
