"""The command line: parse, call, print.

Exit code 0 when solved, 2 when not solved, 1 for an error, which is one line on stderr.
"""

import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from io import StringIO
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Final

from poise import __version__
from poise.common.beside import EXPERIMENTS
from poise.common.tables import fill

if TYPE_CHECKING:
    from poise.cli.command import Answer, Answers


_NUMBER: Final = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_LISTED: Final = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*,?")
"""Numbers with commas between or behind them."""
_ELSEWHERE: Final = {
    "retarget": ("poise-motion", "motion"),
    "fit": ("poise-motion", "motion"),
    "reproduce": EXPERIMENTS,
}
"""By command, the package beside poise that has it, and the extra that brings that."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `arguments` (the process's own if None) and return the exit code."""
    arguments = _apart(sys.argv[1:] if arguments is None else arguments)
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


def _apart(arguments: Sequence[str]) -> list[str]:
    """The words, each list of numbers with commas, as in `--xyz 0.4,0.1,0.5`, as so many words."""
    apart = (word.rstrip(",").split(",") if _LISTED.fullmatch(word) else [word] for word in arguments)
    return [part for parts in apart for part in parts]


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print(f"poise {__version__}")
        return 0
    if os.environ.get("NO_COLOR"):
        os.environ.setdefault("PYTHON_TYRO_ANSI_CODES", "False")  # tyro reads its own variable only, once, at import
    from poise.common.errors import MissingExtra, PoiseError

    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"  # no place in our source: it is of no use
    kinds = _own()
    if not arguments or arguments[0] not in kinds:  # or nobody need look what packages bring, which takes a while
        kinds = commands()
    if arguments and arguments[0] in _ELSEWHERE.keys() - kinds.keys():
        missing = MissingExtra(f"poise {arguments[0]}", *_ELSEWHERE[arguments[0]])
        return _said(missing, json="--json" in arguments, explain="--explain" in arguments)
    try:
        command = _parsed(kinds, arguments)
    except SystemExit as stop:
        return 1 if stop.code else 0  # tyro leaves with 2, which means "not solved" here
    except PoiseError as error:
        return _said(error, json=True, explain="--explain" in arguments)

    try:
        # Whatever is printed on the way, a line of JSON stands alone on stdout.
        with redirect_stdout(sys.stderr) if command.json else nullcontext():
            answer = command.run()
    except BrokenPipeError:
        raise
    except (PoiseError, ValueError, OSError) as error:
        return _said(error, json=command.json, explain=command.explain)
    return _report(answer, command)


def commands() -> dict[str, Any]:
    """The settings of each command, by its name: those of poise, then those of packages beside it."""
    own = _own()
    return own | dict(_of_packages(own))


def _own() -> dict[str, Any]:
    """The commands of poise itself."""
    from poise.cli.batch import Batch
    from poise.cli.calibrate import Calibrate
    from poise.cli.cite import Cite
    from poise.cli.compare import Compare
    from poise.cli.doctor import Doctor
    from poise.cli.export import Export
    from poise.cli.info import Info
    from poise.cli.path import Path
    from poise.cli.reach import Reach
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
        "view": View,
        "compare": Compare,
        "reach": Reach,
        "calibrate": Calibrate,
        "info": Info,
        "doctor": Doctor,
        "export": Export,
        "sdk": Sdk,
        "cite": Cite,
        "warmup": Warmup,
    }


def _of_packages(own: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The commands of packages beside poise; one that is none, or has the name of one of ours, is warned of."""
    from poise.cli.command import Answers
    from poise.common.beside import COMMANDS, brought, offered

    for name, kind in brought(offered(COMMANDS, own).values()):
        if isinstance(kind, type) and issubclass(kind, Answers):
            yield name, kind
        else:
            warnings.warn(
                f"a package offers the command {name!r}, which is no class of settings, see poise.extending.Answers: "
                "it is left out",
                stacklevel=2,
            )


def _parsed(kinds: dict[str, Any], arguments: list[str]) -> "Answers":
    """The settings of the command.

    Raises SystemExit for a help, which is printed, and for words that are wrong, which are shown with those that are
    right; with --json UsageError for these.
    """
    import tyro

    shown, wrong, json = _Shown(), StringIO(), "--json" in arguments
    try:
        with redirect_stdout(shown), redirect_stderr(wrong) if json else nullcontext():
            found: Answers = tyro.extras.subcommand_cli_from_dict(
                kinds,
                prog="poise",
                description=f"Inverse kinematics, version {__version__}.  `poise COMMAND --help` tells more.",
                args=arguments or ["--help"],
                config=(tyro.conf.DisallowNone, tyro.conf.FlagCreatePairsOff, tyro.conf.PositionalMetavarFromFieldName),
            )
    except SystemExit as stop:
        print(shown.filled(), end="")
        if stop.code and json:
            from poise.cli.codes import UsageError

            raise UsageError(_unboxed(wrong.getvalue())) from None
        raise
    return found


def _unboxed(text: str) -> str:
    """The words of the boxes that tyro draws around what is wrong: paragraphs between rules, without the titles."""
    lines = [line.strip("│| ") for line in text.splitlines() if line[:1] not in "╭╰+"]
    ruled = ["\n" if set(line) <= set("─-") else line for line in lines]
    return "; ".join(" ".join(paragraph.split()).rstrip(".") for paragraph in " ".join(ruled).split("\n"))


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


def _report(answer: "Answer", command: "Answers") -> int:
    """Print an answer, for programs or for people, with what explains it where that is asked for; its exit code."""
    from poise.cli.output import print_json, say

    if command.json:
        print_json(answer.facts | ({"explanation": answer.explanation} if command.explain else {}))
        return answer.code
    answer.show()
    if command.explain:
        say(f"\n{answer.explanation}")
    return answer.code


def _said(error: Exception, *, json: bool, explain: bool) -> int:
    """Say what is wrong, in a line, for programs also as JSON, and what it means where that is asked for."""
    from poise.cli.codes import code_of

    message = " ".join(str(error).split())
    code, explanation = code_of(error)
    print("error:", message, file=sys.stderr)
    if explain:
        print(f"{code}: {explanation}", file=sys.stderr)
    if json:
        from poise.cli.output import print_json

        said = {"code": code, "message": message} | ({"explanation": explanation} if explain else {})
        print_json({"error": said})
    return 1
