"""Handles that a hand pulls at, and what it does to them, in the order in which it is done."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from poise.viewer.scene import tessellation

Phase = Literal["start", "update", "end"]


class Grip(NamedTuple):
    """How a handle looks, so that one sees what it moves: the mark at its middle, and its arrows and rings."""

    colour: tuple[int, int, int]
    mark: tessellation.Triangles
    """For a handle of size 1."""
    line_width: float
    opacity: float
    size: float
    """As a share of the robot's."""


TARGET: Final = Grip((47, 111, 222), tessellation.sphere(0.16, 24), 4.0, 1.0, 0.18)
"""Of what the robot follows: a blue ball, and thick arrows."""
OBSTACLE: Final = Grip((222, 120, 60), tessellation.box((0.2, 0.2, 0.2)), 1.5, 0.55, 0.14)
"""Of what stands in its way: a cube in the colour of obstacles, and thin arrows that one sees through."""


def handle(
    server: Any,
    name: str,
    grip: Grip,
    size: float,
    *,
    slides: bool = True,
    turns: bool = True,
    axes: tuple[bool, bool, bool] = (True, True, True),
) -> Any:
    """A handle in the scene, for a robot of this `size` [m].

    It has arrows along those of its `axes` that are used, and an arc between each two of them.
    """
    scale = grip.size * size
    gizmo = server.scene.add_transform_controls(
        name, scale=scale, line_width=grip.line_width, opacity=grip.opacity, disable_axes=not slides,
        disable_sliders=not slides, disable_rotations=not turns, active_axes=axes, depth_test=False,
    )  # fmt: skip
    server.scene.add_mesh_simple(
        f"{name}/mark", (scale * grip.mark.vertices).astype(np.float32), grip.mark.faces.astype(np.uint32),
        color=grip.colour, cast_shadow=False,
    )  # fmt: skip
    return gizmo


def on_pull(gizmo: Any, pulled: Callable[[Phase, list[float]], object]) -> None:
    """Call `pulled` with the phase of each pull at a gizmo and its pose then, 7 numbers; on a thread of its own.

    The threads on which viser calls back overtake one another, and a target that has snapped would be moved once more
    by the pull before.  What viser awaits comes in order, but holds up all windows while it takes.
    """
    thread = ThreadPoolExecutor(1, "poise hand")

    async def callback(event: Any) -> None:
        thread.submit(pulled, event.phase, [*map(float, gizmo.position), *map(float, gizmo.wxyz)])

    gizmo.on_update(callback)
