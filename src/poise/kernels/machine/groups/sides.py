"""Sections of ranges, a row or an entry for each of their sides."""

from typing import Final

from poise.kernels.machine.group import Group

SIDES: Final = Group(
    (
        "kernels/gradients",
        "kernels/requirements",
        "kernels/rows",
        "kernels/stepping",
    ),
    {
        "jacobian": "a packed row, what each velocity does to the gap",
        "column_norms": "a packed row, what it can do to that at most in whatever direction",
        "bounds": "by how much an update may let `residual` grow",
        "residual": "how far the effector is beyond the side [m or rad], less than 0 inside",
        "residual_before": "the same before the update",
    },
)
