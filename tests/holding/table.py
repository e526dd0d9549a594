"""The table of holes as the documentation shows it."""

from itertools import chain

import cells
from functions import FUNCTIONS
from requirements import FREE, NAMES, names

from poise.solving.arguments.capabilities import CANNOT

_NAMES = {
    "positions": "joint limits",
    "balls": "limits of balls",
    "linear": "sums of joints",
    "soft": "not required",
    "levels": "priorities",
    FREE: "nothing required",
}


def table() -> str:
    """What holds in which function, beside whatever else of it there is: a row each, in Markdown."""
    columns = NAMES
    lines = [
        "| | " + " | ".join(_NAMES.get(name, name) for name in columns) + " |",
        "|---|" + ":-:|" * len(columns),
    ]
    reasons: list[str] = []
    for function in FUNCTIONS:
        row = [_cell(function, name, reasons) for name in columns]
        lines.append(f"| `{function}` | " + " | ".join(row) + " |")
    return "\n".join([*lines, "", *(f"{_mark(k)} {why}." for k, why in enumerate(reasons))])


def methods() -> str:
    """What a step of a named method cannot follow: a line each, in Markdown."""
    return "\n".join(f"- `{name}` {CANNOT[why][0]}: {CANNOT[why][1]}." for (name, _), why in cells.METHODS.items())


def _cell(function: str, name: str, reasons: list[str]) -> str:
    for functions, (named, why) in cells.NEVER.items():
        if function in functions and name in named:
            if why not in reasons:
                reasons.append(why)
            return _mark(reasons.index(why))
    holes = cells.OPEN.get(function, "").split()
    alone = [some for some in names() if name in some]
    open_ = [some for some in alone if "+".join(some) in holes]
    return "yes" if not open_ else "not yet" if (name,) in open_ else f"not with {', '.join(_others(open_, name))}"


def _others(some: list[tuple[str, ...]], name: str) -> list[str]:
    return sorted({other for other in chain(*some) if other != name})


def _mark(k: int) -> str:
    return f"({k + 1})"
