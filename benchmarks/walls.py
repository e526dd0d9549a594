"""How a Tracker rests and slides at walls, and comes home from beyond its reach.

    python benchmarks/walls.py

Three tables of arms.  rest: hands of every shape that are pressed on walls of every shape, and arms that are led into
themselves, for six seconds: how many still shake in the last one, and by how much.  slide: the same hands led along a
table, as smooth as in free space or not, alone and with accelerations and jerks that free space does not need; and the
time of a step beside one in free space.  home: targets that leave the reach and come back, and starts and goals
anywhere: how many arms are not there 10 s later.
"""

import itertools
import time
from typing import Any

import numpy as np

import poise as pz

Array = Any
ARMS: dict[str, tuple[str, list[float]]] = {
    "panda_collision": ("panda_hand", [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]),
    "ur5e": ("tool0", [0.3, -1.4, 1.6, -1.7, -1.5, 0.2]),
    "iiwa14": ("iiwa_link_ee", [0.3, 0.5, 0.2, -1.4, 0.1, 0.8, 0.0]),
    "xarm7": ("link_eef", [0.2, -0.4, 0.1, 0.9, 0.1, 1.2, 0.1]),
    "so101": ("gripper_frame_link", [0.1, -0.5, 0.6, 0.5, 0.1, 0.2]),
}
"""Frame, and a start."""
REACH = {"so101": 0.4}
"""How large what happens is beside the others [1]."""
HANDS = {
    "sphere": pz.Sphere((0, 0, 0.05), 0.03),
    "capsule": pz.Capsule((0, -0.05, 0.05), (0, 0.05, 0.05), 0.03),
    "box": pz.Box(pz.SE3.from_parts([0, 0, 0.05]), (0.1, 0.16, 0.06)),
    "hull": pz.ConvexHull(np.array(list(itertools.product((-0.05, 0.05), (-0.08, 0.08), (0.02, 0.08))))),
    "disc": pz.Cylinder(pz.SE3.from_parts([0, 0, 0.05]), 0.06, 0.06),
    "rod": pz.Cylinder(pz.SE3.from_xyz_rpy([0, 0, 0.05], [np.pi / 2, 0, 0]), 0.03, 0.16),
}
"""All reach 8 cm along z."""
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02)
"""dt [s]"""
DISTANCE, STILL = 0.02, 1e-6
"""What is to be kept [m]; accelerations below which an arm rests [rad/s^2]."""
LIMITS: dict[str, list[Any]] = {
    "alone": [],
    "accelerations": [pz.AccelerationLimit(15.0)],
    "jerks": [pz.AccelerationLimit(15.0), pz.JerkLimit(500.0)],
}


def walls(place: Array) -> dict[str, Any]:
    """What has its highest point there."""
    x, y, z = place
    return {
        "plane": pz.HalfSpace((0, 0, z), (0, 0, 1)),
        "table": pz.Box(pz.SE3.from_parts([x, y, z - 0.5]), (1, 1, 1)),
        "edge": pz.Box(pz.SE3.from_parts([x, y + 0.52, z - 0.5]), (1, 1, 1)),
        "beam": pz.Box(pz.SE3.from_parts([x, y, z - 0.1]), (1, 0.06, 0.2)),
        "drum": pz.Cylinder(pz.SE3.from_parts([x, y, z - 0.2]), 0.3, 0.4),
    }


def armed(name: str, hand: str) -> tuple[pz.Model, str, Array]:
    """The arm with that hand alone, its frame and its start."""
    frame, angles = ARMS[name]
    model = pz.load(name).with_shapes({frame: [HANDS[hand]]})
    start = model.home.copy()
    start[: len(angles)] = angles
    return model, frame, start


def rough(way: Array, dt: float) -> float:
    """The root mean square of its accelerations [rad/s^2]."""
    return float(np.sqrt(np.square(np.diff(way, 2, axis=0)).mean()) / dt**2)


