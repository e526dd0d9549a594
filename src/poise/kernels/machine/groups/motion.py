"""Sections of a step with limits of accelerations: how far joints went in the last one, and may go in this."""

from typing import Final

from poise.kernels.machine.group import Group

MOTION: Final = Group(
    (
        "kernels/machine/memory.py",
        "kernels/methods",
        "kernels/requirements",
        "kernels/stepping",
    ),
    {
        "displacement": "n, the way of the last step",
        "displacement_change": "n, what that was more than the one before",
        "least": "n, the lower bounds of this step",
        "largest": "n, the upper",
        "step_so_far": "n, the way since it began",
    },
)
