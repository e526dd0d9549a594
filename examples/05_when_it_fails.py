"""Questions without an answer, and what poise says to them."""

import poise as pz

arm = pz.load("panda")

# Too far: the nearest configuration, its error, and why.
far = pz.solve(arm, pz.PositionTask("panda_hand", [2.0, 0.0, 0.5]))
print(far.status.name, f"{far.position_error:.3f} m away")
print(far.explain())
print()

# Too few joints for six coordinates: free the one that does not matter.
elbow = arm.lock(panda_joint3=0.0, panda_joint5=0.0)
tilted = pz.SE3.from_xyz_rpy([0.4, 0.2, 0.5], [2.8, 0.3, 0])
print(pz.solve(elbow, pz.PoseTask("panda_hand", tilted)).explain())
print(pz.solve(elbow, pz.PositionTask("panda_hand", tilted.xyz)))
print()

# A question that makes no sense is an exception, which says how to put it right.
try:
    pz.solve(arm, pz.PositionTask("panda_hnad", [0.5, 0.0, 0.5]))
except pz.FrameNotFound as error:
    print(error)
