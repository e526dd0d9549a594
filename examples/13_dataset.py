"""A data set: 100,000 poses of a Panda with configurations, judged, and saved with names, units and the seed."""

import numpy as np

import poise as pz

COUNT, SEED, FILE = 100_000, 7, "panda_poses.npz"
arm = pz.load("panda")
hand = "panda_hand"

# Nineteen of twenty poses are sampled in the joints, so they have an answer; the others in a box, and not all have one.
rng = np.random.default_rng(SEED)
own, boxed = COUNT * 19 // 20, COUNT // 20
places = rng.uniform([-0.9, -0.9, 0.0], [0.9, 0.9, 1.2], size=(boxed, 3))
turns = rng.normal(size=(boxed, 4))  # quaternions, uniform over all rotations once they have length 1
turns /= np.linalg.norm(turns, axis=1, keepdims=True)
poses = np.concatenate([arm.pose(hand, arm.sample(own, seed=SEED)).array, np.hstack([places, turns])])

found = pz.solve_batch(arm, pz.PoseTask(hand), poses, seed=SEED)
print(found.explain())
assert found.success[:own].all()

# The judge: forward kinematics at what is kept, and the limits.
good = found.q[found.success]
assert arm.pose(hand, good).isclose(pz.SE3(poses[found.success]), atol=1.01e-6).all()
assert ((arm.lower <= good) & (good <= arm.upper)).all()

np.savez_compressed(
    FILE,
    pose=poses,
    q=found.q,
    success=found.success,
    status=np.array([status.name for status in found.status]),
    error=np.hstack([found.position_errors, found.rotation_errors]),
    q_names=np.array(arm.coordinates),
    pose_names=np.array(["x", "y", "z", "qw", "qx", "qy", "qz"]),
    units="q [rad], x y z [m], error [m, rad]",
    robot=arm.name,
    frame=hand,
    seed=SEED,
    version=pz.__version__,
)
with np.load(FILE) as data:
    print(FILE, "holds", ", ".join(f"{name} {data[name].shape}" for name in data.files))
    some = pz.solve_batch(arm, pz.PoseTask(str(data["frame"])), data["pose"][:100], seed=int(data["seed"]))
    assert np.array_equal(some.q, data["q"][:100])  # the same seed gives the same numbers
