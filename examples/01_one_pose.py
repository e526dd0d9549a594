"""One pose for the hand of a Panda: load, state the goal, solve, look."""

import poise as pz

arm = pz.load("panda")
goal = pz.PoseTask("panda_hand", target=pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.14159, 0, 0]))

sol = pz.solve(arm, goal)
print(sol)
for name, position in sol.named().items():
    print(f"{name:24} {position:9.4f}")

# What forward kinematics says is what the solution says.
print("the hand is at", arm.pose("panda_hand", sol.q))
