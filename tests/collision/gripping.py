"""A gripper whose two fingers close a loop that no task of its wrist moves."""

import poise as pz


def gripping() -> pz.Model:
    """Both fingers, 0.1 m long, turn about hinges that are 0.16 m apart; at home both point along x."""
    b = pz.ModelBuilder("gripping")
    b.joint("wrist", "revolute", parent="base", child="palm", limits=(-1.0, 1.0))
    for name, x in (("left", 0.0), ("right", 0.16)):
        origin = pz.SE3.from_parts([x, 0.0, 0.1])
        b.joint(name, "revolute", parent="palm", child=f"{name}_link", origin=origin, axis=(0, 1, 0), limits=(-3, 3))
        b.frame(f"{name}_end", link=f"{name}_link", origin=pz.SE3.from_parts([0.1 if name == "left" else -0.1, 0, 0]))
    b.loop("left_end", "right_end")
    return b.build()
