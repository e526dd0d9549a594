"""Whether trackers come to rest: static targets in and out of reach, methods, levels and robots.

A tracker shakes if, over the last hundred steps, a joint has gone to and fro by more than SWAY, as `shakes` has it.  It
is stuck if no joint moves any more although its first level still has a way down.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import poise as pz

STEPS = 1200
LAST = 100
SWAY = 1e-4
"""[rad or m]"""
TURNS, SMALL = 4, 0.5
"""A joint that turns back less often does not sway; a sway of less than SMALL of what the joints come on meanwhile
belongs to the way."""
BEFORE, FADING = 500, 0.9
"""One of less than this share of what it was so many steps before dies out."""
STILL = 1e-8
"""A joint that moves less in LAST steps stands [rad or m]."""
CLAMP = 0.2
"""What most methods shorten errors to, each place or turn by itself, so that they rest where those balance."""
DOWNHILL = 1e-4
"""A slope of half the squared error of the first level that is one, over the error [m/rad]."""
DT = 0.01
LEVELLED = ("siciliano-slotine", "chiaverini", "baerlocher-boulic")
"""Forms of `priority`, which run on the targets of several levels; "priority" itself runs on all."""
METHODS: dict[str, Any] = {name: name for name in ("jt", "dls", "sdls", "lm", "hybrid", "qp", "priority")} | {
    form: pz.methods.TaskPriority(form=form) for form in LEVELLED
}
ARMS = {
    "panda": ("panda_hand", "panda_link4"),
    "ur5e": ("tool0", "wrist_1_link"),
    "iiwa14": ("iiwa_link_ee", "iiwa_link_4"),
    "so100": ("gripper", "lower_arm"),
    "planar3": ("tool", "link2"),
    "planar10": ("tool", "link5"),
    "y": ("e0", "e1"),
    "double_y": ("e0", "e3"),
}
"""Two frames of each."""
HUMANOIDS = {
    "g1": ("left_rubber_hand", "right_rubber_hand", "left_ankle_roll_link"),
    "talos": ("gripper_left_base_link", "gripper_right_base_link", "left_sole_link"),
}
"""Two hands and a foot of each."""


@dataclass(frozen=True)
class Case:
    """A tracker's tasks, start and static target."""

    robot: str
    kind: str
    tasks: tuple[Any, ...]
    start: np.ndarray
    targets: np.ndarray
    """(tasks, 7)"""
    dt: float | None
    updates: int


@dataclass
class Tally:
    """What became of the cases of one method."""

    cases: int = 0
    shaking: list[Case] = field(default_factory=list)
    stuck: list[Case] = field(default_factory=list)


@cache
def robot(name: str) -> pz.Model:
    """By name; the G1 floats, the Talos hangs."""
    return pz.load(name, base="floating" if name == "g1" else "fixed")


def kinds(name: str) -> dict[str, tuple[Any, ...]]:
    """Tasks for a robot, of one to three levels."""
    place, turn, pose = pz.PositionTask, pz.OrientationTask, pz.PoseTask
    if name in HUMANOIDS:
        left, right, foot = HUMANOIDS[name]
        return {
            "hands": (pose(left), pose(right), pose(foot)),
            "foot then hands": (pose(foot), place(left, priority=1), place(right, priority=1)),
            "foot, hand, hand": (pose(foot), pose(left, priority=1), place(right, priority=2)),
            "hand, turn, hand": (place(left), turn(left, priority=1), place(right, priority=2)),
        }
    tip, middle = ARMS[name]
    if name.startswith("planar") or name.endswith("y"):
        return {
            "place": (place(tip),),
            "two places": (place(tip), place(middle)),
            "place then place": (place(tip), place(middle, priority=1)),
        }
    flat = (1.0, 0.0, 0.0)
    return {
        "place": (place(tip),),
        "pose": (pose(tip),),
        "place then turn": (place(tip), turn(tip, priority=1)),
        "place then place": (place(tip), place(middle, priority=1)),
        "ahead, place, turn": (place(tip, weight=flat), place(middle, priority=1), turn(tip, priority=2)),
    }


def cases(count: int, seed: int = 0) -> Iterator[Case]:
    """As many: a third in reach, the others out of it by one task or all; the tasks of a robot in turn."""
    rng = np.random.default_rng(seed)
    offers = [(name, kind, tasks) for name in (*ARMS, *HUMANOIDS) for kind, tasks in kinds(name).items()]
    for i in range(count):
        name, kind, tasks = offers[i % len(offers)]
        model = robot(name)
        start, there = drawn(model, rng), drawn(model, rng)
        frames = [model.pose(task.frame, there).array for task in tasks]
        targets = np.array(frames)
        out = rng.integers(3)
        for k in range(len(tasks)):
            if out == 1 + (k > 0) or (out == 2 and rng.random() < 0.5):
                targets[k, :3] *= rng.uniform(1.1, 3.0)
                if rng.random() < 0.5:
                    quaternion = rng.normal(size=4)
                    targets[k, 3:] = quaternion / np.linalg.norm(quaternion)
        yield Case(name, kind, tasks, start, targets, DT if rng.random() < 0.5 else None, int(rng.choice([1, 1, 2])))


