"""A robot that is guided, whoever guides it: what a picture and a panel need of it.  It needs no browser."""

import math
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidValue, PoiseError
from poise.geometry.clouds import Obstacle
from poise.geometry.world import World
from poise.model.model import Model, a_model
from poise.model.proximity import Proximity
from poise.solving.requirements.positions import at_limits
from poise.tasks.base import Task
from poise.viewer.session.aims import gizmo_of

REFUSALS: Final = (PoiseError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError, OSError)
"""What an edit raises that makes no sense."""
_STEPS: Final = 200
"""The most edits that can be undone."""

Part: TypeAlias = str | None
"""What an edit changes: an obstacle by its name, or None for the targets."""
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """What a picture shows; none of it changes."""

    q: Array
    """(nq,)"""
    tasks: tuple[Task, ...]
    """Those of `goals`; there may be others by now."""
    goals: Array
    """(tasks, 7)"""
    ghost: Array | None = None
    """(nq,) where the second method is."""
    nearest: Proximity | None = None
    """The two shapes that are nearest to each other; None without obstacles."""
    structure: int = 0
    """Grows when tasks are added or removed."""


class Guided(ABC):
    """A robot among obstacles, and targets that it follows.  Any thread may change it, one at a time."""

    def __init__(self, model: Model, world: World, tasks: tuple[Task, ...], frame: str | None = None) -> None:
        self.model, self.world, self._tasks = a_model(model), world, tasks
        self.frame = model.tip if frame is None else frame
        """The frame that obstacles are put beside."""
        self._lock = threading.RLock()
        self._edit_lock: AbstractContextManager[Any] = self._lock
        """Held by an `attempt` from its begin to its end."""
        self.refusal = ""
        """Why the last change was refused; empty if it was not."""
        self._steps: deque[dict[Part, Any]] = deque(maxlen=_STEPS)
        """What the parts were before each edit."""
        self._dragging = False
        """Whether a hand goes on with the last of them."""

    @property
    @abstractmethod
    def moment(self) -> Seen:
        """What there is to see now."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What it is led to."""
        return self._tasks

    def at_limit(self, q: Array) -> npt.NDArray[np.bool_]:
        """(nq,) which joints are at a limit."""
        return np.logical_or(*at_limits(q, self.model.lower, self.model.upper))

    def gizmo_pose(self, k: int, moment: Seen | None = None) -> Array | None:
        """(7,) where the gizmo of a task stands; None if it has none."""
        moment = self.moment if moment is None else moment
        task = moment.tasks[k]
        gizmo = gizmo_of(task)
        return None if gizmo is None else gizmo.stands(task, moment.goals[k], self.model, moment.q)

    def jacobian(self, q: Array) -> tuple[str, Array] | None:
        """The frame of the first task that has one, and its (6, nv) Jacobian; None without."""
        for task in self._tasks:
            frame = getattr(task, "frame", None)
            if isinstance(frame, str) and frame in self.model.frames:
                return frame, self.model.jacobian(frame, q)
        return None

    def damping(self) -> float:
        """The lambda of the method where the robot is; NaN for a method without one."""
        return math.nan

    @abstractmethod
    def drag(self, k: int, pose: ArrayLike) -> bool:
        """Move the target of a task to where its gizmo is (7,), place and wxyz; False if that is refused."""

    @abstractmethod
    def release(self) -> None:
        """A hand lets go of a target."""

    @abstractmethod
    def add(self, name: str, shape: Any) -> None:
        """Put a shape into the world; raises an error for what makes no sense, as the next two do."""

    @abstractmethod
    def reshape(self, name: str, shape: Any) -> None:
        """Give an obstacle another place, size or kind."""

    @abstractmethod
    def remove(self, name: str) -> None:
        """Take an obstacle away."""

    def add_obstacle(self, name: str, shape: Obstacle) -> bool:
        """Put a shape into the world; False if that is refused."""
        return self.edit([name], lambda: self.add(name, shape))

    def set_obstacle(self, name: str, shape: Obstacle) -> bool:
        """Give an obstacle another place, size or kind; False if that is refused."""
        return self.edit([name], lambda: self.reshape(name, shape))

    def set_obstacles(self, shapes: Mapping[str, Obstacle]) -> bool:
        """Put all these into the world, in place of those of their names, as one edit; False if that is refused."""

        def go() -> None:
            for name, shape in shapes.items():
                (self.reshape if name in self.world else self.add)(name, shape)

        return self.edit(shapes, go)

    def remove_obstacle(self, name: str) -> bool:
        """Take it away; False if that is refused."""
        return self.edit([name], lambda: self.remove(name))

    # Undo ------------------------------------------------------------------------------------------------------------

    def edit(self, parts: Iterable[Part], go: Callable[[], Any], *, held: bool = False) -> bool:
        """Call `go`, which changes these parts alone, as one step that `undo` takes back; False if it is refused.

        What a hand that has `held` on does to the same parts, until `let_go`, is one step.
        """
        with self._edit_lock:
            before = {part: self._part(part) for part in parts}
            if not self.attempt(go):
                return False
            if not (held and self._dragging and self._steps and self._steps[-1].keys() == before.keys()):
                self._steps.append(before)
            self._dragging = held
            return True

    def let_go(self) -> None:
        """A hand lets go; what it does next is a step of its own."""
        self._dragging = False

    def undo(self) -> bool:
        """Take back the last edit of obstacles or targets; False where there is none."""

        def go() -> None:
            if not self._steps:
                raise InvalidValue("needs", "there is no edit of obstacles or targets left to undo")
            for part, was in self._steps.pop().items():
                self._bring_back(part, was)

        self.let_go()
        return self.attempt(go)

    @property
    def undoable(self) -> int:
        """How many edits can be undone."""
        return len(self._steps)

    @abstractmethod
    def _part(self, part: Part) -> Any:
        """A part as it is; None for an obstacle that is not there."""

    @abstractmethod
    def _bring_back(self, part: Part, was: Any) -> None:
        """Let a part be as it was."""

    def attempt(self, go: Callable[[], Any]) -> bool:
        """Call `go`; False, and a `refusal` that says why, if it raises an error that a wrong input can make."""
        with self._edit_lock:
            self.refusal = ""
            try:
                go()
            except REFUSALS as error:
                self.refusal = " ".join(str(error.args[0] if isinstance(error, KeyError) else error).split())
                return False
            return True

    def _ask(self, go: Callable[[], _Result], otherwise: _Result) -> _Result:
        """What `go` returns, or else `otherwise` and a `refusal`; one that is there stays where it goes well."""
        with self._edit_lock:
            answer, before = [otherwise], self.refusal
            if self.attempt(lambda: answer.__setitem__(0, go())):
                self.refusal = before
            return answer[0]
