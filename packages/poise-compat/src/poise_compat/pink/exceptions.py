"""What pink raises, with our sentences."""

from poise import FrameNotFound as FrameNotFound
from poise import PoiseError


class PinkError(PoiseError):
    """The root of them."""


class ConfigurationError(PinkError, ValueError):
    """A configuration is made of what it cannot be made of."""


class NotWithinConfigurationLimits(PinkError):
    """A joint stands outside its limits, and `safety_break` was asked for."""


class NoSolutionFound(PinkError):
    """No step keeps all limits, barriers and constraints."""


class TargetNotSet(PinkError):
    """A task has no target yet."""

    def __init__(self, task: object) -> None:
        super().__init__(f"{type(task).__name__} has no target; call its set_target first")


class TaskDefinitionError(PinkError, ValueError):
    """A task is made of what it cannot be made of."""


class TaskJacobianNotSet(TaskDefinitionError):
    """The matrix of a task is for another number of velocities."""


class InvalidCollisionPairs(PinkError, ValueError):
    """Fewer pairs than a barrier is to look at."""


class NegativeMinimumDistance(PinkError, ValueError):
    """A distance below 0."""


class NoPositionLimitProvided(PinkError, ValueError):
    """A barrier of positions without any."""
