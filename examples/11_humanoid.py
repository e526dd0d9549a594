"""A humanoid at 200 Hz: feet and balance first, then the hands.  Needs `pip install "poise[robots]"`."""

import numpy as np

import poise as pz

DT = 0.005
body = pz.load("g1", base="floating")

# It stands with bent knees: a stretched leg is singular.
bend = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}
q = body.q({f"{side}_{joint}_joint": angle for side in ("left", "right") for joint, angle in bend.items()})
feet = [f"{side}_ankle_roll_link" for side in ("left", "right")]
hands = [f"{side}_wrist_yaw_link" for side in ("left", "right")]
begin = [body.pose(hand, q).xyz for hand in hands]

stand = [pz.PoseTask(foot, body.pose(foot, q)) for foot in feet]
middle = body.centre_of_mass(q)
balance = pz.CentreOfMassTask(middle, weight=(1, 1, 0))  # its height is free
reach = [pz.PositionTask(hand, priority=1) for hand in hands]  # of what feet and balance leave
rest = pz.methods.TaskPriority(null_space=pz.criteria.RestPosture(q=q))  # and of what the hands leave
loop = pz.Tracker(body, [*stand, balance, *reach], rest, dt=DT, limits=[pz.AccelerationLimit(40.0)])


def far(error: pz.results.TaskError) -> float:
    """The metres of an error that has some."""
    assert error.position is not None
    return error.position


slid = swayed = 0.0
for tick in range(1, 1601):
    time = tick * DT
    way = np.array([0.1 * time, 0.0, 0.05 * np.sin(3.0 * time)])  # forwards, up and down
    q = loop.step(q, [None, None, None, *(place + way for place in begin)])  # None: as it is
    left, right, centre, *missed = loop.errors
    slid, swayed = max(slid, far(left), far(right)), max(swayed, far(centre))
    if tick % 200 == 0:  # from 4 s on the targets are farther than balance allows
        print(f"{time:.0f} s: hands {1e3 * max(map(far, missed)):6.1f} mm from their targets")

print(f"feet moved {1e3 * slid:.4f} mm at most, the centre of mass {1e3 * swayed:.4f} mm")
print("at their limits:", ", ".join(limit.name for limit in loop.active_limits if limit.kind == "position"))
assert slid < 1e-3
assert swayed < 1e-3
assert body.within_limits(q)
