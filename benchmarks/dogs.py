"""Dogs and a fox on robots with four legs, judged by Pinocchio: its kinematics, and the shapes of the file.

The dogs are those of AI4Animation (Zhang et al. 2018, "Mode-adaptive neural networks for quadruped motion control") as
places of joints, `retarget_motion/data/*_joint_pos.txt` of github.com/erwincoumans/motion_imitation; the fox is Fox.glb
of github.com/KhronosGroup/glTF-Sample-Assets.  DOGS is the folder of all these files.

What stands is told from the paths of the paws alone, by height and speed, and not by poise.
"""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pinocchio as pin
from report import print_table
from robots import example

import poise as pz

FOLDER = Path(os.environ.get("DOGS", "/usr/share/dogs"))
DOGS = ("walk00", "walk09", "turn00", "run00", "run04", "trot", "pace")
FOXES = ("Survey", "Walk", "Run")
ROBOTS = {
    "go2": "go2_description/urdf/go2.urdf",
    "a1": "a1_description/urdf/a1.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
}
CORNERS = ("left front", "right front", "left hind", "right hind")
UNITREE = tuple(tuple(f"{leg}_{part}" for part in ("thigh", "calf", "foot")) for leg in ("FL", "FR", "RL", "RR"))
ANYBOTICS = tuple(tuple(f"{leg}_{part}" for part in ("THIGH", "SHANK", "FOOT")) for leg in ("LF", "RF", "LH", "RH"))
LEGS = {"go2": UNITREE, "a1": UNITREE, "anymal": ANYBOTICS}
"""By corner, the frames at the hip, at the knee and at the foot."""
FORWARD = ("anymal",)
"""The robots whose hind knees point forward, as the stifles of a dog; those of the others point back, as its hocks."""
JOINTS = (
    "Hips", "Spine", "Spine1", "Neck", "Head", "HeadSite",
    "LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand", "LeftHandSite",
    "RightShoulder", "RightArm", "RightForeArm", "RightHand", "RightHandSite",
    "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftFootSite", "RightUpLeg", "RightLeg", "RightFoot", "RightFootSite",
    "Tail", "Tail1", "TailSite",
)  # fmt: skip
PARENTS = (None, 0, 1, 2, 3, 4, 2, 6, 7, 8, 9, 2, 11, 12, 13, 14, 0, 16, 17, 18, 0, 20, 21, 22, 0, 24, 25)
DOG = (
    ("LeftArm", "LeftForeArm", "LeftForeArm", "LeftHandSite"),
    ("RightArm", "RightForeArm", "RightForeArm", "RightHandSite"),
    ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftFootSite"),
    ("RightUpLeg", "RightLeg", "RightFoot", "RightFootSite"),
)
"""By corner, the joint at the trunk, the one that bends as an elbow or a stifle, as an elbow or a hock, and the paw."""
FOX = (
    ("b_LeftUpperArm_09", "b_LeftForeArm_010", "b_LeftForeArm_010", "b_LeftHand_011"),
    ("b_RightUpperArm_06", "b_RightForeArm_07", "b_RightForeArm_07", "b_RightHand_08"),
    ("b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", "b_LeftFoot02_018"),
    ("b_RightLeg01_019", "b_RightLeg02_020", "b_RightFoot01_021", "b_RightFoot02_022"),
)
RATE = 60.0
"""Frames a second of the dogs."""
CENTIMETRE = 0.01
LOW, SLOW, LASTS = 0.03, 0.3, 0.1
"""A paw stands that is at most so high over its lowest [m], and so fast [m/s], for so long [s]."""
WINDOW = 1.0 / 15.0
"""Over which its speed is taken [s]."""
NEAR = 0.02
"""A foot touches the ground up to so high over it [m]."""
STEEP = 0.4
"""The sine of a trunk's slope, about 24 degrees, from which on an animal sits, or rises."""
AT_LIMIT = 1e-3
"""[rad]"""
SHAKES = 0.02
"""A joint that turns by more than so much from frame to frame, and back, and back again, shakes [rad]."""
BARS = {"direction": 25.0, "kept": 0.95, "depth": 10.0, "at_limit": 50.0, "shakes": 0.5, "widest": 180.0, "trunk": 5.0}
"""What each figure may be at most; `kept` at least."""


