"""A body that lifts a box from a table, turns it and puts it back: its hands are on the sides of the box for a time."""

from functools import cache

import numpy as np
from bodies import CONVENTIONS, called, human

import poise as pz
from poise.common.array import Array

SIZE = np.array([0.34, 0.26, 0.24])
"""Of the box [m]."""
FLESH, BEFORE = 0.02, 0.09
"""How far a wrist is from the side of the box, and the middle of the palm before the wrist [m]."""
GRIPPED, LEFT = 1.0, 3.4
"""The hands are at rest on the box from the one to the other [s]."""
FPS = 30.0
_SIDES = (("Left", 1), ("Right", -1))


def box() -> pz.Model:
    """A box that may be anywhere."""
    builder = pz.ModelBuilder("box")
    builder.joint("place", "floating", parent="world", child="box")
    builder.shape("box", pz.Box(pz.SE3.identity(), tuple(SIZE.tolist())))
    return builder.build()


def person(*, palms: bool) -> pz.Model:
    """A human whose elbows and knees are hinges; of its hands something beyond the wrists is known, or nothing."""
    points = {**human(called(CONVENTIONS["cmu"][0]), CONVENTIONS["cmu"][1])}
    if palms:
        points |= {f"{side}HandEnd": (f"{side}Hand", (k * (0.71 + BEFORE), 0.0, 1.42)) for side, k in _SIDES}
    builder = pz.ModelBuilder("person")
    for joint, (parent, place) in points.items():
        if parent is None:
            builder.joint(joint, "floating", parent="world", child=joint)
            continue
        origin = pz.SE3.from_parts(np.asarray(place) - np.asarray(points[parent][1]))
        k = 1 if joint.startswith("Left") else -1
        if joint.endswith("ForeArm"):
            builder.joint(
                joint, "revolute", parent=parent, child=joint, origin=origin, axis=(0, 0, -k), limits=(0.02, 2.5)
            )
        elif joint in ("LeftLeg", "RightLeg"):
            builder.joint(
                joint, "revolute", parent=parent, child=joint, origin=origin, axis=(1, 0, 0), limits=(0.02, 2.5)
            )
        else:
            stiff = joint in ("Spine1", "Neck1", "Head") or joint.endswith(("Shoulder", "HandEnd", "ToeBase"))
            builder.joint(joint, "fixed" if stiff else "spherical", parent=parent, child=joint, origin=origin)
    return builder.build()


@cache
def lifting(*, palms: bool) -> tuple[pz.Motion, pz.Motion]:
    """The motion of the person, and that of the box."""
    body, times = person(palms=palms), np.arange(121) / FPS
    up = _eased(times, 1.2, 2.0) - _eased(times, 2.4, 3.2)
    reach = _eased(times, 0.3, GRIPPED) - _eased(times, LEFT, 4.0)
    yaw, none = 0.3 * up, np.zeros(len(times))
    there = pz.SE3.from_parts(
        np.stack([0.1 * up, none - 0.42, 0.6 + 0.4 * up], axis=1),
        pz.SO3.from_rotvec(np.stack([none, none, yaw], axis=1)),
    )
    standing = body.neutral.copy()
    standing[2] = 0.95
    for side, k in _SIDES:
        standing[body.index(f"{side}Arm")] = pz.SO3.from_rotvec((0.0, 1.2 * k, 0.0)).wxyz
        standing[body.index(f"{side}ForeArm")] = 0.8
    tasks: list[pz.Task] = []
    goals: list[Array] = []
    for side, k in _SIDES:
        foot = body.pose(f"{side}Foot", standing).array
        inward = pz.SO3.from_matrix([[0, 0, k], [-k, 0, 0], [0, -1, 0]])
        on = there @ pz.SE3.from_parts((k * (0.5 * SIZE[0] + FLESH), BEFORE, 0.0), inward)
        hangs = np.array([0.27 * k, 0.0, 0.85])
        turn = pz.SO3.from_rotvec(np.stack([1.4 * (1.0 - reach), none, none], axis=1)) @ on.rotation
        tasks += [pz.PoseTask(f"{side}Foot"), pz.PoseTask(f"{side}Hand")]
        goals += [np.tile(foot, (len(times), 1))]
        goals += [np.concatenate([hangs + reach[:, None] * (on.xyz - hangs), turn.wxyz], axis=1)]
    low = reach - 0.9 * up
    hips = np.tile(body.pose("Hips", standing).array, (len(times), 1))
    hips[:, 2] -= 0.02 + 0.22 * low
    chest = np.zeros((len(times), 7))
    chest[:, 3:] = pz.SO3.from_rotvec(np.stack([0.5 * low, none, none], axis=1)).wxyz
    tasks += [pz.PoseTask("Hips", priority=1), pz.OrientationTask("Spine1", priority=1)]
    tracker, q = pz.Tracker(body, tasks, dt=1.0 / FPS), standing
    out: list[Array] = []
    for goal in np.stack([*goals, hips, chest], axis=1):
        tracker.targets = goal
        for _ in range(4 if out else 100):
            q = tracker.step(q)
        out.append(q.copy())
    return pz.Motion(body, times, np.array(out), name="lifting"), pz.Motion(box(), times, there.array)


def _eased(times: Array, start: float, stop: float) -> Array:
    """(frames,) from 0 at one time to 1 at another, without a jump of the acceleration."""
    s = np.clip((times - start) / (stop - start), 0.0, 1.0)
    out: Array = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    return out
