"""Sections of `poise.kernels.requirements.approach`: how targets move, and how far a tracker is behind them."""

from typing import Final

from poise.kernels.machine.group import Group

APPROACH: Final = Group(
    (
        "kernels/machine/memory.py",
        "kernels/requirements/approach.py",
    ),
    {
        "proposed": "n, the way that the method would go",
        "tracking_error": "n, what of that the last step left",
        "target_velocity": "n, the target's own motion in the last step",
        "target_velocity_change": "n, its change",
        "start_errors": "m, the errors that a step began with",
        "remaining_errors": "m, what of such errors the last step left",
        "last_feed_forward": "n, what of the target's motion the last step counted on",
        "feed_forward": "n, what of it this step counts on",
    },
)
