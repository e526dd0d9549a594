"""What is to go says so at the line of the program that uses it, and for as long as is promised."""

import linecache
import subprocess
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

import poise
from poise.common.deprecation import deprecated

ROOT = Path(__file__).parents[1]
STABILITY = ROOT / "docs" / "stability.md"


def test_the_warning_names_both_and_when_it_goes() -> None:
    with pytest.warns(DeprecationWarning, match="use solve") as caught:
        deprecated("solve(prefer=)", "solve(select=)", since="0.3.1")
    assert str(caught[0].message) == (
        "solve(prefer=) is deprecated since poise 0.3.1, and gone from poise 0.5 on at the earliest: use solve(select=)"
    )
    with pytest.warns(DeprecationWarning, match=r"gone from poise 2\.0 on"):
        deprecated("solve(prefer=)", "solve(select=)", since="1.4.0")


def through_the_package(depth: int) -> None:
    """Calls it as functions of the package do, one within the other."""
    file = str(Path(poise.__path__[0]) / "some.py")
    code = "def call(then, depth):\n    return call(then, depth - 1) if depth else then('a', 'b', since='0.1.0')\n"
    names: dict[str, object] = {}
    exec(compile(code, file, "exec"), names)
    call = names["call"]
    assert callable(call)
    call(deprecated, depth)


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_it_is_told_of_the_users_line_however_deep_it_is_found(depth: int) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        through_the_package(depth)
    assert caught[0].filename == __file__
    assert linecache.getline(__file__, caught[0].lineno).strip() == "call(deprecated, depth)"


def test_a_program_sees_it_without_asking(tmp_path: Path) -> None:
    """By default Python shows such warnings of `__main__` alone."""
    program = tmp_path / "program.py"
    program.write_text("from poise.common.deprecation import deprecated\ndeprecated('a', 'b', since='0.1.0')\n")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert f"{program}:2: DeprecationWarning: a is deprecated" in done.stderr


def test_what_the_page_promises_is_what_the_warning_says() -> None:
    assert "for at least two minor versions and half a year" in STABILITY.read_text()


def test_the_pythons_that_are_promised_are_those_that_were_run() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [line.split(" :: ")[-1] for line in project["classifiers"] if "Python :: 3." in line]
    assert f"Python {', '.join(named[:-1])} and {named[-1]}" in STABILITY.read_text()
    assert f"{', '.join(named[:-1])} and {named[-1]}" in (ROOT / "docs" / "installing.md").read_text()
