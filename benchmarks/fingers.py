"""A person whose hands close and open while it steps and waves, on a G1 with hands: fingers beside the body, and alone.

Its skeleton and its motion are made here.  What is measured is CPU time of the one thread, of a whole `pz.retarget`, of
as many frames with and without fingers in the map, in turns; what a second, longer motion takes more is what frames
cost, without what is prepared once.  Bones are judged by MuJoCo's kinematics of the same URDF.
"""

import warnings
from dataclasses import dataclass, replace
from time import process_time

import mujoco
import numpy as np

import poise as pz
from poise.io.installed import installed_robots

ROBOT = "g1_with_hands"
FRAMES = (600, 6600)
RATE = 60.0
"""Frames a second."""
ROUNDS = 3
FINGERS = {"Index": -0.03, "Middle": -0.008, "Ring": 0.014, "Pinky": 0.034}
"""By finger, how far its knuckle is to the little finger's side [m]."""
BONES = (0.042, 0.027, 0.021)
MOST = (1.2, 1.5, 0.8)
"""How far the joints of a fist are bent [rad]."""
KNUCKLES = {"Index": "index_0", "Middle": "middle_0"}


def person() -> pz.Model:
    """A body in a T pose that looks along -y, with fingers."""
    places: dict[str, tuple[str, tuple[float, float, float]]] = {"Chest": ("Hips", (0.0, 0.0, 0.35))}
    places["Head"] = ("Chest", (0.0, 0.0, 0.3))
    for side, s in (("Left", 1.0), ("Right", -1.0)):
        for name, parent, x, y, z in (
            ("UpLeg", "Hips", 0.09, 0.0, -0.05), ("Leg", "UpLeg", 0.0, 0.0, -0.42), ("Foot", "Leg", 0.0, 0.0, -0.42),
            ("Toe", "Foot", 0.0, -0.15, -0.05), ("Arm", "Chest", 0.18, 0.0, 0.12),
            ("ForeArm", "Arm", 0.28, 0.0, 0.0), ("Hand", "ForeArm", 0.25, 0.0, 0.0),
        ):  # fmt: skip
            places[side + name] = (parent if parent in ("Hips", "Chest") else side + parent, (x * s, y, z))
        hand = f"{side}Hand"
        for finger, aside in FINGERS.items():
            for k, length in enumerate((0.095, *BONES)):
                parent = hand if k == 0 else f"{hand}{finger}{k}"
                places[f"{hand}{finger}{k + 1}"] = (parent, (length * s, aside if k == 0 else 0.0, 0.0))
        thumb = np.diff([[0, 0, 0], [30, -30, -10], [60, -55, -25], [85, -65, -35], [105, -70, -45]], axis=0) / 1000.0
        for k, way in enumerate(thumb):
            parent = hand if k == 0 else f"{hand}Thumb{k}"
            places[f"{hand}Thumb{k + 1}"] = (parent, tuple(way * [s, 1.0, 1.0]))
    b = pz.ModelBuilder("person")
    b.joint("Hips", "floating", parent="world", child="Hips")
    for name, (parent, place) in places.items():
        b.joint(name, "spherical", parent=parent, child=name, origin=pz.SE3.from_parts(place))
    return b.build()


def motion(frames: int) -> pz.Motion:
    """It bends its knees, waves and makes fists, finger by finger."""
    model = person()
    t = np.arange(frames) / RATE
    v = np.zeros((frames, model.nv))

    def turn(joint: str, axis: tuple[float, float, float], angle: np.ndarray) -> None:
        v[:, model.velocity_index(joint)] = np.outer(angle, axis)

    bend = 0.2 * (1.0 - np.cos(np.pi * t))
    v[:, 2] = 0.05 + 0.84 * np.cos(bend) + 0.1
    for side, s in (("Left", 1.0), ("Right", -1.0)):
        for joint, share in (("UpLeg", 1.0), ("Leg", -2.0), ("Foot", 1.0)):
            turn(side + joint, (-1.0, 0.0, 0.0), share * bend)
        turn(f"{side}Arm", (0.0, s, 0.0), 0.9 + 0.4 * np.sin(2.0 * t))
        turn(f"{side}ForeArm", (0.0, 0.0, -s), 0.6 + 0.4 * np.cos(1.7 * t))
        turn(f"{side}Hand", (1.0, 0.0, 0.0), 0.3 * np.sin(2.5 * t))
        for i, finger in enumerate(FINGERS):
            closed = 0.5 - 0.5 * np.cos(3.0 * t + 0.4 * i)
            for k, most in enumerate(MOST):
                turn(f"{side}Hand{finger}{k + 1}", (0.0, s, 0.0), most * closed)
    return pz.Motion(model, t, model.integrate(np.tile(model.neutral, (frames, 1)), v), name="fists")


