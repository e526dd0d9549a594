"""What is looked at: a robot, its targets, what leads it to them and what stands in its way.  It needs no browser.

Any thread may change it, one at a time; `tick` goes on from there.  What cannot be is refused in a sentence and changes
nothing, so that no number from a panel ends the loop.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite_positive
from poise.common.errors import InvalidType, InvalidValue
from poise.geometry.clouds import Obstacle
from poise.geometry.shapes import Rounded
from poise.geometry.world import World
from poise.methods.base import Method, method_of
from poise.methods.criteria import Clearance
from poise.model.model import Model
from poise.model.proximity import Proximity
from poise.solving.arguments.arguments import several
from poise.solving.requirements.collision import CollisionLimit
from poise.solving.requirements.outcome import Trace
from poise.solving.solvers.branch_solver import solve_all
from poise.spatial import SE3
from poise.tasks.base import Task
from poise.viewer.session.aims import gizmo_of
from poise.viewer.session.follower import Follower
from poise.viewer.session.guided import Guided, Part, Seen

LEAST: Final = 0.02
"""What a robot keeps from obstacles unless it is told otherwise [m]."""
_FARTHEST: Final = 1e6
"""No target is farther along an axis of the world [m]."""
_STILL: Final = 1e-7
"""A tick that moves every joint by less has come to rest [rad or m]."""
_TRACED: Final = 100
"""Iterations of which a convergence is drawn."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moment(Seen):
    """What there is to see after a tick; none of it changes."""

    tick: int
    words: str
    """What was reached, and what stands in the way of the rest."""
    lead: Follower | None
    """What led there; None without tasks."""
    seconds: float
    """That the tick's updates took the solver."""
    resting: bool
    """Whether nothing moves any more."""

    @property
    def errors(self) -> tuple[str, ...]:
        """What is left of each task, in words."""
        return () if self.lead is None else self.lead.errors(self.goals, self.q)