def drawn(model: pz.Model, rng: np.random.Generator) -> np.ndarray:
    """A configuration, half of the time with some joints at their limits."""
    q = np.array(model.sample(seed=int(rng.integers(2**31))))
    if rng.random() < 0.5:
        for limit in (model.lower, model.upper):
            at = (rng.random(model.nq) < 0.2) & np.isfinite(limit)
            q[at] = limit[at]
    return q


def rest(count: int, seed: int = 0) -> dict[str, Tally]:
    """Run all methods on as many targets; one without levels has those of one level alone."""
    tallies = {name: Tally() for name in METHODS}
    trackers: dict[Any, pz.Tracker] = {}
    for case in cases(count, seed):
        levelled = len({task.priority for task in case.tasks}) > 1
        able = [name for name in METHODS if (name in LEVELLED) == levelled or name == "priority"]
        for name in able:
            key = (name, case.robot, case.kind, case.dt, case.updates)
            tracker = trackers.get(key)
            if tracker is None:
                tracker = trackers[key] = pz.Tracker(
                    robot(case.robot), case.tasks, METHODS[name], dt=case.dt, updates=case.updates
                )
            path = tracker.rollout(case.start, np.tile(case.targets, (STEPS, 1, 1)))
            tally = tallies[name]
            tally.cases += 1
            if shakes(path):
                tally.shaking.append(case)
            elif np.abs(path[-LAST:] - path[-1]).max() < STILL and slope(case, path[-1]) > DOWNHILL:
                tally.stuck.append(case)
    return tallies


def shakes(path: np.ndarray) -> bool:
    """Whether a joint goes to and fro, as much as before, and not on the way to somewhere."""
    now, before = path[-LAST:], path[-BEFORE - LAST : -BEFORE]
    size, way = sway(now), float(np.abs(now[-1] - now[0]).max())
    return size > max(SWAY, SMALL * way, FADING * sway(before))


def sway(path: np.ndarray) -> float:
    """The length of a joint's way less the distance from its beginning to its end, of the joint where it is most."""
    steps = np.diff(path, axis=0)
    often = (steps[1:] * steps[:-1] < 0.0).sum(axis=0) >= TURNS
    return float(((np.abs(steps).sum(axis=0) - np.abs(steps.sum(axis=0))) * often).max())


def linear(case: Case, q: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
    """Error and Jacobian of a level."""
    chosen = [(task, target) for task, target in zip(case.tasks, case.targets, strict=True) if task.priority == level]
    goals = [goal_of(task, target) for task, target in chosen]
    solver = solver_of(case.robot, tuple(task for task, _ in chosen))
    return solver.linearise(q, goals if len(goals) > 1 else goals[0])


@cache
def solver_of(name: str, tasks: tuple[Any, ...]) -> pz.Solver:
    """For errors and Jacobians."""
    return pz.Solver(robot(name), tasks)


def slope(case: Case, q: np.ndarray) -> float:
    """Of the first level, for the joints that are not held at a limit: the less of that with errors clamped and not."""
    e, jacobian = linear(case, q, 0)
    clamped = e.reshape(-1, 3)
    length = np.linalg.norm(clamped, axis=1, keepdims=True)
    clamped = (clamped * np.minimum(1.0, CLAMP / np.maximum(length, CLAMP))).ravel()
    return min(downhill(robot(case.robot), q, jacobian, error) for error in (e, clamped))


def downhill(model: pz.Model, q: np.ndarray, jacobian: np.ndarray, e: np.ndarray) -> float:
    """The slope of half the squared error, over the error; 0 where the error is none."""
    down = jacobian.T @ e
    base = model.nq - model.nv  # a floating base has a quaternion more, and no limits
    x, lower, upper = (values[base:] for values in (q, model.lower, model.upper))
    down[((x <= lower + 1e-9) & (down < 0.0)) | ((x >= upper - 1e-9) & (down > 0.0))] = 0.0
    size = float(np.linalg.norm(e))
    if size < 1e-6:
        return 0.0
    return float(np.linalg.norm(down)) / size


def goal_of(task: Any, target: np.ndarray) -> Any:
    """A row of targets as the task takes it."""
    pose = pz.SE3(target)
    return {pz.PositionTask: pose.xyz, pz.OrientationTask: pose.rotation}.get(type(task), pose)


def show(tallies: dict[str, Tally]) -> None:
    """Print them as Markdown."""
    print(f"\nStatic targets, {STEPS} steps\n\n| method | targets | shake | stuck |\n|---|--:|--:|--:|")
    for name, tally in tallies.items():
        print(f"| {name} | {tally.cases} | {len(tally.shaking)} | {len(tally.stuck)} |")
    sys.stdout.flush()


if __name__ == "__main__":
    show(rest(1000))
