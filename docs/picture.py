"""Draw `_static/panda.svg`: a Panda follows a figure of eight.  Run `python docs/picture.py`."""

from pathlib import Path

import numpy as np

import poise as pz

SIZE = (860, 480)
SCALE = 600.0
"""Pixels a metre."""
ORIGIN = np.array([270.0, 435.0])
"""Where the world's origin is drawn."""
BODY = [f"panda_link{i}" for i in range(9)] + ["panda_hand"]
FINGERS = np.array(
    [[0, -0.04, 0.11], [0, -0.04, 0.06], [0, 0, 0.06], [0, 0, 0], [0, 0, 0.06], [0, 0.04, 0.06], [0, 0.04, 0.11]]
)
"""Drawn in the hand's frame [m]."""


def project(points: np.ndarray) -> np.ndarray:
    """(..., 2) pixels of (..., 3) points, seen from the side and a little from above, without perspective."""
    turn, tilt = np.radians(-38), np.radians(16)
    x, y, z = np.moveaxis(np.asarray(points), -1, 0)
    depth = np.cos(turn) * x + np.sin(turn) * y
    right = -np.sin(turn) * x + np.cos(turn) * y
    return ORIGIN + SCALE * np.stack([right, -(np.cos(tilt) * z - np.sin(tilt) * depth)], axis=-1)


def line(points: np.ndarray, **style: object) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in project(points))
    settings = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in style.items())
    return f'<polyline points="{path}" fill="none" stroke-linecap="round" stroke-linejoin="round" {settings}/>'


def target(angle: float) -> pz.SE3:
    """A point of the figure of eight, with the hand pointing forwards and down."""
    xyz = [0.52, 0.32 * np.sin(angle), 0.48 + 0.13 * np.sin(2 * angle)]
    return pz.SE3.from_xyz_rpy(xyz, [np.pi, -0.6, 0])


arm = pz.load("panda")
angles = np.linspace(1.7, 1.7 + 2 * np.pi, 241)
solver = pz.Solver(arm, pz.PoseTask("panda_hand", target(angles[0])))
path = []
q = arm.home
for angle in angles:
    solution = solver(target(angle), q)
    assert solution.success, solution.explain()
    q = solution.q
    path.append(q)

width, height = SIZE
out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
    f'<rect width="{width}" height="{height}" rx="12" fill="#f7f7f4"/>',
]
for offset in np.arange(-0.6, 0.61, 0.2):
    out.append(line([[-0.3, offset, 0], [0.9, offset, 0]], stroke="#dddcd4", stroke_width=1))
    out.append(line([[offset + 0.3, -0.6, 0], [offset + 0.3, 0.6, 0]], stroke="#dddcd4", stroke_width=1))
out.append(line([target(angle).xyz for angle in angles], stroke="#d1495b", stroke_width=2.5))

shown = np.linspace(0, 216, 10).astype(int)
for rank, step in enumerate(shown):
    last = rank == len(shown) - 1
    style = {"stroke": "#1f4e79", "opacity": 1.0 if last else 0.08 + 0.03 * rank}
    body = np.array([arm.pose(link, path[step]).xyz for link in BODY])
    out.append(line(body, stroke_width=12 if last else 8, **style))
    hand = arm.pose("panda_hand", path[step])
    out.append(line(hand.act(FINGERS), stroke_width=5 if last else 4, **style))
    if last:
        for x, y in project(body):
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.4" fill="#f7f7f4"/>')
    for axis, colour in zip(np.eye(3), ("#c8553d", "#3f8f4f", "#2f6fb5"), strict=True):
        out.append(line([hand.xyz, hand.act(0.05 * axis)], stroke=colour, stroke_width=2.5))
out.append("</svg>")
(Path(__file__).parent / "_static" / "panda.svg").write_text("\n".join(out) + "\n")