@final
class Session(Guided):
    """A robot that follows targets.

    Raises FrameNotFound for a frame that the model does not have, ValueError for what a method cannot do.
    """

    def __init__(
        self,
        model: Model,
        tasks: Task | Sequence[Task] = (),
        *,
        q: ArrayLike | None = None,
        method: str | Method | None = None,
        world: World | None = None,
    ) -> None:
        checked = tuple(_checked(several(tasks) if tasks != () else ()))
        super().__init__(model, World() if world is None else world, checked)
        self._start = model.normalize(model.home if q is None else q)
        self._q = self._start.copy()
        self._method = None if method is None else method_of(method)
        self._second: Method | None = None
        self._second_on = False
        self._collision: CollisionLimit | None = None
        self._clear: float | None = None
        self._goals = np.array([self._first_goal(task) for task in self._tasks]).reshape(-1, 7)
        self._lead: Follower | None = None
        self._other: Follower | None = None
        self._ghost = self._q.copy()
        self._began = self._q.copy()
        self._ticks, self._structure, self._seen = 0, 0, -1
        self._words, self._resting, self._words_hold = "", False, False
        self._rebuild()
        self._moment = self._look(0.0)

    # Read ------------------------------------------------------------------------------------------------------------

    @property
    def moment(self) -> Moment:
        """The last tick's."""
        return self._moment

    @property
    def method(self) -> Method | None:
        """The method; None: the solver's own way."""
        return self._method

    @property
    def second(self) -> Method | None:
        """The method of the ghost."""
        return self._second

    @property
    def compared(self) -> bool:
        """Whether there is a ghost."""
        return self._second_on

    @property
    def apart(self) -> CollisionLimit | None:
        """What keeps shapes apart."""
        return self._collision

    @property
    def clearance(self) -> float | None:
        """The gain of the criterion that heeds obstacles."""
        return self._clear

    # Targets ---------------------------------------------------------------------------------------------------------

    def drag(self, k: int, pose: ArrayLike) -> bool:
        """Move the target of a task to where its gizmo is (7,), place and wxyz; False if that is refused."""

        def go() -> None:
            given = SE3(pose).array
            if given.shape != (7,):
                raise InvalidValue("too-many", "a gizmo has one pose")
            task = self._task(k)
            gizmo = gizmo_of(task)
            if gizmo is None:
                raise InvalidValue("not-supported", f"{task.label} has no target that a hand can move")
            goal = gizmo.goal(task, given)
            task.refuse(self.model, goal)
            if np.abs(goal).max() > _FARTHEST:
                raise InvalidValue(
                    "out-of-range", f"a target at {np.abs(goal).max():g} m is too far: bring it within {_FARTHEST:g} m"
                )
            self._goals = np.concatenate([self._goals[:k], goal[None], self._goals[k + 1 :]])
            self._stir()

        return self.edit([None], go, held=True)

    def release(self) -> None:
        """Solve for the targets as they are; those out of reach snap to what was reached."""

        def go() -> None:
            if self._lead is None:
                return
            before = perf_counter()
            found = self._lead.solve(self._goals, self._q)
            if found.success or self._collision is None or self._collision.is_kept(self.model, found.q):
                self._q = found.q.copy()
            self._words = self._rest() if found.success else found.explain()
            self._stir()
            self._words_hold = True
            if not found.success:
                self._snap()
            self._moment = self._look(perf_counter() - before)

        self.let_go()
        self.attempt(go)

    def put(self, q: ArrayLike) -> bool:
        """Place the robot at `q` (nq,), and its targets with it; False if that is refused."""

        def go() -> None:
            given = self.model.normalize(self.model.check_q(q))
            if not np.isfinite(given).all():
                raise InvalidValue("not-finite", "q holds a number that is not finite")
            self._q = self.model.clip(given)
            self._ghost = self._q.copy()
            self._snap()
            self._rebuild()

        return self.attempt(go)

    def home(self) -> None:
        """Go to the model's home."""
        self.put(self.model.home)

    def reset(self) -> None:
        """Go to where it began."""
        self.put(self._start)

    def random(self, seed: int | np.random.Generator) -> None:
        """Go to a random configuration."""
        self.put(self.model.sample(seed=seed))

    # Tasks and methods -----------------------------------------------------------------------------------------------

    def add_task(self, task: Task) -> bool:
        """Lead something more; it begins where it is."""

        def go() -> None:
            _checked([task])
            goal = self._first_goal(task)
            self._change(tasks=(*self._tasks, task), goals=np.vstack([self._goals, goal]))

        return self.edit([None], go)

    def remove_task(self, k: int) -> bool:
        """Lead it no more."""

        def go() -> None:
            self._task(k)
            left = [i for i in range(len(self._tasks)) if i != k]
            self._change(tasks=tuple(self._tasks[i] for i in left), goals=self._goals[left])

        return self.edit([None], go)

    def replace_task(self, k: int, task: Task) -> bool:
        """The same target with other weights or another priority."""

        def go() -> None:
            _checked([task])
            if type(task) is not type(self._task(k)):
                raise InvalidValue(
                    "inconsistent", f"{self._tasks[k].label} is not {task.label}: remove it, and add that"
                )
            tasks = list(self._tasks)
            tasks[k] = task
            self._change(tasks=tuple(tasks), goals=self._goals)

        return self.edit([None], go)

    def use(self, method: str | Method | None) -> bool:
        """Be led by another method; None: the solver's own way."""
        return self.attempt(lambda: self._change(method=None if method is None else method_of(method)))

    def compare(self, method: str | Method | None, on: bool = True) -> bool:
        """Show where a second method leads, as a ghost."""

        def go() -> None:
            self._change(second=None if method is None else method_of(method), second_on=on)
            self._ghost = self._q.copy()

        return self.attempt(go)

    def keep_apart(self, least: float | None) -> bool:
        """Keep shapes at least so far apart [m], as a hard limit; None: do not."""
        return self.attempt(
            lambda: self._change(collision=None if least is None else CollisionLimit(self.world, min_distance=least))
        )

    def heed(self, gain: float | None) -> bool:
        """Turn away from obstacles within the null space, with this gain; None: do not."""
        return self.attempt(lambda: self._change(clear=gain))

    # Obstacles -------------------------------------------------------------------------------------------------------

    def add(self, name: str, shape: Obstacle) -> None:
        """Put a shape into the world, which the next tick sees; raises as `World.add` does."""
        with self._lock:
            self.world.add(name, shape)
            self._stir()

    def reshape(self, name: str, shape: Obstacle) -> None:
        """Give an obstacle another place, size or kind; raises as `World.replace` does."""
        with self._lock:
            self.world.replace(name, shape)
            self._stir()

    def remove(self, name: str) -> None:
        """Take an obstacle away; raises as `World.remove` does."""
        with self._lock:
            self.world.remove(name)
            self._stir()

    # Answers ---------------------------------------------------------------------------------------------------------

    def all_solutions(self, most: int = 16) -> Array:
        """(n, nq) configurations that fulfil the targets as they are, the nearest first."""

        def go() -> Array:
            if self._lead is None:
                return np.zeros((0, self.model.nq))
            targets = self._lead.targets(self._goals)
            found = solve_all(self.model, list(self._tasks), targets, self._q, samples=16)
            return np.array([branch.q for branch in found][:most]).reshape(-1, self.model.nq)

        empty = np.zeros((0, self.model.nq))
        return self._ask(go, empty)

    def convergence(self) -> list[tuple[str, Trace]]:
        """What the method and that of the ghost do from where the last motion began, those that iterate one."""

        def go() -> list[tuple[str, Trace]]:
            found = []
            for name, follower in (("robot", self._lead), ("ghost", self._other)):
                traced = None if follower is None else follower.trace(self._goals, self._began, _TRACED)
                if traced is not None and follower is not None and follower.method is not None:
                    found.append((f"{follower.method.title} ({name})", traced))
            return found

        return self._ask(go, [])

    def damping(self) -> float:
        """The lambda of the method where the robot is; NaN for a method without one."""

        def go() -> float:
            traced = None if self._lead is None else self._lead.trace(self._goals, self._q, 1)
            return math.nan if traced is None or not len(traced.damping) else math.sqrt(float(traced.damping[0]))

        return self._ask(go, math.nan)

    # The loop --------------------------------------------------------------------------------------------------------

    def tick(self) -> Moment:
        """Go on by one update; the last moment, where nothing moves and nothing has changed."""
        with self._lock:
            version = self.world.version
            if self._resting and version == self._seen:
                return self._moment
            if version != self._seen and self._clear is not None:
                self.attempt(self._rebuild)
            self._seen = version
            self._ticks += 1
            seconds = 0.0
            if self._lead is None:
                self._resting = True
            else:
                before = perf_counter()
                went = self._lead.step(self._goals, self._q)
                seconds = perf_counter() - before
                other = self._ghost if self._other is None else self._other.step(self._goals, self._ghost)
                moved = max(_largest(went - self._q), _largest(other - self._ghost))
                self._q, self._ghost = went, other
                self._resting = moved < _STILL
                if self._resting and not self._words_hold:
                    self._words = self._rest()
            self._moment = self._look(seconds)
            return self._moment

    def _rest(self) -> str:
        """What is left of each task where the robot rests."""
        return "" if self._lead is None else f"At rest: {'; '.join(self._lead.errors(self._goals, self._q))}."

    def _look(self, seconds: float) -> Moment:
        near = None
        if len(self.world) or self._collision is not None:
            found = self.model.distance(self._q, self.world)
            near = found if isinstance(found, Proximity) else None
        return Moment(
            tick=self._ticks, q=self._q, ghost=self._ghost if self._other is not None else None, goals=self._goals,
            words=self._words if self._resting or self._words_hold else "following", lead=self._lead, seconds=seconds,
            resting=self._resting, nearest=near, structure=self._structure,
            tasks=() if self._lead is None else self._lead.tasks,
        )  # fmt: skip

    # Details ---------------------------------------------------------------------------------------------------------

    def _part(self, part: Part) -> Any:
        if part is None:
            return self._tasks, self._goals
        return next((entry.shape for entry in self.world.snapshot().entries if entry.name == part), None)

    def _bring_back(self, part: Part, was: Any) -> None:
        if part is None:
            tasks, goals = was
            if tasks is not self._tasks:
                self._change(tasks=tasks, goals=goals)
                self._structure += 1
            self._goals = goals
        elif part in self.world:
            self.world.remove(part) if was is None else self.world.replace(part, was)
        elif was is not None:
            self.world.add(part, was)
        self._stir()

    def _task(self, k: int) -> Task:
        """Task `k`; raises IndexError for a number that none has."""
        if not 0 <= k < len(self._tasks):
            raise IndexError(f"there is no target {k + 1}, of {len(self._tasks)}")
        return self._tasks[k]

    def _first_goal(self, task: Task) -> Array:
        return task.goal(task.target) if task.target is not None else task.at(self.model, self._q)

    def _snap(self) -> None:
        """Bring every target that a hand can move to where the robot is."""
        goals = [
            goal if gizmo_of(task) is None else task.at(self.model, self._q)
            for task, goal in zip(self._tasks, self._goals, strict=True)
        ]
        self._goals = np.array(goals).reshape(-1, 7)

    def _stir(self) -> None:
        if self._resting:
            self._began = self._q.copy()
        self._resting, self._words_hold = False, False

    def _change(self, **values: Any) -> None:
        """Change settings; if nothing can be built with them they stay as they were."""
        names = {f"_{name}": value for name, value in values.items()}
        before = {name: getattr(self, name) for name in names}
        for name, value in names.items():
            setattr(self, name, value)
        try:
            self._rebuild()
        except Exception:
            for name, value in before.items():
                setattr(self, name, value)
            raise
        self._structure += len(values.get("tasks", ())) != len(before.get("_tasks", ()))

    def _rebuild(self) -> None:
        lead = self._follower(self._method)
        other = self._follower(self._second) if self._second_on else None
        for follower, q in ((lead, self._q), (other, self._ghost)):
            if follower is not None:
                follower.warm(self._goals, q)
        self._lead, self._other = lead, other
        self._stir()

    def _follower(self, method: Method | None) -> Follower | None:
        if not self._tasks:
            return None
        return Follower(self.model, self._tasks, self._heeding(method), collision=self._collision)

    def _heeding(self, method: Method | None) -> Method | None:
        """The method, with the obstacles as its criterion if they are to be heeded."""
        if self._clear is None:
            return method
        if method is None:
            raise InvalidValue(
                "not-supported",
                "the solver's own way heeds no criterion: choose a method, or keep shapes apart instead",
            )
        if not hasattr(method, "null_space"):
            raise InvalidValue(
                "not-supported", f"{method.title} has no null space that could heed obstacles: keep them apart instead"
            )
        finite_positive("gain", self._clear)
        standing = [entry.shape for entry in self.world.snapshot().entries if entry.link is None]
        shapes = [shape for shape in standing if isinstance(shape, Rounded)]
        if not shapes:
            return method
        terms = tuple(term for term in method.terms if not isinstance(term, Clearance))
        made: Any = replace(method, null_space=(*terms, Clearance(obstacles=shapes, gain=self._clear)))  # type: ignore[call-arg]
        return made


def _checked(tasks: Iterable[Any]) -> list[Task]:
    found = list(tasks)
    for task in found:
        if not isinstance(task, Task) or not task.blocks:
            raise InvalidType(
                "not-a-task", f"{task!r} cannot be looked at: give it tasks that lead a frame or the centre of mass"
            )
    return found


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
