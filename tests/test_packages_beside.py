"""The packages beside the core: one version, and no name of the core that is no promise."""

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.arrows import BESIDE, ROOT, SOURCE
from support.public import public

import poise as pz
from poise import cli, extending, pages
from poise.common.beside import COMMANDS, PAGES

CORE: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MODULES = {path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("_")}
"""Those that pages send people to beside the names of `pz`."""
PROMISED = {f"poise.{name}" for name in {*public(), *MODULES}}


def files(folder: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(folder.rglob("*.py")):
        yield path.relative_to(folder).as_posix(), ast.parse(path.read_bytes())


def taken(tree: ast.Module) -> Iterator[str]:
    """All that a file imports of the core, by whole names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("poise."):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if f"{alias.name}.".startswith("poise."))


def is_promised(name: str) -> bool:
    module, _, last = name.rpartition(".")
    of_module = module.removeprefix("poise.") in MODULES and not last.startswith("_")
    return name in PROMISED or name == "poise" or of_module


@pytest.mark.parametrize("package", BESIDE)
def test_a_package_imports_what_the_core_promises_and_no_more(package: str) -> None:
    some = {(file, name) for file, tree in files(BESIDE[package]) for name in taken(tree)}
    assert len(some) > 20
    assert not {(file, name) for file, name in some if not is_promised(name)}


def test_what_is_no_promise_is_told_from_what_is() -> None:
    assert is_promised("poise.Solver")
    assert is_promised("poise.methods.BoundedLeastSquares")
    assert is_promised("poise.spatial.pose_of")
    assert not is_promised("poise.common.checks.finite")
    assert not is_promised("poise.solving.search.prepared.prepared_search")
    assert not is_promised("poise.kernels.machine.jit")


@pytest.mark.parametrize("package", BESIDE)
def test_all_have_one_version_and_stand_on_that_of_the_core(package: str) -> None:
    project = tomllib.loads((BESIDE[package].parents[1] / "pyproject.toml").read_text())["project"]
    assert project["version"] == CORE["version"] == pz.__version__
    assert f"poise=={CORE['version']}" in project["dependencies"]
    assert project["name"] == package.replace("_", "-")
    extra = CORE["optional-dependencies"][package.removeprefix("poise_")]
    assert extra == [f"{project['name']}=={CORE['version']}"]


def points(package: str, group: str) -> dict[str, str]:
    """The entry points of a package in a group."""
    project = tomllib.loads((BESIDE[package].parents[1] / "pyproject.toml").read_text())["project"]
    found: dict[str, str] = project.get("entry-points", {}).get(group, {})
    return found


def test_what_packages_bring_is_there_and_told_by_its_extra_where_it_is_not() -> None:
    brought = {(package, name, place) for package in BESIDE for name, place in points(package, COMMANDS).items()}
    assert {name: (package.replace("_", "-"), package.removeprefix("poise_")) for package, name, _ in brought} == (
        cli._ELSEWHERE
    )
    pages = [place for package in BESIDE for place in points(package, PAGES).values()]
    for place in [*(place for *_, place in brought), *pages]:
        module, _, name = place.partition(":")
        assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("package", BESIDE)
def test_nothing_of_the_core_imports_it(package: str) -> None:
    text = "\n".join(path.read_text() for path in SOURCE.rglob("*.py"))
    assert not re.search(rf"^\s*(?:from|import) {package}\b", text, re.MULTILINE)


@pytest.mark.parametrize("module", [extending, pages])
def test_the_page_says_what_each_name_does_that_packages_are_written_with(module: ModuleType) -> None:
    page = (ROOT / "docs" / "extending.md").read_text()
    heads = [row.partition("|")[2].partition("|")[0] for row in page.splitlines() if row.startswith("| `")]
    told = {name for head in heads for name in re.findall(r"`(\w+)`", head)}
    assert not {name for name in dir(module) if name not in told}
    assert all(getattr(module, name) is not None for name in dir(module))
