"""Teleoperation of an SO-101: a shaky device with a clutch leads the gripper; the driver takes degrees by name.

python 3_teleop_so101.py --seconds 10
"""

import argparse

import numpy as np

import poise as pz

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
FRAME, DT = "gripper_frame_link", 1.0 / 60.0


class Driver:
    """In the place of LeRobot's robot: degrees by name, a gripper from 0 to 100, motors that arrive at once."""

    def __init__(self) -> None:
        self.state = dict.fromkeys([f"{joint}.pos" for joint in JOINTS], 0.0) | {"gripper.pos": 0.0}

    def get_observation(self) -> dict[str, float]:
        return dict(self.state)

    def send_action(self, action: dict[str, float]) -> None:
        self.state = dict(action)


def device(time: float, rng: np.random.Generator) -> pz.teleop.Sample | None:
    """What a headset would send: it shakes, is silent now and then, and lets go of the clutch for half a second."""
    if rng.random() < 0.2 or 3.0 < time < 3.6:
        return None
    place = [0.05 * np.sin(1.5 * time), 0.1 * np.sin(time), 1.2 + 0.03 * np.cos(2.0 * time)]
    pose = pz.SE3.from_parts(np.array(place) + rng.normal(scale=1e-3, size=3))
    pressed = not 1.5 < time < 2.0
    return pz.teleop.Sample(pose, pressed=pressed, gripper=50.0 + 50.0 * np.sin(time), time=time)


def main() -> None:
    """Drive the arm, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    arm, robot, rng = pz.load("so101"), Driver(), np.random.default_rng(0)
    # Five joints: the place comes first, and the rotation gets what is left.
    tasks = [pz.PositionTask(FRAME), pz.OrientationTask(FRAME, priority=1)]
    loop = pz.Tracker(arm, tasks, dt=DT, speed=0.5, limits=[pz.AccelerationLimit(20.0)])
    operator = pz.teleop.Stream(clutch=pz.teleop.Clutch(scale=0.8))
    q = arm.q({"shoulder_lift": -0.6, "elbow_flex": 0.8, "wrist_flex": 0.6})
    start, before, sharpest, went = arm.pose(FRAME, q).xyz, np.zeros(arm.nv), 0.0, 0.0
    states: dict[str, int] = {}
    for tick in range(int(options.seconds / DT)):  # for tick in pz.Rate(DT): on a robot
        command = operator.step(device(tick * DT, rng), arm.pose(FRAME, q), DT)
        q = loop.step(q, [command.target.xyz, command.target.rotation])
        opening = command.gripper if command.gripper is not None else robot.get_observation()["gripper.pos"]
        angles = arm.named(q)
        robot.send_action({f"{joint}.pos": np.degrees(angles[joint]) for joint in JOINTS} | {"gripper.pos": opening})
        states[command.state] = states.get(command.state, 0) + 1
        sharpest = max(sharpest, np.abs(loop.velocity - before).max() / DT)
        before = loop.velocity
        went = max(went, float(np.linalg.norm(arm.pose(FRAME, q).xyz - start)))
    print("ticks:", ", ".join(f"{count} {state}" for state, count in states.items()))
    print(f"the gripper went {100 * went:.1f} cm; sharpest change {sharpest:.1f} rad/s^2")
    sent = [robot.get_observation()[f"{joint}.pos"] for joint in JOINTS]
    assert np.allclose(np.radians(sent), [arm.named(q)[joint] for joint in JOINTS])
    assert arm.within_limits(q)
    assert sharpest <= 20.0 * (1 + 1e-9)


if __name__ == "__main__":
    main()
