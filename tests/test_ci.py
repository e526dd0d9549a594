"""What the scripts of `.ci` do, and that a host runs them; commands that change a machine are played."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.releasing import copied

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None or not (ROOT / ".ci").is_dir(),
    reason="the scripts are of a clone, and run in bash",
)


def played(folder: Path, **commands: str) -> dict[str, str]:
    """An environment in which these commands are shell scripts."""
    at = folder / "played"
    at.mkdir()
    for name, script in commands.items():
        file = at / name.replace("_", "-")
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    return {**os.environ, "PATH": f"{at}{os.pathsep}{os.environ['PATH']}"}


def run(script: Path, *words: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([script, *words], env=environment, capture_output=True, text=True)


def test_a_package_that_is_installed_asks_nothing(tmp_path: Path) -> None:
    environment = played(tmp_path, id="echo 0", apt_get=f'echo "$DEBIAN_FRONTEND $1" >>{tmp_path}/asked')
    environment.pop("DEBIAN_FRONTEND", None)
    done = run(ROOT / ".ci" / "system", "some-package", "no-such-command-of-it", environment=environment)
    assert (done.returncode, done.stdout) == (0, "installing some-package\n")
    assert (tmp_path / "asked").read_text().splitlines() == ["noninteractive update", "noninteractive install"]


@pytest.mark.parametrize(
    ("refused", "code", "words"),
    [
        ("*--no-deps*", 7, ""),
        ("*robots*", 0, "pip has no packages for it: no tests are run for AArch64\n"),
        ("none", 0, "run\nrun\n"),
    ],
)
def test_a_wheel_that_pip_refuses_is_a_failure_and_a_package_that_is_not_there_is_none(
    tmp_path: Path, refused: str, code: int, words: str
) -> None:
    clone = tmp_path / "clone"
    for folder in (".ci", ".venv/bin"):
        (clone / folder).mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "aarch64", clone / ".ci")
    pip = clone / ".venv" / "bin" / "pip"
    pip.write_text(f'#!/bin/sh\ncase "$*" in {refused}) exit 7 ;; esac\n')
    pip.chmod(0o755)
    wheel = tmp_path / "poise-1.0-py3-none-manylinux_2_17_aarch64.whl"
    wheel.touch()
    python = 'case "$*" in *version_info*) echo 3.13 ;; *) echo run ;; esac'
    environment = played(
        tmp_path, apt_get="true", dpkg_deb="true", xargs="cat >/dev/null; echo run", qemu_aarch64_static=python
    )
    done = run(clone / ".ci" / "aarch64", str(wheel), environment=environment)
    assert (done.returncode, done.stdout) == (code, words), done.stderr


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def workflow(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
    return read


def jobs(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in yaml.safe_load(file.read_text())["jobs"].items():
        yield f"{file.name}: {name}", job


def test_workflows_are_made_of_the_scripts_of_this_folder() -> None:
    """So whatever a host runs can be run here, but for the one step that gives an archive away."""
    ran = set()
    for file in WORKFLOWS:
        for where, job in jobs(file):
            for command in (step["run"] for step in job.get("steps", ()) if "run" in step):
                if command == "npm publish --access public npm/*.tgz":
                    continue
                script = ROOT / command.split()[0]
                assert script.parent == ROOT / ".ci", (where, command)
                assert os.access(script, os.X_OK), (where, command)
                ran.add(script.name)
    assert {"lint", "files", "quick", "wheels", "test", "docs", "python", "wheel", "archives", "npm", "release"} <= ran


def test_what_workflows_may_and_how_long_is_said() -> None:
    for file in WORKFLOWS:
        assert yaml.safe_load(file.read_text())["permissions"] == {"contents": "read"}
        for where, job in jobs(file):
            assert "uses" in job or "environment" in job or job["timeout-minutes"] <= 180, where
            writes = {name for name, kind in job.get("permissions", {}).items() if kind == "write"}
            assert writes <= {"id-token", "pages"}, where
            assert not writes or "environment" in job, where


def test_a_host_tries_each_python_that_the_classifiers_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [line.split(" :: ")[-1] for line in project["classifiers"] if "Python :: 3." in line]
    tried = workflow("main")["jobs"]["pythons"]["strategy"]["matrix"]["python"]
    assert set(named) <= set(tried)
    assert f">={named[0]}" == project["requires-python"]


def test_a_host_builds_every_wheel_that_there_is() -> None:
    targets = re.findall(r'^    "(\w+-\w+)": ', (ROOT / "hatch_build.py").read_text(), re.MULTILINE)
    assert len(targets) == 6
    built = [each["target"] for each in workflow("wheels")["jobs"]["wheel"]["strategy"]["matrix"]["include"]]
    assert sorted(built) == sorted(targets)


def released(folder: Path) -> Path:
    """A tree of which 1.2.3 can be released, but for what `.ci/release` is given."""
    tree = copied(folder / "tree")
    subprocess.run([tree / ".ci" / "version", "1.2.3"], check=True, capture_output=True)
    (tree / "changes.d").mkdir()
    (tree / "changes.d" / "README.md").touch()
    (tree / "CHANGELOG.md").write_text("## 1.2.3 - 2030-01-31\n")
    settings = tree / "pyproject.toml"
    settings.write_text(
        re.sub(r'^(home|pages) = ""', r'\1 = "https://host.example/o"', settings.read_text(), flags=re.M)
    )
    for log in tree.glob("ros2/*/CHANGELOG.rst"):
        log.write_text(re.sub("^Forthcoming$", "1.2.3 (2030-01-31)", log.read_text(), flags=re.M))
    for file in tree.glob("ros2/*/package.xml"):
        file.write_text(re.sub(r'email="[^"]*"', 'email="a@b.example"', file.read_text()))
    return tree


def archives(tree: Path) -> Path:
    dist = tree / "dist"
    dist.mkdir()
    tags = re.findall(r'^    "\w+-\w+": (?:LINUX\.format\()?"([^"]+)"', (ROOT / "hatch_build.py").read_text(), re.M)
    linux = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
    names = [linux.format(tag) if tag in ("x86_64", "aarch64") else tag for tag in tags]
    assert len(names) == 6
    for name in names:
        (dist / f"poise-1.2.3-py3-none-{name}.whl").touch()
    for name in ("poise", *(package.name.replace("-", "_") for package in (tree / "packages").iterdir())):
        (dist / f"{name}-1.2.3.tar.gz").touch()
        (dist / f"{name}-1.2.3-py3-none-any.whl").touch()
    (dist / "poise-1.2.3-py3-none-any.whl").unlink()
    return dist


def test_what_is_whole_is_released_and_what_is_not_is_said(tmp_path: Path) -> None:
    tree = released(tmp_path)
    dist = archives(tree)
    script = tree / ".ci" / "release"
    done = run(script, "v1.2.3", str(dist), environment={**os.environ})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("1.2.3 can be uploaded\n")

    (tree / "changes.d" / "+late.fixed.md").touch()
    (tree / "CHANGELOG.md").write_text("## 1.2.3 - 2030-01-31\n\nNothing.\n\n## 1.2.3 - unreleased\n")
    for log in tree.glob("ros2/*/CHANGELOG.rst"):
        log.write_text("Forthcoming\n")
    for file in dist.glob("*win_arm64.whl"):
        file.unlink()
    for file in (tree / "ros2").glob("*/package.xml"):
        file.write_text(file.read_text().replace("a@b.example", "a@b.invalid"))
    settings = tree / "pyproject.toml"
    settings.write_text(settings.read_text().replace('= "https://host.example/o"', '= ""'))
    done = run(script, "v1.2.3", str(dist), environment={**os.environ})
    assert done.returncode == 1
    for words in (
        "changes.d has fragments",
        "does not have one section of 1.2.3",
        "CHANGELOG.rst has no section",
        "home is not",
        "pages is not",
        "the maintainer is not",
        "no wheel of poise 1.2.3 for win_arm64",
    ):
        assert words in done.stderr
    done = run(script, "v1.2.4", str(dist), environment={**os.environ})
    assert "the tag v1.2.4 is not that of version 1.2.3" in done.stderr


def test_what_the_page_of_releases_tries_is_tried_in_a_rehearsal() -> None:
    page, script = (ROOT / "RELEASING.md").read_text(), (ROOT / ".ci" / "rehearse").read_text()
    beside = sorted(package.name for package in (ROOT / "packages").iterdir())
    extras = re.search(r'`pip install "poise\[(.*)\]==', page)
    assert extras is not None
    assert extras[1].split(",") == [name.removeprefix("poise-") for name in beside]
    assert all(f"`{name}`" in page for name in beside)
    tried = re.findall("`(poise .*?)`", page)
    assert len(tried) > 1
    assert all(f"user/bin/{command}" in script for command in tried)


def test_the_scripts_name_tests_that_there_are() -> None:
    """Those of one name; `test_{a,b}` and lists of folders are for the shell."""
    for script in (ROOT / ".ci").iterdir():
        for file in re.findall(r"\btests/[\w/]+\.py", script.read_text()):
            assert (ROOT / file).is_file(), (script.name, file)
