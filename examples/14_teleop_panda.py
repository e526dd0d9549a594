"""A Panda that follows a headset at its worst: noise, glitches, silence, a tracking that begins anew."""

import numpy as np

import poise as pz

# Time, pose, whether the clutch is pressed, and the gripper, as a headset sent them 72 times a second.
ROWS = np.genfromtxt(__file__.replace("14_teleop_panda.py", "operator.csv"), delimiter=",", skip_header=1)
DT = 0.005
arm = pz.load("panda")
drive = pz.Tracker(
    arm,
    pz.PoseTask("panda_hand"),
    dt=DT,
    speed=0.5,  # half of the velocity limits of the model
    limits=[pz.AccelerationLimit(15.0)],
)
operator = pz.teleop.Stream(
    clutch=pz.teleop.Clutch(scale=1.5),
    workspace=pz.teleop.Workspace(lower=[0.3, -0.4, 0.2], upper=[0.7, 0.4, 0.7]),
)

q = drive.step(arm.home, arm.pose("panda_hand", arm.home))
before, fastest, sharpest, moved = np.zeros(arm.nv), 0.0, 0.0, 0.0
states: dict[str, int] = {}
for tick in range(1800):
    new = ROWS[(ROWS[:, 0] > (tick - 1) * DT) & (ROWS[:, 0] <= tick * DT)]
    sample = None  # in most ticks nothing came
    if len(new):
        time, *pose, pressed, gripper = new[-1]
        sample = pz.teleop.Sample(pose, pressed=bool(pressed), gripper=gripper, time=time)
    command = operator.step(sample, arm.pose("panda_hand", q), DT)
    q = drive.step(q, command.target)  # on a robot: send q here, and add measured=
    states[command.state] = states.get(command.state, 0) + 1
    fastest = max(fastest, (np.abs(drive.velocity) / arm.velocity).max())
    sharpest = max(sharpest, np.abs(drive.velocity - before).max() / DT)
    before = drive.velocity
    moved = max(moved, float(np.linalg.norm(arm.pose("panda_hand", q).xyz - arm.pose("panda_hand", arm.home).xyz)))

print("ticks:", ", ".join(f"{count} {state}" for state, count in states.items()))
print(f"{operator.rejected} samples were not believed; the hand went {1e2 * moved:.0f} cm from home")
print(f"fastest joint at {fastest:.0%} of its limit, sharpest change {sharpest:.1f} rad/s^2")
assert fastest <= 0.5 + 1e-9
assert sharpest <= 15.0 * (1 + 1e-9)
assert arm.within_limits(q)
assert moved > 0.1
