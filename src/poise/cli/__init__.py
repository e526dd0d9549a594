"""The command line: parse, call, print.

Exit code 0 when solved, 2 when not solved, 1 for an error, which is one line on stderr.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from poise import __version__


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
    import tyro

    from poise.cli.batch import Batch
    from poise.cli.cite import Cite
    from poise.cli.command import refuse_words
    from poise.cli.compare import Compare
    from poise.cli.info import Info
    from poise.cli.path import Path
    from poise.cli.reach import Reach
    from poise.cli.reproduce import Reproduce
    from poise.cli.solve import Solve
    from poise.cli.track import Track
    from poise.cli.view import View
    from poise.cli.warmup import Warmup
    from poise.errors import PoiseError

    kinds: dict[str, Any] = {
        "solve": Solve,
        "batch": Batch,
        "path": Path,
        "track": Track,
        "view": View,
        "compare": Compare,
        "reach": Reach,
        "info": Info,
        "reproduce": Reproduce,
        "cite": Cite,
        "warmup": Warmup,
    }
    try:
        refuse_words(kinds, arguments)
        command: Solve | Batch | Path | Track | View | Compare | Reach | Info | Reproduce | Cite | Warmup = (
            tyro.extras.subcommand_cli_from_dict(
                kinds,
                prog="poise",
                description=f"Inverse kinematics, version {__version__}.  `poise COMMAND --help` tells more.",
                args=arguments or ["--help"],
                config=(tyro.conf.DisallowNone, tyro.conf.FlagCreatePairsOff, tyro.conf.PositionalMetavarFromFieldName),
            )
        )
    except SystemExit as stop:
        return 1 if stop.code else 0  # tyro leaves with 2, which means "not solved" here
    except (PoiseError, ValueError) as error:
        return _said(error)

    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"  # no place in our source: it is of no use
    try:
        return command.run()
    except BrokenPipeError:
        raise
    except (PoiseError, ValueError, OSError) as error:
        return _said(error)


def _said(error: Exception) -> int:
    """Say what is wrong, in a line."""
    print("error:", " ".join(str(error).split()), file=sys.stderr)
    return 1
