"""Keep two frames of one model together, where a tree has to cut a closed chain."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

from poise.common.array import Array
from poise.common.cached import cached_property
from poise.common.errors import InvalidValue, ShapeError
from poise.kernels.machine.layout import PLACE, TURN
from poise.model.loop import LOOP_KINDS, LoopKind
from poise.quaternions import quaternion_log
from poise.spatial import SE3
from poise.tasks.effector import Block, Place, place
from poise.tasks.error import TaskError
from poise.tasks.fields import goal_of
from poise.tasks.frame import OfFrame

if TYPE_CHECKING:
    from poise.model.model import Model

_TOGETHER = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
_FREE = (0.0, 0.0, 0.0)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LoopTask(OfFrame):
    """Keep `frame` and `base` together: with the kind "point" their origins, with "pose" their axes too.

    Its rows are those of a PoseTask of `frame` seen from `base` whose target is the identity: 3 rows [m], and with
    "pose" 3 more [rad].  It takes no target.  The loops of a model are solved for without being stated; a LoopTask is
    for those that a file does not tell of.  A `Tracker` keeps both closed at every step.

    Raises ValueError for an unknown kind, one frame twice, a weight that is not one positive number.
    """

    base: str = field()  # without the default that it has elsewhere
    """The frame that stays with it."""
    kind: LoopKind = "point"
    """"point" for the origins, as of a ball joint; "pose" for the whole poses, as of a weld."""
    tolerance: float = field(default=1e-7, kw_only=True)
    """How far they may be apart [m], and turned against each other [rad]."""
    offset: SE3 | None = field(default=None, init=False, repr=False)
    gain: float = field(default=1.0, init=False, repr=False)

    rows: ClassVar[int] = 1
    yardstick: ClassVar[bool] = False
    goal_kind: ClassVar[int] = PLACE | TURN

    def __post_init__(self) -> None:
        if self.kind not in LOOP_KINDS:
            raise InvalidValue("unknown-word", f"kind must be 'point' or 'pose', got {self.kind!r}")
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
        every = (weight, weight, weight)
        turn = every if self.kind == "pose" else _FREE
        return (Block(every, self.tolerance, "m", whole=True), Block(turn, self.tolerance, "rad", whole=True))

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
        found = place(model, self.frame, self.base)
        if found.tip < 0:
            found = place(model, self.base, self.frame)
        if found.tip < 0 or not found.moved(model):
            raise InvalidValue(
                "nothing-moves", f"{self.label} never moves: no joint of {model.name} is between the two frames"
            )
        return found

    def error(self, sizes: Sequence[float]) -> TaskError:
        """What is left, from the norm of each block; of a point there is nothing to turn."""
        return TaskError(self.label, float(sizes[0]), float(sizes[1]) if self.kind == "pose" else None)

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) how far the frames are apart [m], and turned against each other [rad]."""
        return [-pose.xyz, -quaternion_log(pose.wxyz)]
