"""Compile every kernel ahead of its first use."""

from poise.kernels.kinematics import query
from poise.kernels.machine.jit import WHOLE, address, prepare
from poise.kernels.machine.views import NARROW as ONE
from poise.kernels.machine.views import PROBLEM_VIEW, WIDE
from poise.kernels.methods import method_loop
from poise.kernels.methods.routines import ROUTINES
from poise.kernels.rows import kinds
from poise.kernels.solver import lm_solver, posture
from poise.methods.extended import reduced_hessian
from poise.methods.registry import METHODS
from poise.solving.task_arrays import ROWS


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
        reduced_hessian,
    ):
        prepare(function)
    list(METHODS.values())  # each makes its routines
    for routine in [routine for routine in ROUTINES.values() if routine.kept]:
        for width in (ONE, WIDE) if routine.wide else (ONE,):
            routine.address(width)
    for name in sorted({name for name in ROWS.values() if name}):
        for width in (ONE, WIDE):
            address(getattr(kinds, name), PROBLEM_VIEW, width, WHOLE)
