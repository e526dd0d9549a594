"""How solves and paths end: one list for all that is asked."""

from enum import Enum
from typing import Literal, TypeAlias

Budget: TypeAlias = Literal["iterations", "starts", "time"]
"""What was spent where a status is `Status.BUDGET`."""


class Status(Enum):
    """How a solve or a path ended; each member's `message` is a sentence."""

    CONVERGED = "every task is within its tolerances"
    UNREACHABLE = "the target is out of reach, which is proved; q is the closest configuration found"
    LOCAL_MINIMUM = "the search came to rest short of the target, which proves nothing; q is the closest found"
    BUDGET = "the iterations, starts or time that were allowed were spent before anything converged"
    LIMIT = "limits hold back all that was found"
    COLLISION = "shapes would be nearer to each other than asked in every solution that was found"
    JUMP = "between two waypoints the joints have to jump"
    TOO_FAST = "between two waypoints a joint is beyond its limits of speed, acceleration or torque in the time given"
    NOT_FINITE = "every start came to a step that is no finite number, as singular poses make it; damp the method"
    BAD_INPUT = "the target or the start holds numbers that make none, and nothing was solved"
    INTERRUPTED = "the batch was stopped before this problem was solved"

    @property
    def message(self) -> str:
        """What happened, as a sentence."""
        return self.value
