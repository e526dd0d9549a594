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
from poise.kernels.methods.memory import COST, SCORE
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


@functools.partial(kernel, inline=True)
def once(update, p, w):
    """One update, and what it says of the configuration before it."""
    cost, score = update(p, p.settings, w)
    store(w.memory, COST, cost), store(w.memory, SCORE, score)


@functools.partial(kernel, inline=True)
def step_once(step, p, w):
    """One update of a Jacobian method with this step, likewise."""
    cost, score = jacobian_update(step, p, p.settings, w)
    store(w.memory, COST, cost), store(w.memory, SCORE, score)


@routine
def transpose(p, w):
    step_once(transpose_step, p, w)


@routine
def damped(p, w):
    step_once(damped_step, p, w)


@routine
def columns(p, w):
    step_once(columns_step, p, w)


@routine
def orthogonal(p, w):
    step_once(orthogonal_step, p, w)


@routine
def filtered(p, w):
    step_once(filtered_step, p, w)


@routine
def selective(p, w):
    step_once(selective_step, p, w)


@routine
def halley(p, w):
    step_once(halley_step, p, w)


@routine
def hybrid(p, w):
    step_once(hybrid_step, p, w)


@routine
def judged(p, w):
    once(judged_update, p, w)


@routine
def das(p, w):
    once(das_update, p, w)


@routine
def ccd(p, w):
    once(ccd_update, p, w)


@routine
def fabrik(p, w):
    once(fabrik_update, p, w)


@routine
def pairwise(p, w):
    once(pairwise_update, p, w)


@routine
def quasi_newton(p, w):
    once(quasi_newton_update, p, w)


@routine
def bounded(p, w):
    once(bounded_update, p, w)


@routine
def lexicographic(p, w):
    once(lexicographic_update, p, w)


@routine
def projected(p, w):
    once(projected_update, p, w)


@routine
def extended(p, w):
    once(extended_update, p, w)


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
