"""Measured markers to joints: a leg of a person, a recording with gaps and two markers exchanged, mended and fitted."""

import numpy as np

import poise as pz

# A pelvis that goes where it likes, a hip that turns as a ball, a knee; markers are frames.
b = pz.ModelBuilder("leg")
b.joint("root", "floating", parent="world", child="pelvis")
hip, knee = pz.SE3.from_parts([0, -0.09, -0.08]), pz.SE3.from_parts([0, 0, -0.42])
b.joint("hip", "spherical", parent="pelvis", child="thigh", origin=hip, axis=[0, 0, -1], swing=2.0, twist=(-0.8, 0.8))
b.joint("knee", "revolute", parent="thigh", child="shank", origin=knee, axis=[0, 1, 0], limits=(0.0, 2.4))
MARKERS = {
    "pelvis": {"RASI": [0.11, -0.12, 0.02], "LASI": [0.11, 0.12, 0.02], "SACR": [-0.12, 0.0, 0.03]},
    "thigh": {"RTHI": [0.02, -0.09, -0.2], "RKNE": [0.0, -0.06, -0.42], "RKNM": [0.0, 0.06, -0.42]},
    "shank": {"RTIB": [0.05, -0.02, -0.15], "RANK": [0.0, -0.05, -0.41], "RMED": [0.0, 0.05, -0.41]},
}
for link, its in MARKERS.items():
    for name, place in its.items():
        b.frame(name, link=link, origin=pz.SE3.from_parts(place))
model = b.build()
names = [name for its in MARKERS.values() for name in its]

# A recording: the leg swings and walks on, measured to 2 mm; a marker is hidden for a while, two are taken for another.
t = np.arange(0, 2, 0.01)
turns = pz.SO3.from_rotvec(np.column_stack([0.1 * np.sin(t), -0.5 * np.sin(4 * t), 0.1 * np.cos(t)]))
way = np.zeros((len(t), model.nq))
way[:, model.index("root")] = np.column_stack(
    [0.8 * t, 0 * t, 0.95 + 0.02 * np.sin(8 * t), np.ones_like(t), *[0 * t] * 3]
)
way[:, model.index("hip")] = turns.wxyz
way[:, model.index("knee")] = 0.6 + 0.5 * np.sin(4 * t + 1)[:, None]
places = model.poses(way, names).xyz + np.random.default_rng(0).normal(0, 0.002, (len(t), len(names), 3))
places[50:70, names.index("RTIB")] = np.nan
places[120:130, [3, 5]] = places[120:130, [5, 3]]
recorded = pz.Markers(names, t, places, "swing")

# The fit tells what is doubtful and uses it as it is; what is known then is mended, and fitted again.
fit = pz.fit_markers(model, recorded)
print(fit)
assert [swap.names for swap in fit.swaps] == [("RTHI", "RKNM")]
mended = recorded.positions.copy()
for swap in fit.swaps:
    one, other = (recorded.names.index(name) for name in swap.names)
    frames = slice(swap.first, swap.last + 1)
    mended[frames, [one, other]] = mended[frames, [other, one]]
again = pz.fit_markers(model, pz.Markers(recorded.names, t, mended, "swing"))
print(f"\nroot mean square {1e3 * fit.rms.max():.1f} mm in the worst frame before, {1e3 * again.rms.max():.1f} mm now")
assert not again.swaps
assert again.rms.max() < 0.005

# The judge: the motion that was recorded, and the limits.
knee_at = model.index("knee")
away = np.abs(again.motion.q[:, knee_at] - way[:, knee_at]).max()
assert away < np.radians(3)
assert np.allclose(model.clip(again.motion.q), again.motion.q)
again.motion.save("swing.npz")
print(f"the knee is right to {np.degrees(away):.1f} degrees; swing.npz is written")
