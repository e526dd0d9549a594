"""A dance carried to a robot and edited: cut, slowed where it is too fast, a hand held at a rail for a while.

python 5_dance.py dance.bvh --robot g1 --out dance.npz

Needs `pip install "poise[motion]"`, and for robots by name `"poise[robots]"`.
"""

import argparse
from pathlib import Path

import numpy as np

import poise as pz

FADE = 6  # frames in which a hold comes and goes


def slowed(motion: pz.Motion, most: float) -> pz.Motion:
    """The motion with each frame as late as the joints need, which go at `most` of their limits."""
    model = motion.model
    speeds = np.abs(model.difference(motion.q[:-1], motion.q[1:])) / np.diff(motion.times)[:, None]
    beyond = np.where(np.isfinite(model.velocity), speeds / (most * model.velocity), 0.0).max(axis=1)
    times = np.concatenate([[0.0], np.cumsum(np.diff(motion.times) * np.maximum(beyond, 1.0))])
    even = np.linspace(0.0, times[-1], int(times[-1] * motion.fps) + 1)
    # `at` wants times of the motion itself: those at which the slowed one is there.
    return pz.Motion(model, even, motion.at(np.interp(even, times, motion.times)), name=motion.name)


def held(motion: pz.Motion, hand: str, first: int, last: int) -> pz.Motion:
    """The motion with a hand that stays where it is in the frame `first` until `last`; feet and all else as danced."""
    model = motion.model
    feet = [name for name in model.frames if name.endswith("ankle_roll_link")]
    danced = {frame: model.pose(frame, motion.q).array for frame in (*feet, hand)}
    frames = np.arange(len(motion))
    share = np.clip(np.minimum(frames - first, last - frames) / FADE, 0.0, 1.0)[:, None]
    rail = danced[hand][first, :3]
    places = (1.0 - share) * danced[hand][:, :3] + share * rail
    tasks = [*(pz.PoseTask(foot) for foot in feet), pz.PositionTask(hand), pz.PostureTask()]
    loop, q, rows = pz.Tracker(model, tasks, updates=2), motion[0], []
    for k in frames:
        q = loop.step(q, [*(danced[foot][k] for foot in feet), places[k], motion[k]])
        rows.append(q)
    return pz.Motion(model, motion.times, np.array(rows), name=motion.name)


def main() -> None:
    """Carry over, cut, slow down, hold, judge and save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dance", type=Path)
    parser.add_argument("--robot", default="g1")
    parser.add_argument("--out", type=Path, default=Path("dance.npz"))
    options = parser.parse_args()
    robot = pz.load(options.robot, base="floating")
    done = pz.retarget(pz.load_motion(options.dance), robot)
    print(done.report)
    cut = done.motion[len(done.motion) // 10 :]
    calm = slowed(cut, most=0.5)
    hand, first, last = "left_wrist_yaw_link", len(calm) // 3, 2 * len(calm) // 3
    edited = held(calm, hand, first, last)
    edited.save(options.out)
    edited.save(options.out.with_suffix(".csv"), quaternion="xyzw")

    again = pz.load_motion(options.out, model=robot)
    stays = robot.pose(hand, again.q[first + FADE : last - FADE + 1]).xyz
    strays = np.linalg.norm(stays - stays[0], axis=1).max()
    print(f"{options.out}: {len(again)} frames, {again.duration:.2f} s; the hand stays within {1e3 * strays:.1f} mm")
    assert strays < 5e-3
    assert robot.within_limits(again.q)


if __name__ == "__main__":
    main()
