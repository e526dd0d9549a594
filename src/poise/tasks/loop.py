"""Keep two frames of one model together, where a tree has to cut a closed chain.

Rows.     Those of place and turn that the cut joint holds, along the axes of the base; see `kernels.rows.joints`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.jit import routine
from poise.kernels.machine.layout import PLACE, TURN, TURNS_FREELY, TURNS_NOT
from poise.kernels.rows.frame import seen_frame
from poise.kernels.rows.joints import joint_rows
from poise.model.closure import Seen
from poise.model.loop import LOCKS, LOOP_KINDS, Loop, LoopKind
from poise.spatial import SE3
from poise.tasks.effector import Block, Effector, Place, Units, no_joint
from poise.tasks.error import TaskError
from poise.tasks.fields import goal_of
from poise.tasks.frame import OfFrame

if TYPE_CHECKING:
    from poise.model.model import Model

_TOGETHER = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


@routine
def loop_rows(p: Any, w: Any, k: Any) -> None:
    """What the frame of effector k lacks of its place and turn in the joint, all six rows; see the module."""
    joint_rows(seen_frame(p, w, k), int(p.numbers[p.effectors[k].first_number]))


@final
@dataclass(frozen=True, eq=False, repr=False)
class LoopTask(OfFrame):
    """Keep `frame` and `base` together as the joint does that was cut: `frame` is the first of a `Loop`, `base` the
    second, and `kind` is one of its kinds.

    Its rows are those that the joint holds, none of them twice: of the place, 3 rows [m] or fewer, and of the turn, 3
    [rad] or fewer; a hinge has five.  It takes no target.  The loops of a model are solved for without being stated; a
    LoopTask is for those that a file does not tell of.  A `Tracker` keeps both closed at every step.

    Raises ValueError for an unknown kind, one frame twice, a weight that is not one positive number.
    """

    base: str = field()  # without the default that it has elsewhere
    """The frame that stays with it."""
    kind: LoopKind = "point"
    """Which joint was cut, see `Loop.kind`."""
    tolerance: float = field(default=1e-7, kw_only=True)
    """How far they may be apart [m], and turned against each other [rad]."""
    offset: SE3 | None = field(default=None, init=False, repr=False)
    gain: float = field(default=1.0, init=False, repr=False)

    rows: ClassVar[int] = 1
    yardstick: ClassVar[bool] = False
    goal_kind: ClassVar[int] = PLACE | TURN
    routine: ClassVar[Any] = staticmethod(loop_rows)

    def __post_init__(self) -> None:
        if self.kind not in LOOP_KINDS:
            raise InvalidValue("unknown-word", f"kind must be one of {', '.join(LOOP_KINDS)}, got {self.kind!r}")
        if self.base == self.frame:
            raise InvalidValue(
                "duplicate", f"a loop is of two frames, and {self.frame!r} is named twice: name the other one"
            )
        super().__post_init__()
        if not isinstance(self.weight, float) or self.weight == 0.0:
            raise InvalidValue("not-positive", f"weight is {self.weight!r}; a loop takes one positive number")

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        kind = "" if self.kind == "point" else f", {self.kind!r}"
        return f"LoopTask({self.frame!r}, {self.base!r}{kind})"

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three."""
        weight = float(self.weight)  # type: ignore[arg-type]
        x, y, z, *turn = (weight * held for held in LOCKS[self.kind].rows)
        whole = LOCKS[self.kind].turn in (TURNS_FREELY, TURNS_NOT)
        return (
            Block((x, y, z), self.tolerance, "m", whole=True),
            Block((turn[0], turn[1], turn[2]), self.tolerance, "rad", whole=whole),
        )

    @property
    def loop(self) -> Loop:
        """The loop that it closes."""
        return Loop(self.frame, self.base, self.kind)

    def turn(self, model: "Model") -> int:
        """How the frame that the kernels look at may turn against the other; see `kernels.rows.joints`."""
        return Seen.of(model, self.loop).turn

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        return super().effector(units)._replace(numbers=[float(self.turn(units.model))])

    @property
    def goal_read(self) -> int:
        """The goal numbers that its rows read: those of the identity, which nobody gives."""
        return self.goal_kind

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of the identity; raises ShapeError for a target, which it does not take."""
        if target is not None:
            raise ShapeError(f"{name}: {self.label} takes no target, give None; got {target!r}")
        return goal_of(_TOGETHER[:3], _TOGETHER[3:])

    def goals(self, targets: Any, name: str = "targets") -> Array:
        """(1, 7) numbers of the identity."""
        return self.goal(targets, name)[None]

    def target_at(self, model: "Model", q: Array) -> None:
        """None: it has no target."""

    def fulfilled(self, model: "Model", q: Array) -> None:
        """None: few configurations fulfil it."""

    def place(self, model: "Model") -> Place:
        """Where the frames hang, whichever of them moves; raises ValueError if neither moves against the other."""
        found = Place(*Seen.of(model, self.loop)[:4])
        if found.tip < 0 or not found.moved(model):
            raise InvalidValue(
                "nothing-moves", f"{self.label} never moves: {no_joint(model)} is between the two frames"
            )
        return found

    def error(self, sizes: Sequence[float]) -> TaskError:
        """What is left, from the norm of each block; of a point there is nothing to turn."""
        turned = LOCKS[self.kind].turn != TURNS_FREELY
        return TaskError(self.label, float(sizes[0]), float(sizes[1]) if turned else None)

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) how far the frames are apart [m], and turned against each other [rad or a sine]."""
        lacks = LOCKS[self.kind].lacks(pose.xyz, pose.wxyz)
        return [lacks[..., :3], lacks[..., 3:]]
