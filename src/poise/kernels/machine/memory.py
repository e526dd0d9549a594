"""The memory of a method, from one update to the next: rows of `memory`, `loop` and `stall.trail`."""

from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import splat, store

MEMORY = 45
(
    FRESH, MU, NU, PREDICTED, LAST, DAMPING, STEP, FAILED, NEWTON, COST, SPLIT, PAIRS, SWAY, SCORE, FLOOR, SHARE,
    INVERSE_RADIUS, TURNED, STIRRED, MOVED, JUMP, LAST_JUMP, LESSENED, WENT,
    COLLISION_COUNT, UPDATES, STAGE, CONSTRAINTS,
    CUTTING, IS_CLEAR, BRAKING_STEP, CLEAR_STEPS, LOOP_RESIDUAL, CERTIFIED, ABREAST, SCOUT, SCOUT_COUNT,
    LOWEST, WAITED, CREPT, MARKED, FUTILE, EVEN, TOO_NEAR, SHORTENED,
) = range(MEMORY)  # fmt: skip
"""Rows of `memory`.

- FRESH: 0 before the first update, else 1.  FAILED: 1 where the last step was not finite.
- COST, SCORE: sum of squares and score before the last update.  STEP: the largest entry of its step.  SHARE: the share
  of the step that bounds let pass, 0 where it was not finite.
- MU, NU, PREDICTED, LAST: gain-ratio damping, its growth, the predicted fall of the sum of squares, and the sum before
  the last step that was accepted.
- DAMPING: the last lambda^2.  FLOOR: lambda^2 of all directions, where a rule damps some apart.
- NEWTON: which half of a hybrid acts.  SPLIT: updates since singular vectors were found from the identity.  PAIRS:
  steps that a quasi-Newton method has learnt from.  SWAY: beta^2 |q - q_d|^2 of `poise.methods.das`.
- Of `requirements.trust_radius`: INVERSE_RADIUS, 0 without a radius; TURNED, turns so far; STIRRED, the length up to
  which the turn of a step may be due to moved targets.
- Of `requirements.approach`: MOVED, 1 where targets have moved since the last step; JUMP, LAST_JUMP, how many times
  their limits the target's changes are, in this step and the last; LESSENED, WENT, sums x . y and x . x of the module.
- COLLISION_COUNT: rows of pairs of shapes.  TOO_NEAR: 1 where a pair whose distance joints can change is nearer than
  asked, before a step.
- Of `stepping.project_step`: UPDATES of a step; STAGE, what must hold of it; CONSTRAINTS, rows of its requirements;
  CUTTING, 1 where what is broken adds cutting planes, SEEN_MORE once it has; IS_CLEAR, the answer of STAYS_CLEAR;
  BRAKING_STEP and CLEAR_STEPS, question and answer of STOPPABLE; LOOP_RESIDUAL, by how much loops were open at w.begun;
  CERTIFIED, 1 more than the stage in which braking from the end of the last step was checked, or 0; ABREAST, 1 where
  all joints brake by one share.
- Of `methods.homing`: SCOUT, what the scout does; SCOUT_COUNT, ways gone for a target, in a scout's own memory its
  steps; LOWEST and WAITED, the least of what is left, and steps since.
- Of `methods.leaping`: CREPT, steps that crept, below 0 those of a leap; MARKED, the squared error, or step, that the
  next is compared with; FUTILE, leaps that gained nothing; EVEN, 1 where clamps shorten all errors by one share.
- SHORTENED: 1 where the following error had the last step taken again."""
FOLLOWING, DONE, FREE = -1.0, 100.0, 101.0
"""In SCOUT, beside 0 and the number of a start: the arm follows; until the targets move nothing more is looked for, for
from no start there was a way, or no joint is at a limit."""
ELSEWHERE = -1.0
"""In PREDICTED: the targets or q are not where the last update left them, so there is nothing to judge it by."""
LOOP = 15
(
    STARTS, AGE, SINCE, MARK, BEST, OWNER, SPENT, ENDED, FAILURES, LENGTH, RANK, BEYOND, LEAST, NEAREST, NEAR,
) = range(LOOP)  # fmt: skip
"""Rows of `loop`, errors being sums of squares.

- STARTS: random starts made.  AGE: iterations of this one.  SINCE, MARK: iteration and error of its last real gain.
- BEST: error of the best q.  OWNER, SPENT: the start and iteration that found it.  ENDED: 1 where that start stalled.
  RANK: 0 where something does not hold there, 1 where all does, 2 within the tolerances too.
- FAILURES: starts that failed.  LENGTH: rows traced.  BEYOND: 1 where tolerances were met, but something did not hold.
- Beside a posture: LEAST, the least error among those as good as the best; NEAREST, NEAR: squared distance of the best
  from it, and at MARK."""
TRACE = 4
"""Numbers of a row of the trace before the singular values: sum of squares, score, largest step, lambda^2."""
SEEN = 12
"""Rows of an effector's target that are remembered: its rotation and place."""
DEPTH = 4
"""Directions whose shrinking a leap can tell apart: with 3, more of the arms take longer than three seconds."""
TRAIL = 3 * DEPTH + 2
"""Steps that a leap works with: the last DEPTH + 1, DEPTH pairs of an orthogonal difference and the step that goes with
it, and what of the last step the differences leave."""


@kernel
def forget(w):
    """Let the next update be the first."""
    for i in range(MEMORY):
        store(w.memory, i, splat(w.memory, 0.0))
    for a in range(len(w.last_step)):
        store(w.step, a, splat(w.memory, 0.0)), store(w.last_step, a, splat(w.memory, 0.0))
    for i in range(len(w.last_target)):
        store(w.last_target, i, splat(w.memory, 0.0))
    for i in range(len(w.last_guide)):
        store(w.last_guide, i, splat(w.memory, 0.0))
    for a in range(len(w.motion.displacement)):
        store(w.motion.displacement, a, splat(w.memory, 0.0))
        store(w.motion.displacement_change, a, splat(w.memory, 0.0))
        store(w.approach.tracking_error, a, splat(w.memory, 0.0))
        store(w.approach.last_feed_forward, a, splat(w.memory, 0.0))
        store(w.approach.target_velocity, a, splat(w.memory, 0.0))
        store(w.approach.target_velocity_change, a, splat(w.memory, 0.0))
    for i in range(len(w.approach.remaining_errors)):
        store(w.approach.remaining_errors, i, splat(w.memory, 0.0))
