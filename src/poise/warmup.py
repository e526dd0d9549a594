"""Compile every kernel ahead of its first use."""

from poise.kernels import drive, extended, iterate, posture, query
from poise.kernels._jit import REALS, TABLE, WHOLES, address, prepare
from poise.kernels.routines import NARROW, ROUTINES


def compile_all() -> None:
    """Compile and keep on disk what poses, masses, solves, postures and methods need; quick if it is there."""
    for function in (
        query.poses,
        query.jacobians,
        query.mass_centres,
        query.mass_centre_jacobians,
        drive.solve,
        drive.linearise,
        posture.settle,
        iterate.step,
        iterate.rollout,
        iterate.rollout_lanes,
        iterate.iterate,
        extended.reduced_hessian,
    ):
        prepare(function)
    for routine in dict.fromkeys(ROUTINES.values()):
        for work in (REALS,) if routine in NARROW else (REALS, TABLE):
            address(routine, WHOLES, REALS, work)
