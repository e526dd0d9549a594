"""Random mixtures of what must hold, in batches, single solves and steps: is a limit ever broken, or a flag false?

Each mixture is made from its seed alone.  Answers are looked at afterwards: poses by the judge, which shares no code
with poise, sums, speeds and their changes from q in NumPy.  Distances are the affair of `through`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import robots
from judge import Array, Judge
from scenes import crowd, free, guarded_panda

import poise as pz

TOLERANCE, SLACK = 1e-6, 1e-9
"""Of a pose [m, rad]; rounding, of all else [m, rad]."""
DTS = (0.002, 0.005, 0.02)
"""Time steps [s]."""
ACCELERATION, JERK = 12.0, 240.0
"""[rad/s2, rad/s3]"""
LEAST = 0.01
"""What shapes are to be apart [m]."""
STEPS, PIECE, HELD_PIECE = 1000, 5_000, 500
"""Steps of a run; problems of a mixture in a batch, without and with more to hold than limits of positions."""


@dataclass
class Kept:
    """What was judged of one function on one arm."""

    arm: str
    function: str
    judged: int
    """Solves, or steps."""
    converged: int
    """Solves that say so; 0 of steps."""
    outside: int
    """Answers beyond a limit of positions, by however little."""
    beside: int
    """Answers of solves that say CONVERGED, and all of steps, beyond a sum, a plane, a speed or one of its changes."""
    false: int
    """Solves that say CONVERGED and whose pose is not within the tolerance."""
    nearer: int
    """The same as `beside`, of shapes nearer than asked."""


class Mixture:
    """What must hold beside the limits of positions: up to two sums of joints, and a half-space for the tip."""

    def __init__(self, arm: pz.Model, tip: str, rng: np.random.Generator, *, plain: bool = False) -> None:
        count = 0 if plain else int(rng.integers(0, 3))
        self.rows = rng.normal(size=(count, arm.nq)) * (np.arange(arm.nq) < 7)  # fingers do not move the tip
        middle = arm.clip(np.zeros(arm.nq))
        self.most = self.rows @ middle + rng.uniform(0.3, 2.0, count)
        self.limits = [
            pz.LinearLimit(dict(zip(arm.coordinates[:7], row.tolist(), strict=False)), float(most))
            for row, most in zip(self.rows, self.most, strict=True)
        ]
        self.floor = (
            None if plain or rng.random() < 0.5 else float(arm.pose(tip, middle).xyz[2] - rng.uniform(0.1, 0.6))
        )
        space = (
            [] if self.floor is None else [pz.RegionTask(tip, pz.HalfSpace([0.0, 0.0, self.floor], [0.0, 0.0, -1.0]))]
        )
        self.tasks: list[Any] = [pz.PoseTask(tip), *space]

    @property
    def plain(self) -> bool:
        """Whether nothing must hold but limits of positions."""
        return not self.limits and self.floor is None

    def broken(self, q: Array, places: Array, slack: float = SLACK) -> Array:
        """(n,) whether a sum or the half-space is, for the tip's places (n, 3)."""
        sums = ((q @ self.rows.T) > self.most + slack).any(axis=1)
        return sums if self.floor is None else sums | (places[:, 2] < self.floor - TOLERANCE - slack)


