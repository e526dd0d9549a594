"""What can go wrong, said so that it can be mended: every error names the thing, the place and the fix.

Not converging is a status of a :class:`poise.Solution`, never an exception.
"""

import difflib
from collections.abc import Iterable
from typing import Any


class PoiseError(Exception):
    """The root of every error that poise raises on purpose.  It can be pickled, and so cross to another process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[PoiseError], arguments: tuple[Any, ...]) -> PoiseError:
    """An error with the message that it had; its own constructor would make that anew, from what is gone."""
    error = kind.__new__(kind)
    super(PoiseError, error).__init__(*arguments)
    return error


class ModelError(PoiseError, ValueError):
    """A robot description that cannot be a kinematic tree; `file` and `line` say where, when there is a file."""

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        self.message, self.file, self.line = message, file, line
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + message)


class NameNotFound(PoiseError, KeyError):
    """A name that the model does not have; the message suggests the nearest ones that it has."""

    noun = "name"

    def __init__(self, name: str, known: Iterable[str], *, owner: str = "the model", noun: str | None = None) -> None:
        self.name, self.known, self.noun = name, tuple(known), noun or self.noun
        near = difflib.get_close_matches(name, self.known, n=3, cutoff=0.5)
        if near:
            hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
        else:
            shown = ", ".join(repr(n) for n in self.known[:12])
            hint = f"available: {shown}" + (f" and {len(self.known) - 12} more" if len(self.known) > 12 else "")
        self.message = f"{owner} has no {self.noun} {name!r}; {hint}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message  # KeyError would print the repr


class FrameNotFound(NameNotFound):
    """No frame (link, site or tool) of this name."""

    noun = "frame"


class JointNotFound(NameNotFound):
    """No joint of this name."""

    noun = "joint"


class ShapeNotFound(NameNotFound):
    """No shape of this name in a world."""

    noun = "shape"


class ExperimentNotFound(NameNotFound):
    """No experiment of this name."""

    noun = "experiment"


class ReferenceNotFound(NameNotFound):
    """Nothing of this name can be cited."""

    noun = "reference"


class ShapeError(PoiseError, ValueError):
    """An array argument of the wrong shape; the message names the argument, its shape and the shape wanted."""


class MissingExtra(PoiseError, ImportError):
    """A feature that needs an optional dependency; the message is the command that installs it."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(f'{feature} needs {package}: pip install "poise[{extra}]"')


class ModelWarning(UserWarning):
    """What a reader passed over in a robot description: unknown tags, missing meshes; one for each file."""
