"""What C and JavaScript are told of the records of the kernels, and of the functions of a library.

`python -m poise.build.faces` writes anew what of the faces is made of them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from poise import __version__
from poise.kernels import serialised
from poise.kernels.machine import layout, packing
from poise.kernels.machine.record import Record
from poise.kernels.statuses import STATUSES
from poise.solving.search.serialised import layout_number, version_number

HEADER: Final = Path(__file__).with_name("poise.h")
_BROWSER: Final = Path(__file__).parents[1] / "browser"
_SCRIPT, _TYPES = _BROWSER / "poise.js", _BROWSER / "poise.d.ts"
_CODES: Final = (
    "SOLVED RUNNING NOT_FINITE BLOCKED OPEN BAD_GOAL BAD_START BEGIN GO_ON END TURN ITERATIONS RESTARTS START DISTANCE "
    "COST ANSWER"
)
_KINDS: Final = "MAGIC SOLVER TRACKER FUNCTION FIXED WORK"
_SECTIONS: Final = "q shapes proximity.near proximity.drift"
_C: Final = {"q": "int64_t", "d": "double", "p": "void *", "v": "void"}


def generated(kinds: Mapping[str, str], levels: Sequence[str]) -> str:
    """`generated.h`: numbers of records, and a table of functions, by their names, with one for each level.

    The kinds of each are as in `poise.build.lowering`: WebAssembly calls none through an address as anything else.
    """
    records = {"IMAGE": serialised.IMAGE, "CALL": layout.CALL, "SHAPE": layout.SHAPE}
    numbers = {f"{prefix}_{name}": word for prefix, record in records.items() for name, word in _words(record)}
    numbers |= {f"HEADER_{name.upper().replace('.', '_')}": packing.header_word(name) for name in _SECTIONS.split()}
    numbers |= {name: getattr(layout, name) for name in _CODES.split()}
    numbers |= {name: getattr(serialised, name) for name in _KINDS.split()}
    numbers |= {"LAYOUT": layout_number(), "VERSION": version_number(__version__)}
    lines = [f"#define {name} INT64_C({number})" for name, number in numbers.items()]
    lines += [_declared(f"{symbol}_{level}", kinds[symbol]) for symbol in kinds for level in levels]
    rows = [
        f"  {{{json.dumps(symbol)}, {{{', '.join(f'(void (*)(void)){symbol}_{level}' for level in levels)}}}}},"
        for symbol in sorted(kinds)
    ]
    return "\n".join(
        [
            "int64_t poise_best_level(void);",
            *lines,
            f"static const struct {{ const char *name; void (*at[{len(levels)}])(void); }} pz_functions[] = {{",
            *rows,
            "};",
            f"enum {{ pz_function_count = {len(kinds)} }};",
            "static const char *const pz_messages[] = {",
            *(f"  {json.dumps(message)}," for message in STATUSES.values()),
            "};\n",
        ]
    )


def _declared(name: str, kinds: str) -> str:
    result, *taken = kinds.split()
    arguments = [each for kind in taken for each in ("p" + "q" * int(kind[1]) if kind[1:] else kind)]
    return f"{_C[result]} {name}({', '.join(_C[each] for each in arguments) or 'void'});"


def _words(record: Record) -> list[tuple[str, int]]:
    return [("WORDS", record.words), *((name.upper(), field.word) for name, field in record.fields.items())]


def faces() -> dict[Path, str]:
    """The files that others include or import, as they should read: with the statuses that there are."""
    named = [json.dumps(name) for name in STATUSES]
    return {
        HEADER: _filled(
            HEADER, [f"  /* {text} */\n  PZ_{name} = {i}," for i, (name, text) in enumerate(STATUSES.items())]
        ),
        _SCRIPT: _filled(_SCRIPT, ["export const STATUSES = [", *(f"  {name}," for name in named), "];"]),
        _TYPES: _filled(_TYPES, [f"  | {name}" for name in named]),
    }


def _filled(file: Path, lines: Sequence[str]) -> str:
    """The file with these lines between its marks."""
    return re.sub(
        r"( */\* generated: statuses \*/\n).*?( */\* end \*/)",
        lambda found: found[1] + "".join(f"{line}\n" for line in lines) + found[2],
        file.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )


if __name__ == "__main__":
    for path, text in faces().items():
        path.write_text(text, encoding="utf-8")