def holds(count: int, runs: int) -> list[Kept]:
    """`count` problems in batches, a tenth of them one by one, and `runs` of STEPS steps, for each arm."""
    rows = []
    for robot in (robots.panda(), *robots.branching()):
        judge = Judge(robot.urdf, robot.tips[-1:])
        with robot.bare_file() as file:
            arm = pz.load(str(file))
        rows += [
            _solves(arm, robot.name, judge, count, batched=True),
            _solves(arm, robot.name, judge, max(1, count // 10), batched=False),
            _steps(arm, robot.name, judge, runs),
        ]
    return [*rows, *_apart(max(1, count // 100))]


def _solves(arm: pz.Model, name: str, judge: Judge, count: int, *, batched: bool) -> Kept:
    kept = Kept(name, "solve_batch" if batched else "Solver", 0, 0, 0, 0, 0, 0)
    tip, seed = judge.tips[0], 0
    while kept.judged < count:
        rng = np.random.default_rng([seed, batched])
        mixture = Mixture(arm, tip, rng, plain=seed % 2 == 0)
        n = min(PIECE if batched and mixture.plain else HELD_PIECE, count - kept.judged)
        reached, starts = arm.sample(n, seed=2 * seed), arm.sample(n, seed=2 * seed + 1)
        goals = pz.SE3(np.array([arm.pose(tip, q).array for q in reached]))
        others = [None] * (len(mixture.tasks) - 1)
        if batched:
            done = pz.solve_batch(
                arm, mixture.tasks, [goals, *others] if others else goals, q0=starts, limits=mixture.limits or True
            )
            q, success = done.q, done.success
        else:
            solver = pz.Solver(arm, mixture.tasks, limits=mixture.limits or True)
            each = [solver([goals[k], *others] if others else goals[k], starts[k]) for k in range(n)]
            q, success = np.array([one.q for one in each]), np.array([one.success for one in each])
        poses = judge.poses(q)[:, 0]
        verdict = judge.verdict(q, goals.matrix()[:, None])
        kept.judged, kept.converged = kept.judged + n, kept.converged + int(success.sum())
        kept.outside += int(verdict.outside.sum())
        kept.beside += int((success & mixture.broken(q, poses[:, :3, 3])).sum())
        kept.false += int((success & ~verdict.reached(TOLERANCE + SLACK)).sum())
        seed += 1
    return kept


def _steps(arm: pz.Model, name: str, judge: Judge, runs: int) -> Kept:
    kept, tip = Kept(name, "Tracker", 0, 0, 0, 0, 0, 0), judge.tips[0]
    for seed in range(runs):
        rng = np.random.default_rng([seed, 2])
        mixture, dt = Mixture(arm, tip, rng, plain=seed % 3 == 0), DTS[seed % 3]
        rates: list[Any] = [
            [],
            [pz.AccelerationLimit(ACCELERATION)],
            [pz.AccelerationLimit(ACCELERATION), pz.JerkLimit(JERK)],
        ][seed // 3 % 3]
        start = arm.clip(np.zeros(arm.nq))
        tracker = pz.Tracker(arm, mixture.tasks, ("priority", "qp")[seed % 2], dt=dt, limits=[*mixture.limits, *rates])
        goals = np.repeat(np.array([arm.pose(tip, q).array for q in arm.sample(5, seed=seed)]), STEPS // 5, axis=0)
        own = [np.broadcast_to([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], goals.shape)] * (len(mixture.tasks) - 1)
        q = np.vstack([start, tracker.rollout(start, np.stack([goals, *own], axis=1))])
        speed = np.diff(q, axis=0) / dt
        change = np.diff(speed, axis=0, prepend=np.zeros((1, arm.nq))) / dt
        jerk = np.diff(change, axis=0, prepend=np.zeros((1, arm.nq))) / dt
        fast = (np.abs(speed) > arm.velocity * (1.0 + SLACK) + 1e-12 / dt).any(axis=1)
        if rates:
            fast |= (np.abs(change) > ACCELERATION * (1.0 + 1e-6) + 1e-12 / dt**2).any(axis=1)
        if len(rates) > 1:
            fast |= (np.abs(jerk) > JERK * (1.0 + 1e-6) + 1e-12 / dt**3).any(axis=1)
        kept.judged += STEPS
        kept.outside += int(((q < arm.lower) | (q > arm.upper)).any(axis=1).sum())
        kept.beside += int((fast | mixture.broken(q[1:], judge.poses(q[1:])[:, 0, :3, 3])).sum())
    return kept


def _apart(count: int) -> list[Kept]:
    """`count` solves among crowds of obstacles, each with sums and a half-space."""
    arm = guarded_panda()
    single, batch = (Kept("Panda, 20 obstacles", f, 0, 0, 0, 0, 0, 0) for f in ("Solver", "solve_batch"))
    tip, seed, piece = "panda_hand", 0, 100
    while single.judged < count:
        rng = np.random.default_rng([seed, 3])
        mixture, world = Mixture(arm, tip, rng), crowd(seed)
        starts = free(arm, world, LEAST + 1e-3, piece, seed)
        if len(starts) == piece:
            goals = pz.SE3(np.array([arm.pose(tip, q).array for q in free(arm, world, LEAST, piece, seed + 1)][:piece]))
            starts = starts[: len(goals.array)]
            limits = [pz.CollisionLimit(world, min_distance=LEAST), *mixture.limits]
            others = [None] * (len(mixture.tasks) - 1)
            solver = pz.Solver(arm, mixture.tasks, limits=limits)
            each = [solver([goals[k], *others] if others else goals[k], q0) for k, q0 in enumerate(starts)]
            done = solver.batch([goals, *others] if others else goals, starts)
            for kept, q, success in (
                (single, np.array([one.q for one in each]), np.array([one.success for one in each])),
                (batch, done.q, done.success),
            ):
                poses = [arm.pose(tip, x) for x in q]
                errors = np.array([(pose.inverse() @ goals[k]).log() for k, pose in enumerate(poses)])
                far = np.linalg.norm(errors.reshape(len(q), 2, 3), axis=2).max(axis=1)
                kept.judged, kept.converged = kept.judged + len(q), kept.converged + int(success.sum())
                kept.outside += int(((q < arm.lower) | (q > arm.upper)).any(axis=1).sum())
                kept.beside += int((success & mixture.broken(q, np.array([pose.xyz for pose in poses]))).sum())
                kept.false += int((success & (far > TOLERANCE + SLACK)).sum())
                kept.nearer += int((success & (arm.distance(q, world).distance < LEAST - SLACK)).sum())
        seed += 1
    return [single, batch]


def show(rows: list[Kept]) -> None:
    """Print the table."""
    print("\n| arm | function | judged | converged | outside | beside | false | nearer |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for one in rows:
        numbers = (one.judged, one.converged, one.outside, one.beside, one.false, one.nearer)
        print(f"| {one.arm} | {one.function} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
