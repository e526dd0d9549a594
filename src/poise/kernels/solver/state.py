"""Rows of the solver's state, one column a lane."""

from poise.kernels.machine.layout import STATE

(
    MU, LIMIT, SLOW, AGE, LANE_COST, SCORE, STARTED, FRESH, PATIENCE, MARK, NU, PREDICTED, POOL_COST, POOL_AGE,
    POOL_START, POOL_SHUT, PROBLEM, MEASURE, FIRST, HOLDS, LEAST, BEST_CLEARANCE, ENDED,
) = range(STATE)  # fmt: skip
"""Rows of `state`.  MU: the factor of the damping.  LIMIT: the sum of squares of the last accepted step, inf before
one, negative of a start not evaluated yet.  SLOW, AGE: slow iterations and all.  LANE_COST, SCORE: sum of squares and
largest (error / tolerance)^2 at q.  STARTED is the number of a lane's start: 0 for q0, -1 for none.  PATIENCE is 0 for
all lanes but a careful one, to which MARK, NU and PREDICTED belong.  POOL_SHUT is 1 for a candidate with no solution
around it.  PROBLEM is the number of a lane's problem in a batch, MEASURE the measure of its stored start, FIRST the
sum of squares at its q0, inf where it does not begin there, LEAST the least that its starts came to, and BEST_CLEARANCE
the largest slack of its solutions that are not feasible, -inf before the first.  HOLDS is 1 for one that is feasible,
FRESH for a lane that is to begin, ENDED for one that has ended."""
INSIDE = 0.9998
"""A lane must be this far inside the squared tolerances, so that rounding in the other width cannot undo it."""
