"""Follow a circle: a prepared Solver, each step started from the last."""

import numpy as np

import poise as pz

arm = pz.load("panda")
goal = pz.PoseTask("panda_hand", target=pz.SE3.from_xyz_rpy([0.4, 0.0, 0.5], [np.pi, 0, 0]))
solver = pz.Solver(arm, goal)  # names are resolved and arrays are packed here, once

q = solver().q
path, times = [q], []
for angle in np.linspace(0, 2 * np.pi, 500):
    target = pz.SE3.from_xyz_rpy([0.4, 0.15 * np.sin(angle), 0.5 + 0.15 * np.cos(angle)], [np.pi, 0, 0])
    sol = solver(target, q)
    assert sol.success, sol.explain()
    q = sol.q
    path.append(q)
    times.append(sol.time)

steps = np.abs(np.diff(path[1:], axis=0)).max(axis=1)
print(f"{len(times)} targets, {1e6 * np.median(times):.0f} us each (median)")
print(f"no joint moved more than {steps.max():.3f} rad from one target to the next")
