"""Every method as a routine: one update of what stands in a workspace, which the loops of `.iterate` call."""

import functools
from typing import Final

from poise.kernels.machine.jit import kernel, routine
from poise.kernels.machine.lanes import store
from poise.kernels.methods.bounded import bounded_update
from poise.kernels.methods.ccd import ccd_update
from poise.kernels.methods.damped import columns_step, damped_step, halley_step, orthogonal_step
from poise.kernels.methods.extended import extended_update
from poise.kernels.methods.fabrik import fabrik_update
from poise.kernels.methods.filters import filtered_step, selective_step
from poise.kernels.methods.memory import COST, SCORE, read_method, recall
from poise.kernels.methods.pairwise import pairwise_update
from poise.kernels.methods.priority import lexicographic_update, projected_update
from poise.kernels.methods.quasi_newton import quasi_newton_update
from poise.kernels.methods.settings import (
    BFGS,
    BOUNDED,
    CCD,
    COLUMNS,
    DAMPED,
    DAS,
    EXTENDED,
    FABRIK,
    FILTERED,
    HALLEY,
    HYBRID,
    JUDGED,
    LBFGS,
    LEXICOGRAPHIC,
    ORTHOGONAL,
    PAIRWISE,
    PROJECTED,
    SELECTIVE,
    TRANSPOSE,
)
from poise.kernels.methods.transpose import transpose_step
from poise.kernels.methods.update import das_update, hybrid_step, jacobian_update, judged_update
from poise.kernels.solver.lm_solver import divide, unpack


@functools.partial(kernel, inline=True)
def once(update, ints, floats, work):
    """One update, and what it says of the configuration before it."""
    settings, plan = read_method(ints, floats)
    d = recall(ints, work)
    cost, score = update(unpack(ints, floats), settings, plan, divide(ints, work), d)
    store(d.memory, COST, cost), store(d.memory, SCORE, score)


@functools.partial(kernel, inline=True)
def step_once(step, ints, floats, work):
    """One update of a Jacobian method with this step, likewise."""
    settings, plan = read_method(ints, floats)
    d = recall(ints, work)
    cost, score = jacobian_update(step, unpack(ints, floats), settings, plan, divide(ints, work), d)
    store(d.memory, COST, cost), store(d.memory, SCORE, score)


@routine
def transpose(ints, floats, work):
    step_once(transpose_step, ints, floats, work)


@routine
def damped(ints, floats, work):
    step_once(damped_step, ints, floats, work)


@routine
def columns(ints, floats, work):
    step_once(columns_step, ints, floats, work)


@routine
def orthogonal(ints, floats, work):
    step_once(orthogonal_step, ints, floats, work)


@routine
def filtered(ints, floats, work):
    step_once(filtered_step, ints, floats, work)


@routine
def selective(ints, floats, work):
    step_once(selective_step, ints, floats, work)


@routine
def halley(ints, floats, work):
    step_once(halley_step, ints, floats, work)


@routine
def hybrid(ints, floats, work):
    step_once(hybrid_step, ints, floats, work)


@routine
def judged(ints, floats, work):
    once(judged_update, ints, floats, work)


@routine
def das(ints, floats, work):
    once(das_update, ints, floats, work)


@routine
def ccd(ints, floats, work):
    once(ccd_update, ints, floats, work)


@routine
def fabrik(ints, floats, work):
    once(fabrik_update, ints, floats, work)


@routine
def pairwise(ints, floats, work):
    once(pairwise_update, ints, floats, work)


@routine
def quasi_newton(ints, floats, work):
    once(quasi_newton_update, ints, floats, work)


@routine
def bounded(ints, floats, work):
    once(bounded_update, ints, floats, work)


@routine
def lexicographic(ints, floats, work):
    once(lexicographic_update, ints, floats, work)


@routine
def projected(ints, floats, work):
    once(projected_update, ints, floats, work)


@routine
def extended(ints, floats, work):
    once(extended_update, ints, floats, work)


ROUTINES: Final = {
    TRANSPOSE: transpose,
    DAMPED: damped,
    JUDGED: judged,
    COLUMNS: columns,
    ORTHOGONAL: orthogonal,
    FILTERED: filtered,
    SELECTIVE: selective,
    HALLEY: halley,
    HYBRID: hybrid,
    DAS: das,
    CCD: ccd,
    FABRIK: fabrik,
    PAIRWISE: pairwise,
    BFGS: quasi_newton,
    LBFGS: quasi_newton,
    BOUNDED: bounded,
    LEXICOGRAPHIC: lexicographic,
    PROJECTED: projected,
    EXTENDED: extended,
}
"""The routine of each METHOD."""
NARROW: Final = frozenset({quasi_newton, bounded, lexicographic, projected, extended})
"""Those that are one number wide only."""