@dataclass(frozen=True)
class Carried:
    """One animal on one robot."""

    clip: str
    robot: str
    frames: int
    direction: float
    """Between the bones of the legs and those of the animal's, mean of all legs, bones and frames [deg]."""
    legs: tuple[float, ...]
    """The same of each corner [deg]."""
    kept: float
    """Share of the frames in which a paw stands and the robot's foot is on the ground; NaN where none stands."""
    stands: float
    """Share of the frames in which a paw stands."""
    slides: float
    """Share of those frames in which the robot's foot is faster than 0.3 m/s."""
    depth: float
    """The deepest that any shape is in the ground [mm]."""
    at_limit: float
    """The largest share of the frames in which a hind knee is at its limit [%]."""
    widest: float
    """The farthest that a knee turns from straight [deg]."""
    shakes: float
    """The largest share of the frames in which a joint turns back as it came [%]."""
    trunk: float
    """Between the robot's trunk and the line from the hips to the shoulders, mean of the frames in which the animal
    does not sit [deg]."""
    pace: float
    """Frames a second of the whole call."""

    @property
    def fails(self) -> list[str]:
        """The bars that it misses."""
        worse = [name for name, bar in BARS.items() if name != "kept" and getattr(self, name) > bar]
        return worse + (["kept"] if self.kept < BARS["kept"] else [])


def animals() -> Iterator[tuple[str, pz.Motion, tuple[tuple[str, ...], ...]]]:
    """The clips that are there, and the joints of their legs."""
    for name in DOGS:
        file = FOLDER / f"dog_{name}_joint_pos.txt"
        if file.exists():
            rows = np.loadtxt(file, delimiter=",")
            places = rows.reshape(len(rows), -1, 3)[..., [2, 0, 1]]  # y is up there
            parents = [None if above is None else JOINTS[above] for above in PARENTS]
            yield f"dog {name}", pz.motion_from_positions(places, JOINTS, parents, fps=RATE, name=name), DOG
        else:
            print(f"{file} is missing: DOGS is the folder of the files of motion_imitation")
    for name in FOXES:
        if (FOLDER / "Fox.glb").exists():
            motion = pz.load_motion(FOLDER / "Fox.glb", animation=name, unit=CENTIMETRE, up="y")
            yield f"fox {name}", motion, FOX


def dogs(only: tuple[str, ...] = ()) -> list[Carried]:
    """Every animal on every robot."""
    rows = []
    for clip, motion, joints in animals():
        for robot in ROBOTS:
            if all(word in (robot, clip) or word in clip.split() for word in only):
                rows.append(carried(clip, robot, motion, joints))
                print(rows[-1], file=sys.stderr)
    return rows


def carried(clip: str, name: str, motion: pz.Motion, joints: tuple[tuple[str, ...], ...]) -> Carried:
    """One of them."""
    robot = model(name)
    pz.retarget(motion[:2], robot)
    began = perf_counter()
    done = pz.retarget(motion, robot)
    taken = perf_counter() - began
    return judged(clip, name, done, joints, len(motion) / taken)


@cache
def model(name: str) -> pz.Model:
    """The robot, which floats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)
        return pz.load(example(ROBOTS[name]), base="floating")


@cache
def judge(name: str) -> tuple[Any, Any]:
    """Pinocchio's model and shapes of the same file."""
    file = example(ROBOTS[name])
    packages = [str(file.parents[3]), str(file.parents[4])]
    made = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    return made, pin.buildGeomFromUrdf(made, str(file), pin.GeometryType.COLLISION, package_dirs=packages)


