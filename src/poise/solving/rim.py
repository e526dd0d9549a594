"""The rim in C around calls of the usual kind, where the package's library has it; see `build/rim.c`."""

import ctypes
from _ctypes import CFuncPtr
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from poise.kernels.machine.layout import ANSWER
from poise.kernels.rim import rim
from poise.solving.scratch import Bound, Scratch
from poise.spatial import Array
from poise.tasks.base import POSITION, ROTATION, Task

_KINDS = {(POSITION, ROTATION): b"p", (POSITION,): b"t"}
"""What target a task takes, by what it leads of its frame: a pose or a point."""


def line_of_search(bound: Bound, tasks: Sequence[Task], own: Array | None, home: Array) -> Any:
    """What answers usual calls of a search for these tasks, `own` goal numbers and `home` for None; or None."""
    numbers = None if own is None else own.tobytes()
    return _line(bound, tasks, 0, 0, bound.idle, numbers, home.tobytes(), None, None, None, None)


def line_of_tracker(
    bound: Bound, tasks: Sequence[Task], scratch: Scratch, look: Callable[[], None] | None, lock: Lock, copy: Any
) -> Any:
    """What takes usual steps of a tracker in this scratch, after a `look` around; or None.  `copy` copies its q."""
    return _line(bound, tasks, scratch.address, ANSWER, None, None, None, look, lock.acquire, lock.release, copy)


def _line(bound: Bound, tasks: Sequence[Task], address: int, skipped: int, *held: Any) -> Any:
    extension = rim()
    if extension is None or not isinstance(bound.run, CFuncPtr):
        return None
    run = ctypes.cast(bound.run, ctypes.c_void_p).value
    goal, start, out = map(bound.problem.rows, ("goal", "start", "out"))
    nq = start.stop - start.start
    numbers = np.array([run, address, goal.start, start.start, out.start + skipped, nq], dtype=np.int64)
    return extension.line(numbers.tobytes(), b"".join(_KINDS.get(task.leads, b"-") for task in tasks), *held)
