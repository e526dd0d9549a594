"""What closes a chain that a tree cannot hold: two frames of one model that must stay together."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, final, get_args

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import IS_SQUARE, IS_SQUARE_TO, KEEPS_AXIS, OPPOSITE, TURNS_FREELY, TURNS_NOT
from poise.quaternions import quaternion_log, quaternion_matrix

LoopKind: TypeAlias = Literal["point", "pose", "hinge", "universal", "cylinder", "slide", "plane"]
"""What a cut joint holds together, see `Loop.kind`."""
LOOP_KINDS: Final[tuple[LoopKind, ...]] = get_args(LoopKind)


class Lock(NamedTuple):
    """What a kind of loop holds, seen from the second frame."""

    place: str
    """Along which of its axes."""
    turn: int
    """How the first may turn, see `kernels.rows.joints`."""

    @property
    def rows(self) -> tuple[bool, ...]:
        """(6,) which rows of place and turn it holds."""
        return (*(axis in self.place for axis in "xyz"), *_ROWS_OF_TURN[self.turn])

    @property
    def bits(self) -> int:
        """The same as bits, the first one's 1."""
        return sum(1 << k for k, held in enumerate(self.rows) if held)

    def lacks(self, xyz: Array, wxyz: Array) -> Array:
        """(..., 6) by how much place [m] and turn [rad or a sine] miss what is held, where the first frame is seen at
        xyz (..., 3), wxyz (..., 4); 0 where nothing is held."""
        if self.turn in (TURNS_FREELY, TURNS_NOT):
            turn = -quaternion_log(wxyz)
        else:
            matrix, turn = quaternion_matrix(wxyz), np.zeros_like(xyz)
            if self.turn == KEEPS_AXIS:
                x, y, z = np.moveaxis(matrix[..., 2], -1, 0)
                longer = np.sqrt(2.0 / np.maximum(1.0 + z, OPPOSITE))
                turn[..., 0], turn[..., 1] = longer * y, -longer * x
            else:
                turn[..., 2] = -matrix[..., 1, 0]
        return np.concatenate([-xyz, turn], axis=-1) * self.rows


_ROWS_OF_TURN: Final = {
    TURNS_FREELY: (False, False, False),
    TURNS_NOT: (True, True, True),
    KEEPS_AXIS: (True, True, False),
    IS_SQUARE: (False, False, True),
    IS_SQUARE_TO: (False, False, True),
}
LOCKS: Final[dict[LoopKind, Lock]] = {
    "point": Lock("xyz", TURNS_FREELY),
    "pose": Lock("xyz", TURNS_NOT),
    "hinge": Lock("xyz", KEEPS_AXIS),
    "universal": Lock("xyz", IS_SQUARE),
    "cylinder": Lock("xy", KEEPS_AXIS),
    "slide": Lock("xy", TURNS_NOT),
    "plane": Lock("z", KEEPS_AXIS),
}


@final
@dataclass(frozen=True, slots=True)
class Loop:
    """Two frames of a model that stay together: the joint at which a loop was cut to make the model a tree.

    The first stands in the second as the joint lets it: see `kind`.
    """

    first: str
    """A frame."""
    second: str
    """The frame that stays with it."""
    kind: LoopKind = "point"
    """Which joint was cut.

    - "point", a ball: their origins stay together.
    - "pose", a weld: their axes too.
    - "hinge": their origins and their axes z; the turn about z is free.
    - "universal": their origins, and the x of `first` stays square to the y of `second`, the arms of the cross.
    - "cylinder": the axes z lie on one line, along which and about which the joint is free.
    - "slide": the same without the turn.
    - "plane": both origins and axes x and y stay in one plane, that of x and y.
    """

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        return f"Loop({self.first!r}, {self.second!r})"


class Labelled(Protocol):
    """What has a name for messages."""

    @property
    def label(self) -> str:
        """The name."""


def named(loops: Iterable[Labelled]) -> str:
    """Loops in a sentence, the first three of them by name."""
    labels = [loop.label for loop in loops]
    return ", ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")
