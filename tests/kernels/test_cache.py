"""Where compiled kernels are kept: under a name that changes with their text, and where POISE_CACHE_DIR says."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from poise.kernels.machine import jit

CODE = """
import numpy as np
from poise.model.builder import ModelBuilder
builder = ModelBuilder("hinge")
builder.joint("hinge", "revolute", parent="frame", child="door")
print(builder.build().pose("door", np.array([0.5])).array.tolist())
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folders with kernels, which `machine.jit` takes for its own."""
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "cache"))
    house = Path(jit.__file__).parents[2]
    for room in ("kernels", "tasks"):
        shutil.copytree(house / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "kernels" / "machine" / "jit.py"))
    return tmp_path / "kernels"


def test_the_name_depends_on_the_text_and_not_on_the_place(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = jit._cache_folder().name
    assert name == jit._cache_folder().name
    monkeypatch.undo()
    assert name == jit._cache_folder().name


def replace(old: str, new: str, file: str) -> Callable[[Path], None]:
    def edit(tree: Path) -> None:
        text = (tree / file).read_text()
        assert old in text
        (tree / file).write_text(text.replace(old, new, 1))

    return edit


def swap(tree: Path) -> None:
    one, other = tree / "machine/lanes.py", tree / "algebra/scalar.py"
    text = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(text)


EDITS = {
    "a digit in a kernel that border functions only call": replace("1.0", "1.5", "algebra/scalar.py"),
    "a digit in the rows of a task": replace("1e-24", "1e-20", "../tasks/aim.py"),
    "a comment": replace("@kernel", "# here\n@kernel", "algebra/tiles.py"),
    "the decorator": replace("nogil=True", "nogil=False", "machine/jit.py"),
    "a new file": lambda tree: (tree / "more.py").touch(),
    "a file gone": lambda tree: (tree / "solver/posture.py").unlink(),
    "a file renamed": lambda tree: (tree / "kinematics/query.py").rename(tree / "kinematics/question.py"),
    "two texts exchanged": swap,
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_the_name_changes_with_any_edit(tree: Path, edit: Callable[[Path], None]) -> None:
    before = jit._cache_folder().name
    edit(tree)
    assert jit._cache_folder().name != before


def test_the_name_changes_with_numba(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = jit._cache_folder().name
    monkeypatch.setattr(jit.numba, "__version__", "0.0.1")
    assert jit._cache_folder().name != before


def test_the_folder_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path))
    assert jit._cache_folder().parent == tmp_path
    home = Path(platformdirs.user_cache_dir("poise", appauthor=False))
    monkeypatch.setenv("POISE_CACHE_DIR", "")
    assert jit._cache_folder().parent == home
    monkeypatch.delenv("POISE_CACHE_DIR")
    assert jit._cache_folder().parent == home


def run(cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "POISE_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", CODE], env=environment, check=True, capture_output=True, text=True, timeout=300
    )


def test_what_is_compiled_once_is_found_again_and_only_the_first_is_told(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert "compiling kernels" in first.stderr
    (folder,) = tmp_path.iterdir()
    assert folder.name == jit.CACHE_FOLDER.name
    kept = {file: file.stat().st_mtime_ns for file in folder.rglob("*.nb?")}
    assert any("poses" in file.name for file in kept)
    second = run(tmp_path)
    assert second.stderr == ""
    assert second.stdout == first.stdout
    assert kept == {file: file.stat().st_mtime_ns for file in folder.rglob("*.nb?")}


def test_nothing_is_compiled_by_importing(tmp_path: Path) -> None:
    code = "import poise.solving.solver, poise.model.kinematics, poise.solving.posture"
    environment = {**os.environ, "POISE_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=300)
    assert not list(tmp_path.rglob("*.nb?"))
