"""A body that walks: its feet are those of `gaits`, its knees bend, its arms swing."""

import numpy as np
from gaits import ANKLE, gait

import poise as pz
from poise.common.array import Array

HIP = 0.82
THIGH, SHIN = 0.43, 0.42
_ABOVE = {
    "UpLeg": "Hips", "Leg": "UpLeg", "Foot": "Leg", "Toe": "Foot",
    "Arm": "Spine", "ForeArm": "Arm", "Hand": "ForeArm",
}  # fmt: skip
NAMES = (
    "Hips", "Spine", "Head",
    *(side + part for side in ("Left", "Right") for part in _ABOVE),
)  # fmt: skip


def parents() -> list[str | None]:
    """By joint of `NAMES`, its parent."""
    out: list[str | None] = [None, "Hips", "Spine"]
    for side in ("Left", "Right"):
        out += [above if above in ("Hips", "Spine") else side + above for above in _ABOVE.values()]
    return out


def positions(times: Array, **settings: float) -> tuple[Array, dict[str, Array]]:
    """(frames, joints, 3) where the joints of `NAMES` are [m], and by part (frames,) when it stands."""
    feet, standing = gait(times, **settings)
    middle = np.mean([path[:, 0, 0] for path in feet.values()], axis=0)
    low = np.min([path[:, 0, 2] for path in feet.values()], axis=0) - ANKLE
    hips = np.stack([middle, np.zeros(len(times)), low + HIP], axis=1)
    out = {"Hips": hips, "Spine": hips + np.array([0.0, 0.0, 0.3]), "Head": hips + np.array([0.0, 0.0, 0.65])}
    for i, (side, part) in enumerate((("Left", "left_ankle"), ("Right", "right_ankle"))):
        across = 0.1 * (1 - 2 * i)
        hip, ankle = hips + np.array([0.0, across, -0.02]), feet[part][:, 0]
        swing = 0.5 * np.clip((feet["right_ankle"][:, 0, 0] - feet["left_ankle"][:, 0, 0]) * (1 - 2 * i), -0.8, 0.8)
        shoulder = out["Spine"] + [0.0, 1.9 * across, 0.2]
        elbow = shoulder + 0.28 * np.stack([np.sin(swing), 0.0 * swing, -np.cos(swing)], axis=1)
        hand = elbow + 0.26 * np.stack([np.sin(swing + 0.5), 0.0 * swing, -np.cos(swing + 0.5)], axis=1)
        out |= {
            f"{side}UpLeg": hip, f"{side}Leg": _knee(hip, ankle), f"{side}Foot": ankle, f"{side}Toe": feet[part][:, 1],
            f"{side}Arm": shoulder, f"{side}ForeArm": elbow, f"{side}Hand": hand,
        }  # fmt: skip
    return np.stack([out[name] for name in NAMES], axis=1), standing


def _knee(hip: Array, ankle: Array) -> Array:
    """(frames, 3) the knee between them, bent forwards."""
    way = ankle - hip
    far = np.minimum(np.linalg.norm(way, axis=1, keepdims=True), 0.9999 * (THIGH + SHIN))
    along = way / np.linalg.norm(way, axis=1, keepdims=True)
    ahead = np.array([1.0, 0.0, 0.0]) - along[:, :1] * along
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    share = (THIGH**2 - SHIN**2 + far**2) / (2.0 * far)
    return hip + share * along + np.sqrt(np.maximum(THIGH**2 - share**2, 0.0)) * ahead


def walk(fps: float = 60.0, seconds: float = 4.0, *, size: float = 1.0, **settings: float) -> pz.Motion:
    """The motion of that body."""
    times = np.arange(int(fps * seconds) + 1) / fps
    places, _ = positions(times, **{"stride": 0.9, **settings})
    return pz.motion_from_positions(size * places, NAMES, parents(), fps=fps)
