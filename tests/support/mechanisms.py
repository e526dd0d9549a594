"""Closed chains whose motion textbooks know, how far a loop is open by poses alone, and an arm on balls."""

import numpy as np

import poise as pz
from poise.common.array import Array

GROUND, CRANK, COUPLER, ROCKER = 1.0, 0.4, 1.0, 0.8
"""Links of the four-bar [m]; the crank turns all the way round, for 1.0 + 0.4 < 1.0 + 0.8 (Grashof)."""
BASE, PLATE, ARM, ROD = 0.2, 0.05, 0.3, 0.7
"""Of the delta: distances of the hinges from the centres of base and plate, lengths of arms and rods [m]."""


def at(*xyz: float) -> pz.SE3:
    return pz.SE3.from_parts(xyz)


def about(angle: float) -> pz.SE3:
    return pz.SE3.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 0.0, angle])


def four_bar(*, speed: float | None = 2.0, lower: float = -7.0, base: str = "fixed") -> pz.Model:
    """A crank and a rocker on the ground, with a coupler between them that is cut at the rocker's pin."""
    b = pz.ModelBuilder("four_bar")
    limits = (lower, 7.0)
    b.joint("crank", "revolute", parent="base", child="crank_link", limits=limits, velocity=speed)
    b.joint(
        "coupler", "revolute", parent="crank_link", child="coupler_link", origin=at(CRANK, 0, 0), limits=limits,
        velocity=speed,
    )  # fmt: skip
    b.joint(
        "rocker", "revolute", parent="base", child="rocker_link", origin=at(GROUND, 0, 0), limits=limits, velocity=speed
    )
    b.frame("coupler_end", link="coupler_link", origin=at(COUPLER, 0, 0))
    b.frame("rocker_end", link="rocker_link", origin=at(ROCKER, 0, 0))
    b.frame("pen", link="coupler_link", origin=at(0.5, 0.3, 0))
    b.loop("coupler_end", "rocker_end")
    return b.build(base=base)


def rocker_angles(crank: float) -> tuple[float, float]:
    """The two angles of the rocker that Freudenstein's equation (1954) allows at an angle of the crank [rad].

    K1 cos(rocker) - K2 cos(crank) + K3 = cos(crank - rocker), with K1 = d/a, K2 = d/c and
    K3 = (a^2 - b^2 + c^2 + d^2) / (2 a c), is A cos(rocker) + B sin(rocker) = C.
    """
    k1, k2 = GROUND / CRANK, GROUND / ROCKER
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + GROUND**2) / (2 * CRANK * ROCKER)
    a, b, c = k1 - np.cos(crank), -np.sin(crank), k2 * np.cos(crank) - k3
    middle, half = np.arctan2(b, a), np.arccos(c / np.hypot(a, b))
    return middle + half, middle - half


def linkage() -> pz.Model:
    """Three fingers, each a four-bar whose rod bends the outer bone with the inner one."""
    b = pz.ModelBuilder("linkage")
    bars = (
        ("drive", "base", "inner", 0.0, 0.0),
        ("outer", "inner", "end", 0.0, 0.05),
        ("rod", "base", "bar", 0.012, 0.0),
    )
    for f, (y, z) in enumerate(((0.05, 0.05), (0.0, 0.1), (-0.045, 0.1))):
        b.joint(
            f"swing{f}", "revolute", parent="palm", child=f"base{f}", axis=(1, 0, 0), origin=at(0, y, z),
            limits=(-0.5, 0.5),
        )  # fmt: skip
        for name, parent, child, x, long in bars:
            b.joint(
                f"{name}{f}", "revolute", parent=f"{parent}{f}", child=f"{child}{f}", axis=(0, 1, 0),
                origin=at(x, 0, long), limits=(-1.5, 1.8),
            )  # fmt: skip
        b.frame(f"pin{f}", link=f"end{f}", origin=at(0.008, 0, -0.006))
        b.frame(f"eye{f}", link=f"bar{f}", origin=at(0, 0, 0.045))
        b.loop(f"pin{f}", f"eye{f}")
        b.frame(f"tip{f}", link=f"end{f}", origin=at(0, 0, 0.045))
    return b.build()


def delta() -> pz.Model:
    """Clavel's robot: three driven arms, each with a pair of rods on balls that end at the plate, which is free."""
    b = pz.ModelBuilder("delta")
    for i in range(3):
        turn = about(2 * np.pi * i / 3)
        b.joint(
            f"motor{i}", "revolute", parent="base", child=f"arm{i}", origin=turn @ at(BASE, 0, 0), axis=(0, 1, 0),
            limits=(-1.2, 1.5), velocity=3.0,
        )  # fmt: skip
        for side, y in (("l", 0.04), ("r", -0.04)):
            b.joint(f"ball{i}{side}", "spherical", parent=f"arm{i}", child=f"rod{i}{side}", origin=at(ARM, y, 0))
            b.frame(f"rod_end{i}{side}", link=f"rod{i}{side}", origin=at(0, 0, -ROD))
            b.frame(f"pin{i}{side}", link="plate", origin=turn @ at(PLATE, y, 0))
            b.loop(f"rod_end{i}{side}", f"pin{i}{side}")
    b.joint("free", "floating", parent="base", child="plate")
    return b.build()