def judged(
    clip: str, name: str, done: pz.results.Retargeted, joints: tuple[tuple[str, ...], ...], pace: float
) -> Carried:
    """What Pinocchio says of a motion of the robot, and what the places of the animal's joints say."""
    made, shapes = judge(name)
    path, times = done.motion.q, done.motion.times
    q = np.array([configuration(made, done.motion.model, row) for row in path])
    animal = {joint: done.source.positions([joint])[:, 0] for leg in joints for joint in leg}
    legs, trunk, lowest, soles = followed(made, shapes, q, LEGS[name])
    directions = []
    for i, (own, leg) in enumerate(zip(joints, legs, strict=True)):
        middle = own[1] if name in FORWARD or i < 2 else own[2]
        body = [animal[joint] for joint in (own[0], middle, own[3])]
        directions.append([angles(leg[:, k + 1] - leg[:, k], body[k + 1] - body[k]) for k in (0, 1)])
    on = np.stack([standing(animal[leg[3]], times) for leg in joints], axis=1)
    feet = np.stack([leg[:, 2] for leg in legs], axis=1)
    speed = np.linalg.norm(speeds(feet[..., :2], times), axis=-1)
    hips, shoulders = (np.mean([animal[joints[i][0]] for i in those], axis=0) for those in ((2, 3), (0, 1)))
    knees = [made.getJointId(joint) for joint in knee_joints(made, name)]
    angle = np.stack([q[:, made.joints[k].idx_q] for k in knees], axis=1)
    low, high = (
        np.array([limits[made.joints[k].idx_q] for k in knees])
        for limits in (made.lowerPositionLimit, made.upperPositionLimit)
    )
    at_end = (angle < low + AT_LIMIT) | (angle > high - AT_LIMIT)
    moves = np.diff(q[:, 7:], axis=0)
    back = (moves[1:] * moves[:-1] < 0.0) & (np.minimum(np.abs(moves[1:]), np.abs(moves[:-1])) > SHAKES)
    back = back[1:] & back[:-1]
    return Carried(
        clip,
        name,
        len(q),
        float(np.mean(directions)),
        tuple(float(np.mean(both)) for both in directions),
        float((np.abs(soles[on]) <= NEAR).mean()) if on.any() else float("nan"),
        float(on.mean()),
        float((speed[on] > 0.3).mean()) if on.any() else float("nan"),
        1e3 * max(0.0, -float(lowest.min())),
        100.0 * float(at_end[:, 2:].mean(axis=0).max()),
        float(np.degrees(np.abs(angle).max())),
        100.0 * float(back.mean(axis=0).max()) if len(back) else 0.0,
        float(angles(trunk, shoulders - hips)[~sits(shoulders - hips)].mean()),
        pace,
    )


def configuration(made: Any, robot: pz.Model, row: np.ndarray) -> np.ndarray:
    """Pinocchio's of one of poise: joints by name, the quaternion's scalar last."""
    q = pin.neutral(made)
    q[:3], q[3:6], q[6] = row[:3], row[4:7], row[3]
    for joint in robot.joints:
        if joint.nq == 1:
            q[made.joints[made.getJointId(joint.name)].idx_q] = row[robot.index(joint.name)][0]
    return np.asarray(q)


def knee_joints(made: Any, name: str) -> list[str]:
    """By corner, the joint that carries the shin."""
    return [made.names[made.frames[made.getFrameId(leg[1])].parentJoint] for leg in LEGS[name]]


