"""Sections of what is seen of tools whose speeds are bounded, see `poise.kernels.requirements.tool_speed`."""

from typing import Final

from poise.kernels.machine.group import Group

TOOL_MOTION: Final = Group(
    ("kernels/requirements/tool_speed.py", "kernels/stepping/project_step.py"),
    {
        "q": "nq and one, where tools were looked at last, and 1 where they were",
        "frames": "FRAME a tool unit",
        "columns": "6 n a tool: of its linear, then of its angular motion there",
        "start": "nq and one, where the step began, and 1 where that was looked at",
        "start_columns": "the same there",
        "lengths": "n a tool: of the columns of its linear motion where it was looked at last",
        "behind": "n, from a place back to where a step began",
        "ahead": "n, how far velocities that do not turn back lead from it",
        "aside": "n, how far others lead, to either side",
        "reach": "n, how far from the last look all that is at most",
        "most": "n, the largest sizes of velocities",
        "velocities": "n an instant",
        "bends": "n an instant, how far velocities before and after it are from their chords at most",
        "curve": "4 n, how each joint brakes, see `poise.kernels.requirements.braking.braking_curve`",
        "to_rest": "whether tools are slow in a step and on its way to rest: 1 surely, -1 maybe not, 0 not asked yet",
    },
)