def rests() -> None:
    """The first table."""
    print("rest: how many of them shake, and the largest root mean square of the last second [rad/s^2]")
    for name in ARMS:
        shaking, worst, count = 0, 0.0, 0
        for hand, dt in itertools.product(HANDS, STEPS):
            model, frame, start = armed(name, hand)
            here = model.pose(frame, start).xyz
            for wall in walls(here - [0, 0, 0.12]).values():
                limit = pz.CollisionLimit(pz.World({"wall": wall}), min_distance=DISTANCE)
                loop = pz.Tracker(model, pz.PoseTask(frame), dt=dt, limits=[limit])
                target = pz.SE3.from_parts(here - [0, 0, 0.1], model.pose(frame, start).rotation)
                way = loop.rollout(start, np.tile(target.array, (round(6 / dt), 1, 1)))
                found = rough(way[-round(1 / dt) :], dt)
                shaking, worst, count = shaking + (found > STILL), max(worst, found), count + 1
        model = pz.load(name)
        for dt, height in itertools.product(STEPS, (0.05, 0.2) if model.shapes else ()):
            loop = pz.Tracker(model, pz.PositionTask(ARMS[name][0]), dt=dt, limits=[pz.CollisionLimit()])
            found = rough(
                loop.rollout(model.home, np.tile([0, 0, height], (round(6 / dt), 1, 1)))[-round(1 / dt) :], dt
            )
            shaking, worst, count = shaking + (found > STILL), max(worst, found), count + 1
        print(f"  {name:16} {shaking} of {count}, {worst:.2g}")


def slides() -> None:
    """The second table."""
    print("slide: root mean square of accelerations beside the same in free space, the largest of all hands; us a step")
    for name, dt in itertools.product(ARMS, (0.002, 0.01)):
        found: dict[str, list[float]] = {"free space": [], **{limits: [] for limits in LIMITS}}
        took: dict[str, list[float]] = {key: [] for key in found}
        size = REACH.get(name, 1.0)
        for hand in HANDS:
            model, frame, start = armed(name, hand)
            here = model.pose(frame, start)
            for key in found:
                wall = pz.CollisionLimit(pz.World({"wall": walls(here.xyz - [0, 0, 0.1])["table"]}), min_distance=0.0)
                stated = True if key == "free space" else [wall, *LIMITS[key]]
                loop, q, way = pz.Tracker(model, pz.PoseTask(frame), dt=dt, limits=stated), start, []
                sunk = 0.02 if key == "free space" else 0.04
                begun = time.process_time()
                for t in np.arange(0, 4, dt):
                    u = min(t, 1.0)
                    soft = size * u**3 * (10 - 15 * u + 6 * u**2)
                    place = here.xyz + np.array([0, 0.1 * soft * np.sin(2 * t), -sunk * min(soft / size, 1.0)])
                    q = loop.step(q, pz.SE3.from_parts(place, here.rotation))
                    way.append(q)
                took[key].append((time.process_time() - begun) / len(way))
                found[key].append(rough(np.array(way[len(way) // 2 :]), dt))
        ratios = [max(np.array(found[key]) / found["free space"]) for key in LIMITS]
        times = ", ".join(f"{1e6 * np.median(took[key]):.1f}" for key in found)
        smooth = ", ".join(f"{key} {ratio:.3f}" for key, ratio in zip(LIMITS, ratios, strict=True))
        print(f"  {name:16} {1e3 * dt:g} ms: {smooth}; {times}")


def homes() -> None:
    """The third table."""
    print("home: how many of 20 are not there, places and poses: straight out, by another way, from anywhere")
    for name, (frame, angles) in ARMS.items():
        model, size, told = pz.load(name), 0.6 * REACH.get(name, 1.0), []
        start = model.home.copy()
        start[: len(angles)] = angles
        home = model.pose(frame, start)
        for kind, task in itertools.product(("out", "other", "anywhere"), (pz.PositionTask, pz.PoseTask)):
            if task is pz.PoseTask and name == "so101":
                continue
            lost, rng = 0, np.random.default_rng(0)
            for _ in range(20):
                one, other = (v / np.linalg.norm(v) for v in rng.standard_normal((2, 3)))
                one[2], q, goals = abs(one[2]), start, []
                for s in np.minimum(np.arange(1800) / 800, 1.0):
                    out = (1 - np.cos(2 * np.pi * s)) * one
                    aside = 2 * np.sin(np.pi * s) * one + np.sin(2 * np.pi * s) * other
                    goals.append(pz.SE3.from_parts(home.xyz + size * (out if kind == "out" else aside), home.rotation))
                if kind == "anywhere":
                    q, goal = model.sample(2, seed=int(rng.integers(1 << 30)))
                    goals = [model.pose(frame, goal)] * 1800
                loop = pz.Tracker(model, task(frame), dt=0.01)
                for goal in goals:
                    q = loop.step(q, goal.xyz if task is pz.PositionTask else goal)
                lost += loop.errors[0].position > 1e-3
            told.append(lost)
        print(f"  {name:16} {told}")


if __name__ == "__main__":
    rests()
    slides()
    homes()
