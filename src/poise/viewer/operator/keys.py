"""What held keys and the sticks of a gamepad ask of the hand: velocities."""

from collections.abc import Sequence
from typing import Final, Literal, final

from poise.viewer.server.input_state import InputState

_WAYS: Final = {
    "ArrowRight": (0, 1.0),
    "ArrowLeft": (0, -1.0),
    "ArrowUp": (1, 1.0),
    "ArrowDown": (1, -1.0),
    "PageUp": (2, 1.0),
    "PageDown": (2, -1.0),
}
"""The axis that a key moves along, and to which side; with a shift key it turns about it."""
_SHIFTS: Final = frozenset({"ShiftLeft", "ShiftRight"})
PAUSE: Final = "Space"
RECORD: Final = "KeyR"
CLAIMED: Final = (*_WAYS, PAUSE, RECORD)
"""Keys that the page's camera does not get."""
_STICKS: Final = ((0, 0, 1.0), (1, 1, -1.0), (3, 2, -1.0))
"""The axis of a gamepad, the axis that it moves along, and to which side; a stick forward is negative."""
_TWIST: Final = 2
"""The axis of a gamepad that turns about z."""
_SLACK: Final = 0.12
"""A stick that is let go is not quite at 0."""


@final
class Windows:
    """What is held in each window of the browser, and what that is worth."""

    def __init__(self) -> None:
        self._states: dict[int, InputState] = {}
        self.speed, self.turning = 0.0, 0.0
        """Of a key that is held [m/s] and [rad/s]."""
        self.frame: Literal["world", "tool"] = "world"
        """Whose axes it moves along."""

    def update(self, client: int, state: InputState) -> frozenset[str]:
        """Take what a window holds now; the keys that were not down in it before, which are told once."""
        before = self._states.get(client, InputState())
        self._states = {**self._states, client: state}
        if state.at_rest:
            self._states = {k: v for k, v in self._states.items() if k != client}
        return state.keys - before.keys

    def commanded(self) -> tuple[tuple[float, ...], tuple[float, ...], Literal["world", "tool"]]:
        """(3,) linear and (3,) angular velocity that all windows together ask for [m/s; rad/s], and their frame."""
        linear, angular = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        for one in list(self._states.values()):
            way = angular if one.keys & _SHIFTS else linear
            for key in one.keys & _WAYS.keys():
                axis, sign = _WAYS[key]
                way[axis] += sign
            for stick, axis, sign in _STICKS:
                linear[axis] += sign * _pushed(one.axes, stick)
            angular[2] -= _pushed(one.axes, _TWIST)
        return _clamped(linear, self.speed), _clamped(angular, self.turning), self.frame


def _pushed(axes: Sequence[float], stick: int) -> float:
    push = axes[stick] if stick < len(axes) else 0.0
    return push if abs(push) > _SLACK else 0.0


def _clamped(values: Sequence[float], most: float) -> tuple[float, ...]:
    return tuple(most * min(max(value, -1.0), 1.0) for value in values)
