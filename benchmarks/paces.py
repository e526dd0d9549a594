"""What limits of accelerations and jerks cost a Tracker: smooth targets, targets that jump, and noise.

    python benchmarks/paces.py [method]

Four tables of five robots.  a: limits that a smooth motion does not need, by how much the way then differs.  b: limits
of which it needs a little more, the error and the acceleration beside the least squares of the whole motion of each
joint, which knows the future; once free to set out at any time, once no sooner than the limits bite, as a tracker does
that feels none before.  c: a jump, the time beside that of Ruckig, and how far beyond.  d: 1.5 mm of noise on the
target, what is left of it.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import ruckig
from scipy.optimize import lsq_linear

import poise as pz

Array = np.ndarray
ROBOTS: dict[str, tuple[str, float, list[float]]] = {
    "panda": ("panda_hand", 1.0, [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]),
    "ur5e": ("tool0", 1.0, [0.3, -1.4, 1.6, -1.7, -1.5, 0.2]),
    "iiwa14": ("iiwa_link_ee", 1.0, [0.3, 0.5, 0.2, -1.4, 0.1, 0.8, 0.0]),
    "so101": ("gripper_frame_link", 0.4, [0.1, -0.5, 0.6, 0.5, 0.1, 0.2]),
    "xarm7": ("link_eef", 1.0, [0.2, -0.4, 0.1, 0.9, 0.1, 1.2, 0.1]),
}
"""Frame, how far it is led beside the others, and a start."""
KINDS = ("line", "sine", "three sines")
SPEEDS = (0.01, 0.05, 0.1, 0.3)
"""[m/s], times the size"""
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02)
"""dt [s]"""
LIMITS: tuple[dict[str, float], ...] = ({"acceleration": 15.0}, {"jerk": 300.0}, {"acceleration": 15.0, "jerk": 1000.0})
JUMPS = ([0.0, 0.15, -0.1], [0.02, 0.0, 0.01])
NOISE, RUNS = 0.0015, 8
NEEDED, SCARCE = 1.3, (0.95, 0.85, 0.7)
"""Limits beside the largest that the motion needs."""
SECONDS = 2.0


@dataclass(frozen=True)
class Arm:
    """A robot that follows places, its rotation as at the start where it has joints enough."""

    name: str
    method: str

    @cached_property
    def model(self) -> pz.Model:
        """The robot."""
        return pz.load(self.name)

    @cached_property
    def here(self) -> pz.SE3:
        """Where it starts."""
        return self.model.pose(ROBOTS[self.name][0], np.array(ROBOTS[self.name][2]))

    def follow(self, way: Array, dt: float, **limits: float) -> Array:
        """(steps + 1, nq) its way towards each row of `way` (steps, 3)."""
        frame, _, start = ROBOTS[self.name]
        kinds: dict[str, Any] = {"acceleration": pz.AccelerationLimit, "jerk": pz.JerkLimit}
        stated = [kinds[name](most) for name, most in limits.items()]
        task = pz.PoseTask(frame) if self.model.nq > 5 and self.name != "so101" else pz.PositionTask(frame)
        ik = pz.Tracker(self.model, task, self.method, dt=dt, limits=stated or True)
        path = [np.array(start)]
        for place in way:
            goal = place if isinstance(task, pz.PositionTask) else pz.SE3.from_parts(place, self.here.rotation)
            path.append(ik.step(path[-1], goal))
        return np.array(path)

    def places(self, path: Array) -> Array:
        """(steps, 3) of the frame."""
        return np.array([self.model.pose(ROBOTS[self.name][0], q).xyz for q in path])

    def smooth(self, kind: str, speed: float, dt: float) -> Array:
        """(steps, 3) a motion that begins at rest, at about `speed` [m/s]."""
        size = ROBOTS[self.name][1]
        t, reach = np.arange(int(SECONDS / dt)) * dt, 0.08 * size
        s = np.clip(t / 0.6, 0.0, 1.0)
        begin, w = s**3 * (10.0 - 15.0 * s + 6.0 * s**2), speed * size / reach
        if kind == "line":
            x = speed * size * (0.6 * (2.5 * s**4 - 3.0 * s**5 + s**6) + np.maximum(t - 0.6, 0.0))
            return self.here.xyz + np.outer(np.minimum(x, 2.0 * reach) if speed < 0.1 else 0.3 * x, [0.0, 0.9, -0.4])
        if kind == "sine":
            return self.here.xyz + np.outer(begin * reach * np.sin(w * t), [0.0, 1.0, 0.0])
        several = [np.sin(w * t), np.sin(1.7 * w * t + 1.0) - np.sin(1.0), np.sin(0.6 * w * t)]
        return self.here.xyz + 0.6 * reach * (begin * np.array(several)).T


def changes(path: Array, dt: float) -> tuple[Array, Array]:
    """Accelerations and jerks of a path that begins at rest."""
    a = np.diff(np.diff(path, axis=0, prepend=path[:1]), axis=0) / dt**2
    return a, np.diff(a, axis=0) / dt


def rms(values: Array) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def nearest(x: Array, most: float, order: int, *, first: int) -> Array:
    """The nearest to x, by least squares, whose differences of this order are within `most`; as x before `first`."""
    n = len(x)
    beyond = np.abs(np.diff(x, order)) > most
    if not beyond.any():
        return x
    first = int(np.argmax(beyond)) + order if first else order
    sums = np.tril(np.ones((n - first, n - first)))
    for _ in range(order - 1):
        sums = sums @ np.tril(np.ones((n - first, n - first)))
    drift = list(x[:first])
    for _ in range(first, n):
        drift.append(2.0 * drift[-1] - drift[-2] if order == 2 else 3.0 * (drift[-1] - drift[-2]) + drift[-3])
    found = lsq_linear(sums * most, x[first:] - np.array(drift[first:]), (-1.0, 1.0), tol=1e-10)
    return np.append(x[:first], np.array(drift[first:]) + most * sums @ found.x)


def unneeded(arm: Arm) -> Iterator[tuple[float, ...]]:
    """How far the way is from that without limits, with an acceleration, a jerk and both [rad]."""
    for kind in KINDS:
        for speed in SPEEDS:
            for dt in STEPS:
                way = arm.smooth(kind, speed, dt)
                free = arm.follow(way, dt)
                a, j = (NEEDED * float(np.abs(x).max()) for x in changes(free, dt))
                stated: list[dict[str, float]] = [{"acceleration": a}, {"jerk": j}, {"acceleration": a, "jerk": j}]
                yield tuple(float(np.abs(arm.follow(way, dt, **limits) - free).max()) for limits in stated)


def scarce(arm: Arm) -> Iterator[tuple[float, ...]]:
    """Errors beside the optimum free at any time, then no sooner than needed, and the rms acceleration."""
    dt = 0.01
    for kind in KINDS:
        way = arm.smooth(kind, 0.2, dt)
        free = arm.follow(way, dt)
        for part in SCARCE:
            for order, name in ((2, "acceleration"), (3, "jerk")):
                most = part * float(np.abs(changes(free, dt)[order - 2]).max())
                path = arm.follow(way, dt, **{name: most})
                error, ratios = rms(arm.places(path)[1:] - way), []
                for first in (0, 1):
                    best = np.stack([nearest(x, most * dt**order, order, first=first) for x in free.T], axis=1)
                    ratios.append(error / rms(arm.places(best)[1:] - way))
                yield (*ratios, rms(changes(path, dt)[0]) / rms(changes(best, dt)[0]), float(order), part)


def jumps(arm: Arm) -> Iterator[tuple[float, float, float]]:
    """The time to 2 % beside the shortest of all, and how far beyond [%]; 1 with a jerk."""
    n = arm.model.nq
    for limits in LIMITS:
        for dt in STEPS:
            for offset in JUMPS:
                jump = ROBOTS[arm.name][1] * np.array(offset)
                far = float(np.linalg.norm(jump))
                path = arm.follow(np.tile(arm.here.xyz + jump, (int(SECONDS / dt), 1)), dt, **limits)
                asked, found = ruckig.InputParameter(n), ruckig.Trajectory(n)
                asked.current_position, asked.target_position = list(path[0]), list(path[-1])
                asked.max_velocity = list(arm.model.velocity)
                asked.max_acceleration = [limits.get("acceleration", 1e4)] * n
                asked.max_jerk = [limits.get("jerk", 1e8)] * n
                ruckig.Ruckig(n).calculate(asked, found)
                left = arm.places(path) - arm.here.xyz - jump
                away = np.linalg.norm(left, axis=1)
                arrived = (len(away) - int(np.argmax(away[::-1] > 0.02 * far)) - 1) * dt
                beyond = 100.0 * max(0.0, float((left @ jump).max())) / far**2
                yield arrived / found.duration, beyond, float("jerk" in limits)


def noisy(arm: Arm) -> Iterator[tuple[float, float]]:
    """The rms error beside that of the noise, of a target that stands and of one that moves."""
    for limits in LIMITS:
        for dt in STEPS[1:]:
            steps, found = int(SECONDS / dt), []
            for way in (np.tile(arm.here.xyz, (steps, 1)), arm.smooth("sine", 0.05, dt)):
                left = []
                for seed in range(RUNS):
                    path = arm.follow(way + NOISE * np.random.default_rng(seed).normal(size=(steps, 3)), dt, **limits)
                    left.append((arm.places(path)[1:] - way)[steps // 4 :])
                found.append(rms(np.array(left)) / NOISE)
            yield found[0], found[1]


def table(title: str, heads: str, rows: Callable[[Arm], list[str]], arms: list[Arm]) -> None:
    """Print one as Markdown."""
    print(f"\n{title}\n\n| robot | {heads} |\n|---|{'--:|' * (heads.count('|') + 1)}")
    for arm in arms:
        print("| " + " | ".join([arm.name, *rows(arm)]) + " |", flush=True)


def show(method: str) -> None:
    """All tables."""
    arms = [Arm(name, method) for name in ROBOTS]

    def felt(arm: Arm) -> list[str]:
        return [f"{x:.0e}" for x in np.max(list(unneeded(arm)), axis=0)]

    def behind(arm: Arm) -> list[str]:
        found = np.array(list(scarce(arm)))
        return [
            f"{np.median(x[:, c]):.2f}, {x[:, c].max():.2f}"
            for x in (found[found[:, 3] == 2], found[found[:, 3] == 3])
            for c in range(3)
        ]

    def reached(arm: Arm) -> list[str]:
        found = np.array(list(jumps(arm)))
        sorts = (found[found[:, 2] == 0], found[found[:, 2] == 1])
        return [f"{np.median(x[:, 0]):.2f}, {x[:, 0].max():.2f}" for x in sorts] + [
            f"{x[:, 1].max():.2f}" for x in sorts
        ]

    def left(arm: Arm) -> list[str]:
        return [f"{x:.2f}" for x in np.max(list(noisy(arm)), axis=0)]

    table(
        f"a. Limits that are not needed, {method}: how far the way differs, at most [rad]",
        "acceleration | jerk | both",
        felt,
        arms,
    )
    three = "error | error, from the same moment | acceleration"
    table(
        "b. Limits that are scarce: beside the optimum, median and largest; accelerations, then jerks",
        f"{three} | {three}",
        behind,
        arms,
    )
    table(
        "c. Jumps: time beside Ruckig's, median and largest, and % beyond",
        "acceleration | jerk | beyond | beyond, jerk",
        reached,
        arms,
    )
    table("d. 1.5 mm of noise: the error beside it, at most", "stands | moves", left, arms)


if __name__ == "__main__":
    show(sys.argv[1] if len(sys.argv) > 1 else "dls")
