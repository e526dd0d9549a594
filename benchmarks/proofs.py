"""How many poses that arms do not reach are proved to be out of reach, and that none is which they reach.

    python benchmarks/proofs.py [POSES] [BOXES] [FEW] [ARM ...]

For each arm POSES poses (a million) of random configurations, some of whose joints stand at a limit, and as many random
ones in the ball of its longest reach, of an arm in a plane in its disc.  `solve_batch`, limits kept, searches for the
random ones.  Lengths are asked of all of them.  Of what is neither reached nor ruled out by lengths FEW (300) are
searched for with 20,000 further starts each, and boxes, which take up to seconds, are asked of those that are not
found.  "false" counts the proofs by lengths of poses that are reached; and the boxes that a reason empties although
they hold the configuration from which the pose was made, of BOXES (a million) of all sizes: a false proof has such a
box.
"""

import sys
from time import process_time
from typing import NamedTuple

import numpy as np

import poise as pz
from poise.common.array import Array
from poise.solving.problem.chain import chain_of
from poise.solving.problem.reach_bound import reach_bound
from poise.solving.unreachable.infeasibility import by_boxes, ruled_out
from poise.solving.unreachable.loop_features import plan
from poise.solving.unreachable.verify import empty, loop_of

FRAMES = {
    "ur5e": None, "puma560": None, "stanford": None, "panda": None, "iiwa14": None, "so101": "gripper_frame_link",
    "so101, places": "gripper_frame_link", "planar3": None,
}  # fmt: skip
AT_LIMIT = 0.15
"""The share of joints of a random configuration that stand at a limit."""
AROUND = 100
"""Boxes around one configuration."""
LONG = 20_000
"""Further starts before a pose counts as not found."""
FLAT = 2.0
"""Limits of the arm in a plane, which has none as it comes, both ways [rad]."""


class Exact(NamedTuple):
    """What the loop of a pose is closed with: no tolerance."""

    target: pz.SE3
    position_tolerance: float = 0.0
    rotation_tolerance: float = 0.0


def reached(arm: pz.Model, count: int, seed: int) -> Array:
    """(count, nq) random configurations."""
    q, draw = np.array(arm.sample(count, seed=seed)), np.random.default_rng(seed)
    ends = np.where(draw.random(q.shape) < 0.5, arm.lower, arm.upper)
    return np.asarray(np.where((draw.random(q.shape) < AT_LIMIT) & np.isfinite(ends), ends, q))


def anywhere(arm: pz.Model, frame: str, count: int, seed: int) -> Array:
    """(count, 7) random poses, evenly in the ball that the frame cannot leave, or in its disc."""
    draw, ball = np.random.default_rng(seed), reach_bound(arm, frame, limits=True, of_pose=False)
    way, turn, flat = draw.normal(size=(count, 3)), draw.normal(size=(count, 4)), arm.name == "planar3"
    if flat:
        way[:, 2], turn[:, 1:3] = 0.0, 0.0
    far = draw.random((count, 1)) ** (1 / 2 if flat else 1 / 3)
    way *= ball.radius * far / np.linalg.norm(way, axis=1, keepdims=True)
    return np.concatenate([ball.centre + way, turn / np.linalg.norm(turn, axis=1, keepdims=True)], axis=1)


def wrong_boxes(arm: pz.Model, frame: str, q: Array, posed: bool) -> int:
    """How many boxes around configurations (n, nq) a reason empties for their own poses."""
    chain, draw, wrong = chain_of(arm, frame, None, pz.SE3.identity(), limits=True), np.random.default_rng(0), 0
    units = [arm.tree.units[i] for i in arm.tree.path(arm.tree.links[arm.frame(frame).link][0])]
    asked = plan(chain, posed=posed)
    reasons = [*asked.always, *(reason for stage in asked.stages for reason in stage)]
    for one in q:
        at = np.array([unit.multiplier * one[unit.iq] + unit.offset for unit in units])
        half = 10.0 ** draw.uniform(-7.0, 0.0, (AROUND, len(at)))
        boxes = np.stack([at + half * np.clip(draw.uniform(-1.2, 1.2, half.shape), -1.0, 1.0), half], axis=1)
        loop = loop_of(chain, Exact(arm.pose(frame, one), 0.0, 0.0 if posed else np.pi))
        wrong += int(np.any([empty(loop, reason.rows, boxes) for reason in reasons], axis=0).sum())
    return wrong


def main() -> None:
    """Print a row an arm."""
    given, usual = [x for x in sys.argv[1:] if x[0].isdigit()], ("1_000_000", "1_000_000", "300")
    count, boxes, few = (int(x) for x in [*given, *usual[len(given) :]])
    print(
        "| arm | poses | boxes | false | not found | by lengths | of the rest, by boxes | median, 95 % [ms] | proved |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name in [x for x in sys.argv[1:] if not x[0].isdigit()] or FRAMES:
        arm, posed = pz.load(name.split(",")[0]), "," not in name
        arm = arm.with_limits(dict.fromkeys(arm.joint_names, (-FLAT, FLAT))) if name == "planar3" else arm
        frame = FRAMES[name] or arm.tip
        task = pz.PoseTask(frame) if posed else pz.PositionTask(frame)
        numbers = 7 if posed else 3
        made, others = reached(arm, count, 0), anywhere(arm, frame, count, 1)
        false = int(ruled_out(arm, task, np.array(arm.pose(frame, made).array), limits=True).sum())
        found = pz.solve_batch(arm, task, others[:, :numbers], best_effort=False, progress=False).success
        by_lengths = ruled_out(arm, task, others, limits=True)
        false += int((by_lengths & found).sum())
        rest = np.flatnonzero(~found & ~by_lengths)
        some = rest[:few]
        again = pz.solve_batch(
            arm, task, others[some, :numbers], best_effort=False, progress=False, max_restarts=LONG if posed else 200
        ).success
        few_left, times, proved = some[~again], [], 0
        for pose in others[few_left]:
            begun = process_time()
            proved += by_boxes(arm, task, pose, limits=True) is not None
            times.append(1e3 * (process_time() - begun))
        false += wrong_boxes(arm, frame, made[: max(1, boxes // AROUND)], posed)
        left = len(rest) * (1.0 - again.mean() if len(some) else 0.0)
        missed = int(by_lengths.sum()) + left
        share = (by_lengths.sum() + left * proved / max(1, len(few_left))) / max(1.0, missed)
        print(
            f"| {name} | {2 * count:,} | {boxes:,} | {false} | {missed:,.0f} | {by_lengths.sum():,} | {proved} of "
            f"{len(few_left)} | {np.median(times or [0]):.0f}, {np.quantile(times or [0], 0.95):.0f} | {share:.2%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
