"""Sections of the way on which an arm with accelerations comes to rest, see `poise.kernels.requirements.stopping`."""

from typing import Final

from poise.kernels.machine.group import Group

BRAKING: Final = Group(
    (
        "kernels/requirements",
        "kernels/stepping",
    ),
    {
        "state": "2 n + nq: a step on the way to rest, its change, and where it led",
        "distances": "n, how far velocities go on the way to rest",
        "speeds": "n, and in a step at most",
        "box": "3 n, bounds and the step before",
        "start": "nq, where it began",
    },
)
