"""Sections of what a step must keep beside bounds, and of the search for the nearest step that does."""

from typing import Final

from poise.kernels.machine.group import Group

CONSTRAINTS: Final = Group(
    (
        "kernels/requirements",
        "kernels/stepping",
        "methods/priority.py",  # which closes loops at the end of a step within it
    ),
    {
        "collision_rows": "MAX_COLLISION_ROWS packed rows, inequalities of pairs of shapes",
        "collision_bounds": "MAX_COLLISION_ROWS, their other sides",
        "collision_before": "MAX_COLLISION_ROWS, which row each was in the last update, -1: none",
        "rows": "packed rows, inequalities of a whole step",
        "bounds": "their other sides",
        "sides": "n and one each, which of them may be met",
        "buffer": "for the active set",
        "lowest": "n, the lower bounds of a whole step",
        "highest": "n, the upper",
        "candidate_steps": "3 n, the step that is wished, braking, and what was tried",
        "slope": "a packed row, of what is cut off",
    },
)
