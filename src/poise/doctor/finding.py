"""One finding: what, where, and how to mend it."""

from dataclasses import dataclass
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
