"""What mink raises, with our sentences."""

from poise import PoiseError


class MinkError(PoiseError):
    """The root of them."""


class NotWithinConfigurationLimits(MinkError):
    """A joint stands outside its range, and `safety_break` was asked for."""


class NoSolutionFound(MinkError):
    """No step keeps all limits and constraints."""


class TargetNotSet(MinkError):
    """A task has no target yet."""

    def __init__(self, task: object) -> None:
        super().__init__(f"{type(task).__name__} has no target; call its set_target first")


class IntegrationTimestepNotSet(MinkError):
    """A task does not know the time of a step."""

    def __init__(self, task: object) -> None:
        super().__init__(f"{type(task).__name__} does not know the time of a step; call its set_dt first")


class TaskDefinitionError(MinkError, ValueError):
    """A task is made of what it cannot be made of."""


class InvalidGain(TaskDefinitionError):
    """A gain that is not from 0 to 1."""


class InvalidDamping(TaskDefinitionError):
    """A damping below 0."""


class InvalidTarget(MinkError, ValueError):
    """A target of another shape."""


class InvalidConstraint(MinkError, ValueError):
    """An equality that the model does not have, or that is switched off."""


class LimitDefinitionError(MinkError, ValueError):
    """A limit is made of what it cannot be made of."""


class InvalidFrame(MinkError):
    """A frame that the model does not have."""


class UnsupportedFrame(InvalidFrame):
    """A frame of a type that there is not."""


class InvalidKeyframe(MinkError):
    """A keyframe that the model does not have."""


class InvalidMocapBody(MinkError):
    """A body that is no mocap body."""
