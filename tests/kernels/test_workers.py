"""Several functions compiled at once are those that one process would have compiled one after the other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fresh import fresh

from poise.kernels import workers
from poise.kernels.kinematics import query
from poise.kernels.machine import jit, kinds

MODULE = """
from poise.kernels.compiling import identity
from poise.kernels.machine import jit, kinds

identity.is_own = lambda function: True

@jit.entry_point(kinds.REAL)
def twice(x):
    return 2.0 * x

@jit.routine
def double(x, out):
    out[0] = 2.0 * x[0]
"""

CODE = """
import sys
import small
from poise.kernels.compiling.jit import dispatcher
from poise.kernels import workers
from poise.kernels.machine.jit import missing
from poise.kernels.machine.kinds import FROZEN, REALS
{change}
jobs = [(small.twice,), (small.double, REALS, REALS), (small.double, FROZEN, REALS)]
assert all(missing(*job) for job in jobs)
workers.compile_together(jobs)
assert not any(missing(*job) for job in jobs)
assert small.twice(2.0) == 4.0
made = [dispatcher(function) for function in (small.twice, small.double)]
assert len(made[1].overloads) == 2
print(sum(sum(function.stats.cache_hits.values()) for function in made))
"""


def run(home: Path, change: str = "") -> int:
    """How many of three functions were compiled elsewhere."""
    (home / "small.py").write_text(MODULE)
    answer = subprocess.run(
        [sys.executable, "-c", CODE.format(change=change)],
        cwd=home, env=fresh(home / "cache"), check=True, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert len(list(home.rglob("*.compiled"))) == 3
    return int(answer.stdout)


def test_they_are_compiled_elsewhere_and_loaded_here(tmp_path: Path) -> None:
    # The first compilation here waits for a worker's, or this process might be done before another has begun.
    wait = """
import time
from poise.kernels.compiling.cache import FOLDER
from poise.kernels.machine import jit
workers._processes = lambda jobs: 2
ready, begin = jit.ready, time.monotonic()
def wait(*job):
    while len(list(FOLDER.glob("*.compiled"))) == 0 and time.monotonic() < begin + 60:
        time.sleep(0.01)
    ready(*job)
jit.ready = wait
"""
    assert 1 <= run(tmp_path, wait) <= 2


def test_who_watches_hears_of_each_and_of_nothing_where_nothing_is_missing(tmp_path: Path) -> None:
    watch = """
import contextlib
told = []
@contextlib.contextmanager
def watch(count):
    told.append(count)
    yield told.append
together = workers.compile_together
def watched(jobs):
    together(jobs, watch)
    assert told == [3, 1, 2, 3]
    together(jobs, watch)
    assert told == [3, 1, 2, 3]
workers.compile_together = watched
"""
    run(tmp_path, watch)


ALONE = {
    "one core": "workers._processes = lambda jobs: 1",
    "no interpreter": "sys.executable = ''",
    "an application that holds one": "sys.frozen = True",
    "a process that cannot be started": "workers._processes = lambda jobs: 3; sys.executable = '/nowhere/python'",
    "a worker that dies": "workers._processes = lambda jobs: 3; workers._WORK = 'raise SystemExit(1)'",
}


# One process, in which each change meets functions of its own.
EACH_ALONE = """
import importlib
import sys
from poise.kernels.compiling.jit import dispatcher
from poise.kernels import workers
from poise.kernels.machine.jit import missing
from poise.kernels.machine.kinds import FROZEN, REALS

kept = sys.executable, workers._processes, workers._WORK
for k, change in enumerate({changes!r}):
    small = importlib.import_module(f"small{{k}}")
    jobs = [(small.twice,), (small.double, REALS, REALS), (small.double, FROZEN, REALS)]
    assert all(missing(*job) for job in jobs)
    exec(change)
    workers.compile_together(jobs)
    sys.executable, workers._processes, workers._WORK = kept
    vars(sys).pop("frozen", None)
    assert not any(missing(*job) for job in jobs)
    assert small.twice(2.0) == 4.0
    made = [dispatcher(function) for function in (small.twice, small.double)]
    assert len(made[1].overloads) == 2
    elsewhere = sum(sum(function.stats.cache_hits.values()) for function in made)
    print(elsewhere, "compiled elsewhere where there is", change)
"""


def test_where_no_worker_can_all_is_compiled_here(tmp_path: Path) -> None:
    changes = list(ALONE.values())
    for k in range(len(changes)):
        (tmp_path / f"small{k}.py").write_text(MODULE)
    answer = subprocess.run(
        [sys.executable, "-c", EACH_ALONE.format(changes=changes)],
        cwd=tmp_path, env=fresh(tmp_path / "cache"), check=True, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    told = [f"0 compiled elsewhere where there is {change}" for change in changes]
    assert answer.stdout.splitlines() == told
    assert len(list(tmp_path.rglob("*.compiled"))) == 3 * len(changes)


def test_as_many_processes_as_cores_and_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(4)), raising=False)
    assert [workers._processes(jobs) for jobs in (0, 1, 3, 40)] == [0, 1, 3, 4]
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(100)))
    assert workers._processes(200) == workers._MOST


def test_a_function_without_a_name_of_its_own_has_no_place() -> None:
    assert workers._place(query.poses) == ("poise.kernels.kinematics.query", "poses")

    @jit.entry_point(kinds.REAL)
    def nameless(x: float) -> float:
        return x

    assert workers._place(nameless) is None
