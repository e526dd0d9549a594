"""A crowd of animated characters on one core: feet and hands pinned, a look, the rest as the animation has it."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
import numpy.typing as npt

import poise as pz

CHARACTERS, RATE = 1000, 60.0
FRAMES = 30
"""Of the animation, half a second."""
DAMPING = 0.05
"""lambda [m/rad]: less than usual, for hands that move as fast as people's."""
FIRST = 10
"""Frames that pins are given to be reached in, before errors count."""
Array = npt.NDArray[np.float64]
_BONES = (
    ("Hips", "world", (0.0, 0.0, 0.0)),
    ("LHipJoint", "Hips", (0.0, 0.0, 0.0)),
    ("LeftUpLeg", "LHipJoint", (0.077, -0.047, -0.101)),
    ("LeftLeg", "LeftUpLeg", (0.138, 0.0, -0.380)),
    ("LeftFoot", "LeftLeg", (0.145, 0.0, -0.397)),
    ("LeftToeBase", "LeftFoot", (0.009, -0.131, -0.024)),
    ("RHipJoint", "Hips", (0.0, 0.0, 0.0)),
    ("RightUpLeg", "RHipJoint", (-0.074, -0.047, -0.101)),
    ("RightLeg", "RightUpLeg", (-0.144, 0.0, -0.394)),
    ("RightFoot", "RightLeg", (-0.145, 0.0, -0.398)),
    ("RightToeBase", "RightFoot", (-0.009, -0.133, -0.026)),
    ("LowerBack", "Hips", (0.0, 0.0, 0.0)),
    ("Spine", "LowerBack", (0.002, 0.011, 0.115)),
    ("Spine1", "Spine", (0.003, 0.002, 0.116)),
    ("Neck", "Spine1", (0.0, 0.0, 0.0)),
    ("Neck1", "Neck", (-0.003, -0.010, 0.099)),
    ("Head", "Neck1", (0.006, 0.007, 0.099)),
    ("LeftShoulder", "Spine1", (0.0, 0.0, 0.0)),
    ("LeftArm", "LeftShoulder", (0.190, 0.018, 0.068)),
    ("LeftForeArm", "LeftArm", (0.281, 0.0, 0.0)),
    ("LeftHand", "LeftForeArm", (0.197, 0.0, 0.0)),
    ("LeftFingerBase", "LeftHand", (0.0, 0.0, 0.0)),
    ("LFingers", "LeftFingerBase", (0.040, 0.0, 0.0)),
    ("LThumb", "LeftHand", (0.0, 0.0, 0.0)),
    ("RightShoulder", "Spine1", (0.0, 0.0, 0.0)),
    ("RightArm", "RightShoulder", (-0.177, 0.023, 0.078)),
    ("RightForeArm", "RightArm", (-0.296, 0.0, 0.0)),
    ("RightHand", "RightForeArm", (-0.194, 0.0, 0.0)),
    ("RightFingerBase", "RightHand", (0.0, 0.0, 0.0)),
    ("RFingers", "RightFingerBase", (-0.035, 0.0, 0.0)),
    ("RThumb", "RightHand", (0.0, 0.0, 0.0)),
)
"""The skeleton of the CMU Graphics Lab's motion capture database, subject 1: joint, parent, offset [m], z up."""
_STANCE = {
    "LeftUpLeg": (-0.25, 0.35, 0.0),
    "RightUpLeg": (-0.25, -0.35, 0.0),
    "LeftLeg": (0.5, 0.0, 0.0),
    "RightLeg": (0.5, 0.0, 0.0),
    "LeftFoot": (-0.25, 0.0, 0.0),
    "RightFoot": (-0.25, 0.0, 0.0),
    "LeftArm": (0.0, 1.0, 0.0),
    "RightArm": (0.0, -1.0, 0.0),
    "LeftForeArm": (0.0, 0.0, -0.9),
    "RightForeArm": (0.0, 0.0, 0.9),
}
"""Turns that let it stand with knees and elbows bent [rad]."""


@dataclass(frozen=True)
class Crowd:
    """One way to lead the crowd; times in microseconds a character and step, errors the largest of all in metres."""

    name: str
    rows: int
    median: float
    """Over rounds."""
    least: float
    steps: float
    """Characters a second and core, from the median."""
    feet: float
    hands: float
    posture: float
    """Root mean square of the joints' turns away from the animation [rad]."""


def character() -> pz.Model:
    """The skeleton: a free root and thirty balls."""
    b = pz.ModelBuilder("character")
    for name, parent, place in _BONES:
        kind = "floating" if parent == "world" else "spherical"
        b.joint(name, kind, parent=parent, child=name, origin=pz.SE3.from_parts(place))
    return b.build()


