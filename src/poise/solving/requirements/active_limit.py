"""A limit that a step of a Tracker ended at, in words."""

from dataclasses import dataclass
from typing import Literal, final

from poise.kernels.machine.layout import AT_LIMIT

Kind = Literal[
    "position", "velocity", "acceleration", "braking", "jerk", "twist", "tool speed", "linear", "distance",
    "following error",
]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class ActiveLimit:
    """A limit that a step ended at.

    `kind` is "position", "velocity" or "acceleration" of one joint; "braking", where a joint goes as fast as it may if
    it shall still stop before the limit of its position; "jerk", where it goes as fast, or as slowly, as its jerk lets
    it; "twist" of a free base, "tool speed" of a frame, "linear" of a LinearLimit, "distance" of two shapes, "following
    error" of what is as far ahead of the measured q as it may be.
    """

    kind: Kind
    name: str
    """The joint, with the number of its velocity if it has several, or `.swing` or `.twist` of a spherical one; the
    joints of a LinearLimit; the frame of a ToolSpeedLimit; the two shapes; of a limit of the following error the joint,
    or the frame of a task."""
    value: float
    """The position [rad or m], the velocity [per s] if it is of a velocity, braking, a jerk, a twist or a tool, the
    acceleration [per s^2]; the sum of a LinearLimit over its largest coefficient; the distance [m]; how far ahead of
    the measured q [rad or m]."""
    bound: float
    """The same at the limit, with its sign."""

    def __str__(self) -> str:
        bound, several = f"{self.bound:.4g}", " and " in self.name
        beyond = f"{x:.3g} beyond" if (x := self.value - self.bound) > AT_LIMIT * max(1.0, abs(self.bound)) else "at"
        words = {
            "position": f"is at its limit, {bound}",
            "velocity": f"is at its velocity limit, {bound}",
            "acceleration": f"is at its acceleration limit, {bound}",
            "braking": "brakes for its limit",
            "jerk": "is at its jerk limit",
            "twist": f"is at its TwistLimit, {bound}",
            "tool speed": f"is at its ToolSpeedLimit, {bound}",
            "linear": f"{'are' if several else 'is'} {beyond} {'their' if several else 'its'} LinearLimit, {bound}",
            "distance": f"are {self.value:.3g} m apart",
            "following error": f"waits for the measured q, {bound} ahead of it",
        }
        return f"{self.name} {words[self.kind]}"
