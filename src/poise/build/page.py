"""The library for pages: one module of WebAssembly, in which each kernel that functions share is once."""

import pickle
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from poise.build.linking import link_page
from poise.build.lowering import lower
from poise.build.making import tools
from poise.build.objects import emit
from poise.build.targets import PAGE
from poise.kernels.compiling import cache
from poise.kernels.compiling.jit import dispatcher, typed
from poise.kernels.compiling.numba_internals import cache_key
from poise.kernels.machine.jit import SIGNATURES, function_of
from poise.kernels.machine.kinds import WIDE
from poise.kernels.methods.routines import ROUTINES
from poise.kernels.workers import Job
from poise.solving.problem.workspace import ENTRY_POINTS
from poise.solving.solvers.warmup import jobs

_ADDRESSES: Final = re.compile(r"alloca [^\n]*ptr, ptr[^\n]*")
"""Memory for an address right before another."""
_ENTRIES: Final = (
    *(ENTRY_POINTS[part] for part in ("fall back", "search", "solve", "optimise", "iterate", "step")),
    *(
        "kinematics.query.poses",
        "kinematics.query.jacobians",
        "collision.queries.nearest_at",
        "collision.queries.place",
    ),
)


def called() -> list[Job]:
    """What files of solvers and trackers name: methods take no lanes there."""
    routines = [(function, *types) for function, *types in jobs() if types]
    methods = set(ROUTINES.values())
    found = [job for job in routines if not (job[0] in methods and job[-1] == WIDE)]
    return list(dict.fromkeys([*((function_of(name),) for name in _ENTRIES), *found]))


def refuse_layouts(texts: Mapping[str, str]) -> None:
    """Raises ValueError for IR that keeps in memory what is laid out otherwise where addresses have 32 bits.

    Numba's passes have put offsets of 64 bits into it.  An address before a number of 64 bits takes as much with what
    aligns that; one before another address does not.
    """
    for symbol, text in texts.items():
        kept = _ADDRESSES.search(text)
        if kept is not None:
            raise ValueError(
                f"{symbol} keeps {kept[0].strip()}, which has another layout in a page: make a view in the kernel that "
                "works with it, for one that another kernel returns goes through memory"
            )


def make_page(functions: Sequence[Job], out: Path) -> int:
    """Write the module of these functions, as `making.make` does a library; returns how many it has."""
    typed_jobs = [(getattr(job, "function", job), tuple(types)) for job, *types in functions]
    each: list[tuple[Any, tuple[str, ...]]] = [(f, types or SIGNATURES[f]) for f, types in typed_jobs]
    identities = [cache_key(dispatcher(f), typed(types)) for f, types in each]
    key = f"page of {identities}, {tools()}" if all(identities) else None
    cached = cache.load(key) if key else None
    if cached is None:
        lowered = [lower(f, types) for f, types in each]
        refuse_layouts({one.symbol: one.text for one in lowered})
        made = emit({one.symbol: one.text for one in lowered}, PAGE.triple, PAGE.levels[0])
        cached = pickle.dumps(({one.symbol: one.kinds for one in lowered}, made))
        if key:
            cache.save(key, cached)
    kinds, made = pickle.loads(cached)
    link_page(made, kinds, out)
    return len(kinds)