def followed(
    made: Any, shapes: Any, q: np.ndarray, legs: tuple[tuple[str, ...], ...]
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """By leg the places of hip, knee and foot; where the trunk points; the lowest points of the robot and its feet."""
    data, placed = made.createData(), shapes.createData()
    frames = [[made.getFrameId(part) for part in leg] for leg in legs]
    hips = [[leg[0] for leg in frames[half]] for half in (slice(2, 4), slice(0, 2))]
    places, trunk = np.empty((len(legs), len(q), 3, 3)), np.empty((len(q), 3))
    lowest, soles = np.empty(len(q)), np.empty((len(q), len(legs)))
    ends = [[k for k, shape in enumerate(shapes.geometryObjects) if shape.name.startswith(leg[2])] for leg in legs]
    for i, row in enumerate(q):
        pin.forwardKinematics(made, data, row)
        pin.updateFramePlacements(made, data)
        pin.updateGeometryPlacements(made, data, shapes, placed)
        for k, leg in enumerate(frames):
            places[k, i] = [data.oMf[frame].translation for frame in leg]
        back, front = (np.mean([data.oMf[frame].translation for frame in both], axis=0) for both in hips)
        trunk[i] = front - back
        heights = np.array(
            [bottom(shape, pose) for shape, pose in zip(shapes.geometryObjects, placed.oMg, strict=True)]
        )
        lowest[i] = heights.min()
        for k, end in enumerate(ends):
            soles[i, k] = heights[end].min()
    return list(places), trunk, lowest, soles


def bottom(shape: Any, pose: Any) -> float:
    """How high the lowest point of a shape is [m]."""
    geometry, up, height = shape.geometry, pose.rotation[2], float(pose.translation[2])
    kind = type(geometry).__name__
    if kind == "Sphere":
        return height - geometry.radius
    if kind == "Box":
        return height - float(np.abs(up) @ geometry.halfSide)
    if kind == "Cylinder":
        return height - abs(up[2]) * geometry.halfLength - float(np.hypot(up[0], up[1])) * geometry.radius
    if kind == "Capsule":
        return height - abs(up[2]) * geometry.halfLength - geometry.radius
    return height + float((np.array(geometry.vertices()) @ up).min())


def angles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(frames,) between ways (frames, 3) [deg]."""
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.degrees(np.arccos(np.clip((one * other).sum(axis=1) / lengths, -1.0, 1.0)))


def sits(line: np.ndarray) -> np.ndarray:
    """(frames,) whether the line (frames, 3) from the hips to the shoulders is steep."""
    return line[:, 2] > STEEP * np.linalg.norm(line, axis=1)


def speeds(paths: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(frames, ...) velocities over `WINDOW` [m/s]."""
    half = max(1, round(0.5 * WINDOW * (len(times) - 1) / (times[-1] - times[0])))
    after, before = (
        np.minimum(np.arange(len(times)) + half, len(times) - 1),
        np.maximum(np.arange(len(times)) - half, 0),
    )
    took = (times[after] - times[before]).reshape(-1, *[1] * (paths.ndim - 1))
    return (paths[after] - paths[before]) / took


def standing(path: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(frames,) whether a paw stands: low and slow, for a while."""
    on = (path[:, 2] < np.percentile(path[:, 2], 5.0) + LOW) & (np.linalg.norm(speeds(path, times), axis=1) < SLOW)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(int))).reshape(-1, 2)
    for start, stop in edges:
        on[start:stop] = times[stop - 1] - times[start] >= LASTS
    return on


def show(rows: list[Carried]) -> None:
    """Print them as Markdown."""
    print("\nAnimals on robots with four legs\n")
    heads = [
        "frames", "direction deg", "legs", "contacts kept", "stands", "slides", "depth mm", "hind knees at a limit %",
        "knee deg", "shakes %", "trunk deg", "frames/s", "misses",
    ]  # fmt: skip
    cells = [
        [
            one.clip, one.robot, f"{one.frames}", f"{one.direction:.1f}", " ".join(f"{leg:.0f}" for leg in one.legs),
            f"{one.kept:.3f}", f"{one.stands:.2f}", f"{one.slides:.3f}", f"{one.depth:.1f}", f"{one.at_limit:.0f}",
            f"{one.widest:.0f}", f"{one.shakes:.1f}", f"{one.trunk:.1f}", f"{one.pace:,.0f}", " ".join(one.fails),
        ]
        for one in rows
    ]  # fmt: skip
    print_table(["clip", "on"], heads, cells)


if __name__ == "__main__":
    words = tuple(word for word in sys.argv[1:] if not word.endswith(".json"))
    measured = dogs(words)
    show(measured)
    for written in sys.argv[1:]:
        if written.endswith(".json"):
            Path(written).write_text(json.dumps([asdict(row) for row in measured]))
