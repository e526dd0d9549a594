"""The door to the descents of a robot's hand: `kernels.hands.descent` says what a frame makes least, and how."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.checks import finite_positive
from poise.common.errors import InvalidValue
from poise.kernels.hands import descent
from poise.kernels.hands.landmarks import VECTORS
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, COMMON, COST, GOAL_NUMBERS, ITERATIONS, MAX_COLLISION_ROWS
from poise.kernels.machine.memory import MEMORY
from poise.model.closure import LoopClosure
from poise.model.model import Model
from poise.solving.problem.problem import pack
from poise.solving.problem.workspace import Bound
from poise.solving.requirements.limits import Limits, LimitsLike, with_feasibility_check
from poise.solving.requirements.loops import loop_tasks
from poise.solving.requirements.sections import requirements
from poise.solving.requirements.sums import sums_of
from poise.tasks.value import Value
from poise.tasks.vector import VectorTask

_STEPS: Final = 50
"""Steps of a frame, at most."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Pinch(Value):
    """When two fingertips pinch, and what that asks of the robot's (DexPilot).

    Raises ValueError for a number that is not positive, and for `away` below `near`.
    """

    near: float = 0.03
    """A finger pinches when its tip is nearer than this to the thumb's [m]."""
    away: float = 0.05
    """It does so until it is farther than this [m]."""
    touch: float = 1e-4
    """How far apart the robot's thumb and finger then are to be [m]."""
    beside: float = 0.03
    """How far apart two fingers are to be that both pinch, and are nearer to each other than `near` [m]."""
    thumb_weight: float = 200.0
    """Weight of a thumb and a finger that pinch; of those that do not it is 1."""
    finger_weight: float = 400.0
    """Weight of two fingers that both pinch."""

    def __post_init__(self) -> None:
        for field in fields(self):
            finite_positive(field.name, getattr(self, field.name))
        if self.away < self.near:
            raise InvalidValue(
                "inconsistent", f"away is {self.away:g} m, less than near, {self.near:g} m: a pinch would flicker"
            )


