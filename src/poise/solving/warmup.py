"""Compile every kernel ahead of its first use."""

from poise.kernels.kinematics import query
from poise.kernels.machine.jit import REALS, TABLE, WHOLES
from poise.kernels.machine.workers import compile_together
from poise.kernels.methods import extended, method_loop
from poise.kernels.methods.routines import NARROW, ROUTINES
from poise.kernels.solver import lm_solver, posture


def compile_all() -> None:
    """Compile and keep on disk what poses, masses, solves, postures and methods need; quick if it is there."""
    border = [
        lm_solver.solve,
        method_loop.iterate,
        method_loop.rollout_lanes,
        method_loop.rollout,
        method_loop.step,
        extended.reduced_hessian,
        posture.settle,
        lm_solver.linearise,
        query.poses,
        query.jacobians,
        query.mass_centres,
        query.mass_centre_jacobians,
    ]
    widths = {routine: (REALS,) if routine in NARROW else (TABLE, REALS) for routine in ROUTINES.values()}
    routines = [(routine, WHOLES, REALS, work) for routine, some in widths.items() for work in some]
    compile_together([(border[0],), *routines, *((function,) for function in border[1:])])
