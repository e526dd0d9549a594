"""Compile every kernel ahead of its first use."""

import importlib
import pkgutil

from poise import tasks
from poise.kernels.kinematics import query
from poise.kernels.machine.jit import WHOLE, address, prepare
from poise.kernels.machine.views import NARROW as ONE
from poise.kernels.machine.views import PROBLEM_VIEW, WIDE
from poise.kernels.methods import extended, method_loop
from poise.kernels.methods.routines import NARROW, ROUTINES
from poise.kernels.solver import lm_solver, posture
from poise.tasks.base import Task


def compile_all() -> None:
    """Compile and keep on disk what poses, masses, solves, postures and methods need; quick if it is there."""
    for function in (
        query.poses,
        query.jacobians,
        query.mass_centres,
        query.mass_centre_jacobians,
        lm_solver.solve,
        lm_solver.linearise,
        posture.settle,
        method_loop.step,
        method_loop.rollout,
        method_loop.rollout_lanes,
        method_loop.iterate,
        extended.reduced_hessian,
    ):
        prepare(function)
    for routine in dict.fromkeys(ROUTINES.values()):
        for width in (ONE,) if routine in NARROW else (ONE, WIDE):
            address(routine, PROBLEM_VIEW, width)
    for rows in dict.fromkeys(kind.routine for kind in task_kinds() if kind.routine is not None):
        for width in (ONE, WIDE):
            address(rows, PROBLEM_VIEW, width, WHOLE)


def task_kinds() -> list[type[Task]]:
    """The kinds of tasks in the files of `poise.tasks`, and what they derive from."""
    for module in pkgutil.iter_modules(tasks.__path__, f"{tasks.__name__}."):
        importlib.import_module(module.name)
    found = [Task]
    for kind in found:
        found += [below for below in kind.__subclasses__() if below.__module__.startswith(f"{tasks.__name__}.")]
    return found
