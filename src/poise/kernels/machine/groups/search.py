"""Sections of searches for an answer that are of one kind: with a posture, a closed form, or stored starts."""

from typing import Final

from poise.kernels.machine.group import Group

SEARCH: Final = Group(
    (
        "kernels/closed_form",
        "kernels/solver",
    ),
    {
        "choice": "CHOICE, of what comes near to a posture or misses soft tasks least",
        "progress": "PROGRESS, how far the search for the least of soft tasks has come",
        "branches": "BRANCHES, what is known of each lane that holds a branch of a closed form",
        "query": "the features of a goal in an index of starts, and two packs",
    },
)
