"""Attempts side by side, in numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.measures import Measures
from poise.viewer.panel.text import plain

TOWARDS: Final = ("clearance mm", "error of the hand mm")
"""Measures towards obstacles and a target, which a motion that was made elsewhere does not have."""
_ROWS: Final[Mapping[str, Callable[[Measures], str]]] = {
    "length of the joints": lambda m: f"{m.joint_length:.2f}",
    "way of the hand m": lambda m: f"{m.hand_length:.2f}",
    "clearance mm": lambda m: "" if m.clearance is None else f"{1e3 * m.clearance:.1f}",
    "worst joint speed": lambda m: f"{m.worst_speed:.2f}",
    "singular poses met": lambda m: str(m.singular_poses),
    "error of the hand mm": lambda m: f"{1e3 * m.position_error:.1f}",
    "duration s": lambda m: f"{m.duration:.1f}",
}


def table_of(
    attempts: Sequence[Attempt],
    notes: Mapping[str, Sequence[str]] | None = None,
    *,
    without: Sequence[str] = (),
    wait: bool = False,
) -> str:
    """The attempts side by side, in Markdown; dots for those that are not measured yet, unless it is to `wait`.

    `notes` stand behind the names of attempts, and `without` names rows that say nothing here.
    """
    if not attempts:
        return "No attempt yet."
    known = {} if notes is None else notes
    names = [" ".join([plain(one.name), *(f"({note})" for note in known.get(one.name, ()))]) for one in attempts]
    lines = [f"| | {' | '.join(names)} |", f"|---|{'--:|' * len(attempts)}"]
    for label, write in _ROWS.items():
        if label not in without:
            cells = [write(one.measures) if wait or one.measured else "..." for one in attempts]
            lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)
