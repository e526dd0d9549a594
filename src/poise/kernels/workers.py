"""Several functions compiled at once, in processes of their own, for a compilation keeps one core busy.

A worker compiles what it reads the names of and keeps it on disk, where the caller then finds it.  Where none can be
started, nothing can be kept, or there is but one core, all is compiled in the caller's own process.
"""

import contextlib
import os
import pickle
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Final

from poise.kernels.machine import jit
from poise.kernels.machine.notice import NOTICE

Job = tuple[Any, ...]
"""A routine and the types of its arguments, or an entry point alone, which knows its own; each may be named.

A routine may come in what has it as `function` and can be pickled.
"""
Progress = Callable[[int], AbstractContextManager[Callable[[int], None]]]
"""Told how many there are, it gives what is told how many are done."""
_Place = Any
"""The module and the name by which another process finds a function, or what holds it."""

_MOST: Final = 8
"""Processes at once; each takes some 300 MB and lowers the kernels that its functions share anew."""
_SECONDS: Final = struct.Struct("d")
_WORK: Final = "from poise.kernels.workers import work; work()"


def compile_together(jobs: Iterable[Job], progress: Progress | None = None) -> None:
    """Load or compile all of these; put first what takes longest.

    `progress` is told how many must be compiled, if any, and what it then gives how many are; without it lines on
    stderr tell of them.
    """
    wanted = list(dict.fromkeys(jobs))
    places = {job: _place(job[0]) for job in wanted if jit.missing(*_unwrapped(job))}
    away = deque((job, place) for job, place in places.items() if place is not None)
    missing = sum(place is not None for place in places.values())
    NOTICE.expect(missing)
    with progress(missing) if progress is not None and missing else contextlib.nullcontext(_unheard) as report:
        NOTICE.quiet = progress is not None
        try:
            _compile_away(away, report)
        finally:
            NOTICE.quiet = False
    for job in wanted:
        jit.ready(*_unwrapped(job))


def _compile_away(away: deque[tuple[Job, _Place]], report: Callable[[int], None]) -> None:
    """Compile what can be compiled anywhere, in this process and in others."""
    done, lock = 0, threading.Lock()

    def one_more() -> None:
        nonlocal done
        with lock:
            done += 1
            report(done)

    threads = [
        threading.Thread(target=_feed, args=(away, one_more), daemon=True)
        for _ in range(_processes(len(away)) - 1 if away else 0)
    ]
    for thread in threads:
        thread.start()
    for job, _ in _rest(away):
        jit.ready(*_unwrapped(job))
        one_more()
    for thread in threads:
        thread.join()


def work() -> None:
    """What a worker does: compile each function whose name it reads, and answer with its processor time since the
    last.
    """
    reported = 0.0
    while True:
        try:
            place, signature = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        job = getattr(import_module(place[0]), place[1]) if isinstance(place, tuple) else place
        jit.ready(*_unwrapped((job, *signature)))
        now = process_time()
        sys.stdout.buffer.write(_SECONDS.pack(now - reported))
        sys.stdout.buffer.flush()
        reported = now


def _unheard(done: int) -> None:
    """Nobody asked how many are done."""


def _feed(jobs: deque[tuple[Job, _Place]], done: Callable[[], None]) -> None:
    """Give a worker one job after the other; what it does not do, the caller will."""
    import subprocess

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    from poise.kernels.compiling.cache import FOLDER

    if FOLDER.is_absolute():
        environment["POISE_CACHE_DIR"] = str(FOLDER.parent)
    with (
        contextlib.suppress(OSError),
        subprocess.Popen(
            [sys.executable, "-P", "-c", _WORK],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as worker,
    ):
        assert worker.stdin is not None
        assert worker.stdout is not None
        for (_, *signature), place in _rest(jobs):
            pickle.dump((place, signature), worker.stdin)
            worker.stdin.flush()
            answer = worker.stdout.read(_SECONDS.size)
            if len(answer) < _SECONDS.size:
                return
            NOTICE.add(*_SECONDS.unpack(answer))
            done()


def _rest(jobs: deque[tuple[Job, _Place]]) -> Iterator[tuple[Job, _Place]]:
    """Take one after the other, as long as other threads leave some."""
    with contextlib.suppress(IndexError):
        while True:
            yield jobs.popleft()


def _unwrapped(job: Job) -> Job:
    return getattr(job[0], "function", job[0]), *job[1:]


def _place(function: Any) -> _Place | None:
    """Where another process finds a function; None if it has no name of its own."""
    if hasattr(function, "function") or isinstance(function, str):
        return function
    module = function.__module__
    names = vars(sys.modules[module]).items() if module in sys.modules else ()
    return next(((module, name) for name, value in names if value is function), None)


def _processes(jobs: int) -> int:
    """How many processes are worth while, this one included."""
    # An application that holds an interpreter would start itself again.
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.lower().startswith("python"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(jobs, cores, _MOST)
