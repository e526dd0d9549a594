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
    for name in dict.fromkeys(kind.routine for kind in _kinds(Task) if kind.routine is not None):
        for width in (ONE, WIDE):
            address(name, PROBLEM_VIEW, width, WHOLE)


def _kinds(kind: type[Task]) -> list[type[Task]]:
    """A kind of task of this house and those that derive from it."""
    for module in pkgutil.iter_modules(tasks.__path__, f"{tasks.__name__}."):
        importlib.import_module(module.name)
    below = [k for k in kind.__subclasses__() if k.__module__.startswith(f"{tasks.__name__}.")]
    return [kind, *(found for k in below for found in _kinds(k))]
