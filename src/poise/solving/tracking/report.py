"""What a Tracker tells of its last step in words: what is left, what holds it, and what helps."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.memory import DONE, FOLLOWING, INVERSE_RADIUS, SCOUT, STAGE
from poise.solving.answers.competing import Question, brakes, limited, rivals
from poise.solving.answers.explain import in_words, sides
from poise.solving.arguments.unit_hints import still_beyond
from poise.solving.requirements.active_limit import ActiveLimit
from poise.solving.requirements.sections import relaxed_constraints
from poise.solving.tracking.stepper import Stepper

_SCOUT_WORDS: Final = {
    FOLLOWING: " A joint's limit held it back, so it goes round by another posture.",
    DONE: (
        " No posture was found in which the limits let it come nearer: solve tells whether the target is within reach, "
        "explore=True looks farther, and a PostureTask keeps joints from their limits on the way."
    ),
}
"""What is said of what the scout does."""
_BEYOND: Final = 3.0
"""Where a step is so many times as long as `settling` lets those towards targets be, it is none of these, and weights
are not why the targets come no nearer."""


def explained(stepper: Stepper, *, explores: bool) -> str:
    """See `Tracker.explain`; `explores` says whether it looks for ways round."""
    if not stepper.has_stepped:
        return "No step has been taken."
    if stepper.refused:
        return "The last step was refused or interrupted."
    q, memory = stepper.last_q(), stepper.memory
    left = in_words(list(zip(stepper.targets.followed, stepper.errors(q), strict=True)))
    active = stepper.active_limits(q)
    gave = relaxed_constraints(int(memory[STAGE]), stepper.bound.problem, active)
    still = still_beyond(stepper.model, q) if stepper.bound.problem.limits else []
    others = "".join(f" {sentence}" for sentence in [*_others(stepper, q, active, explores), *still])
    held = f" Held by limits: {'; '.join(map(str, active))}." if active else ""
    held += "".join(f" {sentence}" for sentence in sides(stepper.model, stepper.targets.followed, q))
    gave = f" Nothing kept all limits: {gave} gave way." if gave else ""
    return f"What is left: {'; '.join(left)}.{held}{gave}{others}{_SCOUT_WORDS.get(memory[SCOUT], '')}"


def _others(stepper: Stepper, q: Array, active: Sequence[ActiveLimit], explores: bool) -> list[str]:
    """A sentence for each task that others keep short at q (nq,), but where joints go as fast as they may."""
    model, targets, scratch = stepper.model, stepper.targets, stepper.scratch
    if any(limit.kind not in ("position", "distance", "linear") for limit in active):
        return []
    goals = zip(targets.followed, targets.goals, strict=True)
    if not all(task.sound(model, goal[None]).all() for task, goal in goals):
        return []  # targets that were written meanwhile, and are none
    e, clamped = stepper.part("e"), stepper.part("clamped")
    share = np.divide(clamped, e, out=np.ones_like(e), where=e != 0.0) if len(clamped) == len(e) else 1.0
    asked = Question(model, targets.followed, targets.tasks, stepper.bound, q, scratch.goal, share)
    before = stepper.last_start()
    longest = float(np.abs(model.difference(before, q)).max(initial=0.0))
    settled = longest * stepper.memory[INVERSE_RADIUS] > _BEYOND
    said = rivals(asked) + ([] if settled else brakes(asked, before))
    looked_for = explores or scratch.scout is not None
    held = "" if looked_for or not active else " and ".join(limited(asked, before))
    return [*([f"Limits let {held} come no nearer: explore=True looks for a way round."] if held else []), *said]