HORN, LEG = 0.04, 0.085
"""Of the platform: lengths of the motors' horns and of the rods [m]."""


def platform() -> pz.Model:
    """A head on six rods with balls at both ends, each driven by a horn; the last rod carries it, five are cut."""
    b = pz.ModelBuilder("platform")
    for i in range(6):
        around = np.pi / 3 * (2 * (i // 2)) + (0.25 if i % 2 else -0.25)
        there = np.pi / 3 * (2 * (i // 2)) + (0.8 if i % 2 else -0.8)
        horn = about(around) @ at(0.05, 0, 0)
        b.joint(
            f"motor{i}", "revolute", parent="base", child=f"horn{i}", origin=horn, axis=(1, 0, 0), limits=(-0.9, 0.9),
            velocity=8.0,
        )  # fmt: skip
        side = 1.0 if i % 2 else -1.0
        ball = at(0, side * HORN, 0)
        b.joint(f"ball{i}", "spherical", parent=f"horn{i}", child=f"rod{i}", origin=ball)
        pin = about(there) @ at(0.06, 0, -0.01)
        if i < 5:
            b.frame(f"end{i}", link=f"rod{i}", origin=at(0, 0, LEG))
            b.frame(f"pin{i}", link="head", origin=pin)
            b.loop(f"end{i}", f"pin{i}")
        else:
            b.joint("neck", "spherical", parent="rod5", child="neck_link", origin=at(0, 0, LEG))
            b.joint("stem", "fixed", parent="neck_link", child="head", origin=pin.inverse())
    return b.build()


def motor_angles(plate: Array) -> Array:
    """(3, 2) the angles of each motor that bring the plate, which never turns, to a place (3,) [m].

    The elbow is on a circle of radius l about the hinge and on a sphere of radius L about the plate's pin.
    """
    found = []
    for i in range(3):
        x, y, z = _turned(plate, -2 * np.pi * i / 3)
        reach = x + PLATE - BASE
        # (l cos t - reach)^2 + y^2 + (l sin t + z)^2 = L^2, where the arm sinks for t > 0
        a, b = -2 * ARM * reach, 2 * ARM * z
        c = ROD**2 - ARM**2 - reach**2 - y**2 - z**2
        middle, half = np.arctan2(b, a), np.arccos(c / np.hypot(a, b))
        found.append([middle + half, middle - half])
    return (np.array(found) + np.pi) % (2 * np.pi) - np.pi


def _turned(x: Array, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]])


def two_arms() -> pz.Model:
    """Two arms of seven joints whose hands are fixed to the ends of one bar."""
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    heights = [0.2, 0.1, 0.35, 0.1, 0.3, 0.1, 0.05]
    b = pz.ModelBuilder("two_arms")
    for side, x in (("left", -0.4), ("right", 0.4)):
        link = "base"
        for k, (axis, z) in enumerate(zip(axes, heights, strict=True)):
            b.joint(
                f"{side}{k}", "revolute", parent=link, child=f"{side}_link{k}", origin=at(x if k == 0 else 0.0, 0, z),
                axis=axis, limits=(-2.9, 2.9), velocity=1.5,
            )  # fmt: skip
            link = f"{side}_link{k}"
        b.frame(f"{side}_end", link=link, origin=at(-0.375 * x, 0, 0.1))
    b.loop("left_end", "right_end", "pose")
    return b.build()


def puppet() -> pz.Model:
    """A shoulder and a wrist of limited swing and twist, and a hinge between them, the bones along x."""
    b = pz.ModelBuilder("arm")
    b.joint("shoulder", "spherical", parent="base", child="upper", axis=(1, 0, 0), swing=(1.0, 0.5), twist=(-0.6, 0.3))
    b.joint("elbow", "revolute", parent="upper", child="fore", axis=(0, 0, 1), limits=(0.0, 2.5), origin=at(0.3, 0, 0))
    b.joint(
        "wrist", "spherical", parent="fore", child="hand", axis=(1, 0, 0), swing=0.9, twist=(-1.5, 1.5),
        origin=at(0.3, 0, 0),
    )  # fmt: skip
    b.frame("palm", link="hand", origin=at(0.1, 0, 0))
    return b.build()


def gap(model: pz.Model, q: Array) -> float:
    """How far the worst loop of the model is open at q (nq,) [m or rad]."""
    gaps = []
    for loop in model.loops:
        seen = model.pose(loop.first, q).inverse() @ model.pose(loop.second, q)
        gaps.append(float(np.linalg.norm(seen.xyz)))
        if loop.kind == "pose":
            gaps.append(2.0 * float(np.arcsin(min(1.0, np.linalg.norm(seen.wxyz[1:])))))
    return max(gaps)
