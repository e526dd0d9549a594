"""The table of the codes of errors, for `errors.md`, made by the docs build of what the package has."""

from pathlib import Path

from poise.common.errors import CODES

FILE = Path(__file__).parent / "_printed" / "codes.md"


def table() -> str:
    """The table in Markdown."""
    rows = [f"| `{code}` | {says} |" for code, says in CODES.items()]
    return "\n".join(["| code | what it stands for |", "|---|---|", *rows, ""])


def write() -> None:
    """Write the table."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(table())