def took(source: pz.Motion, robot: pz.Model, body: pz.BodyMap) -> float:
    """CPU time of carrying a motion over [s]."""
    began = process_time()
    pz.retarget(source, robot, body=body)
    return process_time() - began


@dataclass(frozen=True)
class Off:
    """How far bones of the robot's fingers point from those of the person, as both palms see them [deg]."""

    mean: float
    largest: float


def judged(source: pz.Motion, done: pz.Motion) -> Off:
    """By MuJoCo, the first bones of index and middle finger, every tenth frame."""
    spec = mujoco.MjSpec.from_file(str(installed_robots()[ROBOT]))
    for geom in list(spec.geoms):
        spec.delete(geom)
    for mesh in list(spec.meshes):
        spec.delete(mesh)
    oracle = spec.compile()
    data = mujoco.MjData(oracle)
    angles = []
    for i in range(0, len(source), 10):
        for name, value in done.model.named(done.q[i]).items():
            at = mujoco.mj_name2id(oracle, mujoco.mjtObj.mjOBJ_JOINT, name)
            if at >= 0 and np.ndim(value) == 0:
                data.qpos[oracle.jnt_qposadr[at]] = value
        mujoco.mj_kinematics(oracle, data)
        here = dict(zip(source.model.links, source.positions()[i], strict=True))
        for side in ("Left", "Right"):
            hand, low = f"{side}Hand", side.lower()
            robot = {f: data.body(f"{low}_hand_{name}_link").xpos for f, name in KNUCKLES.items()}
            human = {f: here[f"{hand}{f}1"] for f in FINGERS}
            for finger, name in KNUCKLES.items():
                end = data.body(f"{low}_hand_{name.replace('0', '1')}_link").xpos
                a = along(side, data.body(f"{low}_wrist_yaw_link").xpos, robot, end - robot[finger])
                b = along(side, here[hand], human, here[f"{hand}{finger}2"] - human[finger])
                angles.append(np.degrees(np.arccos(np.clip(a @ b, -1.0, 1.0))))
    return Off(float(np.mean(angles)), float(np.max(angles)))


def along(side: str, wrist: np.ndarray, knuckles: dict[str, np.ndarray], way: np.ndarray) -> np.ndarray:
    """(3,) a direction along the axes that a hand's knuckles make."""
    ahead = np.mean([place for name, place in knuckles.items() if name != "Pinky"], axis=0) - wrist
    first, *_, last = knuckles.values()
    palm = np.cross(first - last, ahead) * (1.0 if side == "Right" else -1.0)
    axes = np.array([ahead, palm, np.cross(ahead, palm)])
    return (axes / np.linalg.norm(axes, axis=1, keepdims=True)) @ way / np.linalg.norm(way)


def fingers() -> None:
    """Measure, and print."""
    warnings.simplefilter("ignore", pz.ModelWarning)
    robot = pz.load(ROBOT, base="floating")
    short, long = (motion(frames) for frames in FRAMES)
    whole = pz.BodyMap.found(short, robot)
    body = replace(whole, source={part: name for part, name in whole.source.items() if part not in whole.fingers})
    for one in (whole, body):
        took(short, robot, one)
    costs = {}
    for name, one in (("with fingers", whole), ("body alone", body)):
        pairs = [(took(short, robot, one), took(long, robot, one)) for _ in range(ROUNDS)]
        begun, ended = np.min(pairs, axis=0)
        costs[name] = (ended - begun) / (FRAMES[1] - FRAMES[0])
        pace = FRAMES[1] / ended
        print(f"{name}: {pace:,.0f} frames/s of {FRAMES[1]} frames, {1.0 / costs[name]:,.0f} without what is prepared")
    print(f"a frame with fingers takes {costs['with fingers'] / costs['body alone']:.2f} times that of the body alone")
    done = pz.retarget(short, robot, body=whole)
    off = judged(short, done.motion)
    print(f"first bones of two fingers, by MuJoCo: {off.mean:.1f} deg off on average, {off.largest:.1f} at most")
    print(f"all bones that follow, by the report: {np.degrees(done.report.fingers).mean():.1f} deg on average")


if __name__ == "__main__":
    fingers()
