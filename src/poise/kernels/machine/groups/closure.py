"""Sections of loops that a step leaves closed, m being the rows of all of them, and of a metric of steps.

With a metric, n rows follow those of the loops.
"""

from typing import Final

from poise.kernels.machine.group import Group

CLOSURE: Final = Group(
    ("kernels/requirements",),
    {
        "residual": "m, by how much loops are open",
        "rows": "m packed rows, their Jacobian, and those of the metric",
        "target": "m, what a step is to make of them, and n",
        "damping": "m, its damping, and n",
        "unclosed": "n, a step before they are closed",
        "change": "n, of a step, that closes them",
        "least": "n, bounds of that",
        "most": "n, likewise",
    },
)
