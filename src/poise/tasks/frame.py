"""What tasks about one frame have in common: the frame, and the base from which it is seen."""

from dataclasses import MISSING, dataclass, field
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.spatial import SE3, one_pose
from poise.tasks.base import Task
from poise.tasks.effector import NO_TOOL, Effector, Place, Units, no_joint, place

if TYPE_CHECKING:
    from poise.model.model import Model

_FRAMES: Final = 1024
"""Frames of each kind of task whose fields are kept."""


@dataclass(frozen=True, eq=False, repr=False)
class OfFrame(Task):
    """A task about a frame, seen from a base or from the world."""

    frame: str
    base: str | None = field(default=None, kw_only=True)
    """The frame from which it is seen, and along whose axes the target and the rows are; None: the world."""
    offset: SE3 | None = field(default=None, kw_only=True)
    """Pose in the frame of a tool of the moment, which the task leads in the frame's place; None: the frame itself."""

    routine: ClassVar[Any] = None

    def __post_init__(self) -> None:
        if self.offset is not None:
            self._set("offset", one_pose("offset", self.offset))
        super().__post_init__()

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        base = "" if self.base is None else f", base={self.base!r}"
        return f"{type(self).__name__}({self.frame!r}{base})"

    @property
    def in_world(self) -> bool:
        """Whether it is seen from the world, not from a base."""
        return self.base is None

    def frame_pose(self, model: "Model", q: Array) -> SE3:
        """Poses of the frame, or of the tool on it, at `q` (..., nq), seen from the base."""
        pose = model.pose(self.frame, q)
        if self.offset is not None:
            pose = pose @ self.offset
        return pose if self.base is None else model.pose(self.base, q).inverse() @ pose

    def target_of(self, pose: SE3) -> Any:
        """A target that the frame fulfils where it is seen at `pose`."""
        raise NotImplementedError

    def target_at(self, model: "Model", q: Array) -> Any:
        """A target that the configuration `q` (nq,) fulfils, as the task takes it."""
        return self.target_of(self.frame_pose(model, q))

    def fulfilled(self, model: "Model", q: Array) -> Array | None:
        """(n, 7) goals that the configurations `q` (n, nq) fulfil."""
        return self.goals(self.target_of(self.frame_pose(model, q)))

    def place(self, model: "Model") -> Place:
        """Where the frame, or its tool, hangs; raises FrameNotFound, and ValueError for one that no joint carries."""
        found = place(model, self.frame, self.base)
        if found.tip < 0 and found.moved(model):
            raise InvalidValue(
                "not-supported",
                f"{self.label} leads a frame that stands still in the world, and a base that moves: lead the base as "
                f"{self.frame!r} sees it, {self.swapped}",
            )
        if found.tip < 0:
            raise InvalidValue("nothing-moves", f"the frame {self.frame!r} does not move: {no_joint(model)} carries it")
        if not found.moved(model):
            raise InvalidValue(
                "nothing-moves", f"{self.label} never moves: {no_joint(model)} is between the two frames"
            )
        return found if self.offset is None else found._replace(hang=found.hang @ self.offset)

    @property
    def swapped(self) -> str:
        """What asks the same of its base, seen from its frame: a task, as one writes it, or where to look for one."""
        return f"with a task of {self.base!r} and base={self.frame!r} that asks the same"

    def needed(self, model: "Model") -> set[int]:
        """The units of the tree whose frames it reads; raises as `place` does."""
        return self.place(model).read

    def moving(self, model: "Model") -> set[int]:
        """The units of the tree that move it."""
        return self.place(model).moved(model)

    def effector(self, units: Units) -> Effector:
        """It among the units of a problem."""
        at = self.place(units.model)
        based = at.base is not None and at.base_hang is not None
        return Effector(
            columns=units.columns(at.tip, at.base),
            tip=units.number[at.tip],
            base=0 if at.base is None else units.number[at.base] + 2,
            tool=units.tool(at.tip, at.hang),
            base_tool=units.tool(at.base, at.base_hang) if based else NO_TOOL,  # type: ignore[arg-type]
            numbers=self.constants(units.hang(at.tip, at.hang)),
        )

    def constants(self, hang: SE3) -> list[float]:
        """Numbers that its rows read, for a frame that hangs at `hang` on its unit."""
        return []

    def judged(self, model: "Model", goal: Array, q: Array) -> Array:
        """(N, blocks) the norm of each block at `q` (N, nq) for the goals (N, 7), from the poses of the model alone."""
        rows = self.left(goal, self.frame_pose(model, q))
        return np.stack([block.norms(some) for block, some in zip(self.blocks, rows, strict=True)], axis=1)

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) rows of each block for the goals (N, 7) at N poses, without weights, or others as long."""
        raise NotImplementedError


_Kind = TypeVar("_Kind", bound=type[OfFrame])


def brief(kind: _Kind) -> _Kind:
    """Let `kind(frame, target)` check the target alone: all else is as in any other such task.

    A loop makes a new one for each target, and its other fields are the same.
    """
    whole: Any = kind.__init__

    @lru_cache(_FRAMES)
    def of_frame(frame: str) -> dict[str, Any]:
        task = kind(frame)
        return {"structure": task.structure, **vars(task)}

    @wraps(whole)
    def __init__(self: Any, frame: Any = MISSING, target: Any = None, *more: Any, **named: Any) -> None:
        if type(frame) is str and target is not None and not more and not named:
            own = self.__dict__
            own.update(of_frame(frame))
            own["target"] = self._checked_target(target)
        elif frame is MISSING:
            whole(self, target=target, **named)
        else:
            whole(self, frame, target, *more, **named)

    kind.__init__ = __init__  # type: ignore[method-assign]
    return kind
