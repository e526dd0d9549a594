"""An SO-101 that follows the same poor headset: five joints, a gripper.  Needs `pip install "poise[robots]"`."""

import numpy as np

import poise as pz

# Time, pose, whether the clutch is pressed, and the gripper, as a headset sent them 72 times a second.
ROWS = np.genfromtxt(__file__.replace("15_teleop_so101.py", "operator.csv"), delimiter=",", skip_header=1)
DT, FRAME = 0.01, "gripper_frame_link"
arm = pz.load("so101")
start = arm.q({"shoulder_lift": -0.6, "elbow_flex": 0.8, "wrist_flex": 0.6})
# The place comes first; the rotation gets what five joints have left.
tasks = [pz.PositionTask(FRAME), pz.OrientationTask(FRAME, priority=1)]
drive = pz.Tracker(arm, tasks, dt=DT, speed=0.5, limits=[pz.AccelerationLimit(20.0)])
operator = pz.teleop.Stream(clutch=pz.teleop.Clutch(scale=0.5))  # an arm of 40 cm for one of 70

q, begin = start, arm.pose(FRAME, start)
before, fastest, sharpest, moved, opened = np.zeros(arm.nv), 0.0, 0.0, 0.0, set()
for tick in range(900):
    new = ROWS[(ROWS[:, 0] > (tick - 1) * DT) & (ROWS[:, 0] <= tick * DT)]
    sample = None
    if len(new):
        time, *pose, pressed, gripper = new[-1]
        sample = pz.teleop.Sample(pose, pressed=bool(pressed), gripper=gripper, time=time)
    command = operator.step(sample, arm.pose(FRAME, q), DT)
    q = drive.step(q, [command.target.xyz, command.target.rotation])
    if command.gripper is not None:  # from 0 to 100: it goes to the motor as it is
        opened.add(command.gripper)
    fastest = max(fastest, (np.abs(drive.velocity) / arm.velocity).max())
    sharpest = max(sharpest, np.abs(drive.velocity - before).max() / DT)
    before = drive.velocity
    moved = max(moved, float(np.linalg.norm(arm.pose(FRAME, q).xyz - begin.xyz)))

print(f"{operator.rejected} samples were not believed; the hand went {1e2 * moved:.0f} cm")
print(f"the gripper from {min(opened):.0f} to {max(opened):.0f}")
print(f"fastest joint at {fastest:.0%} of its limit, sharpest change {sharpest:.1f} rad/s^2")
assert fastest <= 0.5 + 1e-9
assert sharpest <= 20.0 * (1 + 1e-9)
assert arm.within_limits(q)
assert moved > 0.05
