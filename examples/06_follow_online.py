"""Two effectors chase targets that leave their reach: one update a time step, and nothing shakes."""

import numpy as np

import poise as pz

body = pz.load("y")  # a trunk that forks into two arms
tasks = [pz.PositionTask("e0"), pz.PositionTask("e1")]
times = 0.005 * np.arange(1, 2001)
targets = np.empty((len(times), 2, 3))
targets[:, 0] = np.stack([2.0 + 1.5 * np.sin(6 * times), 1.2 + 0.2 * np.sin(7 * times), 0.3 + 0 * times], axis=1)
targets[:, 1] = np.stack([-0.7 + 0.4 * np.sin(4 * times), 0.8 + 0.3 * np.sin(4 * times), -0.2 + 0 * times], axis=1)

for method in ("jt", "pinv", "dls", "sdls"):
    ik = pz.Tracker(body, tasks, method)
    q, path = body.home, []
    for points in targets:  # in a real loop they come from a camera, a mouse or a planner
        q = ik.step(q, points)
        path.append(q)
    places = np.stack([body.pose(task.frame, path).xyz for task in tasks], axis=1)
    error = np.linalg.norm(places - targets, axis=2).mean()
    jitter = np.abs(np.diff(path, n=2, axis=0)).sum(axis=1).mean()
    print(f"{method:5s} mean error {error:.3f} m, jitter {jitter:.4f} rad a step")

crowd = pz.Tracker(body, tasks).rollout(np.tile(body.home, (8, 1)), np.tile(targets, (8, 1, 1, 1)))
print("eight characters at once:", crowd.shape)
