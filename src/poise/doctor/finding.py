"""One finding: what, where, and how to mend it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, final

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""What stops a robot, what makes wrong answers, what is good to know."""


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """What is found at one place."""

    code: str
    """The kind of finding in one word, for programs: it stays what it is when sentences change."""
    severity: Severity
    where: str
    """A file and a line, a joint, a link, or a step of a recording."""
    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.where}: {self.what}; {self.mend}"


def gathered(found: Iterable[Finding]) -> list[Finding]:
    """One finding for all of a kind, with all the places; what is wrong there is told of the first."""
    kinds: dict[tuple[str, ...], list[Finding]] = {}
    for finding in found:
        alone = finding.what if finding.code == "unreadable" else ""  # each for another reason
        kinds.setdefault((finding.code, finding.severity, alone), []).append(finding)
    return [those[0] if len(those) == 1 else _together(those) for those in kinds.values()]


def _together(those: list[Finding]) -> Finding:
    first = those[0]
    file, line, _ = first.where.partition(", line ")
    places = [each.where.removeprefix(f"{file}, ") if line else each.where for each in those[1:]]
    mend = first.mend if len({each.mend for each in those}) == 1 else f"{first.mend} (of the first)"
    return replace(
        first, where="; ".join([first.where, *places]), what=f"{first.what} (the first of {len(those)})", mend=mend
    )
