"""Compile every kernel ahead of its first use."""

import importlib
import pkgutil
from types import ModuleType
from typing import Final

import poise
from poise.kernels.machine.jit import function_of, waiting
from poise.kernels.machine.kinds import NARROW, PROBLEM_VIEW, WHOLE, WIDE
from poise.kernels.machine.library import FOLDERS
from poise.kernels.methods.routines import ROUTINES
from poise.kernels.rows.own import own_range_rows, own_sides
from poise.kernels.workers import Job, Progress, compile_together
from poise.methods.registry import METHODS
from poise.solving.problem.workspace import LOOKED_UP
from poise.tasks.base import Task

_COMPILER: Final = f"{poise.__name__}.kernels.compiling"
"""Where no kernels stand, and what needs Numba."""


def compile_all(watch: Progress | None = None) -> None:
    """Compile and keep on disk all that the library ever compiles of its own; quick if it is there.

    `watch` hears of it as `compile_together` says.
    """
    compile_together(jobs(), watch)


def jobs() -> list[Job]:
    """All of it that is not in this process yet, and what is called through an address in any case."""
    modules()  # one that is imported says which entry points it has
    list(METHODS.values())  # each makes its routines
    methods = {r: (WIDE, NARROW) if r.wide else (NARROW,) for r in ROUTINES.values() if r.cached}
    kinds = task_kinds()
    rows = dict.fromkeys([own_range_rows, *(kind.routine for kind in kinds if kind.routine is not None)])
    side_routines = dict.fromkeys([own_sides, *(kind.side_routine for kind in kinds if kind.side_routine is not None)])
    return [
        *((function_of(routine), *signature) for routine, *signature in LOOKED_UP),
        *((entry,) for entry in waiting()),
        *((routine, PROBLEM_VIEW, width) for routine, widths in methods.items() for width in widths),
        *((routine, PROBLEM_VIEW, width, WHOLE) for routine in rows for width in (WIDE, NARROW)),
        *((routine, PROBLEM_VIEW, NARROW, WHOLE) for routine in side_routines),
        (function_of("collision.near.measure"), PROBLEM_VIEW, WIDE, WHOLE, WHOLE),
    ]


def modules() -> list[ModuleType]:
    """The files in which kernels stand."""
    folders = [importlib.import_module(f"{poise.__name__}.{folder}") for folder in FOLDERS]
    return [
        importlib.import_module(module.name)
        for folder in folders
        for module in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}.")
        if not module.name.startswith(_COMPILER)
    ]


def task_kinds() -> list[type[Task]]:
    """The kinds of tasks in the files of `poise.tasks`, and what they derive from."""
    home = f"{poise.__name__}.tasks"
    modules()
    found = [Task]
    for kind in found:
        found += [below for below in kind.__subclasses__() if below.__module__.startswith(f"{home}.")]
    return found
