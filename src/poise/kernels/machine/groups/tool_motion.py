"""Sections of what is seen of tools whose speeds are bounded, see `poise.kernels.requirements.tool_speed`."""

from typing import Final

from poise.kernels.machine.group import Group

TOOL_MOTION: Final = Group(
    ("kernels/requirements/tool_speed.py",),
    {
        "q": "nq and one, where tools were looked at last, and 1 where they were",
        "frames": "FRAME a tool unit",
        "columns": "6 n a tool: of its linear, then of its angular motion there",
        "start": "nq and one, where the step began, and 1 where that was looked at",
        "start_columns": "the same there",
        "travelled": "n, how far braking led since then",
        "left": "n, and how far it may lead until it rests",
        "middle": "n, the middle of the velocities that are yet possible",
        "spread": "n, how far they are from that at most",
    },
)
