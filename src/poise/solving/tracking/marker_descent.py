"""The door to the descents of a body by markers and sensors: `kernels.markers.descent` says what is made least, how."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import ShapeError
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import (
    BAD_START,
    BALL_AXES,
    BALL_TURN,
    BY_FUNCTION,
    COMMON,
    FRAME,
    GOAL_NUMBERS,
    ITERATIONS,
    PRISMATIC,
    REVOLUTE,
    STILL,
)
from poise.kernels.machine.memory import MEMORY
from poise.kernels.markers import descent
from poise.kernels.markers.moments import AXIS, HEAD, MOMENTS, PLACE, SCALES, TURN, TWIST
from poise.model.closure import LoopClosure
from poise.model.model import Model
from poise.model.tree import carrying
from poise.solving.arguments.arguments import refuse_start
from poise.solving.problem.problem import Problem, pack
from poise.solving.problem.workspace import Bound
from poise.solving.requirements.loops import loop_tasks
from poise.solving.requirements.sections import requirements
from poise.tasks.frame import OfFrame
from poise.tasks.pose import OrientationTask, PositionTask

_STEPS: Final = 100
"""Steps of a frame, at most."""


@final
class MarkerDescent:
    """Follows measured markers and orientations by frames of a model, one frame of a recording after the other, within
    the limits of joints, with loops closed; it remembers the last one.

    It makes least 1/2 sum w |x|^2 / sum w, over what was measured: x is how far one of `frames` is off [m], or by what
    rotation vector one of `sensors` is turned [rad]; `weights` are of all of these, in this order.  Beside them is
    1/2 sum c (q - v)^2 over coordinates, whose weights are by joints of one coordinate.

    One thread at a time.  Raises FrameNotFound for names.
    """

    __slots__ = ("_bound", "_loops", "_scratch", "coordinates", "frames", "model", "sensors")

    def __init__(
        self,
        model: Model,
        frames: Sequence[str],
        weights: Sequence[float],
        coordinates: dict[str, float],
        sensors: Sequence[str] = (),
    ) -> None:
        self.model, self.coordinates = model, dict(coordinates)
        self.frames, self.sensors = tuple(frames), tuple(sensors)
        tasks: list[OfFrame] = [*map(PositionTask, self.frames), *map(OrientationTask, self.sensors)]
        also = [model.velocity_index(name).start for name in self.coordinates]
        loops = loop_tasks(model, tasks)
        packed = pack(model, (*tasks, *loops), also=also)
        n, nq = len(packed.velocities), model.nq
        axes, scales = _axes(model, packed, tasks)
        columns = packed.rows("scratch")
        first = columns.stop - columns.start
        plan = [len(self.frames), len(tasks), first, len(axes), *(number for axis in axes for number in axis)]
        own = np.zeros(n)
        for name, weight in self.coordinates.items():
            own[packed.velocities.index(model.velocity_index(name).start)] = weight
        settings = [*weights, *own, *scales]
        kept = requirements(model, (*tasks, *loops), packed, 0, constrained=False, metric=True) if loops else None
        sections, rows = ({}, {}) if kept is None else kept
        sections |= {"plan": plan, "settings": settings, "speeds": np.full(n, np.inf)}
        sections["common"] = np.zeros(1, dtype=COMMON.dtype).view(np.int64)
        units = len(packed.section("units"))
        rows |= {"matrix": n * n, "room": n * n, "memory": MEMORY}
        rows |= {"scratch": first + 3 * len(tasks) + MOMENTS * units + TWIST * len(axes)}
        rows |= dict.fromkeys(("gradient", "other", "moved"), n) | dict.fromkeys(("begun", "prior"), nq)
        self._bound = Bound(packed.extended(sections, rows), ("project step",) if loops else ())
        self._begin()

    def _begin(self) -> None:
        """Make the workspace, which holds the past."""
        self._scratch = self._bound.new(self.model)
        self._scratch.set_fields(updates=1)
        tasks: list[OfFrame] = [*map(PositionTask, self.frames), *map(OrientationTask, self.sensors)]
        loops = loop_tasks(self.model, tasks)
        self._scratch.goal[GOAL_NUMBERS * len(tasks) :] = [x for loop in loops for x in loop.goal(None)]
        self._loops = LoopClosure(self.model, [task.loop for task in loops], limits=True) if loops else None
        prepare(descent.follow)

    def fresh(self) -> "MarkerDescent":
        """Another one without a past, for another thread."""
        made = object.__new__(MarkerDescent)
        for name in ("_bound", "coordinates", "frames", "model", "sensors"):
            setattr(made, name, getattr(self, name))
        made._begin()
        return made

    def __getstate__(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("_bound", "coordinates", "frames", "model", "sensors")}
        return own | {"past": self._scratch.past()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        past = state.pop("past")
        for name, value in state.items():
            setattr(self, name, value)
        self._begin()
        self._scratch.return_to(past)

    @property
    def iterations(self) -> int:
        """Steps of the last call, over all of its frames."""
        return int(self._scratch.out[ITERATIONS])

    @property
    def velocities(self) -> tuple[int, ...]:
        """The places in v of what moves the markers, in the order of `aims`."""
        return self._bound.problem.velocities

    @property
    def width(self) -> int:
        """Numbers of a frame of goals: 3 a marker, its place [m], then 9 a sensor, its rotation row by row."""
        return PLACE * len(self.frames) + TURN * len(self.sensors)

    def follow(
        self,
        goals: Array,
        aims: Array,
        path: Array,
        found: Array,
        answers: Array,
        start: Array | None = None,
        most: int = _STEPS,
    ) -> None:
        """Fill `path` (frames, nq), `found` (frames, markers and sensors, 3), where markers then are [m] and by what
        rotation vectors sensors are turned from where they were measured [rad], and `answers` (frames, 2), what was
        made least, and 1 where that took `most` steps, so that it may not be the least, else 0; for `goals` (frames,
        width), NaN in gaps, and `aims` (frames, len(velocities)), values of coordinates.  It goes on from the last
        call, or begins at `start` (nq,), and takes `most` steps a frame at most.  Raises ValueError for a start with a
        number that is too large or a zero quaternion.
        """
        scratch, goals, aims = self._scratch, np.ascontiguousarray(goals), np.ascontiguousarray(aims)
        frames, seen = len(path), len(self.frames) + len(self.sensors)
        goals = goals.reshape(frames, -1)
        shapes = (frames, self.width), (frames, self.model.nq), (frames, seen, 3), (frames, 2)
        for array, shape in zip((goals, path, found, answers), shapes, strict=True):
            if array.shape != shape or not array.flags.c_contiguous:  # a kernel reads and writes them by their address
                raise ShapeError(f"an array of the shape {shape} is needed, one row after the other, got {array.shape}")
        if start is not None:
            self.model.check_q(start, "q0")
            scratch.start[:] = self._closed(start)
        scratch.set_fields(steps=len(path), given=int(start is not None), max_iterations=most)
        scratch.set_arrays(goals=goals, postures=aims, path=path, found=found, answers=answers)
        code = prepare(descent.follow)(scratch.address)
        if code == BAD_START:
            refuse_start("q0")

    def gaps(self, path: Array) -> Array:
        """(frames,) how far the worst loop is open in each configuration of `path` (frames, nq) [m or rad]."""
        return np.array([0.0 if self._loops is None else self._loops.gap(q) for q in path])

    def _closed(self, start: Array) -> Array:
        """(nq,) a configuration near to `start` (nq,) with loops closed, or where its loops are as at home; `start`
        where neither closes them."""
        if self._loops is None:
            return start
        anew = start.copy()
        anew[self._loops.places] = self.model.home[self._loops.places]
        for q in (start, anew):
            found = self._loops.closed(q)
            if found is not None:
                return found
        return start


def _axes(model: Model, packed: Problem, tasks: Sequence[OfFrame]) -> tuple[list[tuple[int, ...]], list[float]]:
    """Of each axis that moves some of these what `kernels.markers.moments` reads, and its multiplier and pitch."""
    wanted = sorted(set().union(*(task.needed(model) for task in tasks)))
    units, _ = carrying(model.tree, wanted)
    arrays = packed.section("units")
    active = {v: a for a, v in enumerate(packed.velocities)}
    axes: list[tuple[int, ...]] = []
    scales: list[float] = []
    last: dict[int, int] = {-1: -1}
    for u, unit in enumerate(units):
        before = last[unit.parent]
        kind = int(arrays["kind"][u])
        for row, k in _directions(kind):
            curved = kind >= BY_FUNCTION
            moves = kind - BY_FUNCTION if curved else REVOLUTE if kind == BALL_AXES else kind
            axes.append((FRAME * u + row, u, moves, active[unit.iv + k], before, int(curved)))
            pitch = unit.pitch if moves != PRISMATIC else 0.0
            scales += [unit.multiplier, pitch]
            before = len(axes) - 1
        last[u] = before
    assert all(len(axis) == AXIS for axis in axes)
    assert len(scales) == SCALES * len(axes)
    assert HEAD == 4
    return axes, scales


def _directions(kind: int) -> tuple[tuple[int, int], ...]:
    """The rows, within those of a unit of this kind, of the directions that it moves about or along, and the place of
    each among its velocities."""
    if kind in (BALL_TURN, STILL):
        return ()
    return ((6, 0), (9, 1), (3, 2)) if kind == BALL_AXES else ((3, 0),)
