"""The codes of errors: one table, which has those that are raised and no others."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.arrows import FILES
from support.refusals import refused

import poise as pz
from poise.common.errors import CODES, PoiseError

DOCS = Path(__file__).parents[1] / "docs"
OTHERS = ("build", "kernels", "poise_compat", "poise_experiments")
"""Folders that raise what others raise, such as the originals of faces, or what no user of a robot meets."""
CAUGHT = {
    "poise_motion/files/pickled.py",
    "common/archive.py", "io/gltf_document.py", "motion/storage.py", "motion/tables.py", "viewer/operator/scene.py",
    "viewer/operator/work.py", "viewer/scene/surface_cache.py", "viewer/server/input_state.py",
}  # fmt: skip
"""Files whose ValueErrors are caught within, and said again with the place."""


def words(node: ast.AST) -> Iterator[str]:
    """The words in an expression that makes a code; `code` is an attribute that is asked for."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value != "code":
            yield each.value


def raised() -> Iterator[str]:
    """The code of every error that the packages make, as their files write it."""
    for path in FILES.values():
        for node in ast.walk(ast.parse(path.read_bytes())):
            made = getattr(node.func, "id", None) if isinstance(node, ast.Call) else None
            if made in ("InvalidValue", "InvalidType"):
                yield from words(node.args[0])
            elif made == "broken_rule":
                yield from words(node.args[1])


def kinds(kind: type[PoiseError]) -> Iterator[type[PoiseError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from kinds(each)


def test_the_table_has_the_codes_that_there_are_and_no_others() -> None:
    of_kinds = {kind.code for kind in kinds(PoiseError)}
    assert {*raised(), *of_kinds} == CODES.keys()
    assert len(CODES) <= 50  # so few that one reads them all


def test_what_is_refused_has_a_code() -> None:
    bare = set()
    for name, path in FILES.items():
        if name.split("/")[0] not in OTHERS:
            calls = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Call)]
            bare |= {name for call in calls if getattr(call.func, "id", None) in ("ValueError", "TypeError")}
    assert bare == CAUGHT


def test_the_page_of_the_errors_has_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    rows = importlib.import_module("codes").table().splitlines()[2:]
    assert rows == [f"| `{code}` | {says} |" for code, says in CODES.items()]
    assert "```{include} _printed/codes.md" in (DOCS / "errors.md").read_text()
    assert "list_codes" in (DOCS / "conf.py").read_text()


def test_what_is_refused_is_of_a_builtin_type_too() -> None:
    with refused("no-target", "PoseTask") as value:
        pz.solve(pz.load("panda"), pz.PoseTask("panda_hand"))
    with refused("not-a-model", "load it first") as kind:
        pz.solve("panda", pz.PoseTask("panda_hand"))  # type: ignore[arg-type]
    assert isinstance(value.value, ValueError)
    assert isinstance(kind.value, TypeError)
