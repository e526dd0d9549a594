"""What a release is made of beside the packages: fragments of the changelog, and files for hosts and indexes."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.arrows import BESIDE

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


def hatch_build() -> Any:
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RELATIVE = re.compile(r"\]\((?!https?:|#)([^)]+)\)")


def test_the_page_of_an_index_has_no_relative_link_where_the_repository_has_an_address() -> None:
    absolute = hatch_build().absolute
    text = (ROOT / "README.md").read_text()
    assert len(RELATIVE.findall(text)) > 20
    assert absolute(text, "", "main") == text
    page = absolute(text, "https://host.example/o/poise", "v1.2.3")
    assert RELATIVE.findall(page) == []
    assert "](https://host.example/o/poise/raw/v1.2.3/docs/_static/panda.svg)" in page
    assert "](https://host.example/o/poise/blob/v1.2.3/docs/installing.md)" in page
    assert len(re.findall(r"https://host\.example", page)) == len(RELATIVE.findall(text))
    some = "[a](#b) [c](https://d.example/e) [![f](g.svg)](h.md)"
    assert absolute(some, "https://i.example/j", "k") == (
        "[a](#b) [c](https://d.example/e) [![f](https://i.example/j/raw/k/g.svg)](https://i.example/j/blob/k/h.md)"
    )


def test_addresses_are_those_of_the_one_setting() -> None:
    builds = hatch_build()
    settings = {"home": "https://host.example/o/poise", "pages": "https://pages.example", "dependencies": []}
    for version, at in (("1.2.3", "v1.2.3"), ("1.3.0.dev0", "main")):
        metadata = {"version": version, "optional-dependencies": {"jit": []}}
        builds.Metadata(str(ROOT), settings).update(metadata)
        assert metadata["urls"] == {
            "Source": "https://host.example/o/poise",
            "Issues": "https://host.example/o/poise/issues",
            "Changelog": f"https://host.example/o/poise/blob/{at}/CHANGELOG.md",
            "Documentation": "https://pages.example",
        }
    metadata = {"version": "1.2.3", "optional-dependencies": {"jit": []}}
    builds.Metadata(str(ROOT), {"home": "", "pages": "", "dependencies": []}).update(metadata)
    assert metadata["urls"] == {}
    assert metadata["readme"]["text"] == (ROOT / "README.md").read_text()


@pytest.mark.parametrize("package", BESIDE)
def test_pages_of_the_packages_have_no_link_that_an_index_breaks(package: str) -> None:
    assert RELATIVE.findall((BESIDE[package].parents[1] / "README.md").read_text()) == []


def test_the_citation_has_what_its_format_asks_for() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(cited)
    assert cited["license"] == SETTINGS["project"]["license"]
    assert cited["authors"] == SETTINGS["project"]["authors"]


def test_files_that_a_host_shows_are_in_an_archive_of_the_sources() -> None:
    included = SETTINGS["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for file in ("SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "RELEASING.md", "CHANGELOG.md", "changes.d"):
        assert (ROOT / file).exists()
        assert file in included


@pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="the forms are of a clone")
def test_forms_ask_for_something_by_different_names() -> None:
    forms = [file for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if file.name != "config.yml"]
    assert len(forms) >= 3
    for file in forms:
        form = yaml.safe_load(file.read_text())
        assert form["name"]
        assert form["description"]
        asked = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(asked) == len(set(asked)) >= 2


def test_what_security_promises_names_files_and_options_that_there_are() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    assert "127.0.0.1" in text
    assert "127.0.0.1" in (ROOT / "docs" / "viewer.md").read_text()
    pages = [(ROOT / "docs" / page).read_text() for page in ("fast.md", "installing.md", "recipes/services.md")]
    for name in re.findall(r"`(POISE_\w+)`", text):
        assert any(name in page for page in pages)


def test_the_builder_of_a_wheel_is_found_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip says by PYTHONPATH where Numba is, and takes a poise that is installed editable from the path."""
    builds, started = hatch_build(), list[tuple[str, Path]]()
    monkeypatch.setattr(builds, "TARGET", "x86_64-linux")
    monkeypatch.setattr(builds.subprocess, "run", lambda command, *, cwd, check: started.append((command[2], cwd)))
    hook = builds.Kernels(str(ROOT), {}, None, None, str(tmp_path), "wheel")
    hook.initialize("standard", {"force_include": {}})
    hook.finalize("standard", {}, "")
    ((module, folder),) = started
    assert (folder / module.replace(".", "/") / "__main__.py").exists()
