"""A path in pieces, and the ways between them on which the arm is reconfigured, where it cannot be followed in one.

To follow all of it with the fewest of them is the aim of IKLink (Wang, Sifferman and Gleicher 2024, "IKLink:
End-Effector Trajectory Tracking with Minimal Reconfigurations", arXiv:2402.16154).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.solving.path.clock import Clock
from poise.solving.path.connect import WORK, connect
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.fixed_times import Pace
from poise.solving.path.path import PathFailure
from poise.solving.path.route import Route
from poise.solving.path.timing import timed
from poise.solving.path.trajectory import Trajectory, joined
from poise.solving.path.ways import in_steps

_STEP: Final = 0.05
"""The longest step of a joint on the way to another configuration [rad or m]."""


@final
class ReconfiguredPath:
    """The rows of a path: its waypoints, and between two pieces a free way from one configuration to another."""

    def __init__(self, route: Route, q: Array, cuts: Sequence[int], feasibility: PathFeasibility) -> None:
        """`q` (n, nq) meets the waypoints, and the arm is reconfigured before each of those in `cuts`."""
        ends, self.failures = [0, *cuts, len(q)], list[PathFailure]()
        self._parts = [q[a:b] for a, b in pairwise(ends)]
        self._ways = [np.stack([q[cut - 1], q[cut]]) for cut in cuts]
        for k, cut in enumerate(cuts):
            one, other = self._ways[k]
            seed = (route.seed + cut) % 2**62
            way = connect(route.model, feasibility, one, other, route.moved, seed=seed, clock=route.clock, most=WORK)
            if way is None:
                status, words = feasibility.no_way(one, other)
                self.failures.append(PathFailure(cut, status, f"the arm has to be reconfigured, and {words}"))
                continue
            rows = np.concatenate([way[:1], in_steps(route.model, way, _STEP)])
            self._ways[k] = rows if feasibility.loops is None else feasibility.loops.all_closed(rows)[0]
        between = np.zeros(len(q), dtype=np.int64)
        between[list(cuts)] = [len(way) - 2 for way in self._ways]
        self.stations: npt.NDArray[np.int64] = np.arange(len(q)) + np.cumsum(between)
        """(n,) the rows of the waypoints."""
        inner = [*(way[1:-1] for way in self._ways), q[:0]]
        self.q = np.concatenate([rows for pair in zip(self._parts, inner, strict=True) for rows in pair])
        """(rows, nq)"""
        self.rests = np.zeros(len(self.q), dtype=np.bool_)
        """(rows,) where the arm stands still: at both ends of each way."""
        self.rests[self.stations[list(cuts)]] = self.rests[self.stations[[cut - 1 for cut in cuts]]] = True

    def trajectory(self, pace: Pace, dt: float, feasibility: PathFeasibility, clock: Clock) -> tuple[Array, Trajectory]:
        """(rows,) the times [s] of all rows, and the motion, where waypoints of a piece are `dt` [s] apart; ways take
        the least time."""
        times, trajectories, spent = [np.zeros(1)], list[Trajectory](), 0.0
        for k, part in enumerate(self._parts):
            if k:
                way, still = self._ways[k - 1], np.zeros(len(self._ways[k - 1]), dtype=np.bool_)
                passed, trajectory = timed(
                    pace.model, way, pace.rates, still, clock, feasibility, within_limits=pace.within_limits
                )
                times.append(spent + passed[1:])
                trajectories.append(trajectory)
                spent += trajectory.duration
            times.append(spent + dt * np.arange(1, len(part), dtype=np.float64))
            trajectories.append(pace.trajectory(part, dt, feasibility))
            spent += dt * (len(part) - 1)
        return np.concatenate(times), joined(trajectories)
