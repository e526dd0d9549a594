"""The benchmarks are run by hand: here, that what they name of poise is there, and that verdicts are held apart."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PUBLIC = re.compile(r"pz(\.\w+)+")


def named(tree: ast.AST) -> Iterator[str]:
    """Every name of poise and the packages beside it in a module: of its imports, and those that it asks of `pz`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and re.match(r"poise(_\w+)?(\.|$)", str(node.module)):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and PUBLIC.fullmatch(chain := ast.unparse(node)):
            yield "poise" + chain.removeprefix("pz")


def found(name: str) -> Any:
    """What has this name; raises ImportError or AttributeError where nothing has."""
    parts = name.split(".")
    thing: Any = import_module(parts[0])
    for k, part in enumerate(parts[1:], start=2):
        try:
            thing = import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            thing = getattr(thing, part)
    return thing


@pytest.mark.parametrize("path", sorted(BENCHMARKS.rglob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_names_of_poise_is_there(path: Path) -> None:
    for name in sorted(set(named(ast.parse(path.read_text())))):
        found(name)


def test_a_name_that_is_not_there_is_noticed() -> None:
    assert list(named(ast.parse("from poise.model import gone\npz.nothing"))) == ["poise.model.gone", "poise.nothing"]
    for name in ("poise.model.gone", "poise.nothing"):
        with pytest.raises((ImportError, AttributeError)):
            found(name)


def test_a_verdict_that_is_another_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    verdicts = import_module("verdicts")
    file = tmp_path / "kept.npz"
    asked = [
        "--cells",
        "positions",
        "linear+soft",
        "gradients",
        "--every",
        "150",
        "--workers",
        "1",
        "--file",
        str(file),
    ]
    assert verdicts.main([*asked, "--keep"]) == 0
    assert verdicts.main(asked) == 0
    made, kept = verdicts.read(file)
    assert made == verdicts.instructions()
    assert {name.partition(",")[0] for name, _ in kept} == {"positions", "linear+soft", "gradients"}
    (key, first), *_ = kept.items()
    total = len(kept)

    def told(**changed: Any) -> tuple[bool, str]:
        """Whether all is well where the first verdict was kept with these changes, and the last line of the table."""
        capsys.readouterr()
        well = verdicts.compare({**kept, key: first._replace(**changed)}, kept)
        return well, next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| all"))

    def line(bits: int, close: int, *rest: int) -> str:
        return f"| all | {total} | " + " | ".join(map(str, (bits, close, *rest))) + " |"

    moved = first.place + round(2.0 * verdicts.CLOSE / verdicts.GRAIN)
    assert told() == (True, line(total, total, 0, 0, 0, 0))
    assert told(status="BUDGET", restarts=7) == (False, line(total, total, 1, 0, 0, 1))
    assert told(cost=first.cost - 1e-6) == (False, line(total, total, 0, 1, 0, 0))
    assert told(cost=first.cost + 1e-6) == (True, line(total, total, 0, 0, 1, 0))
    assert told(digest=first.digest ^ 1) == (True, line(total - 1, total, 0, 0, 0, 0))
    assert told(digest=first.digest ^ 1, place=moved) == (True, line(total - 1, total - 1, 0, 0, 0, 0))
    verdicts.write(file, {**kept, key: first._replace(status="BUDGET")})
    assert verdicts.main(asked) == 1
