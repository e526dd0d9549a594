"""People who lie, crawl, roll, turn over and get up, on a G1: how the limbs point, how deep the robot is in the ground.

The clips are DeepMimic's (Peng et al. 2018), those of pybullet_data, from the folder that DEEPMIMIC names.  Limbs and
depths are measured by Pinocchio, with the robot's own meshes: of poise comes the motion, and which frame is which part.
Where mink is installed, GMR's loop follows the same targets in turns, as in `retarget.py`: CPU time of whole calls.
"""

import json
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pinocchio as pin
from report import print_table
from retarget import beside
from robots import humanoid

import poise as pz

CLIPS = ("crawl", "getup_faceup", "getup_facedown", "roll", "spin", "backflip")
MORE = ("cartwheel", "kick", "spinkick", "walk")
"""Of which the last one never leaves its feet."""
DIRECTION, DEPTH = 8.0, 10.0
"""The bars of the first ones [deg, mm]."""
LIMBS = {
    "knee": ("hip", ("hip_pitch", "hip_roll", "hip_yaw"), "knee"),
    "ankle": ("knee", ("knee",), "knee"),
    "elbow": ("shoulder", ("shoulder_pitch", "shoulder_roll", "shoulder_yaw"), "elbow"),
    "wrist": ("elbow", ("elbow",), "elbow"),
}
"""By the part at which a bone ends: where it begins, the robot's joints there, and the hinge of the limb."""
ENDS = {"knee": "knee", "ankle": "ankle_roll", "elbow": "elbow", "wrist": "wrist_yaw"}
JOINTS = {
    "root": (None, (0.0, 0.0, 0.0)),
    "chest": ("root", (0.0, 0.0, 0.236151)),
    "neck": ("chest", (0.0, 0.0, 0.223894)),
    "right_hip": ("root", (0.0, -0.084887, 0.0)),
    "right_knee": ("right_hip", (0.0, 0.0, -0.421546)),
    "right_ankle": ("right_knee", (0.0, 0.0, -0.409870)),
    "right_shoulder": ("chest", (-0.024050, -0.183110, 0.243500)),
    "right_elbow": ("right_shoulder", (0.0, 0.0, -0.274788)),
    "left_hip": ("root", (0.0, 0.084887, 0.0)),
    "left_knee": ("left_hip", (0.0, 0.0, -0.421546)),
    "left_ankle": ("left_knee", (0.0, 0.0, -0.409870)),
    "left_shoulder": ("chest", (-0.024050, 0.183110, 0.243500)),
    "left_elbow": ("left_shoulder", (0.0, 0.0, -0.274788)),
}
"""The joints in the order of the files, z up: each one's parent, and its place there [m]."""
HANDS = {f"{side}_wrist": (f"{side}_elbow", (0.0, 0.0, -0.258947)) for side in ("left", "right")}


def skeleton() -> pz.Model:
    """Its knees and elbows are hinges."""
    builder = pz.ModelBuilder("humanoid3d")
    for name, (parent, place) in (JOINTS | HANDS).items():
        origin = pz.SE3.from_parts(place)
        if parent is None:
            builder.joint(name, "floating", parent="world", child=name)
        elif name.endswith("wrist"):
            builder.joint(name, "fixed", parent=parent, child=name, origin=origin)
        elif name.endswith(("knee", "elbow")):
            builder.joint(name, "continuous", parent=parent, child=name, origin=origin, axis=(0.0, -1.0, 0.0))
        else:
            builder.joint(name, "spherical", parent=parent, child=name, origin=origin)
    return builder.build()


def clip(file: Path) -> pz.Motion:
    """A file of DeepMimic, turned from y up to z up."""
    model = skeleton()
    rows = np.array(json.loads(file.read_text())["Frames"])
    times = np.concatenate([[0.0], np.cumsum(rows[:-1, 0])])
    q = np.tile(model.neutral, (len(rows), 1))
    x, y, z = rows[:, 1:4].T
    q[:, model.index("root")] = np.column_stack([x, -z, y, _turned(rows[:, 4:8])])
    at = 8
    for name in list(JOINTS)[1:]:
        wide = 1 if name.endswith(("knee", "elbow")) else 4
        those = rows[:, at : at + wide]
        q[:, model.index(name)] = those if wide == 1 else _turned(those)
        at += wide
    return pz.Motion(model, times, q, name=file.stem.removeprefix("humanoid3d_"))


@dataclass(frozen=True)
class Lain:
    """One clip."""

    clip: str
    off: float
    """Frames off its feet, percent."""
    direction: float
    """Between the limbs of both, mean [deg]."""
    depth: float
    """Of any shape in the ground, the largest [mm]."""
    gap: float
    """Of the lowest shape over the ground, off its feet, median [mm]."""
    kept: float
    """Contacts that it has too, percent."""
    skate: float
    """Percent of the frames in contact."""
    jerk: float
    """By the source's."""
    seconds: float
    """CPU time of the call, the least of some [s]; not a number without mink."""
    loop: float
    """That of GMR's loop [s]."""


