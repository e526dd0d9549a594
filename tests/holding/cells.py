"""The table of holes: what of what must hold, and of what may be wanted, each function does not take yet.

What is not named holds; `test_cells` tries all of it, and what is named too, so that nothing is refused any longer than
it has to be.  A name is a requirement or something wanted, `a+b` two of them together.
"""

from typing import Final

NEVER: Final = {
    ("solve", "solve_batch", "solve_all"): (
        ("speeds", "accelerations", "jerks", "twists", "tool speeds"),
        "an answer by itself has no speed, so these change nothing there: one list of limits serves all functions",
    ),
}  # fmt: skip
"""What says nothing to functions by the nature of things, and why."""

OPEN: Final[dict[str, str]] = {}
"""What functions do not keep yet."""

METHODS: Final = {
    ("ccd", "loops"): "blocks",
    ("fabrik", "loops"): "none",
    ("fabrik", "twists"): "slides",
}
"""What a step of a method cannot follow, by the nature of its formula: the entry of `CANNOT` that says why.

The pull of the mechanism with a loop is weighted, for it moves in a plane."""
