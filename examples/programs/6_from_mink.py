"""A port from mink: the old program with one import changed, then the same loop in poise's own words.

python 6_from_mink.py --steps 300
"""

# pyright: reportAttributeAccessIssue=false
# MuJoCo's names are in its binary, where a type checker does not see them.

import argparse
from typing import Any

import mujoco
import numpy as np

import poise as pz
import poise_compat.mink as mink  # it was: import mink

AXES = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
LINK = '<body name="link{i}" pos="0 0 {z}"><joint name="joint{i}" axis="{axis}" range="-2.5 2.5"/><geom size=".03"/>'
XML = (
    '<mujoco><compiler angle="radian" autolimits="true"/><worldbody>'
    + "".join(LINK.format(i=i, z=0.1 + 0.05 * i, axis=axis) for i, axis in enumerate(AXES))
    + '<site name="tool" pos="0 0 .1"/>'
    + "</body>" * len(AXES)
    + "</worldbody></mujoco>"
)
START = np.array([0.1, 0.6, 0.8, 0.2, 0.6, 0.1])
DT = 0.01


def old(model: Any, goal: Any, steps: int) -> np.ndarray:
    """The program as it was."""
    configuration = mink.Configuration(model)
    configuration.update(START)
    hand = mink.FrameTask("tool", "site", position_cost=1.0, orientation_cost=1.0)
    hand.set_target(goal)
    limits = [mink.ConfigurationLimit(model), mink.VelocityLimit(model, {f"joint{i}": 1.0 for i in range(6)})]
    for _ in range(steps):
        velocity = mink.solve_ik(configuration, [hand], DT, solver="daqp", limits=limits)
        configuration.integrate_inplace(velocity, DT)
    return np.array(configuration.q)


def new(arm: pz.Model, goal: pz.SE3, steps: int) -> np.ndarray:
    """The same: q is an array, limits of positions are on, and a step says where the joints are next."""
    loop = pz.Tracker(arm, pz.PoseTask("tool"), "qp", dt=DT, limits=[pz.VelocityLimit(1.0)])
    q = START
    for _ in range(steps):
        q = loop.step(q, goal)
    return q


def main() -> None:
    """Run both, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    steps = parser.parse_args().steps
    model, arm = mujoco.MjModel.from_xml_string(XML), pz.load(XML)
    assert arm.coordinates == tuple(model.joint(i).name for i in range(model.njnt))  # so q is qpos
    goal = arm.pose("tool", START + 0.2)
    for name, q in (
        ("mink's words", old(model, mink.SE3(np.concatenate([goal.wxyz, goal.xyz])), steps)),
        ("poise's", new(arm, goal, steps)),
    ):
        away = arm.pose("tool", q).inverse() @ goal
        print(f"{name}: {1e3 * np.linalg.norm(away.xyz):.4f} mm away, q = {np.round(q, 4)}")
        assert np.linalg.norm(away.xyz) < 1e-3
        assert arm.within_limits(q)


if __name__ == "__main__":
    main()
