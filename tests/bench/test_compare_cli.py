"""`poise compare`: what it prints, draws and refuses."""

import json
import sys
from pathlib import Path
from typing import get_args

import pytest

import poise as pz
from poise.bench.problems import SETS
from poise.cli import compare, main

FEW = ["compare", "panda", "--methods", "lm", "dls", "--count", "5"]


def test_it_prints_a_line_a_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(FEW) == 0
    out = capsys.readouterr().out
    assert "5 problems" in out
    assert {line.split()[0] for line in out.splitlines()[5:]} == {"lm", "dls"}


@pytest.mark.parametrize("words", [["lm,dls,default"], ["lm", "dls", "default"], ["lm,", "dls,", "default"]])
def test_names_are_told_apart_by_commas_or_blanks(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "panda", "--count", "2", "--methods", *words, "--json"]) == 0
    assert [row["label"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["lm", "dls", "default"]


def test_json_is_one_line_and_the_same_as_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--seed", "3", "--max-restarts", "2", "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    facts = json.loads(out, parse_constant=pytest.fail)
    arm = pz.load("panda")
    report = pz.compare(arm, pz.PoseTask(arm.tip), methods=["lm", "dls"], count=5, seed=3, max_restarts=2)
    same = ("label", "solved", "iterations", "oscillation", "position_error")
    assert [[row[key] for key in same] for row in facts["rows"]] == [
        [row[key] for key in same] for row in report.to_dict()["rows"]
    ]
    assert facts["tasks"] == list(report.tasks)
    assert facts["max_restarts"] == 2


def test_frame_tolerances_and_positions_alone_are_heeded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--frame", "panda_link5", "--position-only", "--position-tolerance", "1e-3"]) == 0
    assert "panda: PositionTask('panda_link5') to 0.001 m\n" in capsys.readouterr().out
    assert main([*FEW, "--rotation-tolerance", "0.01"]) == 0
    assert "to 1e-06 m and 0.01 rad\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", SETS)
def test_every_set_of_problems_can_be_chosen(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--problems", name]) == 0
    assert capsys.readouterr().out


def test_the_sets_are_those_of_the_bench() -> None:
    assert get_args(compare.Problems) == tuple(SETS)


def test_it_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--plot", str(tmp_path / "out.png")]) == 0
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "lm", "dlss"], ["dlss", "dls"]),
        (["--frame", "panda_hnd"], ["panda_hnd", "panda_hand"]),
        (["--count", "0"], ["count is 0"]),
        (["--seed", "-1"], ["seed is -1"]),
        (["--max-restarts", "-1"], ["max_restarts is -1"]),
        (["--position-tolerance", "-1"], ["tolerance", "-1"]),
        (["--plot", "out.txt"], ["out.txt", ".png"]),
        (["--plot", "no/such/folder/out.png"], ["no/such/folder"]),
    ],
)
def test_errors_are_one_line_on_stderr(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "panda", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(word in err for word in words)


def test_without_matplotlib_it_says_so_before_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main([*FEW, "--plot", "out.png"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == 'error: drawing plots needs matplotlib: pip install "poise[plots]"\n'
