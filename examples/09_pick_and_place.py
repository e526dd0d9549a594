"""Pick and place with a tool of one's own: approach, grasp, lift over a wall, place; timed for the controller."""

import numpy as np

import poise as pz

# A gripper with long fingers: where they meet is the frame to lead.  What may collide is a capsule a link, roughly.
arm = pz.load("panda").with_frame("tcp", link="panda_hand", origin=pz.SE3.from_xyz_rpy([0, 0, 0.14], [0, 0, np.pi / 4]))
arm = arm.with_shapes(
    {
        "panda_link3": pz.Capsule([0.0, 0.0, -0.25], [0.0, 0.0, 0.0], 0.07),
        "panda_link5": pz.Capsule([0.0, 0.05, -0.2], [0.0, 0.0, 0.0], 0.07),
        "panda_hand": pz.Capsule([0.0, -0.06, 0.04], [0.0, 0.06, 0.04], 0.04),
    }
)
world = pz.World({"wall": pz.Box(pz.SE3.from_parts([0.45, 0.0, 0.15]), [0.3, 0.04, 0.3])})
near = pz.CollisionLimit(world, min_distance=0.02)
goal = pz.PoseTask("tcp")


def down(x: float, y: float, z: float) -> pz.SE3:
    """The tool at a place, looking down."""
    return pz.SE3.from_xyz_rpy([x, y, z], [np.pi, 0, 0])


def go(q: np.ndarray, *stops: pz.SE3) -> pz.JointPath:
    """From `q` by way of the stops, around what is in the way, at the speeds of the arm."""
    poses = pz.SE3(np.stack([stop.array for stop in stops]))
    path = pz.plan(arm, goal, poses, q0=q, limits=[near], acceleration=8.0)
    if not path.success:
        raise RuntimeError(path.explain())
    return path


above_pick, pick = down(0.45, 0.3, 0.2), down(0.45, 0.3, 0.05)
above_place, place = down(0.45, -0.3, 0.2), down(0.45, -0.3, 0.05)

fetch = go(arm.home, above_pick, pick)
# The gripper closes.  What it holds moves along from here on, and must not touch the wall either.
world.add("cube", pz.Box(pick, [0.05, 0.05, 0.05]))
world.grasp("cube", "panda_hand", arm.pose("panda_hand", fetch.q[-1]))
carry = go(fetch.q[-1], above_pick, above_place, place)
room = np.min(arm.distance(carry.q, world).distance)
world.remove("cube")  # the fingers open
leave = go(carry.q[-1], above_place)

for width, path in ((0.08, fetch), (0.05, carry), (0.08, leave)):  # what to send: a width, then (path.times, path.q)
    print(f"open {100 * width:.0f} cm; {len(path.q):2d} rows in {path.duration:.2f} s, then at rest at", end=" ")
    print(arm.pose("tcp", path.q[-1]).xyz.round(3))
print(f"hand and cube stay {1e3 * room:.0f} mm from the wall")
assert room >= 0.02
