"""The command line: parse, call, print.

Exit code 0 when solved, 2 when not solved, 1 for an error, which is one line on stderr.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from shutil import get_terminal_size
from typing import Any

from poise import __version__
from poise.tables import fill


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `arguments` (the process's own if None) and return the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = _run(arguments)
        if sys.stdout:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has left; what Python flushes on the way out must have somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(f"poise {__version__}")
        return 0
    if os.environ.get("NO_COLOR"):
        os.environ.setdefault("PYTHON_TYRO_ANSI_CODES", "False")  # tyro reads its own variable only, once, at import
    from poise.errors import PoiseError

    shown = _Shown()
    try:
        with redirect_stdout(shown):
            command = _parsed(commands(), arguments)
    except SystemExit as stop:
        print(shown.filled(), end="")
        return 1 if stop.code else 0  # tyro leaves with 2, which means "not solved" here

    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"  # no place in our source: it is of no use
    try:
        return command.run()
    except BrokenPipeError:
        raise
    except (PoiseError, ValueError, OSError) as error:
        return _said(error, json=getattr(command, "json", False))


def commands() -> dict[str, Any]:
    """The settings of each command, by its name."""
    from poise.cli.batch import Batch
    from poise.cli.calibrate import Calibrate
    from poise.cli.cite import Cite
    from poise.cli.compare import Compare
    from poise.cli.doctor import Doctor
    from poise.cli.export import Export
    from poise.cli.info import Info
    from poise.cli.path import Path
    from poise.cli.reach import Reach
    from poise.cli.reproduce import Reproduce
    from poise.cli.retarget import Retarget
    from poise.cli.sdk import Sdk
    from poise.cli.solve import Solve
    from poise.cli.track import Track
    from poise.cli.view import View
    from poise.cli.warmup import Warmup

    return {
        "solve": Solve,
        "batch": Batch,
        "path": Path,
        "track": Track,
        "retarget": Retarget,
        "view": View,
        "compare": Compare,
        "reach": Reach,
        "calibrate": Calibrate,
        "info": Info,
        "doctor": Doctor,
        "export": Export,
        "sdk": Sdk,
        "reproduce": Reproduce,
        "cite": Cite,
        "warmup": Warmup,
    }


def _parsed(kinds: dict[str, Any], arguments: list[str]) -> Any:
    """The settings of the command, which have a `run`; raises SystemExit for a help and for words that are wrong."""
    import tyro

    return tyro.extras.subcommand_cli_from_dict(
        kinds,
        prog="poise",
        description=f"Inverse kinematics, version {__version__}.  `poise COMMAND --help` tells more.",
        args=arguments or ["--help"],
        config=(tyro.conf.DisallowNone, tyro.conf.FlagCreatePairsOff, tyro.conf.PositionalMetavarFromFieldName),
    )


class _Shown(StringIO):
    """What tyro prints of a help; it breaks the lines in its boxes between words, and no others."""

    def __init__(self) -> None:
        super().__init__()
        self._goes_to = sys.stdout

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of where it goes, which may not have the letters that boxes are made of."""
        return getattr(self._goes_to, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether it goes to a terminal, and so may have colours."""
        return bool(self._goes_to and self._goes_to.isatty())

    def filled(self) -> str:
        """The text, its longer lines broken between words too."""
        width = get_terminal_size().columns
        lines = self.getvalue().split("\n")
        return "\n".join(fill(line, width) if len(line) > width and line[:1].isalnum() else line for line in lines)


def _said(error: Exception, *, json: bool) -> int:
    """Say what is wrong, in a line; for programs also as JSON, with the type of the error as its code."""
    message = " ".join(str(error).split())
    print("error:", message, file=sys.stderr)
    if json:
        from poise.cli.output import print_json

        print_json({"error": {"code": type(error).__name__, "message": message}})
    return 1
