"""A data set of 300,000 poses: targets, joints, status and errors, with names, units and the seed.

python 2_data_set.py --count 300000 --out panda.npz
"""

import argparse

import numpy as np

import poise as pz


def main() -> None:
    """Sample, solve, judge and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--count", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="panda.npz")
    options = parser.parse_args()
    arm = pz.load(options.robot)
    frame = arm.tip

    # Nine of ten are poses that a sampled q has; the tenth lies anywhere in a box, and not all of these have an answer.
    rng = np.random.default_rng(options.seed)
    boxed = options.count // 10
    turns = rng.normal(size=(boxed, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    places = rng.uniform([-0.9, -0.9, 0.0], [0.9, 0.9, 1.2], size=(boxed, 3))
    own = arm.pose(frame, arm.sample(options.count - boxed, seed=options.seed)).array
    poses = np.concatenate([own, np.hstack([places, turns])])
    # All begin at one q0, and the answer that is nearest to it is kept: neighbours in space have neighbours in joints.
    found = pz.solve_batch(arm, pz.PoseTask(frame), poses, q0=arm.home, seed=options.seed, best_effort=False)

    reached = arm.pose(frame, found.q[found.success])
    assert reached.isclose(pz.SE3(poses[found.success]), atol=2e-6).all()
    assert arm.within_limits(found.q)
    assert found.success[: len(own)].mean() > 0.999
    np.savez_compressed(
        options.out,
        pose=poses,
        q=found.q,
        success=found.success,
        status=np.array([status.name for status in found.status]),
        error=np.hstack([found.position_errors, found.rotation_errors]),
        q_names=np.array(arm.coordinates),
        units="q [rad or m], pose x y z [m] w x y z, error [m, rad]",
        robot=arm.name,
        frame=frame,
        seed=options.seed,
        version=pz.__version__,
    )
    print(found.explain())
    print(f"{options.out}: {len(poses):,} poses, {found.success.mean():.1%} solved")


if __name__ == "__main__":
    main()
