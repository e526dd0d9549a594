"""The proof that a target is out of reach, as numbers that can be looked at and checked without what found them."""

from dataclasses import dataclass
from typing import Literal, final

from poise.model.model import Model
from poise.solving.verify import proves
from poise.spatial import SE3, Array


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Certificate:
    """A proof that no configuration brings a frame within the tolerances of a target; it can be pickled.

    "lengths": two points of neighbouring axes keep their distance, so the points at `numbers`, a height [m] on each
    axis of the chain, and the target are the corners of a polygon.  One of its sides is longer than all the others.

    "turns": the chain and the target are a loop, and a distance, height or angle between what two of its bodies carry
    is the same both ways round.  A row of `numbers` is such a comparison: the joint that it leaves at most two arcs,
    the bodies b < p, and the point or direction (4,) that each carries.  After all rows no joint has an arc left that
    is within its limits.  Where a joint is `split`, this holds for each of some parts of its range.
    """

    kind: Literal["lengths", "turns"]
    frame: str
    offset: SE3
    """Pose in the frame of what is led to the target: the identity, or a tool."""
    target: SE3
    """In the world; of a place alone its rotation says nothing."""
    position_tolerance: float
    """[m]"""
    rotation_tolerance: float
    """[rad]; pi where any rotation will do."""
    limits: bool
    """Whether the joints have to be within their limits."""
    numbers: Array
    """(n,) of "lengths", (k, 11) of "turns"."""
    split: int = -1
    """The joint of the chain whose range is halved, and halved again; -1: none."""
    rounds: int = 1
    """How many times all rows are gone through."""

    def verify(self, model: Model) -> bool:
        """Whether it holds of the model, by the places of its axes and its limits alone: no solver is asked."""
        return proves(model, self)

    def __repr__(self) -> str:
        return f"Certificate({self.kind!r}, {self.frame!r})"
