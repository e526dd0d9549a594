"""The table of the statuses of libpoise, for `c.md`, made by the docs build of what the header is made of."""

from pathlib import Path

from poise.kernels.statuses import STATUSES

FILE = Path(__file__).parent / "_printed" / "statuses.md"


def table() -> str:
    """The table in Markdown."""
    rows = [f"| {number} | `PZ_{name}` | {says} |" for number, (name, says) in enumerate(STATUSES.items())]
    return "\n".join(["| | status | what `pz_message` says |", "|--:|---|---|", *rows, ""])


def write() -> None:
    """Write the table."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(table())
