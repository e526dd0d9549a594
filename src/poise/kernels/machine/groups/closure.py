"""Sections of loops that a step leaves closed, m being the rows of all of them."""

from typing import Final

from poise.kernels.machine.group import Group

CLOSURE: Final = Group(
    ("kernels/requirements",),
    {
        "residual": "m, by how much loops are open",
        "rows": "m packed rows, their Jacobian",
        "target": "m, what a step is to make of them",
        "damping": "m, its damping",
        "unclosed": "n, a step before they are closed",
        "desired": "n, the step to which the nearest that closes them is sought",
    },
)
