"""Compile every kernel ahead of its first use."""

from poise.kernels.kinematics import query
from poise.kernels.machine.jit import REALS, TABLE, WHOLES, address, prepare
from poise.kernels.methods import extended, method_loop
from poise.kernels.methods.routines import NARROW, ROUTINES
from poise.kernels.solver import lm_solver, posture


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
        for work in (REALS,) if routine in NARROW else (REALS, TABLE):
            address(routine, WHOLES, REALS, work)
