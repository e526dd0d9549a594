"""The cost of one update of a classical method: Jacobian, step, and new positions.

On Buss's Y and double Y, and on the ten links of Das, Slotine and Sheridan among three obstacles.

Every number of a row is taken in turns with the others, so their ratios mean more than the microseconds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

import poise as pz
from poise.robots.das import FIELDS, START
from poise.robots.planar import planar
from poise_experiments.buss.problem import targets, times
from poise_experiments.das.problem import RULED, WAYPOINTS, way
from poise_experiments.das.problem import methods as laws

STEPS = 500
TURNS = 25
CHARACTERS = 8
FEW = 20
"""Steps in NumPy, which takes longer."""
SELECTIVE = pz.methods.SelectivelyDamped(
    damping=0.0, clamps="soft", max_error=pz.methods.ClampMag(position=0.4, mode="buss_release")
)
DAMPING = {"y": 0.6, "double_y": 1.1}
"""As Buss set it."""
REBUILT = {
    ("y", "jt"): 1.46,
    ("y", "dls"): 2.01,
    ("double_y", "jt"): 9.96,
    ("double_y", "dls"): 14.9,
    ("double_y", "sdls"): 27.5,
}
"""Microseconds of Buss's own program, rebuilt with g++ -O3 on a 2.5 GHz Xeon; not of this run."""


@dataclass(frozen=True)
class Scene:
    """Frames of a model that follow goals (steps, frames, 3) from a start, by each of some methods."""

    shape: str
    model: pz.Model
    start: np.ndarray
    frames: tuple[str, ...]
    goals: np.ndarray
    methods: Mapping[str, Any]


@dataclass(frozen=True)
class Update:
    """Medians of one method on one shape [microseconds]."""

    shape: str
    method: str
    rollout: float
    """One update within a compiled rollout."""
    step: float
    """One `Tracker.step` from Python."""
    lanes: float
    """One update of one of eight characters in a rollout."""
    gain: float
    """How many times the throughput of one character eight have: the median over turns of the ratio."""
    numpy: float
    """One update of damped least squares written in NumPy."""


def updates() -> list[Update]:
    """Measure all."""
    return [measure(scene, name) for scene in (*shapes(), links()) for name in scene.methods]


def shapes() -> list[Scene]:
    """Buss's shapes and settings."""
    scenes = []
    for shape, damping in DAMPING.items():
        model, goals = pz.load(shape), targets(shape, times(STEPS))
        methods = {
            "jt": pz.methods.JacobianTranspose(),
            "dls": pz.methods.DampedLeastSquares(damping=damping, max_error=None),
            "sdls": SELECTIVE,
        }
        scenes.append(Scene(shape, model, model.home, tuple(f"e{i}" for i in range(goals.shape[1])), goals, methods))
    return scenes


def links() -> Scene:
    """The whole law of Das, Slotine and Sheridan: posture, obstacles, and beta by its rule."""
    field = FIELDS["open"]
    goals = np.repeat(way(field), STEPS // WAYPOINTS, axis=0)[:, None]
    return Scene("ten links", planar(10), np.array(START), ("tool",), goals, {"das": laws(field)[RULED]})


def measure(scene: Scene, name: str) -> Update:
    """Measure one method of a scene."""
    start, goals = scene.start, scene.goals
    tracker = pz.Tracker(scene.model, [pz.PositionTask(frame) for frame in scene.frames], scene.methods[name])
    crowd = np.repeat(goals[None], CHARACTERS, axis=0)
    starts = np.repeat(start[None], CHARACTERS, axis=0)
    taken = alternate(
        [
            lambda: tracker.rollout(start, goals),
            lambda: by_steps(tracker, scene),
            lambda: tracker.rollout(starts, crowd),
            lambda: in_numpy(scene),
        ]
    )
    micro = np.median(taken, axis=0) * 1e6 / np.array([STEPS, STEPS, STEPS * CHARACTERS, FEW])
    return Update(scene.shape, name, *micro[:3], float(np.median(CHARACTERS * taken[:, 0] / taken[:, 2])), micro[3])


def alternate(runs: list[Callable[[], object]]) -> np.ndarray:
    """(turns, runs) seconds, after one turn that warms up."""
    taken = np.empty((TURNS + 1, len(runs)))
    for turn in taken:
        for i, run in enumerate(runs):
            began = perf_counter()
            run()
            turn[i] = perf_counter() - began
    return taken[1:]


def by_steps(tracker: pz.Tracker, scene: Scene) -> np.ndarray:
    """A loop in Python."""
    tracker.reset()
    q = scene.start
    for goal in scene.goals:
        q = tracker.step(q, goal)
    return q


def in_numpy(scene: Scene) -> np.ndarray:
    """A few steps of damped least squares with poise's poses and Jacobians, in Python."""
    model, frames, q = scene.model, scene.frames, np.array(scene.start)
    for goal in scene.goals[:FEW]:
        e = np.concatenate([t - model.pose(frame, q).xyz for frame, t in zip(frames, goal, strict=True)])
        jacobian = np.concatenate([model.jacobian(frame, q)[:3] for frame in frames])
        q += jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + np.eye(len(e)), e)
    return q


def show(rows: list[Update]) -> None:
    """Print them as Markdown."""
    print("\n| shape | method | rollout us | step us | 8 characters us each | x one | NumPy us | Buss's C++ us |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        rebuilt = REBUILT.get((row.shape, row.method))
        print(
            f"| {row.shape} | {row.method} | {row.rollout:.2f} | {row.step:.2f} | {row.lanes:.2f} | {row.gain:.2f} "
            f"| {row.numpy:.0f} | {'' if rebuilt is None else rebuilt} |"
        )


if __name__ == "__main__":
    show(updates())
