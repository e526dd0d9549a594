"""What a release is made of beside the packages: fragments of the changelog, and the files that hosts and indexes read."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
FRAGMENTS = sorted(file for file in (ROOT / "changes.d").iterdir() if file.name != "README.md")
KINDS = [kind["directory"] for kind in SETTINGS["tool"]["towncrier"]["type"]]


def test_fragments_have_a_kind_that_there_is_and_say_something() -> None:
    for file in FRAGMENTS:
        assert re.fullmatch(rf"\+[a-z0-9-]+\.({'|'.join(KINDS)})\.md", file.name), file.name
        assert file.read_text().strip().endswith((".", "```")), file.name


def test_the_kinds_of_fragments_are_those_that_contributors_are_told() -> None:
    told = re.findall(r"`changes\.d/\+some-words\.(\w+)\.md`", (ROOT / "CONTRIBUTING.md").read_text())
    assert told == KINDS


def test_fragments_become_a_section_above_the_last_one(tmp_path: Path) -> None:
    if importlib.util.find_spec("towncrier") is None:
        pytest.skip("towncrier is not installed")
    (tmp_path / "changes.d").mkdir()
    for name in ("pyproject.toml", "CHANGELOG.md", "changes.d/README.md"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    (tmp_path / "changes.d" / "+hands.added.md").write_text("`wave` waves.\n")
    (tmp_path / "changes.d" / "+hum.fixed.md").write_text("Nothing hums.\n")
    words = ["build", "--yes", "--name", "poise", "--version", "9.9.9", "--date", "2030-01-31"]
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "CHANGELOG.md").read_text()
    new = "## 9.9.9 - 2030-01-31\n\n### Added\n\n- `wave` waves.\n\n### Fixed\n\n- Nothing hums.\n"
    assert new in text
    assert text.index(new) < text.index("## 0.1.0")
    assert [file.name for file in (tmp_path / "changes.d").iterdir()] == ["README.md"]


def test_what_the_first_version_has_is_one_page() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    assert len(text[text.index("## 0.1.0") :].split()) <= 700
