"""Sections of what leads an arm on where its method stalls: a scout, and leaps; see `poise.kernels.methods`."""

from typing import Final

from poise.kernels.machine.group import Group

STALL: Final = Group(
    (
        "kernels/methods",
        "kernels/stepping",
    ),
    {
        "scout_goal": "nq, where a scout has arrived, see `homing`",
        "trail": "TRAIL n, the last steps of an arm that creeps, and room",
        "leap": "n, what is left of a leap, see `leaping`",
    },
)
