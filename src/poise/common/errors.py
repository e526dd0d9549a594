"""What can go wrong, said so that it can be mended: every error names the thing, the place and the fix.

Not converging is a status of a :class:`poise.Solution`, never an exception.
"""

from collections.abc import Iterable
from typing import Any, Final

LISTED = 12
"""Names that a message lists, at most."""
_LEAST_ALIKE = 0.6
"""How alike a name must be to be suggested, from 0 to 1, unless it is a word of the other: less than a slip or two."""
_MUCH_LESS = 0.2
"""A name that is so much less alike than the nearest is not."""


CODES: Final = {
    "error": "What is asked for cannot be done; the message says why, and what can.",
    "invalid-model": "A description of a robot or skeleton is no kinematic tree, or its file cannot be read.",
    "unknown-name": "Nothing has this name; the message has the nearest that there are.",
    "wrong-shape": "An array has another shape than is wanted, or holds something else than numbers.",
    "missing-extra": "An optional package is not installed; the message is the command that installs it.",
    "not-a-number": "A value is no number, or cannot be made one.",
    "not-finite": "A number is infinite or NaN.",
    "not-positive": "A number is not above 0.",
    "negative": "A number is below 0.",
    "out-of-range": "A number is beyond what is allowed.",
    "not-whole": "A number is not whole.",
    "wrong-length": "There are more or fewer numbers than are wanted.",
    "masked": "An entry of a masked array is hidden.",
    "not-a-rotation": "Numbers are no rotation: a zero quaternion, or a matrix that stretches or mirrors.",
    "not-a-pose": "What should be a pose, or a rotation of one, is none.",
    "zero-vector": "A vector has no direction, or not the one that is needed.",
    "unknown-word": "A word is none of those that can be chosen.",
    "not-a-file": "A file or folder is not there.",
    "wrong-format": "A file's content or ending is not of the format.",
    "not-a-model": "What should be a `Model` is none.",
    "not-a-task": "What should be a task is none.",
    "not-a-limit": "What should be a limit is none.",
    "not-a-method": "What should be a method is none.",
    "not-a-shape": "What should be a shape is none, or one of another kind.",
    "not-a-bool": "What should be True or False is neither.",
    "not-an-array": "What should be an array or tensor is none, has another dtype or cannot be written.",
    "not-a-sequence": "What should be a sequence is none, such as a single name.",
    "wrong-type": "A value is of another kind than is taken.",
    "empty": "Nothing is given where something is needed.",
    "duplicate": "Something is given twice, or a name is taken.",
    "no-target": "A task has no target, and the call gives none.",
    "no-dt": "The time of a step is needed, and a `Tracker` has no `dt`.",
    "no-shapes": "A model has no collision shapes.",
    "no-limits": "The limits that are needed are not stated, or a joint can have none.",
    "no-such-part": "A model has no part of the kind that is needed, such as a link with a mass.",
    "nothing-moves": "No joint can change what is asked for.",
    "conflict": "Two arguments exclude each other.",
    "needs": "An argument or a call needs another one.",
    "not-supported": "A method, a format or a function cannot do this.",
    "not-exportable": "A solver needs Python, and so cannot be exported.",
    "outside-limits": "A position is outside the limits of its joint.",
    "own-function": "A function or class of your own fails a check.",
    "inconsistent": "Data contradict each other.",
    "undefined": "What is asked for does not exist here, such as the derivative of an answer.",
    "too-many": "There are more of something than can be taken.",
}
"""What each `PoiseError.code` stands for."""


class PoiseError(Exception):
    """The root of every error that poise raises on purpose.  It can be pickled, and so cross to another process."""

    code: str = "error"
    """Which rule was broken, a word of the page "Errors" that stays as it is; sentences may get better."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[PoiseError], arguments: tuple[Any, ...]) -> PoiseError:
    """An error with the message that it had; its own constructor would make that anew, from what is gone."""
    error = kind.__new__(kind)
    super(PoiseError, error).__init__(*arguments)
    return error


class InvalidValue(PoiseError, ValueError):
    """A number, an array, a word or a combination of arguments that is not allowed."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class InvalidType(PoiseError, TypeError):
    """An argument of a kind that is not taken."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class ModelError(PoiseError, ValueError):
    """A robot description that cannot be a kinematic tree; `file` and `line` say where, when there is a file."""

    code = "invalid-model"

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        self.message, self.file, self.line = message, file, line
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + message)


class NameNotFound(PoiseError, KeyError):
    """A name that the model does not have; the message suggests the nearest ones that it has."""

    code = "unknown-name"
    noun = "name"

    def __init__(
        self, name: str, known: Iterable[str], *, owner: str = "the model", noun: str | None = None, more: str = ""
    ) -> None:
        """`more` is said after the names."""
        self.name, self.known, self.noun = name, tuple(known), noun or self.noun
        near = nearest_names(name, self.known)
        if near:
            hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
        else:
            shown = ", ".join(repr(n) for n in self.known[:LISTED]) or "none at all"
            hint = f"available: {shown}" + (f" and {len(self.known) - LISTED} more" if len(self.known) > LISTED else "")
        self.message = f"{owner} has no {self.noun} {name!r}; {hint}{'; ' * bool(more)}{more}"
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message  # KeyError would print the repr


def nearest_names(name: object, known: Iterable[str]) -> list[str]:
    """At most three of `known` that `name` may mean: that which differs in capitals alone, else the nearest ones."""
    if not isinstance(name, str):
        return []
    import difflib

    folded: dict[str, list[str]] = {}
    for other in known:
        folded.setdefault(_folded(other), []).append(other)
    wanted = _folded(name)
    near = [wanted] if wanted in folded else difflib.get_close_matches(wanted, folded, 3, _LEAST_ALIKE)
    if not near:
        near = difflib.get_close_matches(wanted, [other for other in folded if wanted in other.split("_")], 3, 0.0)
    if near:
        best = difflib.SequenceMatcher(None, near[0], wanted).ratio()
        near = [other for other in near if difflib.SequenceMatcher(None, other, wanted).ratio() > best - _MUCH_LESS]
    return [other for same in near for other in folded[same]][:3]


def _folded(name: str) -> str:
    """A name as people remember it: without capitals, and with one mark between words."""
    return name.casefold().replace("-", "_").replace(" ", "_")


class FrameNotFound(NameNotFound):
    """No frame (link, site or tool) of this name."""

    noun = "frame"


class JointNotFound(NameNotFound):
    """No joint of this name."""

    noun = "joint"


class ShapeNotFound(NameNotFound):
    """No shape of this name in a world."""

    noun = "shape"


class ReferenceNotFound(NameNotFound):
    """Nothing of this name can be cited."""

    noun = "reference"


class ShapeError(PoiseError, ValueError):
    """An array argument of the wrong shape; the message names the argument, its shape and the shape wanted."""

    code = "wrong-shape"


class MissingExtra(PoiseError, ImportError):
    """A feature that needs an optional dependency; the message is the command that installs it."""

    code = "missing-extra"

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(f'{feature} needs {package}: pip install "poise[{extra}]"')


class ModelWarning(UserWarning):
    """What a reader passed over in a robot description: unknown tags, missing meshes; one for each file."""
