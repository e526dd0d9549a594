"""Trackers aimed through obstacles at full speed: is anything ever nearer than asked, or a joint beyond its limits?

Each run is made from its seed alone.  Distances are looked at on the whole path, afterwards, and by `apart`, which
shares no code with poise, where they are least.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from judge import Array
from scenes import HAND, crowd, free

import poise as pz

STEPS = 1000
DTS = (0.002, 0.005, 0.02)
"""Time steps [s]."""
LEAST = (0.0, 0.005, 0.02)
"""What is asked [m]."""
ACCELERATION = 15.0
"""[rad/s2], in every other run."""
DRIFT = 0.08
"""How fast a moving obstacle is at most [m/s]."""
CLEAR = 0.45
"""How far from the base's axis one turns back [m]."""
SLACK = 1e-9
"""Of a distance [m]: rounding."""


@dataclass(frozen=True)
class Run:
    """What happened in one run."""

    seed: int
    dt: float
    asked: float
    """[m]"""
    paced: bool
    """Whether accelerations were limited."""
    moving: bool
    """Whether obstacles moved."""
    closest: float
    """[m]"""
    at: int
    """The step after which it was so near."""
    outside: int
    """Steps with a joint beyond its limit."""
    fast: int
    """Steps with a joint faster than its own limit."""
    surges: int
    """Steps with a joint whose speed changed too quickly."""
    nearest: Array
    """(nq,) where it was closest."""

    @property
    def numbers(self) -> dict[str, float]:
        """All but the configuration."""
        return {name: value for name, value in vars(self).items() if name != "nearest"}

    @property
    def broken(self) -> bool:
        """Whether a promise was."""
        return self.closest < self.asked - SLACK or self.outside > 0 or self.fast > 0


def settings(seed: int) -> tuple[float, float, bool, str, bool]:
    """dt, the distance asked, whether accelerations are limited, the method, and whether points are aimed at."""
    method = "priority" if seed // 18 % 2 else "qp"
    return DTS[seed % 3], LEAST[seed // 3 % 3], seed // 9 % 2 == 1, method, seed // 36 % 2 == 1


def run(arm: pz.Model, seed: int, moving: bool = False) -> Run | None:
    """One run; None where no start is free."""
    dt, asked, paced, method, points = settings(seed)
    rng = np.random.default_rng([seed, int(moving)])
    world = crowd(seed, 6 if moving else 20)
    starts = free(arm, world, asked + 1e-3, 1, seed)
    if not len(starts):
        return None
    task = pz.PositionTask(HAND) if points else pz.PoseTask(HAND)
    limits: list[Any] = [pz.CollisionLimit(world, min_distance=asked)]
    limits += [pz.AccelerationLimit(ACCELERATION)] if paced else []
    tracker = pz.Tracker(arm, task, method, dt=dt, limits=limits)
    goals = aims(arm, world, rng, points)
    if moving:
        path, distance = followed(arm, tracker, world, starts[0], goals, dt, rng)
    else:
        path = np.vstack([starts, tracker.rollout(starts[0], goals[:, None])])
        distance = arm.distance(path, world).distance
    at = int(np.argmin(distance))
    speed = np.diff(path, axis=0, prepend=path[:1]) / dt
    surge = np.abs(np.diff(speed, axis=0)) / dt
    return Run(
        seed, dt, asked, paced, moving, float(distance[at]), at,
        int(((path < arm.lower) | (path > arm.upper)).any(axis=1).sum()),
        int((np.abs(speed) > arm.velocity * (1.0 + 1e-9) + 1e-12 / dt).any(axis=1).sum()),
        int((surge > ACCELERATION * (1.0 + 1e-6)).any(axis=1).sum()) if paced else 0,
        path[at],
    )  # fmt: skip


def aims(arm: pz.Model, world: pz.World, rng: np.random.Generator, points: bool) -> Array:
    """(STEPS, 3 or 7): the hand's places at random configurations, and the middles of obstacles, five by turns."""
    poses = np.array([arm.pose(HAND, q).array for q in arm.sample(5, seed=int(rng.integers(1 << 31)))])
    middles = [world[name].pose.xyz for name in world.names]
    for k in rng.choice(5, 2, replace=False):
        poses[k, :3] = middles[rng.integers(len(middles))]
    return np.repeat(poses[:, :3] if points else poses, STEPS // 5, axis=0)


def followed(
    arm: pz.Model, tracker: pz.Tracker, world: pz.World, q: Array, goals: Array, dt: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The path among obstacles of which two move to and fro at steady speed, and the distances along it."""
    path, distance = np.empty((STEPS + 1, arm.nq)), np.empty(STEPS + 1)
    path[0], distance[0] = q, arm.distance(q, world).distance
    movers = {name: (world[name].pose, to_and_fro(world[name].pose.xyz, dt, rng)) for name in world.names[:2]}
    for k, goal in enumerate(goals):
        for when in (k, k + 1):
            for name, (pose, ways) in movers.items():
                moved = pz.SE3.from_parts(ways[when]) @ pose
                world.move(name, moved, velocity=(ways[k + 1] - ways[k]) / dt)
            if when == k:
                q = tracker.step(q, pz.SE3(goal) if len(goal) == 7 else goal)
        path[k + 1], distance[k + 1] = q, arm.distance(q, world).distance
    return path, distance


def to_and_fro(middle: Array, dt: float, rng: np.random.Generator) -> Array:
    """(STEPS + 1, 3) ways from `middle` on along a line, which turn where they get near the base, which cannot flee."""
    way = rng.normal(size=3)
    velocity = rng.uniform(0.2, 1.0) * DRIFT * way / np.linalg.norm(way)
    ways = np.zeros((STEPS + 1, 3))
    for k in range(STEPS):
        place = middle + ways[k] + velocity * dt
        if np.hypot(*place[:2]) < min(CLEAR, np.hypot(*(middle + ways[k])[:2])) or not 0.0 < place[2] < 1.2:
            velocity = -velocity
        ways[k + 1] = ways[k] + velocity * dt
    return ways
