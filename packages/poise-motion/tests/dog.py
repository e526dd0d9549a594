"""A dog of the bones of a real one that trots, turns and sits, by the places of its joints."""

from typing import Literal

import numpy as np

import poise as pz
from poise.common.array import Array

_UPPER, _FORE, _PASTERN = 0.152, 0.178, 0.072
_THIGH, _SHANK, _HOCK = 0.16, 0.18, 0.108
NAMES = (
    "Hips", "Spine", "Neck", "Head",
    *(side + joint for side in ("Left", "Right") for joint in ("Arm", "ForeArm", "Hand", "HandSite")),
    *(side + joint for side in ("Left", "Right") for joint in ("UpLeg", "Leg", "Foot", "FootSite")),
)  # fmt: skip
PARENTS = (
    None, "Hips", "Spine", "Neck",
    *(above if above == "Spine" else side + above
      for side in ("Left", "Right") for above in ("Spine", "Arm", "ForeArm", "Hand")),
    *(above if above == "Hips" else side + above
      for side in ("Left", "Right") for above in ("Hips", "UpLeg", "Leg", "Foot")),
)  # fmt: skip
SIDES = (("Left", 1.0), ("Right", -1.0))


def dog(what: Literal["trot", "turn", "sit"], *, fps: float = 60.0, seconds: float = 2.0) -> pz.Motion:
    """A dog that trots ahead, turns on the spot in small steps, or sits down, stays and rises."""
    times = np.arange(int(fps * seconds) + 1) / fps
    down = np.zeros(len(times))
    if what == "sit":
        s = np.clip(np.minimum(times, seconds - times) / (0.4 * seconds), 0.0, 1.0)
        down = s**3 * (10.0 - s * (15.0 - 6.0 * s))
    pace, turn = (1.0 if what == "trot" else 0.0), (0.5 if what == "turn" else 0.0)
    heading = turn * times
    ahead, left = _turned(np.array([1.0, 0.0, 0.0]), heading), _turned(np.array([0.0, 1.0, 0.0]), heading)
    middle = np.stack([pace * times, 0.0 * times, 0.0 * times], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    hips = middle - (0.235 + 0.05 * down)[:, None] * ahead + (0.38 - 0.3 * down)[:, None] * up
    shoulders = middle + (0.235 - 0.1 * down)[:, None] * ahead + (0.34 + 0.03 * down)[:, None] * up
    out = {
        "Hips": hips + 0.05 * up - 0.02 * ahead, "Spine": 0.5 * (hips + shoulders) + 0.06 * up,
        "Neck": shoulders + 0.1 * up, "Head": shoulders + 0.2 * up + 0.1 * ahead,
    }  # fmt: skip
    for side, y in SIDES:
        for end, joint, place in (("front", "Arm", shoulders), ("hind", "UpLeg", hips)):
            start = place + 0.07 * y * left
            rest = np.array([0.235 if end == "front" else -0.21, 0.07 * y, 0.0])
            paw = _paw(times, rest, (y > 0.0) == (end == "front"), pace, turn, still=what == "sit")
            out[side + joint] = start
            if end == "front":
                hand = paw + _PASTERN * up
                elbow = _bent(start, hand, _UPPER, _FORE, -ahead)
                out |= {f"{side}ForeArm": elbow, f"{side}Hand": hand, f"{side}HandSite": paw}
            else:
                flat = (0.2 + 1.2 * down)[:, None]
                hock = paw + _HOCK * (np.cos(flat) * up - np.sin(flat) * ahead)
                stifle = _bent(start, hock, _THIGH, _SHANK, ahead)
                out |= {f"{side}Leg": stifle, f"{side}Foot": hock, f"{side}FootSite": paw}
    places = np.stack([out[name] for name in NAMES], axis=1)
    return pz.motion_from_positions(places, NAMES, PARENTS, fps=fps, name=what)


def _paw(times: Array, rest: Array, first: bool, pace: float, turn: float, *, still: bool) -> Array:
    """(frames, 3) a paw that stands half of the time at where it is under the trunk in the middle of that."""
    if still:
        return np.tile(rest, (len(times), 1))
    period = 0.5
    phase = times / period + (0.0 if first else 0.5)
    step, share = np.floor(phase), np.clip(2.0 * (phase % 1.0) - 1.0, 0.0, 1.0)
    swing = share**3 * (10.0 - share * (15.0 - 6.0 * share))
    when = period * (step + 0.25 + swing - (0.0 if first else 0.5))
    out = _turned(rest, turn * when)
    out[:, 0] += pace * when
    out[:, 2] += 0.06 * np.sin(np.pi * share) ** 2
    return out


def _turned(way: Array, heading: Array) -> Array:
    """(frames, 3) a way turned about the vertical."""
    cosine, sine = np.cos(heading), np.sin(heading)
    return np.stack([cosine * way[0] - sine * way[1], sine * way[0] + cosine * way[1], 0.0 * heading + way[2]], axis=1)


def _bent(start: Array, end: Array, first: float, second: float, side: Array) -> Array:
    """(frames, 3) where two bones meet that bend to a side."""
    way = end - start
    far = np.clip(np.linalg.norm(way, axis=1, keepdims=True), abs(first - second) + 1e-3, 0.999 * (first + second))
    along = way / np.linalg.norm(way, axis=1, keepdims=True)
    out = side - along * np.sum(side * along, axis=1, keepdims=True)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    share = (first**2 - second**2 + far**2) / (2.0 * far)
    return start + along * share + out * np.sqrt(np.maximum(first**2 - share**2, 0.0))