class Judge:
    """A G1 in Pinocchio."""

    def __init__(self, robot: pz.Model) -> None:
        file = str(humanoid().urdf)
        self.model = pin.buildModelFromUrdf(file, pin.JointModelFreeFlyer())
        self.shapes = pin.buildGeomFromUrdf(self.model, file, pin.COLLISION, package_dirs=[str(Path(file).parents[4])])
        self.data, self.placed = self.model.createData(), pin.GeometryData(self.shapes)
        self.columns = [robot.index(name).start for name in self.model.names[2:]]

    def place(self, q: np.ndarray) -> None:
        """Everything at q, which is in the order of poise."""
        theirs = np.concatenate([q[:3], q[4:7], q[3:4], q[self.columns]])
        pin.forwardKinematics(self.model, self.data, theirs)
        pin.updateGeometryPlacements(self.model, self.data, self.shapes, self.placed, theirs)

    def bone(self, side: str, end: str) -> np.ndarray:
        """(3,) the way of a bone, square to the hinge of its limb."""
        _, starts, hinge = LIMBS[end]
        begin = meeting([self.line(f"{side}_{name}_joint") for name in starts])
        axis = self.line(f"{side}_{hinge}_joint")[1]
        way = self.line(f"{side}_{ENDS[end]}_joint")[0] - begin
        return way - axis * (axis @ way)

    def line(self, joint: str) -> tuple[np.ndarray, np.ndarray]:
        """A point and the direction of the axis of a joint."""
        i = self.model.getJointId(joint)
        pose = self.data.oMi[i]
        axis = {"RX": 0, "RY": 1, "RZ": 2}[self.model.joints[i].shortname()[-2:]]
        return pose.translation.copy(), pose.rotation[:, axis].copy()

    def lowest(self) -> float:
        """The height of the lowest point of all shapes [m]."""
        heights = []
        for shape, pose in zip(self.shapes.geometryObjects, self.placed.oMg, strict=True):
            down, body = pose.rotation[2], shape.geometry
            if hasattr(body, "vertices"):
                heights.append(float((body.vertices() @ down).min()) + pose.translation[2])
            elif hasattr(body, "halfLength"):
                reach = body.radius * np.hypot(down[0], down[1]) + body.halfLength * abs(down[2])
                heights.append(float(pose.translation[2] - reach))
            else:
                heights.append(float(pose.translation[2] - body.radius))
        return min(heights)


def meeting(lines: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """(3,) the point nearest to lines; of one, the point that it came with."""
    if len(lines) == 1:
        return lines[0][0]
    across = [np.eye(3) - np.outer(axis, axis) for _, axis in lines]
    right = sum(part @ point for part, (point, _) in zip(across, lines, strict=True))
    return np.linalg.solve(sum(across), right)


def measured(motion: pz.Motion, robot: pz.Model, judge: Judge) -> Lain:
    """A clip on the robot."""
    done = pz.retarget(motion, robot)
    bones = [(side, end) for side in ("left", "right") for end in LIMBS]
    names = [*JOINTS, *HANDS]
    places = motion.positions(names)
    angles, heights = [], []
    for q, there in zip(done.motion.q, places, strict=True):
        judge.place(q)
        heights.append(judge.lowest())
        for side, end in bones:
            one = judge.bone(side, end)
            other = there[names.index(f"{side}_{end}")] - there[names.index(f"{side}_{LIMBS[end][0]}")]
            cosine = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
            angles.append(float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))))
    report, off = done.report, done._seen.off_feet
    low = 1e3 * np.array(heights)
    gap = float(np.median(low[off])) if off.any() else float("nan")
    paces = [one.pace for one in beside(motion.name, motion, robot, motion.fps)] if find_spec("mink") else [np.nan] * 2
    return Lain(
        motion.name, 100.0 * float(off.mean()), float(np.mean(angles)), max(0.0, -float(low.min())), gap,
        100.0 * report.ground.kept, 100.0 * report.skate.share, report.jerk.ratio, *(len(motion) / x for x in paces),
    )  # fmt: skip


def show(rows: list[Lain]) -> None:
    """Print them as Markdown."""
    heads = ["off its feet %", "direction deg", "depth mm", "gap mm", "contacts kept %", "skate %", "jerk ratio",
        "call s", "GMR's loop s"]  # fmt: skip
    numbers = ("off", "direction", "depth", "gap", "kept", "skate", "jerk", "seconds", "loop")
    cells = [[one.clip, *(f"{getattr(one, name):.3g}" for name in numbers)] for one in rows]
    print_table(["clip"], heads, cells)


def lying() -> list[Lain]:
    """All clips that are there."""
    folder = os.environ.get("DEEPMIMIC")
    if folder is None:
        print("the clips are missing: pip install pybullet; DEEPMIMIC=FOLDER of pybullet_data/data/motions")
        return []
    robot = pz.load(humanoid().urdf, base="floating")
    judge = Judge(robot)
    return [measured(clip(Path(folder) / f"humanoid3d_{name}.txt"), robot, judge) for name in (*CLIPS, *MORE)]


def _turned(wxyz: np.ndarray) -> np.ndarray:
    """Rotations, seen along axes of which z is up."""
    w, x, y, z = (wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)).T
    return np.column_stack([w, x, -z, y])


if __name__ == "__main__":
    found = lying()
    show(found)
    missed = [one.clip for one in found if one.clip in CLIPS and (one.direction > DIRECTION or one.depth > DEPTH)]
    print(f"above {DIRECTION:g} degrees or {DEPTH:g} mm: {', '.join(missed) or 'none'}")
    sys.exit(bool(missed))
