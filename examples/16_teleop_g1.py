"""A humanoid whose two hands follow the same poor headset while it stands.  Needs `pip install "poise[robots]"`."""

import numpy as np

import poise as pz

# Time, pose, whether the clutch is pressed, and the gripper, as a headset sent them 72 times a second.
ROWS = np.genfromtxt(__file__.replace("16_teleop_g1.py", "operator.csv"), delimiter=",", skip_header=1)
DT = 0.005
body = pz.load("g1", base="floating")
bend = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}
angles = {f"{side}_{joint}_joint": angle for side in ("left", "right") for joint, angle in bend.items()}
arms = {f"{side}_{joint}_joint": angle for side in ("left", "right") for joint, angle in {"elbow": 0.6}.items()}
q = body.q(angles | arms)
feet = [f"{side}_ankle_roll_link" for side in ("left", "right")]
hands = [f"{side}_wrist_yaw_link" for side in ("left", "right")]

stand = [pz.PoseTask(foot, body.pose(foot, q)) for foot in feet]
balance = pz.CentreOfMassTask(body.centre_of_mass(q), weight=(1, 1, 0))
reach = [pz.PoseTask(hand, priority=1) for hand in hands]
rest = pz.methods.TaskPriority(null_space=pz.criteria.RestPosture(q=q))
drive = pz.Tracker(body, [*stand, balance, *reach], rest, dt=DT, limits=[pz.AccelerationLimit(40.0)])
# One stream for each hand; the same device leads both, so the hands do the same.
operators = [pz.teleop.Stream() for _ in hands]

begin = [body.pose(hand, q) for hand in hands]
before, fastest, sharpest, moved, slid = np.zeros(body.nv), 0.0, 0.0, 0.0, 0.0
for tick in range(1800):
    new = ROWS[(ROWS[:, 0] > (tick - 1) * DT) & (ROWS[:, 0] <= tick * DT)]
    sample = None
    if len(new):
        time, *pose, pressed, gripper = new[-1]
        sample = pz.teleop.Sample(pose, pressed=bool(pressed), gripper=gripper, time=time)
    commands = [each.step(sample, body.pose(hand, q), DT).target for each, hand in zip(operators, hands, strict=True)]
    q = drive.step(q, [None, None, None, *commands])  # None: as it is
    fastest = max(fastest, np.max(np.abs(drive.velocity[6:]) / body.velocity[6:]))
    sharpest = max(sharpest, np.abs(drive.velocity - before)[6:].max() / DT)
    before = drive.velocity
    moved = max(moved, *(float(np.linalg.norm(body.pose(h, q).xyz - b.xyz)) for h, b in zip(hands, begin, strict=True)))
    slid = max(slid, *(error.position or 0.0 for error in drive.errors[:2]))

print(f"{operators[0].rejected} samples were not believed; the hands went {1e2 * moved:.0f} cm")
print(f"feet moved {1e3 * slid:.4f} mm at most")
print(f"fastest joint at {fastest:.0%} of its limit, sharpest change {sharpest:.1f} rad/s^2")
assert fastest <= 1.0 + 1e-9
assert sharpest <= 40.0 * (1 + 1e-9)
assert body.within_limits(q)
assert slid < 1e-3
assert moved > 0.1
