"""Pick and place: configurations that are near each other, and a timed joint path around what is in the way."""

import numpy as np

import poise as pz

arm = pz.load("panda")
# What may collide: a capsule a link, roughly.
arm = arm.with_shapes(
    {
        "panda_link3": pz.Capsule([0.0, 0.0, -0.25], [0.0, 0.0, 0.0], 0.07),
        "panda_link5": pz.Capsule([0.0, 0.05, -0.2], [0.0, 0.0, 0.0], 0.07),
        "panda_hand": pz.Capsule([0.0, -0.08, 0.04], [0.0, 0.08, 0.04], 0.04),
    }
)
wall = pz.Box(pz.SE3.from_parts([0.45, 0.0, 0.2]), [0.3, 0.04, 0.5])
limit = pz.CollisionLimit(pz.World({"wall": wall}), min_distance=0.02)

above_pick, pick = [0.45, 0.3, 0.4], [0.45, 0.3, 0.15]
above_place, place = [0.45, -0.3, 0.4], [0.45, -0.3, 0.15]
stops = [above_pick, pick, above_pick, above_place, place]
down = [0.0, 1.0, 0.0, 0.0]  # the hand looks down
poses = pz.SE3(np.hstack([stops, np.tile(down, (len(stops), 1))]))

path = pz.plan(arm, pz.PoseTask("panda_hand"), poses, q0=arm.home, limits=[limit], acceleration=8.0)
print(path.report())
assert path.success

# Send (path.times, path.q) to the arm; it rests at the stations, where the gripper opens and closes.
for station in path.stations:
    print(f"{path.times[station]:5.2f} s", arm.pose("panda_hand", path.q[station]).xyz.round(3))
