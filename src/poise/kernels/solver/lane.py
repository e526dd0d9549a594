"""The life of a lane: it begins at a start, is judged after each iteration, and when it has ended begins anew.

All searches of eight lanes are this loop.  Each says itself what counts as slow, and what is done where one has ended:

    evaluate; judge; if any has ended, renew or retire it and `begin`; improve
"""

import functools

import numpy as np

from poise.kernels.algebra.scalar import uniform
from poise.kernels.algebra.swing_twist import random_rotation
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import floor, load, select, splat, store
from poise.kernels.solver.descent import MU_LOW
from poise.kernels.solver.state import AGE, ENDED, FRESH, HOLDS, INSIDE, LANE_COST, LIMIT, MU, SCORE, SLOW, STARTED


@kernel
def draw_offsets(offsets, seed):
    """Where the sequence of random starts begins in each coordinate."""
    for c in range(len(offsets)):
        offsets[c] = uniform(seed, c)


@kernel
def _spread(p, offsets, place, start):
    """Coordinate `place` of point number `start` of an additive low-discrepancy sequence in the unit cube.

    It depends on the seed and its arguments alone, so the starts of a solve are the same in any order, on any thread.
    """
    x = offsets[place] + start * p.strides[place]
    return x - floor(x)


@kernel
def begin(p, w, fresh, offsets, q0):
    """Put each fresh lane at the start of its number: number 0 is the caller's `q0` (nq rows, of one number for all
    lanes or of one for each), the others are random."""
    start = load(w.state, STARTED)
    own_start = start < 0.5
    for c in range(len(p.coordinates)):
        coordinate = p.coordinates[c]
        i = coordinate.q
        x = load(q0, i)
        low, high = splat(w.q, coordinate.sample_lower), splat(w.q, coordinate.sample_upper)
        if coordinate.centred:
            low, high = x + low, x + high
            low = select(low < coordinate.lower, coordinate.lower, low)
            high = select(high > coordinate.upper, coordinate.upper, high)
        value = low + _spread(p, offsets, c, start) * (high - low)
        value = select(own_start, x, select(value > high, high, value))
        _put(w, i, fresh, value)
    for c in range(len(p.balls)):
        i, place = p.balls[c].q, len(p.coordinates) + 3 * c
        sampled = random_rotation(
            p.balls[c],
            _spread(p, offsets, place, start),
            _spread(p, offsets, place + 1, start),
            _spread(p, offsets, place + 2, start),
        )
        for k in range(4):
            _put(w, i + k, fresh, select(own_start, load(q0, i + k), sampled[k]))
    # A lane not looked at yet has a limit below zero, and so counts as rejected once.
    store(w.state, MU, select(fresh, 0.25 * MU_LOW, load(w.state, MU)))
    store(w.state, LIMIT, select(fresh, -1.0, load(w.state, LIMIT)))
    store(w.state, SLOW, select(fresh, 0.0, load(w.state, SLOW)))
    store(w.state, AGE, select(fresh, -1.0, load(w.state, AGE)))
    store(w.state, SCORE, select(fresh, np.inf, load(w.state, SCORE)))
    store(w.state, HOLDS, select(fresh, 0.0, load(w.state, HOLDS)))


@kernel
def _put(w, i, fresh, value):
    store(w.q, i, select(fresh, value, load(w.q, i)))
    store(w.before, i, select(fresh, value, load(w.before, i)))


@functools.partial(kernel, inline=True)
def judge(w, cost, score, slow, patience, oldest):
    """Write cost, score, age and slowness of each lane, and whether it has ended, which is returned.

    It has where it has converged, after more than `patience` iterations that were `slow`, and at the age `oldest`.  One
    that has converged grows no older while it waits; one without a start never ends.
    """
    start = load(w.state, STARTED)
    score = select(start < 0.0, np.inf, score)
    age = load(w.state, AGE) + select(load(w.state, SCORE) > INSIDE, splat(w.q, 1.0), 0.0)
    ended = (start >= 0.0) & ((score <= INSIDE) | (slow > patience) | (age >= oldest))
    store(w.state, LANE_COST, cost), store(w.state, SCORE, score)
    store(w.state, AGE, age), store(w.state, SLOW, slow)
    store(w.state, ENDED, select(ended, splat(w.q, 1.0), 0.0))
    return ended


@functools.partial(kernel, inline=True)
def renew(w, lane, start, more):
    """Give a lane that has ended the start of this number, if there are `more`, else none; whether it has one."""
    w.state[STARTED, lane], w.state[FRESH, lane] = start if more else -1.0, 1.0 if more else 0.0
    return more
