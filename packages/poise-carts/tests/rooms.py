"""A cart with an arm, a car's carriage, and a room with things in it."""

import poise as pz
from poise_carts import Cart

CAR = Cart.ackermann(wheelbase=0.45, track=0.4, radius=0.1, speed=10.0, steer=0.7)
DIFFERENTIAL = Cart.differential(track=0.4, radius=0.1, speed=10.0)
TRICYCLE = Cart.tricycle(wheelbase=0.45, track=0.4, radius=0.1, speed=10.0)
OMNI = Cart.omni(distance=0.3, radius=0.1, speed=10.0)
MECANUM = Cart.mecanum(wheelbase=0.45, track=0.4, radius=0.1, speed=10.0)


def rover() -> pz.Model:
    """A carriage 0.65 m long, whose rear axle is 0.1 m from its end, with an arm of three joints and a lift."""
    b = pz.ModelBuilder("rover")
    b.joint("base", "planar", parent="world", child="body")
    b.joint("lift", "prismatic", parent="body", child="mast", axis=(0, 0, 1), limits=(0.0, 0.6), velocity=0.5)
    b.joint(
        "shoulder", "revolute", parent="mast", child="upper", axis=(0, 0, 1), limits=(-2.5, 2.5), velocity=2.0,
        origin=pz.SE3.from_parts([0.3, 0.0, 0.4]),
    )  # fmt: skip
    joint = {"limits": (-2.5, 2.5), "velocity": 2.0, "origin": pz.SE3.from_parts([0.3, 0.0, 0.0])}
    b.joint("elbow", "revolute", parent="upper", child="fore", axis=(0, 0, 1), **joint)
    b.joint("wrist", "revolute", parent="fore", child="palm", axis=(0, 0, 1), **joint)
    b.frame("hand", link="palm", origin=pz.SE3.from_parts([0.1, 0.0, 0.0]))
    b.shape("body", pz.Box(pz.SE3.from_parts([0.225, 0.0, 0.2]), (0.65, 0.45, 0.3)))
    for link, length in (("upper", 0.3), ("fore", 0.3), ("palm", 0.1)):
        b.shape(link, pz.Capsule((0.0, 0.0, 0.0), (length, 0.0, 0.0), 0.04))
    for pair in (("body", "upper"), ("upper", "fore"), ("fore", "palm"), ("upper", "palm")):
        b.disable(*pair)
    b.posture("home", {"lift": [0.1], "shoulder": [2.0], "elbow": [-2.4], "wrist": [2.0]})
    return b.build(home="home")


def room() -> pz.World:
    """Ten metres by eight, from wall to wall, with a cupboard, a partition with an opening, two tables and a column."""

    def box(x: float, y: float, size_x: float, size_y: float, height: float = 1.5) -> pz.Box:
        return pz.Box(pz.SE3.from_parts([x, y, 0.5 * height]), (size_x, size_y, height))

    return pz.World({
        "west": box(-0.1, 4.0, 0.2, 8.4), "east": box(10.1, 4.0, 0.2, 8.4),
        "south": box(5.0, -0.1, 10.4, 0.2), "north": box(5.0, 8.1, 10.4, 0.2),
        "cupboard": box(3.0, 0.4, 2.0, 0.8), "partition": box(5.0, 2.0, 0.15, 4.0), "wing": box(5.0, 7.1, 0.15, 1.8),
        "table": box(2.2, 5.0, 1.6, 0.9, 0.75), "bench": box(7.6, 5.2, 1.8, 0.8, 0.75),
        "column": pz.Cylinder(pz.SE3.from_parts([7.6, 2.2, 0.75]), 0.25, 1.5),
    })  # fmt: skip
