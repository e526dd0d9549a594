"""What is to go: a warning that names its successor, at the line of the user's own program."""

import sys
import warnings
from pathlib import Path
from typing import Final

_PACKAGE: Final = str(Path(__file__).parents[1])


def deprecated(name: str, successor: str, *, since: str) -> None:
    """Warn that `name`, which still works, goes, and what takes its place; called where it is used.

    `since` is the version that says so first.  As docs/stability.md promises, it is two minor versions later that it is
    gone at the earliest, and from 1.0 on with the next major version.
    """
    major, minor = (int(number) for number in since.split(".")[:2])
    gone = f"{major + 1}.0" if major else f"0.{minor + 2}"
    warnings.warn(
        f"{name} is deprecated since poise {since}, and gone from poise {gone} on at the earliest: use {successor}",
        DeprecationWarning,
        stacklevel=_outside(),
    )


def _outside() -> int:
    """How far above `deprecated` the first frame is that is not of this package; Python 3.11 cannot look by itself."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
