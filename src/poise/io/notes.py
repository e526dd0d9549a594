"""What a reader passed over in one file, said in one warning."""

import warnings
from dataclasses import dataclass, field
from typing import final

from poise.common.errors import ModelWarning


@final
@dataclass(slots=True)
class Notes:
    """Remarks of the same kind are counted, and the first of them is shown as the example."""

    file: str | None
    _seen: dict[str, dict[tuple[int, str], None]] = field(default_factory=dict)

    def add(self, remark: str, line: int, example: str = "") -> None:
        """Remember one case of `remark`; the same case counts once."""
        self._seen.setdefault(remark, {})[line, example] = None

    def warn(self) -> None:
        """Warn once of all there is, if there is anything."""
        if not self._seen:
            return
        lines = []
        for remark, cases in self._seen.items():
            line, example = next(iter(cases))
            first = f"line {line}" if len(cases) == 1 else f"{len(cases)} times, first at line {line}"
            lines.append(f"  {remark} ({first}{': ' if example else ''}{example})")
        warnings.warn("\n".join([f"{self.file or 'the robot description'}:", *lines]), ModelWarning, stacklevel=2)
