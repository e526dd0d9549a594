"""Sections of what a search does where it fails, see `poise.kernels.solver.fallback`."""

from typing import Final

from poise.kernels.machine.group import Group

FALLBACK: Final = Group(
    ("kernels/solver",),
    {
        "state": "FALLBACK_STATE, see there",
        "samples": "nq a random start, which Python draws",
        "starts": "nq each, where steps begin; NaN where none do",
        "answer": "as out, the best answer of steps",
        "kept": "as out, what the search had come to before one near to a posture",
        "begun": "nq, the start that the caller gave",
    },
)
