"""Which method suits this arm?  The same problems, starts, tolerances and judge for all."""

import poise as pz

arm = pz.load("ur5e")
report = pz.compare(arm, pz.PoseTask(arm.tip), methods=["lm", "dls", "sdls", "ccd", "lbfgs"], count=40, seed=1)
print(report)

# One of them from the inside: what each iteration did.
goal = pz.PoseTask(arm.tip, arm.pose(arm.tip, arm.sample(seed=2)))
trace = pz.solve(arm, goal, method="lm", trace=True, max_restarts=0).trace
assert trace is not None  # for it was asked for
for k, (error, damping) in enumerate(zip(trace.error, trace.damping, strict=True)):
    print(f"{k:3d}  error {error:.1e}  lambda^2 {damping:.1e}  smallest sigma {trace.singular_values[k, -1]:.2e}")
