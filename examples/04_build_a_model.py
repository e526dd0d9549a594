"""A robot in code: a column on a rail carries an arm of two links with a parallel wrist."""

import numpy as np

import poise as pz

b = pz.ModelBuilder("rail arm")
b.joint("rail", "prismatic", parent="floor", child="cart", axis=(1, 0, 0), limits=(-1.0, 1.0))
b.joint("turn", "continuous", parent="cart", child="column", origin=pz.SE3.from_parts([0, 0, 0.4]))
b.joint("shoulder", "revolute", parent="column", child="upper", axis=(0, 1, 0), limits=(-1.5, 1.5))
b.joint(
    "elbow",
    "revolute",
    parent="upper",
    child="lower",
    origin=pz.SE3.from_parts([0, 0, 0.5]),
    axis=(0, 1, 0),
    limits=(0.0, 2.5),
)
b.joint("wrist", "revolute", parent="lower", child="hand", origin=pz.SE3.from_parts([0, 0, 0.4]), axis=(0, 1, 0))
b.frame("tool", link="hand", origin=pz.SE3.from_parts([0, 0, 0.1]))
robot = b.build()
print(robot)

# Point the tool straight down at a spot on the floor; how it is turned about itself does not matter.
spot = [1.1, 0.3, 0.0]
sol = pz.solve(robot, [pz.PositionTask("tool", spot), pz.AxisTask("tool", axis=(0, 0, 1), target=(0, 0, -1))])
print(sol)
assert np.allclose(robot.pose("tool", sol.q).xyz, spot, atol=1e-5)

# The same arm with its rail bolted down.
fixed = robot.lock(rail=0.5)
print(pz.solve(fixed, pz.PositionTask("tool", spot)))