@final
class LandmarkDescent:
    """Follows the landmarks of a hand by vectors of a robot's, one frame after the other; it remembers the last one.

    The task k is to be `scale` times the vector from the landmark `ends[k][0]`, None for the origin, to `ends[k][1]`,
    both among `landmarks`.  The last `fingers` vectors are from the wrist, which is landmark 0, to the fingertips, and
    those before them between all pairs of tips, which `pinch` draws in; without fingers there are no such pairs.

    With `side` 1 for a right hand and -1 for a left one landmarks are seen along the hand's own axes, which the wrist
    and the `knuckles` of middle and index finger make, and `turn` (3, 3) leads from these to the robot's; 0: as they
    are.  `huber` is where the loss becomes linear [m], with `each` of every coordinate by itself; `regularization`
    weighs |q - q_last|^2, and `alpha`, above 0 and up to 1, is that of a low-pass filter behind each frame.

    One thread at a time.  Raises FrameNotFound for names, ValueError for limits that need a time.
    """

    __slots__ = ("_bound", "_loops", "_scratch", "_tasks", "_told", "model", "prior", "regularization")

    def __init__(
        self,
        model: Model,
        tasks: Sequence[VectorTask],
        ends: Sequence[tuple[int | None, int]],
        *,
        landmarks: int,
        scale: float,
        huber: float,
        regularization: float,
        alpha: float,
        pinch: Pinch,
        limits: LimitsLike,
        side: int = 0,
        knuckles: tuple[int, int] = (0, 0),
        turn: Array | None = None,
        each: bool = False,
        fingers: int = 0,
    ) -> None:
        self.model, self.regularization, self._tasks = model, regularization, tuple(tasks)
        stated, pairs = Limits.of(limits), fingers * (fingers - 1) // 2
        plan = [side, int(each), pairs, fingers, *knuckles, landmarks, len(ends)]
        assert len(plan) == VECTORS
        for origin, tip in ends:
            plan += [-1 if origin is None else origin, tip]
        p = pinch
        settings = [scale, huber, regularization, alpha, p.near, p.away, p.touch, p.beside]
        settings += [p.thumb_weight, p.finger_weight, *(np.eye(3) if turn is None else turn).ravel()]
        every = (*self._tasks, *loop_tasks(model, self._tasks))
        packed = pack(model, every, limits=stated.positions, also=stated.tied(model))
        problem, n, nq = with_feasibility_check(model, packed, stated), len(packed.velocities), model.nq
        shapes = 0 if stated.collision is None else MAX_COLLISION_ROWS
        count = len(sums_of(problem)[1]) + shapes
        bounded = stated.has_constraints or bool(problem.section("balls")["limited"].any())
        kept = requirements(model, every, problem, count, constrained=bounded, metric=True)
        sections, rows = ({}, {}) if kept is None else kept
        sections |= {"plan": plan, "settings": settings, "speeds": np.full(n, np.inf)}
        sections["common"] = np.zeros(1, dtype=COMMON.dtype).view(np.int64)
        rows |= {"matrix": n * n, "room": n * n, "memory": MEMORY + pairs}
        rows |= dict.fromkeys(("gradient", "other", "moved"), n) | dict.fromkeys(("best", "prior", "begun"), nq)
        parts = [*(["project step"] if kept else []), *(["shapes", "shapes in steps"] if stated.collision else [])]
        self._bound = Bound(problem.extended(sections, rows), tuple(parts), collision=stated.collision)
        self._begin()

    def _begin(self) -> None:
        """Make the workspace, which holds the past."""
        self._scratch = self._bound.new(self.model)
        self._scratch.set_fields(max_iterations=_STEPS, updates=1)
        loops = loop_tasks(self.model, self._tasks)
        self._scratch.goal[GOAL_NUMBERS * len(self._tasks) :] = [x for loop in loops for x in loop.goal(None)]
        self._loops = LoopClosure(self.model, [task.loop for task in loops], limits=self.has_limits) if loops else None
        self._told: tuple[Array, Array] | None = None
        self.prior: Array = self._scratch.narrow[self._bound.problem.rows("prior")]
        """(nq,) where the last frame led, without the filter; what is written to it is where the next one begins."""
        prepare(descent.follow)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("_bound", "_tasks", "model", "regularization")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._begin()

    @property
    def has_limits(self) -> bool:
        """Whether joints keep theirs."""
        return self._bound.problem.limits

    @property
    def broken(self) -> int:
        """Frames of the last call in which not all limits hold, for no step led back."""
        return int(self._scratch.out[descent.BROKEN])

    @property
    def iterations(self) -> int:
        """Steps of the last call, over all of its frames."""
        return int(self._scratch.out[ITERATIONS])

    @property
    def cost(self) -> float:
        """What the last frame made as small as it could."""
        return float(self._scratch.out[COST])

    def follow(self, points: Array, path: Array, start: Array | None = None) -> bool:
        """Fill `path` (frames, nq) for `points` (frames, landmarks, 3) [m], from the `prior`, or as the first from
        `start` (nq,); False where landmarks are no hand, or not finite."""
        scratch = self._scratch
        if start is not None:
            scratch.start[:] = start
        scratch.sync_scene()
        told = self._told
        if start is not None or told is None or told[0] is not points or told[1] is not path:
            scratch.set_fields(steps=len(path), given=int(start is not None))
            scratch.set_arrays(goals=points, path=path)
        self._told = (points, path) if start is None else None
        code = prepare(descent.follow)(scratch.address)
        assert code != BAD_START
        return bool(code != BAD_GOAL)

    def objective(self, points: Array, q: Array, last: Array) -> float | None:
        """What a frame makes as small as it can, at `q` (nq,) for `points` (landmarks, 3) after `last` (nq,), with the
        pinches of the last frame as far as the landmarks leave them so; None where these are no hand."""
        past = self._scratch.narrow.copy()
        try:
            self._scratch.set_fields(max_iterations=0)
            self.prior[:] = q
            if not self.follow(points[None], np.zeros((1, self.model.nq))):
                return None
            way = self.model.difference(last, q)[list(self._bound.problem.velocities)]
            return self.cost + self.regularization * float(way @ way)
        finally:
            self._scratch.narrow[:] = past
            self._scratch.set_fields(max_iterations=_STEPS)

    def closed(self, q: Array) -> Array:
        """The configuration near to `q` (nq,) in which the loops are closed that move with the hand; `q` without."""
        found = None if self._loops is None else self._loops.closed(q)
        return q if found is None else found
