"""What the scripts of `.ci` do where a package or a wheel cannot be had; commands that change a machine are played."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
