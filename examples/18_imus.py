"""IMUs to joints: a leg with four sensors, placed while it stands, its heading found, its walk fitted as it comes."""

import numpy as np

import poise as pz

# A pelvis that turns as it likes, a hip that turns as a ball, a knee, and an ankle of one axis.
b = pz.ModelBuilder("leg")
b.joint("root", "floating", parent="world", child="pelvis")
hip, knee, ankle = (pz.SE3.from_parts(place) for place in ([0, -0.09, -0.08], [0, 0, -0.42], [0, 0, -0.41]))
b.joint("hip", "spherical", parent="pelvis", child="thigh", origin=hip, axis=[0, 0, -1], swing=2.0, twist=(-0.8, 0.8))
b.joint("knee", "revolute", parent="thigh", child="shank", origin=knee, axis=[0, 1, 0], limits=(0.0, 2.4))
b.joint("ankle", "revolute", parent="shank", child="foot", origin=ankle, axis=[0, 1, 0], limits=(-0.8, 0.6))
model = b.build()

# A recording: sensors sit anyhow on the segments, their x is north and not forward, they are right to a degree or two,
# and one of them falls silent for a while.
links = ["pelvis", "thigh", "shank", "foot"]
sensors = [f"{link}_imu" for link in links]
rng = np.random.default_rng(0)
mounted = pz.SO3.from_rotvec(rng.uniform(-1.5, 1.5, (4, 3)))
north = pz.SO3.from_rpy([0, 0, 2.1])
t = np.arange(0, 3, 0.01)
way = np.tile(model.home, (len(t), 1))
swing = np.column_stack([0.1 * np.sin(t), -0.5 * np.sin(4 * t), 0.1 * np.sin(2 * t)])
way[:, model.index("hip")] = pz.SO3.from_rotvec(swing).wxyz
way[:, model.index("knee")] = 0.6 - 0.6 * np.cos(4 * t)[:, None]
way[:, model.index("ankle")] = 0.3 * np.sin(4 * t)[:, None]


def measured(q: np.ndarray, noise: float) -> np.ndarray:
    """(frames, 4, 4) what the sensors say at configurations q (frames, nq)."""
    wrong = pz.SO3.from_rotvec(rng.normal(0, noise, (len(q), 4, 3)))
    return (wrong @ north @ model.poses(q, links).rotation @ mounted).wxyz


standing = pz.imus.Orientations(sensors, np.arange(100) / 100, measured(np.tile(model.home, (100, 1)), 0.02), "stands")
said = measured(way, 0.02).copy()
said[120:140, 2] = np.nan
walk = pz.imus.Orientations(sensors, t, said, "walks")

# Of no sensor is it known which axis points forward, so the walk must say the heading.
placed = pz.imus.place_sensors(model, standing, heading=walk)
print(placed)
assert abs(np.degrees(placed.heading + 2.1)) < 2
fit = pz.imus.fit_orientations(placed.model, walk)
print(fit)
assert any("shank_imu in 20 frames" in note for note in fit.notes)

# As they come, and the judge: the motion that was recorded, and the limits.
live = pz.MarkerFitter(placed.model, sensors=sensors)
steps = np.array([live.step(orientations=wxyz) for wxyz in walk.wxyz])
assert np.allclose(steps, fit.motion.q, atol=1e-6)
seen = ~walk.gaps[:, 2]
for name in ("knee", "ankle"):
    away = np.degrees(np.abs(fit.motion.q - way)[seen][:, model.index(name)])
    print(f"the {name} is right to {away.mean():.1f} degrees, {away.max():.1f} at worst")
    assert away.mean() < 3
assert np.allclose(model.clip(fit.motion.q), fit.motion.q)
fit.motion.save("imus.npz")
