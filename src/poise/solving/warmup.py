"""Compile every kernel ahead of its first use."""

import importlib
import pkgutil

from poise import tasks
from poise.kernels.closed_form.branches import all_branches
from poise.kernels.collision import near, queries
from poise.kernels.hands import descent
from poise.kernels.kinematics import manipulability, query
from poise.kernels.machine.jit import WHOLE
from poise.kernels.machine.views import NARROW, PROBLEM_VIEW, WIDE
from poise.kernels.machine.workers import Watch, compile_together
from poise.kernels.methods import method_loop
from poise.kernels.methods.routines import ROUTINES
from poise.kernels.path.blocks import solve_again, solve_blocks
from poise.kernels.path.follow import follow_lanes, rows_along
from poise.kernels.path.sequence import best_sequence
from poise.kernels.path.timing import least_times
from poise.kernels.solver import batch_lanes, lm_solver
from poise.methods.extended import reduced_hessian
from poise.methods.registry import METHODS
from poise.solving.scratch import BORDERS, CLOSED, GUARD, POSTURE, SOLVER
from poise.tasks.base import Task


def compile_all(watch: Watch | None = None) -> None:
    """Compile and keep on disk what poses, masses, solves, postures and methods need; quick if it is there.

    `watch` hears of it as `compile_together` says.
    """
    entries = [
        all_branches,
        batch_lanes.solve_many,
        descent.follow,
        descent.value,
        lm_solver.linearise,
        method_loop.step,
        method_loop.rollout,
        method_loop.rollout_lanes,
        method_loop.iterate,
        reduced_hessian,
        follow_lanes,
        rows_along,
        best_sequence,
        solve_blocks,
        solve_again,
        least_times,
        queries.place,
        queries.place_in_lanes,
        queries.nearest_at,
        queries.nearest_of_many,
        queries.meetings,
        query.poses,
        query.jacobians,
        manipulability.manipulabilities,
        query.mass_centres,
        query.mass_centre_jacobians,
    ]
    list(METHODS.values())  # each makes its routines
    methods = {r: (WIDE, NARROW) if r.wide else (NARROW,) for r in ROUTINES.values() if r.kept}
    rows = dict.fromkeys(kind.routine for kind in task_kinds() if kind.routine is not None)
    sides = dict.fromkeys(kind.side_routine for kind in task_kinds() if kind.side_routine is not None)
    compile_together(
        [
            *SOLVER,
            CLOSED,
            *POSTURE,
            *GUARD,
            *BORDERS,
            (near.measure, PROBLEM_VIEW, WIDE, WHOLE, WHOLE),
            *((routine, PROBLEM_VIEW, width) for routine, widths in methods.items() for width in widths),
            *((routine, PROBLEM_VIEW, width, WHOLE) for routine in rows for width in (WIDE, NARROW)),
            *((routine, PROBLEM_VIEW, NARROW, WHOLE) for routine in sides),
            *((entry,) for entry in entries),
        ],
        watch,
    )


def task_kinds() -> list[type[Task]]:
    """The kinds of tasks in the files of `poise.tasks`, and what they derive from."""
    for module in pkgutil.iter_modules(tasks.__path__, f"{tasks.__name__}."):
        importlib.import_module(module.name)
    found = [Task]
    for kind in found:
        found += [below for below in kind.__subclasses__() if below.__module__.startswith(f"{tasks.__name__}.")]
    return found
