"""A person with fingers, in a T pose that looks along -y, whose hands close and open."""

from collections.abc import Mapping, Sequence

import numpy as np
from bodies import CONVENTIONS, called, human, skeleton

import poise as pz
from poise.common.array import Array

FINGERS = ("Index", "Middle", "Ring", "Pinky")
KNUCKLES = dict(zip(FINGERS, ((0.095, -0.03), (0.1, -0.008), (0.095, 0.014), (0.088, 0.034)), strict=True))
"""Where knuckles of a left hand are, outwards and to the little finger's side [m]."""
BONES = (0.042, 0.027, 0.021)
THUMB = ((0.03, -0.03, -0.01), (0.06, -0.055, -0.025), (0.085, -0.065, -0.035), (0.105, -0.07, -0.045))


def person(fingers: Sequence[str] = ("Thumb", *FINGERS)) -> pz.Model:
    """Its joints are called as Mixamo does; the fourth of a finger is its tip."""
    names, sides = CONVENTIONS["mixamo"]
    points = dict(human(called(names), sides))
    for i, side in enumerate(sides):
        hand = f"mixamorig:{side}Hand"
        wrist, out = np.asarray(points[hand][1], dtype=float), np.array([1.0 - 2.0 * i, 1.0, 1.0])
        for finger in fingers:
            if finger == "Thumb":
                places = [np.array(place) for place in THUMB]
            else:
                along, aside = KNUCKLES[finger]
                places = [np.array([along + length, aside, 0.0]) for length in np.cumsum((0.0, *BONES))]
            for k, place in enumerate(places):
                points[f"{hand}{finger}{k + 1}"] = (hand if k == 0 else f"{hand}{finger}{k}", wrist + out * place)
    return skeleton(points, name="person")


def moved(model: pz.Model, bends: Mapping[str, Array], fps: float = 30.0, *, waving: bool = False) -> pz.Motion:
    """By finger, each joint's bend towards the palm (frames, 3) [rad], on both hands; arms that wave, or hang still."""
    frames = len(next(iter(bends.values())))
    times, v = np.arange(frames) / fps, np.zeros((frames, model.nv))

    def turn(joint: str, axis: Sequence[float], angle: Array) -> None:
        if joint in model.joint_names:
            v[:, model.velocity_index(joint)] = np.outer(angle, axis)

    for side, s in (("Left", 1.0), ("Right", -1.0)):
        for finger, angles in bends.items():
            for k, angle in enumerate(angles.T):
                turn(f"mixamorig:{side}Hand{finger}{k + 1}", (0.0, s, 0.0), angle)
        down = 0.9 + (0.4 * np.sin(4.0 * times) if waving else 0.0 * times)
        turn(f"mixamorig:{side}Arm", (0.0, s, 0.0), down)
        turn(f"mixamorig:{side}ForeArm", (0.0, 0.0, -s), 0.5 + (0.3 * np.cos(5.0 * times) if waving else 0.0 * times))
        turn(f"mixamorig:{side}Hand", (1.0, 0.0, 0.0), 0.3 * np.sin(3.0 * times) if waving else 0.0 * times)
    return pz.Motion(model, times, model.integrate(np.tile(model.neutral, (frames, 1)), v), name="fingers")


def closing(frames: int = 40, most: Sequence[float] = (1.0, 1.2, 0.7)) -> dict[str, Array]:
    """Fingers that close one after the other."""
    t = np.linspace(0.0, 1.0, frames)
    shares = {finger: 0.5 - 0.5 * np.cos(2.0 * np.pi * t + 0.5 * k) for k, finger in enumerate(FINGERS)}
    return {finger: np.outer(share, most) for finger, share in shares.items()}
