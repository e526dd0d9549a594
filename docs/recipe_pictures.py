"""Draw `_static/door.svg` and `_static/pallet.svg` by the programs of their recipes.

`python docs/recipe_pictures.py` writes both, in a few minutes, so the docs build does not run it.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from pictures import COLOURS, MAIN, OTHERS, TEXT, picture

HERE = Path(__file__).parent
SHOWN = 618
"""The box that is drawn on its way down."""
CARTON, STEEL = np.array(["#b98d5e", "#d9b48a", "#ecd2b0"]), np.array(["#8f9aa3", "#aab4bc", "#c5ccd2"])
"""Colours of the faces that are seen."""
SIDE, UP = np.array([0.8, -0.6, 0.0]), np.array([0.24, 0.32, 0.92])
"""Where x and y of a picture in space lie: it is seen from -x and -y, and from above."""
TOWARDS = np.cross(SIDE, UP)
"""Where the eye is."""


def program(page: str) -> dict[str, Any]:
    """What the program of a recipe has made."""
    made: dict[str, Any] = {}
    text = (HERE / "recipes" / page).read_text(encoding="utf-8")
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)), made)
    return made


def rectangle(half: Any, middle: Any) -> np.ndarray:
    """(4, 3) its corners, from half of its lengths and its middle [m]."""
    return np.array([[x, y, 0.0] for x, y in ((-1, -1), (-1, 1), (1, 1), (1, -1))]) * [*half, 0.0] + middle


def flat(points: np.ndarray) -> np.ndarray:
    """(..., 2) points of space (..., 3) as they are seen."""
    return np.stack([points @ SIDE, points @ UP], axis=-1)


def bones(robot: Any, q: np.ndarray, tip: str) -> np.ndarray:
    """(n, 3) the joints of the arm, from its base to the tip [m]."""
    links = [joint.child for joint in robot.joints if joint.kind == "revolute" and joint.name != "hinge"]
    return np.array([robot.pose(name, q).xyz for name in ("base", *links, tip)])


def draw_door(path: Path) -> None:
    """Cart, arm and leaf from above at five moments, and the speeds of hinge and cart."""
    made = program("opening_a_door.md")
    robot, opening = made["robot"], made["opening"]
    with picture(path, 2, 3.2) as (left, right):
        moments = np.linspace(0.0, opening.duration, 5)
        for k, q in enumerate(opening.at(moments).q):
            style: dict[str, Any] = {"alpha": 0.2 + 0.2 * k, "linewidth": 1.0 + 0.2 * k}
            cart = robot.pose("cart", q).act(rectangle([0.35, 0.25], [-0.15, 0.0, 0.0]))
            leaf = robot.pose("leaf", q).act([[0.0, 0.0, 0.0], [0.0, 0.9, 0.0]])
            arm = bones(robot, q, "grip")
            left.plot(*np.vstack([cart, cart[:1]]).T[:2], color=COLOURS[0], **style)
            left.plot(*arm.T[:2], color=COLOURS[0], marker="o", markersize=2.5, **style)
            left.plot(*leaf.T[:2], color=MAIN, **style | {"linewidth": 3.0})
        for y in (1.2, -1.2):
            left.fill(*rectangle([0.05, 0.7], [0.0, y, 0.0]).T[:2], color=OTHERS)
        left.set(title="From above", xlabel="x [m]", ylabel="y [m]", aspect="equal", xlim=(-2.1, 0.2), ylim=(-1.1, 1.1))
        t = np.linspace(0.0, opening.duration, 600)
        speeds = opening.at(t).velocity
        right.plot(t, speeds[:, -1], color=MAIN, label="hinge [rad/s]")
        right.plot(t, np.hypot(*speeds[:, :2].T), color=COLOURS[0], label="cart [m/s]")
        right.set(title="Speeds", xlabel="time [s]", ylim=(0.0, 0.75))
        right.legend(loc="upper right", ncols=2)


def faces(middle: np.ndarray, size: np.ndarray) -> np.ndarray:
    """(3, 4, 3) those faces of a box that are seen: at the left, in front and on top."""
    (a, b, c), (x, y, z) = middle - size / 2, middle + size / 2
    left = [[a, b, c], [a, y, c], [a, y, z], [a, b, z]]
    front = [[a, b, c], [x, b, c], [x, b, z], [a, b, z]]
    top = [[a, b, z], [x, b, z], [x, y, z], [a, y, z]]
    return np.array([left, front, top])


def seen(k: int) -> np.ndarray:
    """(3,) which of these faces no other box of the stack hides; the last box hangs above it."""
    row, column = k // 10 % 10, k % 10
    return (k == SHOWN) | np.array([row == 9 or k + 10 >= SHOWN, column == 0, k + 100 >= SHOWN])


def add(axes: Any, shown: np.ndarray, colours: np.ndarray, height: int) -> None:
    """Draw (n, 4, 3) faces, the last on top."""
    axes.add_collection(
        PolyCollection([*flat(shown)], facecolors=colours, edgecolors=TEXT, linewidths=0.3, zorder=height)
    )


def draw_pallet(path: Path) -> None:
    """A box on its way down, and the time of every tenth cycle."""
    made = program("palletising.md")
    robot, place, box, q, times = made["robot"], made["place"], made["box"], made["grasp"].q, {}
    for count in sorted({*range(0, 1000, 10), SHOWN}):
        there, back = made["cycle"](count, q)
        times[count], q = there.duration + back.duration, back.q[-1]
        if count == SHOWN:
            lowers = there.at(there.duration - 0.4).q
    told = [*times.values()]
    print(
        f"{np.median(told):.2f} s at the median, {min(told):.2f} to {max(told):.2f} s, {np.mean(told):.2f} s the mean"
    )
    tops = [*place[:SHOWN] - [0.0, 0.0, 0.004], robot.pose("cup", lowers).xyz]
    order = np.argsort([float(top @ TOWARDS) for top in tops])
    masks = [seen(k) for k in order]
    drawn = [faces(tops[k] - [0.0, 0.0, box[2] / 2], box)[mask] for k, mask in zip(order, masks, strict=True)]
    arm = np.vstack([[0.0, 0.0, 0.0], bones(robot, lowers, "cup")])
    with picture(path, 2, 3.4) as (left, right):
        add(left, np.concatenate(drawn), np.concatenate([CARTON[mask] for mask in masks]), 1)
        left.plot(*flat(arm).T, color=COLOURS[0], linewidth=3.0, marker="o", markersize=4.0, zorder=2)
        conveyor = made["conveyor"]
        add(left, faces(conveyor.pose.xyz, np.array(conveyor.size)), STEEL, 3)
        left.set(title=f"Box {SHOWN}", aspect="equal", xticks=[], yticks=[])
        left.autoscale_view()
        left.spines[:].set_visible(False)
        right.plot([*times], [*times.values()], color=MAIN)
        right.set(title="There and back", xlabel="box [count]", ylabel="time [s]", ylim=(0.0, 10.0))


if __name__ == "__main__":
    draw_door(HERE / "_static" / "door.svg")
    draw_pallet(HERE / "_static" / "pallet.svg")
