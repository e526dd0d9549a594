"""A robot's hand of a few fingers, and landmarks of a human's, both in closed form."""

import numpy as np
import numpy.typing as npt

import poise as pz

Array = npt.NDArray[np.float64]
FINGERS = ("thumb", "index-finger", "middle-finger", "ring-finger", "pinky-finger")
KNUCKLES = {"index-finger": 0.03, "middle-finger": 0.0, "ring-finger": -0.025, "pinky-finger": -0.045}
"""Where along y a right hand's knuckles are [m]."""
PARTS = ("metacarpal", "phalanx-proximal", "phalanx-intermediate", "phalanx-distal", "tip")


def robot_hand(*, base: str = "fixed", fingers: int = 3) -> pz.Model:
    """Fingers of four joints, the last of which follows the third; their tips are `tip0`, the thumb's, and so on."""
    b = pz.ModelBuilder("hand")
    for f in range(fingers):
        y = 0.05 if f == 0 else 0.045 - 0.045 * f
        z = 0.05 if f == 0 else 0.1
        lengths = (0.05, 0.035, 0.03) if f == 0 else (0.055, 0.04, 0.03)
        tilt = [0.0, 0.6 if f == 0 else 0.0, -0.4 if f == 0 else 0.0]
        b.joint(
            f"swing{f}", "revolute", parent="palm", child=f"knuckle{f}", axis=[1, 0, 0] if f else [0, 0, 1],
            origin=pz.SE3.from_xyz_rpy([0.02 if f == 0 else 0.0, y, z], tilt), limits=(-0.5, 0.5) if f else (-1.5, 0.8),
        )  # fmt: skip
        for k in range(len(lengths)):
            b.joint(
                f"bend{f}{k}", "revolute", parent=f"knuckle{f}" if k == 0 else f"bone{f}{k - 1}", child=f"bone{f}{k}",
                axis=[0, 1, 0], origin=pz.SE3.from_parts([0, 0, 0 if k == 0 else lengths[k - 1]]),
                limits=(-0.2, 1.7), mimic=pz.Mimic(joint=f"bend{f}1", multiplier=0.7) if k == 2 else None,
            )  # fmt: skip
        b.frame(f"tip{f}", link=f"bone{f}2", origin=pz.SE3.from_parts([0, 0, lengths[-1]]))
    return b.build(base=base)  # type: ignore[arg-type]


def human_hand(curl: npt.ArrayLike, opposed: float = 0.5) -> Array:
    """(25, 3) landmarks of a right hand in WebXR's order [m]: wrist at 0, z to the middle knuckle, x out of the palm.

    `curl` (5,) are from 0, stretched, to 1, a fist; `opposed` turns the thumb in front of the palm.
    """
    points = [np.zeros(3)]
    for finger, bend in zip(FINGERS, np.asarray(curl, dtype=float), strict=True):
        if finger == "thumb":
            at = np.array([0.01, 0.03, 0.03])
            way = np.array([0.3 + opposed, 1.0 - opposed, 0.8])
            way /= np.linalg.norm(way)
            aside = np.cross(way, [1.0, -0.5, 0.2])
            lengths, most = (0.04, 0.03, 0.025), (0.4, 0.6, 0.8)
        else:
            at, way = np.array([0.0, 0.3 * KNUCKLES[finger], 0.03]), np.array([0.0, 0.0, 1.0])
            points.append(at)
            at, aside = np.array([0.0, KNUCKLES[finger], 0.1]), np.array([0.0, 1.0, 0.0])
            lengths, most = (0.042, 0.027, 0.02), (1.3, 1.5, 0.9)
        points.append(at)
        angle, aside = 0.0, aside / np.linalg.norm(aside)
        for length, limit in zip(lengths, most, strict=True):
            angle += bend * limit
            at = at + length * (np.cos(angle) * way + np.sin(angle) * np.cross(aside, way))
            points.append(at)
    return np.array(points)


def clip(frames: int = 40) -> Array:
    """(frames, 25, 3) a hand that opens and closes, each finger at its own pace."""
    t = np.linspace(0.0, 2.0 * np.pi, frames)
    curls = 0.5 - 0.5 * np.cos(t[:, None] * [1.0, 1.0, 1.2, 0.8, 1.5])
    return np.array([human_hand(0.8 * curl, 0.4 + 0.3 * np.sin(x)) for curl, x in zip(curls, t, strict=True)])
