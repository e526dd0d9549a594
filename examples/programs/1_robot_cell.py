"""A robot cell: parts go from a tray over a wall into a box; the whole plan as one CSV, and a judge who reads it again.

python 1_robot_cell.py --parts 3 --out plan.csv
"""

import argparse

import numpy as np

import poise as pz

DOWN = [np.pi, 0.0, 0.0]
WALL = pz.Box(pz.SE3.from_parts([0.45, 0.0, 0.15]), [0.3, 0.04, 0.3])


def cell() -> tuple[pz.Model, pz.World]:
    """The arm with a tool where its fingers meet, and what stands around it."""
    arm = pz.load("panda_collision")
    arm = arm.with_frame("tcp", link="panda_hand", origin=pz.SE3.from_xyz_rpy([0, 0, 0.12], [0, 0, np.pi / 4]))
    return arm, pz.World({"wall": WALL})


def main() -> None:
    """Plan, write, read and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, default=3)
    parser.add_argument("--out", default="plan.csv")
    options = parser.parse_args()
    arm, world = cell()
    goal, apart = pz.PoseTask("tcp"), pz.CollisionLimit(world, min_distance=0.01)
    q, ways = arm.home, []
    for part in range(options.parts):
        pick, place = [0.4 + 0.05 * part, 0.3, 0.1], [0.4 + 0.05 * part, -0.3, 0.1]
        over_pick, over_place = [*pick[:2], 0.25], [*place[:2], 0.25]
        poses = pz.SE3.from_xyz_rpy([over_pick, pick, over_pick, over_place, place, over_place], DOWN)
        way = pz.plan(arm, goal, poses, q0=q, limits=[apart], velocity=1.0, acceleration=4.0)
        if not way.success:
            raise SystemExit(f"part {part}: {way.explain()}")
        q = way.q[-1]
        ways.append(way)
    plan = ways[0].then(*ways[1:]).resample(0.02)
    plan.to_csv(options.out)

    table = np.genfromtxt(options.out, delimiter=",", names=True)
    rows = np.stack([table[f"q_{name}"] for name in arm.coordinates], axis=1)
    room = np.min(arm.distance(rows, world).distance)
    fastest = np.abs(np.diff(rows, axis=0) / np.diff(table["time_s"])[:, None]).max()
    print(f"{options.out}: {len(rows)} rows, {plan.duration:.2f} s, {options.parts} parts")
    print(f"{1e3 * room:.1f} mm from what is near, {fastest:.2f} rad/s at most")
    assert room >= 0.01 - 1e-6
    assert fastest <= 1.0 + 1e-6
    assert arm.within_limits(rows)


if __name__ == "__main__":
    main()
