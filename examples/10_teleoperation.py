"""Teleoperation at 500 Hz: a joystick gives velocities, the arm keeps its limits, and says which one holds it."""

import numpy as np

import poise as pz

DT, TICKS = 0.002, 500
arm = pz.load("panda")


def joystick(time: float) -> pz.Twist:
    """What a driver of a joystick would read: to the left, then far too fast forwards, then a turn of the wrist."""
    if time < 0.3:
        return pz.Twist(linear=[0.0, 0.15, 0.0])  # m/s along the world's axes
    if time < 0.7:
        return pz.Twist(linear=[2.5, 0.0, 0.0])
    return pz.Twist(angular=[0.0, 0.0, 0.5], frame="tool")  # rad/s about the hand's own z axis


drive = pz.Tracker(
    arm,
    pz.PoseTask("panda_hand"),
    dt=DT,
    speed=0.5,  # half of the velocity limits of the model
    limits=[pz.AccelerationLimit(15.0)],
    max_target_lead=0.05,  # the target is never farther ahead of the hand than 5 cm
)
q = arm.home
held, before, fastest, sharpest = [], np.zeros(arm.nv), 0.0, 0.0
rate = pz.Rate(DT)
for tick in rate:
    q = drive.step(q, joystick(tick * DT))  # on a robot: send q here, and add measured=
    fastest = max(fastest, (np.abs(drive.velocity) / arm.velocity).max())
    sharpest = max(sharpest, np.abs(drive.velocity - before).max() / DT)
    before = drive.velocity
    if tick % 25 == 0:  # twenty times a second is often enough for a display
        held += [limit.kind for limit in drive.active_limits]
    if tick == 300:
        print(f"{tick * DT:.1f} s:", drive.explain())
    if tick == TICKS:
        break

print(f"fastest joint at {fastest:.0%} of its limit, sharpest change {sharpest:.1f} rad/s^2")
print("held by:", ", ".join(f"{kind} limits {held.count(kind)} times" for kind in sorted(set(held))))
print(f"{rate.slipped} of {TICKS} ticks came late; the arm was slower then, never faster")
assert fastest <= 0.5 + 1e-9
assert sharpest <= 15.0 * (1 + 1e-9)
assert arm.within_limits(q)
