"""A free way between two configurations: two trees that grow towards each other, and what is cut short of their way.

Of several such ways the shortest is taken; those after the first look only where a shorter one can pass (Gammell,
Srinivasa and Barfoot 2014, doi:10.1109/IROS.2014.6942976).

What is done is counted, and its order depends on the seed alone: a clock ends it sooner, and so more time makes no way
longer.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.model.model import Model
from poise.solving.path.clock import Clock
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.walk import Walk
from poise.solving.path.ways import length

WORK: Final = 4_000
"""Steps of work of a search, at most, where nothing else is said: see `Walk`."""
WAYS: Final = 6
"""Ways of which the shortest is taken, at most."""
_BETTER, _FAIR = 0.98, 1.15
"""One way that is not shorter by the first factor than the shortest before is the last, if that is no longer than the
straight one by the second."""
_IDLE: Final = 2
"""So many such ways in a row are the last of one that is: it may go round the wrong side of something."""
_ENOUGH: Final = 1.03
"""A way that is no longer than the straight one by this factor is short enough: none is much shorter."""
_ROUGH, _CUTS = 40, 150
"""Times that each way is tried to be cut short, and the shortest."""


def connect(
    model: Model,
    feasibility: PathFeasibility,
    q0: Array,
    q1: Array,
    moved: npt.NDArray[np.bool_],
    *,
    seed: int,
    clock: Clock,
    most: int = WORK,
    ways: int = WAYS,
    measure: Callable[[Array], float] | None = None,
) -> Array | None:
    """(k, nq) corners of a free way from q0 to q1, both among them; None where none was found in `most` steps of work.

    It is the shortest of so many `ways`, by what `measure` says of corners, or by its length.  Numbers of q that are
    not `moved` (nq,) stay as in q0.
    """
    walk = Walk(model, feasibility, q0, q1, moved)
    at_once = walk.straight()
    if at_once is not None:
        return at_once
    best: Array | None = None
    sized = partial(length, model) if measure is None else measure
    least, left, found, more, attempt, idle = np.inf, most, 0, 0, 0, 0
    straight = sized(np.stack([q0, q1]))
    enough, fair = _ENOUGH * straight, _FAIR * straight
    while found < ways and idle < (1 if least < fair else _IDLE) and least > enough and left > 0 and not clock.late:
        walk.seed([seed, attempt])
        way, spent = walk.grown(best, min(left, more if found else walk.first << (attempt // 2)), clock)
        left, attempt, idle = left - max(spent, 1), attempt + 1, idle + 1
        if way is not None:
            # The first is made shorter whatever the clock says: as the trees have it, it winds.
            way = walk.shortened(way, _ROUGH, clock if found else Clock(None))
            size = sized(way)
            idle = 0 if size < _BETTER * least else idle
            if size < least:
                best, least = way, size
        if best is None:
            idle = 0
        else:
            more, found = more or max(walk.more, (most - left) // 2), found + 1
    if best is None:
        return None
    walk.seed([seed, attempt])
    shorter = walk.shortened(best, _CUTS, clock)
    return shorter if sized(shorter) <= least else best
