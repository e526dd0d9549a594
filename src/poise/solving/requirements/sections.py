"""What must hold of the steps of a Tracker beside bounds, as sections of its problem."""

from collections.abc import Sequence
from operator import gt, lt
from typing import Any, Final

import numpy as np

from poise.kernels.algebra.working_set import buffer_size
from poise.kernels.machine.layout import LOOP, WIDTH
from poise.kernels.machine.packing import in_group, joined
from poise.kernels.requirements.balls import BALL_ROWS
from poise.kernels.requirements.stages import NO_ACCELERATION
from poise.model.loop import LOCKS
from poise.model.model import Model
from poise.solving.problem.problem import Problem
from poise.solving.requirements.active_limit import ActiveLimit
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask

_RANK_4: Final = {"distance": ("distances of shapes", lt), "linear": ("sums of joints", gt)}
"""What is given up after accelerations and jerks, by the kind of an active limit, and how the value of one that is
broken compares with its bound."""
RELAXATION_ORDER: Final = (
    ("tasks", "always: each goes as far as the others and all higher ranks let it"),
    ("ranges", "where a step begins outside, or comes to a border too fast to stop before it"),
    ("accelerations and jerks", "where braking within them breaks a higher rank, as when an obstacle comes near"),
    (", ".join(name for name, _ in _RANK_4.values()), "where no step keeps them: then as little as can be"),
    (
        "loops, positions, speeds, twists, speeds of tools",
        "never; from a start beyond them a step comes back as fast as speeds let it, "
        "and positions within accelerations and jerks",
    ),
)
"""What gives way in a step of a Tracker, and when: rank 1 first.  Each rank above 1 is a stage of the kernels."""
_CUTS: Final = 24
"""Rows that are seen where a step leads, at most."""


def requirements(
    model: Model,
    tasks: Sequence[Task],
    problem: Problem,
    rows: int,
    *,
    constrained: bool,
    has_rates: bool = False,
    metric: bool = False,
) -> tuple[dict[str, Any], dict[str, int]] | None:
    """Sections and rows of workspaces, with so many inequalities beside those of balls; None if nothing is kept.

    `constrained`: whether there are such inequalities, or may be.  Loops are to be kept closed, and where
    accelerations are limited a ball is not to leave its limits.  With `metric` the nearest step is so by a metric that
    the kernels state.
    """
    loops = [(k, task) for k, task in enumerate(tasks) if isinstance(task, LoopTask)]
    balls = problem.section("balls")
    limited = [ball for ball in balls if ball["limited"]]
    if not (constrained or loops or (has_rates and limited)):
        return None
    n, nq = len(problem.velocities), model.nq
    ends = np.cumsum([0, *(LOCKS[task.kind].bits.bit_count() for _, task in loops)])
    m = int(ends[-1])
    levels = [*([m] if m else []), *([n] if metric else [])]
    every = sum(levels)
    inequalities = rows + BALL_ROWS * len(limited) + _CUTS
    wide = WIDTH * -(-n // WIDTH)
    whole = [
        [k, first, last, LOCKS[task.kind].bits, task.turn(model)]
        for (k, task), first, last in zip(loops, ends[:-1], ends[1:], strict=True)
    ]
    return {
        "loops": joined(LOOP, whole, []) if whole else (),
        "loop_plan": [*np.cumsum([0, *levels]), *range(every)],
        "braking_group": _together(problem, [k for k, _ in loops], limited),
    }, {
        **in_group("closure", residual=m, rows=every * wide, target=every, damping=every),
        **(in_group("closure", **dict.fromkeys(("unclosed", "change", "least", "most"), n)) if m else {}),
        **in_group(
            "constraints",
            rows=inequalities * wide, bounds=inequalities, sides=n + inequalities,
            buffer=buffer_size(every, n, inequalities), lowest=n, highest=n, candidate_steps=3 * n, slope=wide,
        ),
        **in_group("braking", state=2 * n + nq),
        **(in_group("braking", distances=n, speeds=n, box=3 * n, start=nq) if has_rates else {}),
        "motion.step_so_far": n,
        "clearance": 2,
    }  # fmt: skip


def _together(problem: Problem, loops: Sequence[int], limited: Sequence[Any]) -> list[int]:
    """(n,) which active velocities brake together: 1 for all that loops tie, then one number for each limited ball."""
    group = [0] * len(problem.velocities)
    effectors, slots = problem.section("effectors"), problem.section("slots")
    for k in loops:
        first = int(effectors[k]["first_slot"])
        for a in slots[first : first + int(effectors[k]["columns"])]:
            group[int(a)] = 1
    for number, ball in enumerate(limited, 2):
        a = int(ball["v"])
        group[a : a + 3] = [max(group[a : a + 3]) or number] * 3
    return group


def relaxed_constraints(stage: int, problem: Problem, active: Sequence[ActiveLimit]) -> str:
    """What gave way in a step that ended at this stage, see `kernels.requirements.stages`; empty for nothing.

    That is what the problem has of the stages up to there.  Without accelerations a step that comes to the last one
    keeps not even rank 4: of the `active` limits that it ended at those gave way that are broken.
    """
    stages = zip(("ranges", "rates"), RELAXATION_ORDER[1 : 1 + stage], strict=False)
    gave = [name for section, (name, _) in stages if len(problem.section(section))]
    if stage >= NO_ACCELERATION and not len(problem.section("rates")):
        rank_4 = [(*_RANK_4[one.kind], one) for one in active if one.kind in _RANK_4]
        gave += dict.fromkeys(name for name, beyond, one in rank_4 if beyond(one.value, one.bound))
    return ", ".join(gave)
