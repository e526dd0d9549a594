"""mink's `TeleopMocap`: mocap bodies that are moved by the keys of MuJoCo's viewer."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from poise_compat.mink.contrib.keyboard_teleop import keycodes as k
from poise_compat.mink.contrib.keyboard_teleop.steps import Steps
from poise_compat.mink.exceptions import InvalidMocapBody

_MOVES: Final = {
    k.KEY_UP: (0, 1), k.KEY_DOWN: (0, -1), k.KEY_RIGHT: (1, 1), k.KEY_LEFT: (1, -1), k.KEY_7: (2, 1), k.KEY_6: (2, -1),
}  # fmt: skip
"""The axis of the body, and which way along or about it."""


class TeleopMocap(Steps):
    """Keys that move one mocap body of `data` along its axes, or turn it about them: the `key_callback` of a viewer.

    9 switches it on, and all back to how it was at first.  8 takes the next body, `.` turns instead of moving, `=` and
    `-` make steps longer and shorter.  Arrows step along x and y, 7 and 6 along z.  `n`: a key moves on at each call of
    `auto_key_move`, until it is pressed once more or its opposite is.  What is switched is printed.  Raises
    InvalidMocapBody where the model has none.
    """

    def __init__(self, data: Any) -> None:
        if not len(data.mocap_pos):
            raise InvalidMocapBody('the model has no mocap body that keys could move; write mocap="true" in one')
        self.on, self.data = False, data
        self.reset_state()
        self.actions: dict[int, Callable[[], None]] = {
            k.KEY_N: self.toggle_manual, k.KEY_PERIOD: self.toggle_rotation, k.KEY_8: self.toggle_mocap,
            k.KEY_EQUAL: partial(self.toggle_speed, 1), k.KEY_MINUS: partial(self.toggle_speed, -1),
            **{key: partial(self.movement_select, key, *move) for key, move in _MOVES.items()},
        }  # fmt: skip
        self.movements = {key: partial(self.movement_select, -1, *move) for key, move in _MOVES.items()}
        ways = {move: key for key, move in _MOVES.items()}
        self.opposite_keys = {key: ways[axis, -way] for key, (axis, way) in _MOVES.items()}

    def __call__(self, key: int) -> None:
        """A key is pressed, by its number in `keycodes`."""
        if key == k.KEY_9:
            self.toggle_on()
        elif self.on and key in self.actions:
            self.actions[key]()

    def auto_key_move(self) -> None:
        """One step of each key that moves on."""
        for key, move in self.movements.items() if self.on else ():
            if self.keys[key]:
                move()

    def movement_select(self, key: int, axis: int, direction: int) -> None:
        """A step, or, of a key that is to move on, whether it does; key -1: the step that it then makes."""
        if self.manual or key == -1:
            self.rot_or_trans(key, axis, direction)
        else:
            self.keys[key] = not self.keys[key]
            self.keys[self.opposite_keys[key]] = False

    def toggle_on(self) -> None:
        """On or off, and all back to how it was at first."""
        self.on = not self.on
        self.reset_state()
        _announce("keys move mocap bodies", self.on)

    def toggle_manual(self) -> None:
        """A step a press, or keys that move on."""
        self.manual = not self.manual
        self.reset_keys()
        _announce("a step a press", self.manual)

    def toggle_rotation(self) -> None:
        """Turns or moves."""
        self.rotation = not self.rotation
        self.reset_keys()
        _announce("turns", self.rotation)

    def toggle_mocap(self) -> None:
        """The next body."""
        self.mocap_idx = (self.mocap_idx + 1) % len(self.data.mocap_pos)
        print(f"mocap body {self.mocap_idx}")

    def reset_keys(self) -> None:
        """No key moves on."""
        self.keys = dict.fromkeys(_MOVES, False)

    def reset_state(self) -> None:
        """All as it was at first, but for being on or off."""
        self.reset_keys()
        self.reset_step_size()
        self.manual, self.rotation, self.mocap_idx = True, False, 0


def _announce(what: str, on: bool) -> None:
    print(f"{what}: {'on' if on else 'off'}")
