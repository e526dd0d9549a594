"""The packages beside the core: one version, and no name of the core that is no promise."""

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from support.arrows import BESIDE, ROOT, SOURCE
from support.public import public
from support.releasing import copied

import poise as pz
from poise import cli, extending, pages
from poise.common.beside import COMMANDS, PAGES, READERS, REFERENCES, ROBOTS, WRITERS
from poise.io.brought import EXTRA_FORMATS
from poise.io.suffixes import EXTRA_SUFFIXES

CORE: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MODULES = {path.stem for path in SOURCE.glob("*.py") if not path.stem.startswith("_")}
"""Those that pages send people to beside the names of `pz`."""
PROMISED = {f"poise.{name}" for name in {*public(), *MODULES}}


def project_of(folder: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return project


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
    assert some
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
    project = project_of(BESIDE[package].parents[1])
    assert project["version"] == pz.__version__
    assert f"poise=={pz.__version__}" in project["dependencies"]
    assert project["name"] == package.replace("_", "-")
    extra = CORE["optional-dependencies"][package.removeprefix("poise_")]
    assert extra == [f"{project['name']}=={pz.__version__}"]


def test_the_page_on_installing_lists_every_extra() -> None:
    extras = CORE["optional-dependencies"]
    page = (ROOT / "docs" / "installing.md").read_text()
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*) \|$", page, re.MULTILINE)
    listed = [name for names, _ in rows for name in re.findall(r"\w+", names)]
    assert sorted(listed) == sorted(extras)
    (without,) = (words for names, words in rows if names == "`all`")
    within = extras["all"][0].removeprefix("poise[").removesuffix("]").split(",")
    assert re.findall(r"`(\w+)`", without) == sorted(extras.keys() - {*within, "all"})


def test_the_core_says_its_version_in_one_place() -> None:
    assert "version" not in CORE
    assert "version" in CORE["dynamic"]
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]
    assert hatch["version"]["path"] == "src/poise/__init__.py"


def versions(root: Path) -> dict[str, str]:
    """What each of the formats says, as its own reader has it."""
    recipe = yaml.safe_load((root / "conda/recipe.yaml").read_text())
    said = {
        "citation": yaml.safe_load((root / "CITATION.cff").read_text())["version"],
        "conda": recipe["context"]["version"],
        "npm": json.loads((root / "src/poise/browser/package.json").read_text())["version"],
        "lerobot": project_of(root / "lerobot_teleoperator_poise")["version"],
    }
    for file in sorted(root.glob("ros2/*/package.xml")):
        said[file.parent.name] = ElementTree.parse(file).findtext("version") or ""
    return said


def test_conda_npm_ros_and_lerobot_have_the_version_in_the_form_of_each() -> None:
    said = versions(ROOT)
    plain = ".".join(pz.__version__.split(".")[:3])
    assert said["citation"] == said["conda"] == said["lerobot"] == pz.__version__
    assert said["poise_kinematics"] == plain
    assert said["npm"] in (plain, pz.__version__.replace(".dev", "-dev."))


SCRIPT = ROOT / ".ci" / "version"


@pytest.mark.skipif(not SCRIPT.is_file(), reason="the scripts are of a clone")
class TestVersionScript:
    """`.ci/version`, in a copy of the files that it reads."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        return copied(tmp_path)

    def run(self, root: Path, *words: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, root / ".ci" / "version", *words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_all_places_agree_and_it_says_what(self) -> None:
        assert self.run(ROOT) == (0, f"{pz.__version__}\n")

    @pytest.mark.parametrize(
        ("new", "plain", "npm"),
        [("1.2.3", "1.2.3", "1.2.3"), ("1.2.3rc1", "1.2.3", "1.2.3-rc.1"), ("2.0.0.dev0", "2.0.0", "2.0.0-dev.0")],
    )
    def test_it_writes_all_places(self, root: Path, new: str, plain: str, npm: str) -> None:
        assert self.run(root, new) == (0, f"{new}\n")
        said = versions(root)
        assert said == {"citation": new, "conda": new, "npm": npm, "lerobot": new, "poise_kinematics": plain}
        assert self.run(root, "--tag", f"v{new}")[0] == 0
        assert self.run(root, "--tag", "v0.0.9") == (
            1,
            f"the tag v0.0.9 is not that of version {new}, which is v{new}\n",
        )

    def test_a_place_that_was_forgotten_is_named(self, root: Path) -> None:
        file = root / "ros2" / "poise_kinematics" / "package.xml"
        file.write_text(file.read_text().replace("<version>", "<version>9."))
        code, said = self.run(root)
        assert code == 1
        assert said.startswith(f"{file.relative_to(root)} has 9.")
        assert f"run .ci/version {pz.__version__}" in said

    def test_what_is_no_version_is_refused(self, root: Path) -> None:
        assert self.run(root, "v1") == (1, "v1 is no version: it is like 0.1.0, 0.1.0rc1 or 0.2.0.dev0\n")


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
    assert {f".{name}" for name in points("poise_motion", READERS)} == {*EXTRA_SUFFIXES}
    assert {*points("poise_motion", WRITERS)} == {*EXTRA_FORMATS}
    groups = PAGES, READERS, REFERENCES, ROBOTS, WRITERS
    others = [place for package in BESIDE for group in groups for place in points(package, group).values()]
    for place in [*(place for *_, place in brought), *others]:
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
