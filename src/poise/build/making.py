"""Libraries of all kernels: each lowered once, then compiled for every level of each target in processes of their own.

What is compiled is kept on disk like what Numba compiles, so that an edit compiles anew what it touches alone.
"""

import os
import pickle
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from poise.build.linking import link, link_fast_path
from poise.build.lowering import lower
from poise.build.objects import emit
from poise.build.targets import Target
from poise.kernels.compiling import cache
from poise.kernels.compiling.identity import compiler
from poise.kernels.compiling.jit import dispatcher, typed
from poise.kernels.compiling.numba_internals import cache_key
from poise.kernels.fast_path import fast_path_file
from poise.kernels.machine.jit import SIGNATURES
from poise.kernels.machine.library import digest
from poise.kernels.workers import Job
from poise.solving.solvers.warmup import jobs


class Compiled(NamedTuple):
    """A function as an object file a level; `kinds` as in `Lowered`."""

    symbol: str
    kinds: str
    objects: tuple[bytes, ...]


def make_all(libraries: Mapping[Target, Path], processes: int = 0) -> int:
    """Write the library of each target and the fast path beside it; returns how many functions they have.

    Raises what `make` does.
    """
    made = make(list(dict.fromkeys(jobs())), libraries, processes)
    for target, out in libraries.items():
        link_fast_path(target, fast_path_file(out))
    return made


def make(functions: Sequence[Job], libraries: Mapping[Target, Path], processes: int = 0) -> int:
    """Write libraries of these functions, each entry point alone and each routine with the types of its arguments.

    Raises ValueError for a kernel that calls a C library's function, and RuntimeError where nothing links.
    """
    how = tools()
    found: dict[Target, list[Future[Compiled]]] = {target: [] for target in libraries}
    with ProcessPoolExecutor(processes or os.cpu_count() or 1, get_context("spawn")) as pool:
        for job, *types in functions:
            function: Any = getattr(job, "function", job)
            signature, lowered = tuple(types) or SIGNATURES[function], None
            identity = cache_key(dispatcher(function), typed(signature))
            for target, compiled in found.items():
                key = identity and f"{identity} object for {target}, {how}"
                cached = cache.load(key) if key else None
                if cached is not None:
                    compiled.append(Future())
                    compiled[-1].set_result(pickle.loads(cached))
                    continue
                lowered = lowered or lower(function, signature)
                compiled.append(pool.submit(compile_levels, lowered.symbol, lowered.kinds, lowered.text, target))
                if key:
                    compiled[-1].add_done_callback(partial(_keep, key))
    for target, out in libraries.items():
        _write(target, sorted(future.result() for future in found[target]), out)
    return len(functions)


def tools() -> str:
    """What changes with what makes machine code."""
    return compiler(Path(__file__).with_name(f"{name}.py") for name in ("lowering", "objects", "products", "targets"))


def compile_levels(symbol: str, kinds: str, text: str, target: Target) -> Compiled:
    """Machine code of a function for every level."""
    return Compiled(symbol, kinds, tuple(emit({symbol: text}, target.triple, level) for level in target.levels))


def _keep(key: str, done: Future[Compiled]) -> None:
    if done.exception() is None:
        cache.save(key, pickle.dumps(done.result()))


def _write(target: Target, functions: list[Compiled], out: Path) -> None:
    levels = " ".join(level.name for level in target.levels)
    contents = "\n".join([digest(), levels, *(f"{f.symbol} {f.kinds}" for f in functions)])
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for place, made in enumerate(each for function in functions for each in function.objects):
            files.append(Path(folder) / f"{place}.o")
            files[-1].write_bytes(made)
        link(files, contents, {f.symbol: f.kinds for f in functions}, target, out)
