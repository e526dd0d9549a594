"""What GPU solvers did on such problems: the campaign of HJCD-IK, on an RTX 5090.

A2R-Lab/HJCD-IK (arXiv 2510.07514), docs/development/evidence: `paper_rerun_2026-10-07` at commit 8bc562f for the sets,
`fairness_hardsets_2026-10-03` at 33d312f for the ladder; 2,000 seeds a target.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

SOLVERS: Final = ("HJCD-IK", "cuRobo v2", "PyRoki")
SOURCE: Final = "HJCD-IK's campaign, 2026-10-07"
LADDER_SOURCE: Final = "HJCD-IK's campaign, 2026-10-03"


class Figure(NamedTuple):
    """Of one solver on one set."""

    percent: int
    """Within 5 mm and 0.05 rad, and free by the visual meshes with 1 mm of tolerance."""
    milliseconds: float
    """Mean wall time of a target."""


SETS: Final[Mapping[str, tuple[Figure, Figure, Figure]]] = {
    "bookshelf_small": (Figure(100, 2.10), Figure(98, 2.49), Figure(100, 29.1)),
    "bookshelf_tall": (Figure(100, 2.07), Figure(100, 2.46), Figure(100, 30.6)),
    "bookshelf_thin": (Figure(100, 1.82), Figure(100, 2.45), Figure(100, 32.9)),
    "box": (Figure(100, 2.10), Figure(100, 2.44), Figure(100, 30.3)),
    "cage": (Figure(100, 1.86), Figure(100, 2.46), Figure(100, 26.9)),
    "table_pick": (Figure(100, 2.64), Figure(99, 2.43), Figure(100, 32.5)),
    "table_under_pick": (Figure(100, 2.34), Figure(98, 2.44), Figure(100, 30.9)),
}


class Level(NamedTuple):
    """A set whose boxes have grown."""

    known: int
    """How many of its hundred poses keep a solution that is known: one of several in the data is free by the hulls."""
    percents: tuple[int, int, int]
    """Of these, of each solver, as in `Figure`."""


LADDER: Final[Mapping[tuple[str, float], Level]] = {
    ("cage", 0.010): Level(75, (64, 95, 59)),
    ("cage", 0.015): Level(28, (4, 96, 0)),
    ("table_pick", 0.020): Level(87, (90, 92, 92)),
    ("table_under_pick", 0.020): Level(86, (91, 86, 90)),
}
"""By set and by how far its boxes have grown [m]."""
