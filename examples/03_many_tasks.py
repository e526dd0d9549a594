"""A humanoid stands on both feet, reaches with one hand and looks at it.  Needs `pip install "poise[robots]"`."""

import poise as pz

body = pz.load("talos_full", base="floating")
home = body.home

feet = ["left_sole_link", "right_sole_link"]
point = [0.45, 0.25, 1.1]
tasks = [
    *(pz.PoseTask(foot, body.pose(foot, home)) for foot in feet),
    pz.PositionTask("gripper_left_fingertip_1_link", point),
    pz.LookAtTask("head_2_link", axis=(1, 0, 0), target=point),
    pz.PostureTask(),  # among all answers, one that stays near home
]

sol = pz.solve(body, tasks)
print(sol)
print(sol.explain())

moved = {name: abs(value - start) for (name, value), start in zip(sol.named().items(), home, strict=False)}
for name in sorted(moved, key=moved.__getitem__, reverse=True)[:5]:
    print(f"{name:28} moved {moved[name]:.3f}")
