"""Draw `_static/mechanisms.svg`: those of the recipe, closed.  Run `python docs/mechanism_pictures.py`."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np

import poise as pz

HERE = Path(__file__).parent
SIZE, COLUMNS, MARGIN = 240.0, 3, 26.0
SIDE, AHEAD = np.array([0.94, 0.34, 0.0]), np.array([-0.1, 0.28, 0.95])
"""Where x and y of the picture lie in space."""
LINK, PIN, MOTOR = "#5b7083", "#8a8a8a", "#D55E00"
SHOWN = ("five_bar", "four_bar_leg", "delta", "stewart", "scissor_lift", "excavator")
BENT = {
    "five_bar": {"left": -0.6, "left_elbow": 1.1, "right": 0.6, "right_elbow": -1.1},
    "four_bar_leg": {"hip": -0.5, "crank": 0.8, "knee": 0.8, "rod": -0.8},
    "delta": {"free": [0, 0, -0.65, 1, 0, 0, 0]},
    "stewart": {"free": [0, 0, 0.6, 1, 0, 0, 0]} | {f"leg{i}": 0.65 for i in range(6)},
    "scissor_lift": {"left": -0.6, "rail": 1.6, "right": 0.6, "top": -0.6, "slot": 1.6},
    "excavator": {"boom_pin": -0.6, "stick_pin": 1.3, "bucket": 0.6},
}
"""Where the closing begins."""


def lines(model: pz.Model, q: np.ndarray) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Pairs of points of one link that are joined, and where the motors stand."""
    frames = {joint.child: model.pose(joint.child, q).xyz for joint in model.joints}
    carried: dict[str, list[np.ndarray]] = {}
    for joint in model.joints:
        if joint.kind != "floating":
            carried.setdefault(joint.parent, []).append(frames[joint.child])
            carried.setdefault(joint.child, []).append(frames[joint.child])
    for loop in model.loops:
        for name in (loop.first, loop.second):
            carried.setdefault(model.frame(name).link, []).append(model.pose(name, q).xyz)
    for name in model.frames:
        if name in ("foot", "teeth"):
            carried[model.frame(name).link].append(model.pose(name, q).xyz)
    pairs = [pair for points in carried.values() for pair in combinations(points, 2)]
    motors = [frames[model.joint(name).child] for name in model.groups["actuated"]]
    return [(a, b) for a, b in pairs if np.linalg.norm(a - b) > 1e-9], np.array(motors)


def flat(points: np.ndarray) -> np.ndarray:
    """(..., 2) points of space (..., 3) as they are seen."""
    return np.stack([points @ SIDE, -(points @ AHEAD)], axis=-1)


def drawn(model: pz.Model, q: np.ndarray, x: float, y: float) -> list[str]:
    """The elements of one mechanism, in the square whose corner is (x, y)."""
    pairs, motors = lines(model, q)
    ends = flat(np.array(pairs))
    low, high = ends.reshape(-1, 2).min(axis=0), ends.reshape(-1, 2).max(axis=0)
    scale = (SIZE - 2 * MARGIN) / float((high - low).max())
    middle = np.array([x, y]) + SIZE / 2 - scale * (low + high) / 2

    def at(points: np.ndarray) -> np.ndarray:
        return middle + scale * points

    out = [
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="{LINK}" stroke-width="3" '
        'stroke-linecap="round"/>'
        for a, b in at(ends)
    ]
    dots = [(at(ends).reshape(-1, 2), PIN, 3.0), (at(flat(motors)), MOTOR, 5.0)]
    for points, colour, radius in dots:
        for cx, cy in np.unique(points.round(1), axis=0):
            out.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="{radius}" fill="{colour}"/>')
    name = model.name
    return [*out, f'<text x="{x + SIZE / 2:.0f}" y="{y + SIZE - 4:.0f}" text-anchor="middle">{name}</text>']


def draw() -> None:
    """Write the picture."""
    page = (HERE / "recipes" / "mechanisms.md").read_text(encoding="utf-8")
    made: dict[str, object] = {}
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)), made)
    parts = list[str]()
    for k, name in enumerate(SHOWN):
        model: pz.Model = made[name]()  # type: ignore[operator]
        start = model.q(**BENT[name])
        closed = pz.solve(model, pz.PostureTask(target=start), q0=start).q
        parts += drawn(model, closed, SIZE * (k % COLUMNS), SIZE * (k // COLUMNS))
    wide, high = SIZE * COLUMNS, SIZE * -(-len(SHOWN) // COLUMNS)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" font-family="sans-serif" '
        f'font-size="13" fill="#808080">'
    )
    (HERE / "_static" / "mechanisms.svg").write_text("\n".join([head, *parts, "</svg>"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    draw()
