"""A tool that goes at one speed along a path: whose that is, and where something else makes it slower."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from poise.common.errors import InvalidValue
from poise.solving.path.timing import looked_at
from poise.solving.path.trajectory import Trajectory
from poise.tasks.base import Task
from poise.tasks.pose import PoseTask, PositionTask

_EVEN: Final = 1e-3
"""The share of its speed that a tool may lack and still count as going at it."""
_LOOKS: Final = 5
"""So often each interval of a motion is looked at."""
_NAMED: Final = 6
"""Stretches that a note names, at most."""


def led_frame(tasks: Sequence[Task]) -> str:
    """The frame that tasks lead along a path; raises ValueError where it is none, or not alone."""
    led = [task for task in tasks if isinstance(task, PoseTask | PositionTask) and task.required]
    if len(led) != 1:
        raise InvalidValue(
            "needs",
            f"tool_speed is of the frame that is led along the path, and {len(led)} tasks that are required lead one: "
            "give one PoseTask or PositionTask, or limits=[ToolSpeedLimit(frame, linear=...)] for a frame by name",
        )
    if led[0].base is not None or led[0].offset is not None:
        raise InvalidValue(
            "not-supported",
            f"tool_speed is of a frame of the model in the world, and {led[0].label} has a base or an offset: name a "
            "frame at the tool with ModelBuilder.frame, and give its poses in the world",
        )
    return led[0].frame


def slower(trajectory: Trajectory, frame: str, speed: float) -> list[str]:
    """Where the frame is slower than `speed` [m/s] along a motion, in a sentence; none where it nowhere is."""
    t = looked_at(trajectory, _LOOKS)
    state, model = trajectory.at(t), trajectory.curve.model
    speeds = np.linalg.norm((model.jacobian(frame, state.q) @ state.velocity[..., None])[:, :3, 0], axis=1)
    low = speeds < (1.0 - _EVEN) * speed
    if low.all():
        return [f"The tool nowhere goes at {speed:g} m/s: it goes at {speeds.max(initial=0.0):.4g} m/s at most."]
    edges = np.flatnonzero(np.diff(low, prepend=False, append=False)).reshape(-1, 2)
    where = [
        f"from {t[a]:.3f} to {t[b - 1]:.3f} s, where it goes at {speeds[a:b].min():.4g} m/s at least"
        if a > 0 and b < len(t)
        else f"from {t[a]:.3f} to {t[b - 1]:.3f} s"
        for a, b in edges
    ]
    more = [f"on {len(where) - _NAMED} stretches more"] if len(where) > _NAMED else []
    named = [*where[:_NAMED], *more]
    return [f"The tool goes at {speed:g} m/s, but is slower {', '.join(named)}."] if named else []
