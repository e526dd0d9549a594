"""Packages beside poise: what they bring is found by their entry points, and what is absent is told by its extra."""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.arrows import ROOT
from support.refusals import refused

import poise as pz
from poise.cli import commands, main
from poise.common.lazy import attach

PAGE = (ROOT / "docs" / "extending.md").read_text()
POINTS = """[poise.commands]
joints = poise_fourth:Joints
[poise.pages]
words = poise_fourth:page
"""


def package(folder: Path, text: str, points: str) -> None:
    """Install a package in a folder: a module, and metadata beside it."""
    (folder / "poise_fourth.py").write_text(text)
    info = folder / "poise_fourth-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: poise-fourth\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("poise_fourth", None)


@pytest.fixture
def fourth(folder: Path) -> Path:
    """The package that the page writes."""
    blocks = [block.partition("```")[0] for block in PAGE.split("```python\n")[1:]]
    package(folder, "\n".join(block for block in blocks if "\nclass " in block), POINTS)
    return folder


@pytest.mark.usefixtures("fourth")
def test_its_command_is_one_of_poise(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands()["joints"].__name__ == "Joints"
    assert main(["joints", "panda", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"joints": 7}
    assert main(["joints", "panda", "--explain"]) == 0
    assert "Joints that follow others" in capsys.readouterr().out
    assert main(["--help"]) == 0
    assert "Count the joints of a robot." in " ".join(capsys.readouterr().out.split())
    assert main(["joints", "nobody"]) == 1


def test_its_page_is_shown_by_view(
    fourth: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = fourth / "words.txt"
    text.write_text("some words")
    with refused("not-a-model", "load it"):
        pz.view(text)  # of a program a path is a robot's that was not loaded
    monkeypatch.setattr(pz.results.Viewer.__mro__[2], "wait", lambda self: None)
    assert main(["view", str(text), "--port", "0"]) == 0
    assert capsys.readouterr().out.startswith("words is shown at http://127.0.0.1:")
    assert main(["view", str(text), "--port", "0", "--record", str(fourth / "it.html")]) == 1
    assert "--record keeps what a robot does" in capsys.readouterr().err


@pytest.mark.usefixtures("fourth")
def test_what_no_page_is_made_of_is_refused() -> None:
    with refused("wrong-type", "got SimpleNamespace"):
        pz.view(SimpleNamespace())
    with refused("wrong-type", "got a list with int"):
        pz.view([1])
    with refused("empty", "nothing to view"):
        pz.view([])


@pytest.mark.parametrize(
    ("text", "points", "words"),
    [
        ("raise RuntimeError('it is\\nbroken')", "it = poise_fourth:It", "poise-fourth offers 'it' .* it is broken"),
        ("It = 1", "it = poise_fourth:It", "the command 'it', which is no class of settings"),
        ("import poise.cli.cite", "solve = poise.cli.cite:Cite", "the command 'solve', which is a command of poise"),
        ("", "it = poise_fourth:It", "poise-fourth offers 'it' .* AttributeError"),
    ],
)
def test_what_cannot_be_a_command_is_left_out_and_told(
    folder: Path, text: str, points: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    package(folder, text, f"[poise.commands]\n{points}\n")
    with pytest.warns(UserWarning, match=words):
        assert main(["--help"]) == 0
    assert "cite" in capsys.readouterr().out
    assert main(["cite", "dls"]) == 0  # without a look at what packages bring


def test_a_command_of_a_package_that_is_absent_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    sentence = 'poise retarget needs poise-motion: pip install "poise[motion]"'
    assert main(["retarget", "walk.bvh", "g1"]) == 1
    assert capsys.readouterr().err == f"error: {sentence}\n"
    assert main(["retarget", "walk.bvh", "g1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"] == {"code": "MissingExtra", "message": sentence}


# Names ---------------------------------------------------------------------------------------------------------------


def test_a_name_of_a_package_that_is_absent_names_its_extra(tmp_path: Path) -> None:
    (tmp_path / "face.pyi").write_text("from json import dumps as dumps\nfrom poise_fifth.deep import it as it\n")
    get, names, every = attach("face", str(tmp_path / "face.py"))
    assert names() == every == ["dumps"]
    with pytest.raises(pz.MissingExtra, match=r'face\.it needs poise-fifth: pip install "poise\[fifth\]"'):
        get("it")


WITHOUT = """
import sys
sys.modules["poise_motion"] = None  # as if it were not installed
import poise as pz
from poise import *
assert "retarget" not in dir(pz)
assert "HandRetargeter" not in dir(pz.hands)
for room, name in ((pz, "retarget"), (pz.hands, "HandRetargeter"), (pz.results, "Retargeted")):
    try:
        getattr(room, name)
    except pz.MissingExtra as error:
        print(error)
"""


def test_the_core_stands_alone_and_says_what_brings_the_rest() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], check=True, timeout=60, capture_output=True, text=True)
    told = [line.partition(" needs ") for line in run.stdout.splitlines()]
    assert [name for name, *_ in told] == ["poise.retarget", "poise.hands.HandRetargeter", "poise.results.Retargeted"]
    assert {need for *_, need in told} == {'poise-motion: pip install "poise[motion]"'}


def test_what_a_package_lacks_itself_is_told_as_it_is(folder: Path) -> None:
    (folder / "poise_fourth.py").write_text("import nothing_of_this_name\n")
    (folder / "face.pyi").write_text("from poise_fourth import it as it\n")
    get, names, _ = attach("face", str(folder / "face.py"))
    assert names() == ["it"]
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        get("it")
