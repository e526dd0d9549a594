"""Threads and forked processes may compile at any moment; what is compiled again and again is warned of."""

import ast
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from fresh import fresh

import poise
from poise.kernels.compiling import jit as compiling
from poise.kernels.machine import jit, kinds

FORKED = """
import os, signal, sys, threading, time
from poise.kernels.machine import jit, kinds

begun, done = threading.Event(), threading.Event()

def begins(notice, name):
    begun.set()
    time.sleep(1.0)

type(jit.NOTICE).begins = begins

def scaled(factor):
    @jit.entry_point(kinds.REAL)
    def times(x):
        return factor * x
    return times

mine, others = scaled(2.0), scaled(3.0)
thread = threading.Thread(target=jit.prepare, args=(mine,))
thread.start()
begun.wait()
child = os.fork()
if not child:
    signal.alarm(60)
    jit.prepare(others)
    jit.prepare(mine)
    os._exit(0 if (mine(1.0), others(1.0)) == (2.0, 3.0) else 1)
assert os.waitpid(child, 0)[1] == 0
thread.join()
jit.prepare(others)
assert (mine(1.0), others(1.0)) == (2.0, 3.0)
"""

THREADS = """
import sys, threading
from poise.kernels.machine import jit, kinds

sys.setswitchinterval(1e-5)

@jit.entry_point(kinds.REAL)
def twice(x):
    return 2.0 * x

@jit.routine
def double(x, out):
    out[0] = 2.0 * x[0]

found = []

def use():
    jit.prepare(twice)
    found.append((twice(2.0), jit.address(double, kinds.FROZEN, kinds.REALS)))

threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 8
assert len(set(found)) == 1
assert found[0][0] == 4.0
"""


def run(code: str, home: Path) -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=fresh(home), check=True, timeout=300)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork there")
def test_a_process_forked_while_another_thread_compiles_can_compile(tmp_path: Path) -> None:
    run(FORKED, tmp_path)


def test_threads_that_want_the_same_at_once_get_the_same(tmp_path: Path) -> None:
    run(THREADS, tmp_path)


Array = npt.NDArray[np.float64]


def scaled(factor: float) -> Callable[[Array, Array], None]:
    def times(given: Array, out: Array) -> None:
        out[0] = factor * given[0]

    return times


def test_a_function_made_anew_time_and_again_is_warned_of_once() -> None:
    compiling._adopt.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(compiling._OFTEN + 2):
            compiling.adopt(scaled(float(k)), kinds.FROZEN, kinds.REALS)
    (warning,) = caught
    assert "scaled.<locals>.times" in str(warning.message)
    assert __file__ in str(warning.message)


def test_a_function_used_again_is_compiled_once_and_not_warned_of() -> None:
    function = scaled(0.5)
    adopted = {id(compiling.adopt(function, kinds.FROZEN, kinds.REALS)) for _ in range(2 * compiling._OFTEN)}
    assert len(adopted) == 1


def test_every_kernel_that_is_named_is_there() -> None:
    source = Path(poise.__file__).parent
    rooms = "|".join(room.name for room in (source / "kernels").iterdir() if room.is_dir())
    place = re.compile(rf"({rooms})\.\w+\.\w+")
    texts = (
        node.value
        for file in source.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    named = set(filter(place.fullmatch, texts))
    assert {"solver.lm_solver.solve", "requirements.collision.clearance", "collision.queries.place"} <= named
    for name in sorted(named):
        assert jit.plain(jit.function_of(name)).__name__ == name.rpartition(".")[2]
