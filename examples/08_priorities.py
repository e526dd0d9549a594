"""A humanoid reaches too far, and its feet stay where they are.  Needs `pip install "poise[robots]"`."""

import numpy as np

import poise as pz

body = pz.load("talos_full", base="floating")
q = np.array(body.home)

feet = ["left_sole_link", "right_sole_link"]
hand = "gripper_left_fingertip_1_link"
tasks = [*(pz.PoseTask(foot) for foot in feet), pz.PositionTask(hand, priority=1)]
stand = [body.pose(foot, q) for foot in feet]

# Different priorities choose task priority by themselves; the posture comes last of all.
ik = pz.Tracker(body, tasks, pz.methods.TaskPriority(null_space=pz.criteria.RestPosture()), dt=0.01)
far = body.pose(hand, q).xyz + np.array([3.0, 0.0, 0.0])
for _ in range(500):
    q = ik.step(q, [*stand, far])

for foot, pose in zip(feet, stand, strict=True):
    print(f"{foot:32} moved {np.linalg.norm(body.pose(foot, q).xyz - pose.xyz):.1e} m")
print(f"{hand:32} is {np.linalg.norm(body.pose(hand, q).xyz - far):.2f} m short")
assert body.within_limits(q)
