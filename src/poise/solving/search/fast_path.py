"""The fast path in C around calls of the usual kind, where the package's library has it; see `build/fast_path.c`."""

import ctypes
from _ctypes import CFuncPtr
from collections.abc import Callable, Sequence
from math import ceil
from threading import Lock
from typing import Any, Protocol

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.kernels.fast_path import load_fast_path
from poise.kernels.machine.layout import ANSWER
from poise.model.model import Model
from poise.solving.answers.solution import Solution
from poise.solving.problem.prepared_tasks import PreparedTasks
from poise.solving.problem.workspace import Bound, Scratch
from poise.spatial import SE3
from poise.tasks.base import POSITION, ROTATION, Task

_KINDS = {(POSITION, ROTATION): b"p", (POSITION,): b"t"}
"""What target a task takes, by what it leads of its frame: a pose or a point."""


class Line(Protocol):
    """What is prepared in C; each gives None where Python is to make the call."""

    def solve(self, model: Model, search: object, target: Any, q0: ArrayLike | None) -> Solution | None:
        """The answer of a search."""

    def step(
        self, q: ArrayLike | None, target: Any, out: Array | None, measured: ArrayLike | None
    ) -> Array | int | None:
        """(nq,) where a step of a tracker leads, or the code of one that is no finite number."""


def line_of_search(bound: Bound, tasks: PreparedTasks, longest: float | None, home: Array) -> Line | None:
    """What answers usual calls of a search of at most so long [s], which begins at `home` (nq,) where it is not told
    where; or None."""
    most = 0 if longest is None else ceil(1e9 * longest)  # 0 is no end
    look = None if bound.collision is None else Scratch.sync_scene
    known = tasks.own_goal.tobytes(), home.tobytes(), _pause, look, None, None, None
    return _line(bound, tasks.given, 0, 0, (most, 0), bound.idle, *known)


def line_of_tracker(
    bound: Bound, tasks: Sequence[Task], scratch: Scratch, lock: Lock, copy: Callable[[], Array]
) -> Line | None:
    """What takes usual steps of a tracker in this scratch, after a look around; or None.  `copy` copies its q."""
    look = None if bound.collision is None else scratch.sync_scene
    held = look, lock.acquire, lock.release, copy
    return _line(bound, tasks, scratch.address, ANSWER, (0, scratch.measured_row), None, None, None, None, *held)


def _pause() -> None:
    """What Python does between two of its functions, it does here too: it hears of signals, and of exceptions that
    another thread has sent."""


def _line(
    bound: Bound, tasks: Sequence[Task], address: int, skipped: int, settings: tuple[int, int], *references: Any
) -> Line | None:
    extension = load_fast_path()
    if extension is None or not isinstance(bound.run, CFuncPtr):
        return None
    run = ctypes.cast(bound.run, ctypes.c_void_p).value
    goal, posture, start, out = map(bound.problem.rows, ("goal", "posture_goal", "start", "out"))
    counts = start.stop - start.start, posture.stop - goal.start  # the posture of a search is behind its goals
    numbers = [run, address, goal.start, start.start, out.start + skipped, *counts, *settings]
    kinds = b"".join(_KINDS.get(task.frame_parts, b"-") if task.blocks else b"q" for task in tasks)
    made: Line | None = extension.line(np.array(numbers, dtype=np.int64).tobytes(), kinds, SE3, Solution, *references)
    return made
