"""How many poses that arms do not reach are proved to be out of reach, and that none is which they reach.

    python benchmarks/proofs.py [POSES] [TURNS]

For each arm POSES poses (a million) of random configurations, some of whose joints stand at a limit, and as many random
ones in the ball of its longest reach, which `solve_batch` is asked for, limits kept.  Lengths are asked of all of them,
turns, which take tens of milliseconds, of TURNS (300) that are reached and as many that neither are nor are ruled out
by lengths.  A proof of a pose that is reached would be false.
"""

import sys
from time import process_time

import numpy as np

import poise as pz
from poise.solving.proof import by_turns, ruled_out
from poise.solving.span import span
from poise.spatial import Array

ARMS = ("ur5e", "puma560", "stanford", "panda", "iiwa14")
WITH_TURNS = ("ur5e", "puma560", "stanford")
"""The others have a seventh joint, whose range is halved: up to seconds a pose."""
AT_LIMIT = 0.15
"""The share of joints of a random configuration that stand at a limit."""


def reached(arm: pz.Model, count: int, seed: int) -> Array:
    """(count, 7) poses of random configurations."""
    q, draw = np.array(arm.sample(count, seed=seed)), np.random.default_rng(seed)
    ends = np.where(draw.random(q.shape) < 0.5, arm.lower, arm.upper)
    q = np.where((draw.random(q.shape) < AT_LIMIT) & np.isfinite(ends), ends, q)
    return np.array(arm.pose(arm.tip, q).array)


def anywhere(arm: pz.Model, count: int, seed: int) -> Array:
    """(count, 7) random poses, evenly in the ball that the tip cannot leave."""
    draw, ball = np.random.default_rng(seed), span(arm, arm.tip, limits=True, of_pose=False)
    way, turn = draw.normal(size=(count, 3)), draw.normal(size=(count, 4))
    way *= ball.radius * np.cbrt(draw.random((count, 1))) / np.linalg.norm(way, axis=1, keepdims=True)
    return np.concatenate([ball.centre + way, turn / np.linalg.norm(turn, axis=1, keepdims=True)], axis=1)


def turned(arm: pz.Model, task: pz.PoseTask, poses: Array) -> tuple[int, float]:
    """How many of the poses turns prove, and what one takes [ms]."""
    begun = process_time()
    count = sum(by_turns(arm, task, pose, limits=True) is not None for pose in poses)
    return count, 1e3 * (process_time() - begun) / max(1, len(poses))


def main() -> None:
    """Print a row an arm."""
    count, few = (int(given) for given in [*sys.argv[1:], *("1_000_000", "300")[len(sys.argv) - 1 :]])
    print("| arm | poses | false | not reached | by lengths | of the rest, by turns | ms | proved |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name in ARMS:
        arm = pz.load(name)
        task, some, others = pz.PoseTask(arm.tip), reached(arm, count, 0), anywhere(arm, count, 1)
        found = pz.solve_batch(arm, task, others, closest=False, progress=False).success
        by_lengths = ruled_out(arm, task, others, limits=True)
        false = int(ruled_out(arm, task, some, limits=True).sum()) + int((by_lengths & found).sum())
        missed, share, told = int((~found).sum()), float(by_lengths[~found].mean()), "| | |"
        if name in WITH_TURNS:
            rest = others[~found & ~by_lengths][:few]
            proved, each = turned(arm, task, rest)
            false += turned(arm, task, some[:few])[0] + turned(arm, task, others[found][:few])[0]
            told = f"| {proved} of {len(rest)} | {each:.0f} |"
            share += (1.0 - share) * proved / max(1, len(rest))
        lengths = int(by_lengths.sum())
        print(f"| {name} | {2 * count:,} | {false} | {missed:,} | {lengths:,} {told} {share:.1%} |", flush=True)


if __name__ == "__main__":
    main()
