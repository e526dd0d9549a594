"""How many iterations the transpose, Newton and their hybrid need from random starts to random goals."""

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.methods.base import Method
from poise.methods.das import DasSlotineSheridan
from poise.methods.hybrid import Hybrid
from poise.methods.newton import GaussNewton
from poise.robots.planar import planar
from poise.solving.solver import Solver
from poise.spatial import Array
from poise.tasks.pose import PositionTask

TRANSPOSE, NEWTON, HYBRID = "transpose", "Newton", "hybrid"
TOLERANCE: Final = 1e-3
MOST: Final = 5000
SPREADS: Final = {"any pose": math.pi, "joints within 0.3 rad": 0.3}


@final
@dataclass(frozen=True, slots=True)
class Count:
    """The iterations of the starts that arrived, and how many did not."""

    iterations: Array
    failed: int


def count(pairs: int, spread: float) -> dict[str, Count]:
    """Each method on the same `pairs` of poses, whose joint angles are at most `spread` [rad]."""
    arm = planar(10)
    starts, goals = np.random.default_rng(0).uniform(-spread, spread, (2, pairs, 10))
    targets = arm.pose("tool", goals).xyz
    kinds: dict[str, Method] = {
        TRANSPOSE: DasSlotineSheridan(max_step=np.inf),
        NEWTON: GaussNewton(max_step=np.inf),
        HYBRID: Hybrid(max_step=np.inf),
    }
    found = {}
    for name, method in kinds.items():
        solver = Solver(
            arm, PositionTask("tool", tolerance=TOLERANCE), method=method, max_restarts=0, max_iterations=MOST
        )
        answers = [solver(target, q0=q0) for q0, target in zip(starts, targets, strict=True)]
        taken = np.array([float(answer.iterations) for answer in answers if answer.success])
        found[name] = Count(taken, pairs - len(taken))
    return found
