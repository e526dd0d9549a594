"""The proof that a target is out of reach, as numbers that can be looked at and checked without what found them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, final

from poise.common.array import Array
from poise.model.model import Model
from poise.solving.unreachable.verify import proves
from poise.spatial import SE3


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Certificate:
    """A proof that no configuration brings a frame within the tolerances of a target; it can be pickled.

    Boxes, an interval for each joint between base and frame, fill all that the joints' ranges allow, and each has a
    reason why no configuration within it reaches the target.  Base, joints and target are a loop of bodies, body k is
    what joint k carries, and a reason is a polygon of features around it.  Two neighbours measure no less and no more
    than some numbers, wherever the joints between them stand in the box; and so one side is longer than all others
    together.  Of "lengths" there is one box, of all configurations, and one polygon, of points on all axes.  Of
    "boxes" a polygon has two corners, and what they measure one way round is not what they measure the other way.
    """

    kind: Literal["lengths", "boxes"]
    frame: str
    base: str | None
    """The frame from which the target is seen; None: the world."""
    offset: SE3
    """Pose in the frame of what is led to the target: the identity, or a tool."""
    target: SE3
    """Of a place alone its rotation says nothing, and of a rotation alone its place."""
    position_tolerance: float
    """[m]; inf where any place will do."""
    rotation_tolerance: float
    """[rad]; pi where any rotation will do."""
    limits: bool
    """Whether the joints have to be within their limits."""
    reasons: tuple[Array, ...]
    """Each (k, 7), a feature a row, around the loop: its kind, 0 a point, 1 a direction, 2 a plane; the first and the
    last of the bodies that carry it in one place; and its numbers in the first one, homogeneous: (x, y, z, 1) of a
    point [m], (x, y, z, 0) of a direction, and of a plane (x, y, z, -h), its normal and its height [m]."""
    tree: Array
    """(m,) how the boxes come about: a number k halves a box in joint k, the first is 0, and what follows is of its
    lower and then of its upper half; a number -1 - k gives a box to reason k."""

    still: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """The joints that may not move, with their numbers of q [rad or m]."""

    def verify(self, model: Model) -> bool:
        """Whether it holds of the model, by the places of its axes and its limits alone: no solver is asked."""
        return proves(model._locked_at(self.still), self)

    def __repr__(self) -> str:
        return f"Certificate({self.kind!r}, {self.frame!r})"
