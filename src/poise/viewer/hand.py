"""What a hand does to a gizmo, in the order in which it is done."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

Phase = Literal["start", "update", "end"]


def on_pull(gizmo: Any, pulled: Callable[[Phase, list[float]], object]) -> None:
    """Call `pulled` with the phase of each pull at a gizmo and its pose then, 7 numbers; on a thread of its own.

    The threads on which viser calls back overtake one another, and a target that has snapped would be moved once more
    by the pull before.  What viser awaits comes in order, but holds up all windows while it takes.
    """
    thread = ThreadPoolExecutor(1, "poise hand")

    async def told(event: Any) -> None:
        thread.submit(pulled, event.phase, [*map(float, gizmo.position), *map(float, gizmo.wxyz)])

    gizmo.on_update(told)
