"""cartan-bindings: its projected Levenberg-Marquardt with Halton restarts (C++)."""

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import cartan
import numpy as np
from judge import Array
from robots import Robot

from peers import RESTARTS, starts


class Cartan:
    """`solve_ik_speed`; it gives up after 20 restarts of its own, so the loop goes on from random starts."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.robot = robot
        with robot.bare_file() as file:
            self.chain = cartan.load_urdf(file).chain
        self.config = cartan.IkConfig(
            position_tol=tolerance,
            orientation_tol=tolerance,
            max_total_work_units=100 * RESTARTS,
            max_total_iterations=100 * RESTARTS,
        )

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The target as a cartan.SE3."""
        return cartan.SE3.from_matrix(targets[0]), q0

    def solve(self, target: Any, q0: Array) -> Any:
        """Its result; the loop is apart, for setting it up would cost a tenth of the fastest solves."""
        result = cartan.solve_ik_speed(self.chain, target, q0, self.config)
        return result if result.converged else self.restarted(target, q0)

    def restarted(self, target: Any, q0: Array) -> Any:
        """The first result that converged, else the last."""
        for start in islice(starts(self.robot, q0), 1, None):
            result = cartan.solve_ik_speed(self.chain, target, start, self.config)
            if result.converged:
                break
        return result

    def unpack(self, answer: Any) -> Array | None:
        """Its q."""
        return answer.q if answer.converged else None


class Threads(Cartan):
    """The same from a thread a core, which gains nothing while it does not free Python's lock."""

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """A list of problems, each as for one call."""
        return ([super(Threads, self).pack(target, q0) for target, q0 in zip(targets, starts, strict=True)],)

    def solve(self, problems: list[tuple[Any, ...]]) -> list[Any]:
        """Their results."""
        threads = os.cpu_count() or 1
        parts = [problems[k::threads] for k in range(threads)]
        found: list[Any] = [None] * len(problems)
        with ThreadPoolExecutor(threads) as pool:
            for k, part in enumerate(pool.map(self.solve_part, parts)):
                found[k::threads] = part
        return found

    def solve_part(self, problems: list[tuple[Any, ...]]) -> list[Any]:
        """The results of one thread."""
        one = super().solve
        return [one(target, q0) for target, q0 in problems]

    def unpack(self, answer: list[Any]) -> Array:
        """(n, nq), NaN where it failed."""
        one, none = super().unpack, np.full(len(self.robot.judge.names), np.nan)
        found = [one(result) for result in answer]
        return np.array([none if q is None else q for q in found])
