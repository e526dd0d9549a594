"""A step of a humanoid with three levels: the feet and the centre of mass, then the hands, then the posture.

Each library follows the same motion from its own last configuration; libraries take turns every few steps.
"""

import gc
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns

import numpy as np
from judge import Array, Balance, errors
from motion import Motion, motion
from peers import FOLLOWERS, Follower, load, version
from race import BLOCK, WARM_UP

ROUNDING = 1e-12
"""Of what a joint moves in a step [rad]."""


@dataclass(frozen=True)
class Step:
    """Medians of one library over the motion, but for what is counted; times in microseconds, errors of the judge."""

    name: str
    version: str
    median: float
    """Over blocks, of their medians."""
    p99: float
    ratio: float | None
    """Over blocks, of its median over poise's."""
    feet: float
    """The farther of the two from its place [m]."""
    feet_turn: float
    """[rad]"""
    centre: float
    """Of mass, from its target [m]."""
    hands: float
    hands_turn: float
    posture: float
    """Root mean square of the joints' distances to the stance [rad]."""
    outside: int
    """Steps with a joint beyond its limit, or faster than its own."""


@dataclass
class Record:
    """What one library did."""

    seconds: list[list[float]] = field(default_factory=list)
    """One list a block."""
    path: list[Array] = field(default_factory=list)
    """(nq,) after each step, in the judge's order."""


def priorities(count: int, rounds: int, names: Sequence[str]) -> list[Step]:
    """Measure the libraries that are installed, in whole turns."""
    followed = motion(max(count * rounds // BLOCK, 1) * BLOCK)
    followers: dict[str, Follower] = {}
    for name in names:
        try:
            followers[name] = load(name, FOLLOWERS)(followed)
        except ImportError as error:
            print(f"{name} is missing: pip install {FOLLOWERS[name][0]} ({error})")
    records = {name: Record() for name in followers}
    for follower in followers.values():
        for centre, hands in zip(followed.centres[:WARM_UP], followed.hands, strict=False):
            follower.step(*follower.pack(centre, hands))
    order = list(followers)
    for block in range(0, len(followed.centres), BLOCK):
        order = order[1:] + order[:1]
        for name in order:
            run_block(followed, followers[name], block, records[name])
    base = block_medians(records["poise"]) if "poise" in records else None
    rows = [judged(followed, name, record, base) for name, record in records.items()]
    return sorted(rows, key=lambda row: (row.name != "poise", row.median))


def run_block(followed: Motion, follower: Follower, first: int, record: Record) -> None:
    """One turn; its first step finds the caches full of another library and is not timed."""
    gc.collect()
    gc.disable()
    packed = [follower.pack(followed.centres[i], followed.hands[i]) for i in range(first, first + BLOCK)]
    seconds = []
    for arguments in packed:
        before = perf_counter_ns()
        follower.step(*arguments)
        seconds.append((perf_counter_ns() - before) * 1e-9)
        record.path.append(follower.last())
    record.seconds.append(seconds[1:])
    gc.enable()


def block_medians(record: Record) -> Array:
    """One a block [s]."""
    return np.median(record.seconds, axis=1)


def judged(followed: Motion, name: str, record: Record, base: Array | None) -> Step:
    """The row of one library."""
    robot, path = followed.robot, np.array(record.path)
    poses = robot.judge.poses(path)
    hands, hands_turn = np.max(errors(poses[:, :2], followed.hands), axis=-1)
    feet, feet_turn = np.max(errors(poses[:, 2:], followed.feet), axis=-1)
    centre = np.linalg.norm(Balance(robot.urdf, floating=True).places(path) - followed.centres, axis=1)
    joints = path[:, 7:]
    speeds = np.array([joint.speed for joint in robot.judge.joints if joint.moves])
    moved = np.abs(np.diff(joints, axis=0, prepend=followed.stance[None, 7:]))
    # A difference of two positions is rounded, unlike the positions.
    outside = robot.judge.outside(path) | (moved > speeds * followed.dt + ROUNDING).any(axis=1)
    posture = np.sqrt(np.mean((joints - followed.stance[7:]) ** 2, axis=1))
    medians = block_medians(record)
    return Step(
        name,
        version(name, FOLLOWERS),
        1e6 * float(np.median(medians)),
        1e6 * float(np.quantile(record.seconds, 0.99)),
        None if base is None else float(np.median(medians / base)),
        *(float(np.median(error)) for error in (feet, feet_turn, centre, hands, hands_turn, posture)),
        int(outside.sum()),
    )


def show(rows: list[Step]) -> None:
    """Print them as Markdown."""
    print("\nG1: a step with three levels: both feet and the centre of mass; both hands; the posture\n")
    print(
        "| library | version | median us | p99 us | x poise | feet um | urad | centre of mass um | hands um | urad "
        "| posture rad | outside |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        print(
            f"| {row.name} | {row.version} | {row.median:.1f} | {row.p99:.1f} | {ratio} | {1e6 * row.feet:.3g} "
            f"| {1e6 * row.feet_turn:.3g} | {1e6 * row.centre:.3g} | {1e6 * row.hands:.3g} "
            f"| {1e6 * row.hands_turn:.3g} | {row.posture:.3f} | {row.outside} |"
        )
    sys.stdout.flush()
