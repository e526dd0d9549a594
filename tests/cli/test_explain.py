"""What a program reads of every command: one line, codes of a closed list, and with --explain what they mean."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import poise as pz
from poise.cli import commands, main
from poise.cli.codes import CODES, code_of
from poise.cli.command import Answers
from poise.common.errors import InvalidType, InvalidValue, PoiseError

ANSWERS = [
    ["info"],
    ["info", "planar2"],
    ["info", "--cpu"],
    ["cite"],
    ["cite", "dls"],
    ["reproduce"],
    ["doctor", "planar2"],
    ["solve", "planar2", "--xyz", "1", "1", "0"],
    ["solve", "planar2", "--xyz", "9", "0", "0"],
    ["track", "planar2", "line.csv", "--dt", "0.1"],
    ["path", "planar2", "line.csv"],
    ["batch", "planar2", "line.csv", "-o", "answers.parquet"],
    ["calibrate", "panda", "measured.csv", "--free", "base"],
    ["compare", "planar2", "--count", "2", "--position-only", "--methods", "lm"],
    ["reach", "planar2", "--grid", "1", "--orientations", "0", "--out", "map"],
    ["export", "planar2", "it.poise"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the files lie that the commands read."""
    folder = tmp_path_factory.mktemp("explain")
    (folder / "line.csv").write_text("x,y,z\n1,1,0\n1,1.1,0\n")
    arm = pz.load("panda")
    q = arm.sample(8, seed=0)
    rows = np.hstack([q, arm.pose(arm.tip, q).array])
    head = ",".join([*arm.coordinates, "x", "y", "z", "qw", "qx", "qy", "qz"])
    np.savetxt(folder / "measured.csv", rows, delimiter=",", header=head, comments="")
    return folder


@pytest.mark.parametrize("words", ANSWERS, ids=lambda words: " ".join(words[:3]))
def test_an_answer_is_one_line_and_explained_when_asked(
    words: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if words[0] == "batch":
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(folder)
    code = main([*words, "--json", "--explain"])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    explanation = json.loads(out)["explanation"]
    assert explanation.endswith(".")
    assert code == (2 if "9" in words else 0)


def test_people_read_it_below_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", "planar2", "--xyz", "1", "1", "0"]
    assert main([*words, "--json", "--explain"]) == 0
    explanation = json.loads(capsys.readouterr().out)["explanation"]
    assert main([*words, "--explain"]) == 0
    said = capsys.readouterr().out
    assert said.index("CONVERGED") < said.index(explanation.rpartition(". ")[2])
    assert main(words) == 0
    assert explanation.rpartition(". ")[2] not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["info", "pnada"], "ModelError", "A robot is not known"),
        (["solve", "planar2", "--xyz", "1", "1", "0", "--method", "nope"], "ValueError", "a method that is not known"),
        (["solve", "panda", "--xyz", "0", "0", "1", "--posture", "nope"], "NameNotFound", "such as a posture"),
        (["info", "none.bvh"], "ModelError", "that of a skeleton's motion, is not there"),
        (["track", "planar2", "nan.csv", "--dt", "0.1"], "ValueError", "a file says what cannot be"),
    ],
)
def test_what_is_not_known_has_a_code_whose_words_fit(
    words: list[str], code: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    (folder / "nan.csv").write_text("x,y,z\n1,1,0\nnan,1,0\n")
    assert main([*words, "--json", "--explain"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == code
    assert said in error["explanation"]


def test_every_command_answers_alike() -> None:
    assert all(issubclass(kind, Answers) for kind in commands().values())


def test_what_is_printed_on_the_way_does_not_touch_the_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from poise.cli.cite import Cite

    answer = Cite.run

    def chatting(self: Cite) -> object:
        print("on the way")
        return answer(self)

    monkeypatch.setattr(Cite, "run", chatting)
    assert main(["cite", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["names"]
    assert said.err == "on the way\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["solve", "panda", "--xzy", "1", "2", "3"], ["--xzy", "--xyz X Y Z", "poise"]),
        (["solve", "panda", "--xyz", "1", "2"], ["--xyz", "3 values"]),
        (["solve", "panda", "--seed", "one"], ["--seed", "one"]),
        (["track", "panda"], ["TARGETS", "--dt"]),
        (["slove", "panda"], ["slove", "solve, batch"]),
    ],
)
def test_wrong_words_are_an_error_like_others(
    words: list[str], found: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")  # the lines of the box are broken, those of the message are not
    assert main([*words, "--json", "--explain"]) == 1
    said = capsys.readouterr()
    assert said.out.count("\n") == 1
    error = json.loads(said.out)["error"]
    assert error["code"] == "UsageError"
    assert all(word in error["message"] for word in found)
    assert not re.search("[│╭╰─]", error["message"])
    assert error["explanation"]
    assert said.err.startswith(f"error: {error['message']}\n")
    assert main(words) == 1
    assert capsys.readouterr().out == ""


def test_an_error_is_explained_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "panda", "--frame", "nowhere", "--xyz", "1", "1", "1", "--json", "--explain"]) == 1
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert error["code"] == "FrameNotFound"
    assert "poise info" in error["explanation"]
    assert said.err.splitlines()[1] == f"FrameNotFound: {error['explanation']}"


def test_codes_are_a_closed_list_that_the_page_has() -> None:
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    told = re.findall(r"^\| `(\w+)` \| (.*) \|$", page.partition("| code |")[2].partition("\n\n")[0], re.MULTILINE)
    assert dict(told) == {kind.__name__: text for kind, text in CODES.items()}
    own = [kind for kind in vars(sys.modules["poise.common.errors"]).values() if isinstance(kind, type)]
    named = {InvalidValue: "ValueError", InvalidType: "PoiseError"}
    assert {kind for kind in own if issubclass(kind, PoiseError)} <= CODES.keys() | named
    assert {kind: code_of(kind("empty", ""))[0] for kind in named} == named
    assert code_of(json.JSONDecodeError("?", "", 0))[0] == "ValueError"
    assert code_of(FileNotFoundError())[0] == "OSError"


def test_the_page_has_what_json_has(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    told = set(re.findall(r"^\| `(\w+)` \|", page.partition("| command | JSON |")[2], re.MULTILINE))
    assert set(commands()) <= told
