"""Elbows and knees that can be bent a little too far back: which way they fold, and limits that keep them to it.

Where a limb is straight, its hinge can go either way for what its end is asked to do, and a step decides for the nearer
one. If that is the short one, which some robots have beyond straight, the limb is caught at the limit there.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from poise import Joint, Model

LIMBS: Final = tuple(
    tuple(f"{side}_{part}" for part in parts)
    for side in ("left", "right")
    for parts in (("hip", "ankle"), ("shoulder", "wrist"))
)
"""The two ends of each limb."""
SPARE: Final = 0.05
"""How far from straight a hinge is kept [rad]: a limb loses a thousandth of its length."""
_LOOKS: Final = 181


def folding(model: Model, frames: Mapping[str, str]) -> dict[str, tuple[float, float]]:
    """By joint, its limits [rad] on the side of straight on which it has more room; hinges without such are left out.

    `frames` are the robot's, by part.
    """
    out = {}
    for root, end in LIMBS:
        if root not in frames or end not in frames:
            continue
        hinge = _hinge(model, frames[root], frames[end])
        if hinge is None:
            continue
        joint, straight, (lower, upper) = hinge
        if upper - straight > straight - lower:
            out[joint.name] = (straight + SPARE, upper)
        else:
            out[joint.name] = (lower, straight - SPARE)
    return out


def _hinge(model: Model, root: str, end: str) -> tuple[Joint, float, tuple[float, float]] | None:
    """The joint on which the distance between two frames depends most, its angle [rad] where that is largest, and its
    range; None where it is largest at a limit.
    """
    carried = model.root_path(model.frame(end).link)
    best, found = 0.0, None
    for joint in carried[len(model.root_path(model.frame(root).link)) :]:
        if joint.nq != 1 or joint.mimic is not None or not np.isfinite([*joint.lower, *joint.upper]).all():
            continue
        lower, upper = _range(model, joint)
        angles = np.linspace(lower, upper, _LOOKS)
        q = np.repeat(model.neutral[None], _LOOKS, axis=0)
        q[:, model.index(joint.name)] = angles[:, None]
        places = model.poses(q, [root, end]).xyz
        far = np.linalg.norm(places[:, 1] - places[:, 0], axis=1)
        if np.ptp(far) > best:
            best, k = float(np.ptp(far)), int(np.argmax(far))
            found = (joint, float(angles[k]), (lower, upper)) if 0 < k < _LOOKS - 1 else None
    return found


def _range(model: Model, joint: Joint) -> tuple[float, float]:
    """The limits of a hinge [rad]; of one that goes all the way round, half a turn from home to either side."""
    lower, upper = joint.lower[0], joint.upper[0]
    if upper - lower <= 2.0 * np.pi:
        return lower, upper
    home = float(model.home[model.index(joint.name)][0])
    return max(lower, home - np.pi), min(upper, home + np.pi)
