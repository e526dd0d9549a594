"""What mink raises, with our sentences."""

from poise.errors import PoiseError


class MinkError(PoiseError):
    """The root of them."""


class NotWithinConfigurationLimits(MinkError):
    """A joint stands outside its range, and `safety_break` was asked for."""


class TargetNotSet(MinkError):
    """A task has no target yet."""

    def __init__(self, task: object) -> None:
        super().__init__(f"{type(task).__name__} has no target; call its set_target first")


class InvalidFrame(MinkError):
    """A frame that the model does not have, or of a type that there is not."""


class InvalidKeyframe(MinkError):
    """A keyframe that the model does not have."""


class InvalidMocapBody(MinkError):
    """A body that is no mocap body."""
