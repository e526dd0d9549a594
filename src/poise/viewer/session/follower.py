"""What leads a robot to targets while somebody drags them: the solver's own way, or updates of a method."""

from collections.abc import Sequence
from typing import Any, Final, final

from poise.common.array import Array
from poise.methods.base import Method
from poise.model.model import Model
from poise.solving.answers.solution import Solution
from poise.solving.requirements.collision import CollisionLimit
from poise.solving.requirements.outcome import Trace
from poise.solving.solvers.solver import Solver
from poise.solving.tracking.tracker import Tracker
from poise.spatial import SE3, SO3
from poise.tasks.base import Task
from poise.tasks.pose import OrientationTask, PoseTask
from poise.viewer.session.aims import gizmo_of

UPDATES: Final = 10
"""Of a method, in a tick: so many that it follows a hand, and so few that one sees how it goes."""
_SECONDS: Final = 0.2
"""That a solve may take: a window that somebody looks at shall not stand still."""


@final
class Follower:
    """A way to follow targets with one method; None is the solver's own.

    Raises ValueError for what the method cannot do.
    """

    def __init__(
        self, model: Model, tasks: Sequence[Task], method: Method | None, *, collision: CollisionLimit | None = None
    ) -> None:
        self.model, self.tasks, self.method = model, tuple(tasks), method
        limits: list[Any] = [] if collision is None else [collision]
        self._tracker: Tracker | None = None
        if method is not None or collision is not None:
            # Without a method of the caller's choice a limit that ties joints together chooses its own.
            self._tracker = Tracker(
                model, tasks, method, updates=1 if collision is not None else UPDATES, limits=limits or True
            )
        common: dict[str, Any] = {"method": method, "limits": limits or True, "max_time": _SECONDS}
        self._solver = Solver(model, tasks, **common)
        self._near = Solver(model, tasks, max_restarts=0, **common)
        self._once = collision is not None

    def step(self, goals: Array, q: Array) -> Array:
        """(nq,) the next configuration after `q` towards `goals` (tasks, 7)."""
        if self._tracker is None:
            return self._near(self.targets(goals), q).q.copy()
        self._tracker.targets[:] = goals
        for _ in range(UPDATES if self._once else 1):
            q = self._tracker.step(q)
        return q

    def warm(self, goals: Array, q: Array) -> None:
        """Take a step that nobody sees, for the first one compiles or loads kernels."""
        self.step(goals, q)
        if self._tracker is not None:
            self._tracker.reset()

    def solve(self, goals: Array, q: Array) -> Solution:
        """The solution from `q`, with other starts where that leads nowhere."""
        return self._solver(self.targets(goals), q)

    def trace(self, goals: Array, q: Array, iterations: int) -> Trace | None:
        """What the method does from `q` in one start; None for the solver's own way."""
        if self.method is None:
            return None
        once = Solver(
            self.model, self.tasks, method=self.method, max_iterations=iterations, max_restarts=0, max_time=_SECONDS,
            trace=True,
        )  # fmt: skip
        return once(self.targets(goals), q).trace

    def errors(self, goals: Array, q: Array) -> tuple[str, ...]:
        """What is left of each task at `q`, in words; of one within its tolerances no digits, for they are noise."""
        pairs = zip(self.tasks, goals, strict=True)
        return tuple(self._left(task, task.judged(self.model, goal[None], q[None])[0]) for task, goal in pairs)

    @staticmethod
    def _left(task: Task, sizes: Array) -> str:
        """What is left of a task, from the norm of each of its blocks."""
        return f"{task.label} on target" if (sizes <= task.tolerances).all() else task.words(task.error(sizes.tolist()))

    def targets(self, goals: Array) -> Any:
        """The goal numbers (tasks, 7) as `solve` takes them."""
        found = [_target(task, goal) for task, goal in zip(self.tasks, goals, strict=True)]
        return found if len(found) > 1 else found[0]


def _target(task: Task, goal: Array) -> Any:
    """The goal numbers as `solve` takes them; the task's own target where no hand can move it."""
    if gizmo_of(task) is None:
        return task.target
    if isinstance(task, PoseTask):
        return SE3(goal)
    return SO3(wxyz=goal[3:]) if isinstance(task, OrientationTask) else goal[:3]