def animation(model: pz.Model, characters: int, frames: int) -> Array:
    """(characters, frames, nq) a sway of all joints around a stance, of each character its own."""
    rng = np.random.default_rng(0)
    stance = np.zeros(model.nv)
    for joint, turn in _STANCE.items():
        stance[model.velocity_index(joint)] = turn
    size = rng.uniform(0.0, 0.08, (characters, 1, model.nv))
    phase, pace = rng.uniform(0.0, 2.0 * np.pi, size.shape), rng.uniform(0.5, 1.5, size.shape)
    time = np.arange(frames)[:, None] / RATE
    sway = size * np.sin(2.0 * np.pi * pace * time + phase)
    return model.integrate(model.integrate(model.neutral, stance), sway)


def crowd(rounds: int, characters: int = CHARACTERS) -> list[Crowd]:
    """The whole animation in one call, and a call a frame, as a game makes them."""
    model = character()
    motion = animation(model, characters, FRAMES)
    found = []
    for pins, hands in (("feet", pz.PositionTask), ("feet, hands turned too", pz.PoseTask)):
        tasks = [
            pz.PoseTask("LeftFoot"),
            pz.PoseTask("RightFoot"),
            hands("LeftHand"),
            hands("RightHand"),
            pz.LookAtTask("Head", (0.0, -1.0, 0.0)),
        ]
        posture = pz.PostureTask(weight={"Hips": 2.0, "LowerBack": 2.0, "Spine": 2.0})
        tracker = pz.Tracker(model, [*tasks, posture], pz.methods.DampedLeastSquares(damping=DAMPING))
        targets = aims(model, tasks, motion)
        for name, block in (("one call", FRAMES), ("a call a frame", 1)):
            calls = [slice(first, first + block) for first in range(0, FRAMES, block)]
            way = [targets[:, :, k, : 7 if isinstance(task, pz.PoseTask) else 3] for k, task in enumerate(tasks)]
            inputs = [[np.ascontiguousarray(one[:, c]) for one in (*way, motion)] for c in calls]
            seconds, path = [], motion
            for _ in range(max(rounds, 1)):
                began = perf_counter()
                parts = led(tracker, motion[:, 0], inputs)
                seconds.append((perf_counter() - began) / characters / FRAMES)
                path = np.concatenate(parts, axis=1)
            found.append(judged(model, f"{pins}, {name}", tasks, path, motion, targets, seconds))
    return found


def aims(model: pz.Model, tasks: list[pz.Task], motion: Array) -> Array:
    """(characters, frames, tasks, 7) feet stay where they first are, hands on circles of 5 cm, a look that wanders."""
    characters, frames = motion.shape[:2]
    out = np.zeros((characters, frames, len(tasks), 7))
    for k, task in enumerate(tasks[:4]):
        out[:, :, k] = model.pose(task.frame, motion[:, :1]).array
        if isinstance(task, pz.PositionTask):
            out[:, :, k, 3:] = 1.0, 0.0, 0.0, 0.0
    turn = 2.0 * np.pi * np.arange(frames) / RATE
    out[:, :, 2:4, 0] += 0.05 * np.sin(turn)[:, None]
    out[:, :, 2:4, 2] += 0.05 * (1.0 - np.cos(turn))[:, None]
    out[:, :, 4, 0], out[:, :, 4, 1], out[:, :, 4, 2], out[:, :, 4, 3] = np.sin(turn), -2.0, 0.3, 1.0
    return out


def led(tracker: pz.Tracker, q: Array, inputs: list[list[Array]]) -> list[Array]:
    """(characters, frames, nq) the ways of calls with these targets, each from where the last one ends."""
    parts: list[Array] = []
    for targets in inputs:
        parts.append(tracker.rollout(q, targets, threads=1))
        q = parts[-1][:, -1]
    return parts


def judged(
    model: pz.Model, name: str, tasks: list[pz.Task], path: Array, motion: Array, targets: Array, seconds: list[float]
) -> Crowd:
    """The row of one way."""
    errors = [
        float(np.linalg.norm(model.pose(task.frame, path[:, FIRST:]).xyz - targets[:, FIRST:, k, :3], axis=-1).max())
        for k, task in enumerate(tasks[:4])
    ]
    away = model.difference(motion[:, FIRST:], path[:, FIRST:])[..., 6:]
    median = float(np.median(seconds))
    return Crowd(
        name,
        sum(3 * len(task.blocks) for task in tasks),
        1e6 * median,
        1e6 * min(seconds),
        1.0 / median,
        max(errors[:2]),
        max(errors[2:]),
        float(np.sqrt((away**2).mean())),
    )


def show(rows: list[Crowd]) -> None:
    """Print them as Markdown."""
    print("\nA crowd of characters of 31 joints, on one core\n")
    print(
        "| pinned | rows | median us | least us | characters a second | at 60 Hz | feet mm | hands mm | posture rad |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print(
            f"| {row.name} | {row.rows} | {row.median:.1f} | {row.least:.1f} | {row.steps:,.0f} "
            f"| {row.steps / RATE:,.0f} | {1e3 * row.feet:.2g} | {1e3 * row.hands:.2g} | {row.posture:.3f} |"
        )
