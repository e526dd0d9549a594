"""What a classical method works with, and what it remembers from one update to the next."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import splat, store

MEMORY = 44
(
    FRESH, MU, NU, PREDICTED, LAST, DAMPING, STEP, FAILED, NEWTON, COST, SPLIT, PAIRS, SWAY, SCORE, FLOOR, SHARE,
    INVERSE_RADIUS, TURNED, STIRRED, MOVED, JUMP, LAST_JUMP, LESSENED, WENT,
    COLLISION_COUNT, COLLISIONS_CHANGED, UPDATES, STAGE, CONSTRAINTS,
    CUTTING, IS_CLEAR, BRAKING_STEP, CLEAR_STEPS, LOOP_RESIDUAL, CERTIFIED, ABREAST, SCOUT, SCOUT_COUNT,
    LOWEST, WAITED, CREPT, MARKED, FUTILE, EVEN,
) = range(MEMORY)  # fmt: skip
"""Rows of `memory`: 0 before the first update; gain-ratio damping; the last lambda^2 and largest step; whether the
last step was no number; which half of a hybrid acts; the sum of squares before the last update; updates since the
singular vectors were found from nothing; how many steps a quasi-Newton method has learnt from; beta^2 |q - q_d|^2 of
`poise.methods.das`; the score before the last update; the lambda^2 of all directions, where a rule damps each apart;
the share of the last step that bounds let pass, 0 where it was no number; one over the longest entry that `settling`
leaves to a step, 0 where any, how often the path has turned, and up to which step a turn may be the targets' doing;
where accelerations are limited, whether the targets have moved since the last step, and how far beyond the limits their
motion has changed in this step and in the last; of the last steps towards targets that stand, the sum of their products
with what they have lessened the way by that is proposed, and of their squares; how many inequalities pairs of shapes
have, and whether they are of other pairs than in the last update.  Of `poise.kernels.stepping.project_step`: how many
updates a step has, what must hold of it, how many rows its requirements have, whether what is seen beyond them is cut
off, what a look at shapes says, after how many steps of braking one is, and for how many it says so, by how much
loops were open where the step began, 1 more than the stage in which braking from its end was seen to hold, or 0, and
whether all joints brake by the same share on that way.  Of `poise.kernels.methods.homing`: what the scout does, how
many ways were gone for a target, or of a scout its steps, the least of what is left and since how many steps.  Of
`poise.kernels.methods.leaping`: for how many steps the arm has crept, or below 0 that it leaps, what the next one is
measured by, how many leaps gained nothing, and whether clamps shorten all errors alike."""
FOLLOWING, DONE, FREE = -1.0, 100.0, 101.0
"""In SCOUT, beside 0 and the number of a start: the arm follows; until the targets move nothing more is looked for, for
from no start there was a way, or no joint is at a limit."""
ELSEWHERE = -1.0
"""In PREDICTED: the targets or q are not where the last update left them, so there is nothing to judge it by."""
LOOP = 15
(
    STARTS, AGE, SINCE, MARK, BEST, OWNER, SPENT, ENDED, FAILURES, LENGTH, RANK, BEYOND, LEAST, NEAREST, NEAR,
) = range(LOOP)  # fmt: skip
"""Rows of `loop`: starts made, iterations of this one, the iteration and the error of its last real gain; the least
error of all, the start and iteration that found it, whether that start came to rest; failed starts; rows traced; how
good the best is, 0 where something does not hold, 1, or 2 within the tolerances; whether something did not hold within
them; beside a posture, the least error of all that are as good, and how far the best is from it and was at MARK."""
TRACE = 4
"""Numbers of a row of the trace before the singular values: sum of squares, score, largest step, lambda^2."""
SEEN = 12
"""Rows of an effector's target that are remembered: its rotation and place."""
DEPTH = 4
"""Directions whose shrinking a leap sees at once: with 3 more of the arms take longer than three seconds."""
TRAIL = 3 * DEPTH + 2
"""Steps that it works with: the last ones, their differences without what is along one another and what goes with
these, and the rest of the last step."""


@kernel
def forget(w):
    """Let the next update be the first."""
    for i in range(MEMORY):
        store(w.memory, i, splat(w.memory, 0.0))
    for a in range(len(w.last_step)):
        store(w.last_step, a, splat(w.memory, 0.0))
    for i in range(len(w.last_target)):
        store(w.last_target, i, splat(w.memory, 0.0))
    for i in range(len(w.last_guide)):
        store(w.last_guide, i, splat(w.memory, 0.0))
    for a in range(len(w.displacement)):
        store(w.displacement, a, splat(w.memory, 0.0)), store(w.displacement_change, a, splat(w.memory, 0.0))
        store(w.tracking_error, a, splat(w.memory, 0.0)), store(w.last_feed_forward, a, splat(w.memory, 0.0))
        store(w.target_velocity, a, splat(w.memory, 0.0)), store(w.target_velocity_change, a, splat(w.memory, 0.0))
    for i in range(len(w.remaining_errors)):
        store(w.remaining_errors, i, splat(w.memory, 0.0))
