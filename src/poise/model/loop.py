"""What closes a chain that a tree cannot hold: two frames of one model that must stay together."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, final

LoopKind: TypeAlias = Literal["point", "pose"]
"""What two frames share: their origins, as in a ball joint, or their whole poses, as if they were welded."""
LOOP_KINDS: tuple[LoopKind, ...] = ("point", "pose")


@final
@dataclass(frozen=True, slots=True)
class Loop:
    """Two frames of a model that stay together: the joint at which a loop was cut to make the model a tree.

    A hinge is two loops of kind "point" at two places on its axis, and in a planar mechanism one.
    """

    first: str
    """A frame."""
    second: str
    """The frame that stays with it."""
    kind: LoopKind = "point"
    """"point": their origins stay together; "pose": their axes too."""

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
