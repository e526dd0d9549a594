"""How a workspace lies in memory: rows, of one number or of eight, in sections that have names.

A section that many kernels use has a plain name, `w.jacobian`; those that a few use alone are a group, and declared in
a file of their own in `poise.kernels.machine.groups`: `w.braking.state`, which Python calls "braking.state".
"""

from collections.abc import Mapping
from typing import Final

from poise.kernels.machine.group import Group
from poise.kernels.machine.groups.approach import APPROACH
from poise.kernels.machine.groups.braking import BRAKING
from poise.kernels.machine.groups.closure import CLOSURE
from poise.kernels.machine.groups.constraints import CONSTRAINTS
from poise.kernels.machine.groups.fallback import FALLBACK
from poise.kernels.machine.groups.kkt import KKT
from poise.kernels.machine.groups.motion import MOTION
from poise.kernels.machine.groups.proximity import PROXIMITY
from poise.kernels.machine.groups.search import SEARCH
from poise.kernels.machine.groups.sides import SIDES
from poise.kernels.machine.groups.stall import STALL
from poise.kernels.machine.groups.tool_motion import TOOL_MOTION

WORK: Final[Mapping[str, str | Group]] = {
    "goal": "GOAL_NUMBERS an effector, which Python writes",
    "posture_goal": "nq behind goal, which Python writes as one",
    "start": "nq, which Python writes",
    "out": "what Python reads, see ANSWER",
    "q": "nq",
    "frames": "FRAME a unit",
    "e": "m, residuals",
    "jacobian": "three a column of each block, see BLOCK",
    "scratch": "columns of a Jacobian that are no rows of a task",
    "free": "n, 0 for joints that are held",
    "matrix": "m x m; of a hand n x n, a Hessian and its factor",
    "y": "m",
    "step": "n",
    "before": "nq, where the step began",
    "target": "GOAL an effector",
    "state": "STATE, see `poise.kernels.solver.state`",
    "pool": "nq, in each lane a candidate",
    "offsets": "one a stride, where the sequence of random starts begins",
    # Of a method.
    "memory": "MEMORY, see `poise.kernels.machine.memory`; of a hand then a number a pair of fingertips, which pinch",
    "loop": "LOOP, see there",
    "best": "nq; of a hand the q of the last frame after a filter",
    "clamped": "m, errors",
    "last_errors": "m",
    "last_target": "12 an effector",
    "cap": "one a block",
    "rows": "m x n, sigma_i v_i",
    "turn": "m x m, u_i",
    "spare": "m x m",
    "sigma": "m",
    "along": "m, U^T e",
    "gradient": "n, J^T e",
    "other": "n; of a hand the way of joints that are put at a limit",
    "phi": "n, the null space's velocity",
    "moved": "n, the last step towards a posture; of a hand the way since the last frame",
    "estimate": "2 m, singular vectors",
    "last_jacobian": "as jacobian",
    "prior": "nq, the q before the last step; of a hand that of the last frame before a filter",
    "begun": "nq, where a step of a Tracker, or of a hand, began",
    "last_step": "n",
    "clamped_step": "n, a step with each joint bound by itself",
    "guide": "nq, what a Tracker pulls to in this step",
    "last_guide": "nq, the same in the one before",
    "delegated_step": "n, the step that another method proposes",
    "room": "what the method at hand asked for",
    "clearance": "2, the least distance of all pairs at q, and the largest of those too small, at `best` [m]",
    # What a few kernels use.
    "search": SEARCH,
    "motion": MOTION,
    "approach": APPROACH,
    "stall": STALL,
    "proximity": PROXIMITY,
    "constraints": CONSTRAINTS,
    "sides": SIDES,
    "closure": CLOSURE,
    "braking": BRAKING,
    "kkt": KKT,
    "fallback": FALLBACK,
    "tool_motion": TOOL_MOTION,
}
"""What each section of a workspace is: how many rows, n being active velocities and m residual rows, and of what; and
the groups."""

SECTIONS: Final = {
    name: rows
    for first, kind in WORK.items()
    for name, rows in (
        {f"{first}.{each}": rows for each, rows in kind.sections.items()} if isinstance(kind, Group) else {first: kind}
    ).items()
}
"""All of them by the names that Python has for them, in the order of memory."""
