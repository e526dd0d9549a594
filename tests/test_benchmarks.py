"""The benchmarks are run by hand: here, that what they name of poise is there."""

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
    """Every name of poise in a module, with dots: of its imports, and those that it asks of `pz`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "poise":
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
