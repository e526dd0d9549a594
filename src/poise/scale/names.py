"""What the columns of a table of targets are called, without Arrow; what they mean stands in `columns`."""

from collections.abc import Sequence
from typing import Final

from poise.common.errors import InvalidValue

POSITION: Final = ("x", "y", "z")
QUATERNION: Final = ("qw", "qx", "qy", "qz")
TURNS: Final = ("roll", "pitch", "yaw")
START: Final = "q0"


def numeric(name: str) -> bool:
    """Whether a column of this name holds the numbers of targets or starts."""
    return name in (*POSITION, *QUATERNION, *TURNS) or name.startswith(f"{START}_")


def rotation_columns(names: Sequence[str]) -> tuple[str, ...]:
    """The columns that state the rotations, () where there is none.

    Raises ValueError where they are not complete, or state it twice.
    """
    found = [wanted for wanted in (QUATERNION, TURNS) if set(wanted) & set(names)]
    if len(found) > 1:
        raise InvalidValue(
            "conflict", f"the targets state their rotation twice, as {listed(QUATERNION)} and as {listed(TURNS)}"
        )
    for wanted in found:
        refuse_lack(wanted, names, "a rotation")
        return wanted
    return ()


def refuse_twins(names: Sequence[str]) -> None:
    """Raises ValueError for a column that is there twice."""
    for name in names:
        if names.count(name) > 1:
            raise InvalidValue(
                "duplicate", f"the targets have {names.count(name)} columns {name!r}; give each a name of its own"
            )


def refuse_lack(wanted: Sequence[str], names: Sequence[str], what: str) -> None:
    """Raises ValueError where columns are missing."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise InvalidValue(
            "wrong-format",
            f"the targets have no column {listed(missing)}: {what} is {listed(wanted)}; found {listed(names)}"
            f"{_mend(missing, names)}",
        )


def _mend(missing: Sequence[str], names: Sequence[str]) -> str:
    """What to do to the columns that there are, where that can be told."""
    alike = [(name, meant) for name in names for meant in missing if name.strip().lower() == meant]
    if alike:
        return f"; write {listed([meant for _, meant in alike])} for {listed([name for name, _ in alike])}"
    mark = next((mark for mark in (";", "\t", " ") if len(names) == 1 and mark in names[0].strip()), "")
    if mark:
        return f"; between columns stands {mark!r}: write the file with ',' and with '.' in its numbers"
    if names and all(_is_number(name) for name in names):
        return "; the first line of a file names its columns, and here it has numbers: put one with names above it"
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def listed(names: Sequence[str]) -> str:
    """Names in a message."""
    return " ".join(names)
