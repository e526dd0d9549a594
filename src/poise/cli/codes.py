"""Errors as programs read them: a code of a closed list, and what it stands for."""

from typing import Final

from poise.common.errors import (
    FrameNotFound,
    JointNotFound,
    MissingExtra,
    ModelError,
    NameNotFound,
    PoiseError,
    ReferenceNotFound,
    ShapeError,
    ShapeNotFound,
)


class UsageError(PoiseError):
    """Words that no option takes, or an option that is missing."""


CODES: Final[dict[type[Exception], str]] = {
    UsageError: "The words are not those of the command, so nothing was begun; `poise COMMAND --help` has them all.",
    FrameNotFound: "The robot has no frame of that name; `poise info ROBOT --json` lists its frames.",
    JointNotFound: "The robot has no joint of that name; `poise info ROBOT --json` lists its coordinates.",
    ShapeNotFound: "The world has no shape of that name.",
    ReferenceNotFound: "Nothing of that name can be cited; `poise cite --json` lists what can.",
    NameNotFound: (
        "A name of another kind is not known, such as a posture, a field or an experiment; the message has those that "
        "are like it."
    ),
    ModelError: (
        "A robot is not known, or its file, or that of a skeleton's motion, is not there or cannot be led; the message "
        "says which, and of a robot's file that is there `poise doctor FILE` says all that is wrong."
    ),
    ShapeError: "There are more or fewer numbers than are wanted; the message says how many of which.",
    MissingExtra: "An optional package is missing; the message is the command that installs it.",
    ValueError: (
        "An option or a file says what cannot be, such as a method that is not known; the message names it and the "
        "mend."
    ),
    PoiseError: "What was asked for cannot be done as it was asked; the message says how it can.",
    OSError: "A file of targets or of answers cannot be read or written; what was there is as it was.",
}
"""What each code stands for; the code is the name of the type, and the nearest of several stands first."""


def code_of(error: Exception) -> tuple[str, str]:
    """The code of an error, and what it stands for: those of the first type that it is of."""
    kind = next(kind for kind in CODES if isinstance(error, kind))
    return kind.__name__, CODES[kind]
