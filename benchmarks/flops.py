"""What one iteration costs: the kernels run as plain Python on numbers that count what is done to them.

Run as a file, it prints the counts of one lane as JSON; a process of its own, for Numba is told when it is loaded that
it shall not compile.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

STAGES = ("forward", "residuals", "step", "others")
"""Forward kinematics; residuals with the Jacobian; gradient, J J^T, its factors and the step; damping, limits, move."""
KINDS = ("add", "multiply", "divide", "root", "round", "compare")
"""Kinds of operations; selections count as comparisons, and a fused multiply-add as two operations."""
ARITHMETIC = KINDS[:4]
"""Those that are floating-point operations of the textbooks."""


def counted(robot: str) -> dict[str, dict[str, int]]:
    """The operations of one iteration of one lane, by stage and kind, for an arm of `robots.arms()`."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, __file__, robot]
    result = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    counts: dict[str, dict[str, int]] = json.loads(result.stdout)
    return counts


def total(counts: dict[str, dict[str, int]]) -> int:
    """Floating-point operations of all stages."""
    return sum(count[kind] for count in counts.values() for kind in ARITHMETIC)


DONE: Counter[str] = Counter()
"""What has been done so far."""


class Number:
    """A number that counts what is done to it."""

    __slots__ = ("value",)
    __array_ufunc__ = None
    """So that NumPy's numbers leave their operators to this class."""

    def __init__(self, value: Any) -> None:
        self.value = float(value)

    def copy(self) -> "Number":
        """Itself, for it never changes."""
        return self

    def __neg__(self) -> "Number":
        return Number(-self.value)

    def __float__(self) -> float:
        return self.value


def _define(kind: str, name: str, result: Callable[[Any], Any]) -> None:
    def operator(a: Any, b: Any) -> Any:
        DONE[kind] += 1
        return result(getattr(float, name)(float(a), float(b)))

    setattr(Number, name, operator)


for _kind, _names in (("add", "add radd sub rsub"), ("multiply", "mul rmul"), ("divide", "truediv rtruediv")):
    for _name in _names.split():
        _define(_kind, f"__{_name}__", Number)
for _name in ("lt", "le", "gt", "ge"):
    _define("compare", f"__{_name}__", bool)


def count_primitives() -> None:
    """Put counting functions in place of those primitives that are no operators; before any kernel is imported."""
    import math

    from poise.kernels.machine import lanes

    def unary(kind: str, function: Callable[[float], float]) -> Callable[[Any], Any]:
        def primitive(x: Any) -> Any:
            if not isinstance(x, Number):
                return function(x)
            DONE[kind] += 1
            return Number(function(float(x)))

        return primitive

    def select(condition: Any, a: Any, b: Any) -> Any:
        DONE["compare"] += 1
        return a if condition else b

    lanes.sqrt, lanes.select = unary("root", math.sqrt), select
    lanes.floor, lanes.rint = unary("round", math.floor), unary("round", round)
    lanes.splat = lambda work, number: Number(number)


def count(name: str) -> dict[str, dict[str, int]]:
    """The operations of one iteration, which must run un-jitted and after `count_primitives`."""
    import numpy as np
    import robots

    import poise as pz
    from poise.kernels.kinematics.forward import forward
    from poise.kernels.machine.packing import total_rows
    from poise.kernels.machine.views import narrow, problem_at
    from poise.kernels.rows.residuals import residuals
    from poise.kernels.solver import lm_solver
    from poise.kernels.solver.pose_step import hold_for_pose, pose_direction
    from poise.solving.problem.problem import pack

    robot = next(robot for robot in robots.arms() if robot.name == name)
    model = pz.load(str(robot.urdf))
    task = pz.PoseTask(robot.tips[0])
    words = pack(model, (task,), limits=True).words
    p = problem_at(words)
    work = np.array([Number(0.0)] * total_rows(words), dtype=object)
    w = narrow(p, work, np.zeros(64, dtype=np.int64))
    here, there = model.sample(2, seed=0)
    w.q[:] = w.before[:] = [Number(x) for x in here]
    lm_solver.aim_at(p, task.goal(model.pose(task.frame, there)), w.target)
    w.target[:] = [Number(x) for x in w.target]
    w.state[:] = [Number(x) for x in np.full(len(w.state), 0.1)]

    found: dict[str, dict[str, int]] = {}

    def stage(name: str, action: Callable[[], Any]) -> Any:
        DONE.clear()
        result = action()
        found[name] = {kind: DONE[kind] for kind in KINDS}
        return result

    stage("forward", lambda: forward(p.units, w.q, w.frames))
    cost, score = stage("residuals", lambda: residuals(p, w))
    damping, bold = Number(0.01), score >= 0.0

    def step() -> None:
        hold_for_pose(p, w)
        pose_direction(p, w, bold, damping)

    stage("step", step)
    whole = stage("others", lambda: lm_solver.improve(p, w, cost, bold, False))
    assert whole is None
    found["others"] = {kind: found["others"][kind] - found["step"][kind] for kind in KINDS}
    return found


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    count_primitives()
    print(json.dumps(count(sys.argv[1])))
