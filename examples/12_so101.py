"""An SO-101 as LeRobot drives it: degrees by name, a gripper from 0 to 100.  Needs `pip install "poise[robots]"`."""

import numpy as np

import poise as pz

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")


class Simulated:
    """In the place of the robot: what LeRobot's classes take and give, and motors that arrive at once."""

    def __init__(self) -> None:
        self.state = dict.fromkeys([f"{joint}.pos" for joint in JOINTS], 0.0) | {"gripper.pos": 0.0}

    def get_observation(self) -> dict[str, float]:
        return dict(self.state)

    def send_action(self, action: dict[str, float]) -> dict[str, float]:
        assert action.keys() == self.state.keys()
        self.state = dict(action)
        return action


class Hand:
    """Poses in, actions out: five joints bring the gripper to its place exactly and turn it as well as they can."""

    def __init__(self, arm: pz.Model, frame: str) -> None:
        self.arm, self.frame = arm, frame
        self.solver = pz.Solver(arm, [pz.PositionTask(frame), pz.OrientationTask(frame, required=False)])

    def q(self, observation: dict[str, float]) -> np.ndarray:
        return self.arm.q({joint: np.radians(observation[f"{joint}.pos"]) for joint in JOINTS})

    def action(self, pose: pz.SE3, opening: float, observation: dict[str, float]) -> dict[str, float]:
        sol = self.solver([pose.xyz, pose.rotation], self.q(observation))
        if not sol.success:
            raise ValueError(sol.explain())
        angles = sol.named()
        return {f"{joint}.pos": float(np.degrees(angles[joint])) for joint in JOINTS} | {"gripper.pos": opening}


robot, hand = Simulated(), Hand(pz.load("so101"), "gripper_frame_link")
steps = {  # where, how the gripper looks (roll, pitch, yaw), how far it opens
    "above": ([0.22, 0.08, 0.08], [0.0, np.pi, 0.0], 80.0),
    "grasp": ([0.22, 0.08, 0.03], [0.0, np.pi, 0.0], 80.0),
    "close": ([0.22, 0.08, 0.03], [0.0, np.pi, 0.0], 10.0),
    "show": ([0.20, -0.10, 0.20], [0.0, np.pi / 2, 0.0], 10.0),  # it looks out of the plane of the arm: not in full
}
for name, (xyz, rpy, opening) in steps.items():
    wanted = pz.SE3.from_xyz_rpy(xyz, rpy)
    robot.send_action(hand.action(wanted, opening, robot.get_observation()))
    away = wanted.inverse() @ hand.arm.pose(hand.frame, hand.q(robot.get_observation()))
    angles = "  ".join(f"{value:6.1f}" for value in robot.state.values())
    turned = np.degrees(np.linalg.norm(away.rotation.log()))
    print(f"{name:6s} {angles}   off by {1e3 * np.linalg.norm(away.xyz):.0e} mm, {turned:4.1f} degrees")
    assert np.linalg.norm(away.xyz) < 1e-6
