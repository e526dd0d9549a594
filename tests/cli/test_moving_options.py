"""`--use`, `--still` and `--joint-costs`, and the same in files: the answers of the library's arguments."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.cli import main

ARM = pz.load("panda")
PLACE = (0.45, 0.15, 0.5)
GOAL = ["--frame", "panda_hand", "--xyz", *map(str, PLACE)]
TASK = pz.PositionTask("panda_hand", PLACE)
LINE = "x,y,z\n0.45,0.15,0.5\n0.45,0.15,0.49\n"
TWO = ["--still", "panda_joint1", "panda_joint7"]


def solved(capsys: pytest.CaptureFixture[str], *options: str) -> list[float]:
    assert main(["solve", "panda", *GOAL, *options, "--json"]) == 0
    q: list[float] = json.loads(capsys.readouterr().out)["q"]
    return q


def test_what_is_still_stays_and_what_is_used_moves(capsys: pytest.CaptureFixture[str]) -> None:
    q = solved(capsys, *TWO)
    assert q == pz.solve(ARM, TASK, still=TWO[1:]).q.tolist()
    assert (q[0], q[6]) == (ARM.home[0], ARM.home[6])
    moving = [f"panda_joint{i}" for i in range(2, 7)]
    assert solved(capsys, "--use", *moving) == solved(capsys, "--use", ",".join(moving)) == q


def test_costs_are_those_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    q = solved(capsys, "--joint-costs", "panda_joint1=20", "panda_joint2=5.0")
    assert q == solved(capsys, "--joint-costs", "panda_joint1=20,panda_joint2=5")
    assert q == pz.solve(ARM, TASK, joint_costs={"panda_joint1": 20.0, "panda_joint2": 5.0}).q.tolist()
    assert abs(q[0] - ARM.home[0]) < 0.5 * abs(pz.solve(ARM, TASK).q[0] - ARM.home[0])


@pytest.mark.parametrize("command", ["path", "track"])
def test_a_path_and_a_tracker_move_the_same_joints(command: str, tmp_path: Path) -> None:
    targets, out = tmp_path / "line.csv", tmp_path / "joints.csv"
    targets.write_text(LINE)
    timed = ["--dt", "0.01"] * (command == "track")
    assert main([command, "panda", str(targets), "--frame", "panda_hand", "-o", str(out), *timed, *TWO]) == 0
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    for name in ("panda_joint1", "panda_joint7"):
        assert [float(row[f"q_{name}"]) for row in rows] == [ARM.home[ARM.index(name)][0]] * 2


def test_a_batch_moves_them_and_is_another_job_with_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    targets, out = tmp_path / "line.csv", tmp_path / "answers.parquet"
    targets.write_text(LINE)
    command = ["batch", "panda", str(targets), "--frame", "panda_hand", "-o", str(out), "--threads", "1"]
    assert main([*command, *TWO]) == 0
    assert parquet.read_table(out)["q_panda_joint1"].to_pylist() == [ARM.home[0]] * 2
    capsys.readouterr()
    for others in ([], ["--still", "panda_joint1"], [*TWO, "--joint-costs", "panda_joint2=3"]):
        assert main([*command, *others]) == 1
        assert "for another job" in capsys.readouterr().err
    dear = tmp_path / "dear.parquet"
    assert main([*command[:-3], str(dear), "--joint-costs", "panda_joint1=20"]) == 0
    table = parquet.read_table(dear)
    q = np.column_stack([table[f"q_{name}"].to_numpy() for name in ARM.coordinates])
    for row, z in zip(q, (0.5, 0.49), strict=True):
        alone = pz.solve(ARM, pz.PositionTask("panda_hand", (*PLACE[:2], z)), joint_costs={"panda_joint1": 20.0})
        assert row == pytest.approx(alone.q, abs=1e-6)


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ({"still": ["panda_joint1", "panda_joint7"]}, TWO),
        ({"still": "panda_joint1"}, ["--still", "panda_joint1"]),
        ({"use": ["panda_link5"], "still": ["panda_joint2"]}, ["--use", "panda_link5", "--still", "panda_joint2"]),
        (
            {"joint_costs": {"panda_joint1": 20, "panda_joint2": 5.0}},
            ["--joint-costs", "panda_joint1=20,panda_joint2=5"],
        ),
        (
            {"still": ["panda_joint7"], "joint_costs": {"panda_joint1": 20.0}},
            ["--still", "panda_joint7", "--joint-costs", "panda_joint1=20"],
        ),
    ],
)
def test_a_file_of_tasks_says_the_same(
    said: dict[str, Any], options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = solved(capsys, *options)
    for k, word in enumerate(said):  # each word may stand in the file or be an option
        file = tmp_path / f"{k}.json"
        task = {"kind": "position", "frame": "panda_hand", "target": PLACE}
        file.write_text(json.dumps({word: said[word], "tasks": [task]}))
        others = options[2 * (1 - k) :][:2] if len(said) > 1 else []
        assert main(["solve", "panda", "--tasks", str(file), *others, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["q"] == both
    (tmp_path / "line.csv").write_text(LINE)
    followed = {"tasks": [{"kind": "position", "frame": "panda_hand"}]}
    (tmp_path / "follow.json").write_text(json.dumps(said | followed))
    command = ["track", "panda", str(tmp_path / "line.csv"), "--dt", "0.01", "--json"]
    assert main([*command, "--tasks", str(tmp_path / "follow.json")]) == 0
    led = json.loads(capsys.readouterr().out)["q"]
    assert main([*command, "--frame", "panda_hand", *options]) == 0
    assert json.loads(capsys.readouterr().out)["q"] == led


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ('still = ["panda_joint9"]', [], "tasks.toml: panda has no joint 'panda_joint9'"),
        ('use = ["panda_joint1"]\nstill = ["panda_joint1"]', [], "tasks.toml: with use=['panda_joint1']"),
        ("use = []", [], "tasks.toml: with use=[]"),
        ("still = 3", [], "tasks.toml: still must name joints"),
        ("joint_costs = {panda_joint1 = 0}", [], "tasks.toml: joint_costs['panda_joint1'] is 0"),
        ('joint_costs = ["panda_joint1"]', [], "tasks.toml: joint_costs must name joints"),
        ('still = ["panda_joint1"]', ["--still", "panda_joint2"], "--still and "),
        ("joint_costs = {panda_joint1 = 2}", ["--joint-costs", "panda_joint2=2"], "both say joint_costs"),
        ('stil = ["panda_joint1"]', [], "did you mean 'still'?"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_place(
    text: str, options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tasks.toml"
    task = '\n[[tasks]]\nkind = "position"\nframe = "panda_hand"\ntarget = [0.4, 0.1, 0.5]\n'
    file.write_text(text + task)
    assert main(["solve", "panda", "--tasks", str(file), *options]) == 1
    assert words in capsys.readouterr().err


def test_a_word_of_the_whole_file_in_a_task_is_told_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tasks.toml"
    file.write_text('[[tasks]]\nkind = "position"\nframe = "panda_hand"\nstill = ["panda_joint1"]\n')
    assert main(["solve", "panda", "--tasks", str(file)]) == 1
    assert "(PositionTask) has no field 'still', which is of the whole file: write it before" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--still"], "--still names no joint: name some, as in --still panda_joint1, or leave it out"),
        (["--use"], "--use names no joint"),
        (["--still", ","], "--still names no joint"),
        (["--joint-costs"], "--joint-costs names no joint: name some, as in --joint-costs panda_joint1=10, or"),
        (["--still", "panda_joint9"], "'panda_joint9'"),
        (["--use", "panda_joint1", "--still", "panda_joint1"], "no joint of panda may move"),
        (["--joint-costs", "panda_joint1"], "--joint-costs are of the form name=value, got 'panda_joint1'"),
        (["--joint-costs", "panda_joint1=dear"], "--joint-costs panda_joint1: 'dear' is no number"),
        (["--joint-costs", "panda_joint1=2", "panda_joint1=3"], "state 'panda_joint1' twice, as 2 and as 3"),
        (["--joint-costs", "panda_joint1=0"], "joint_costs['panda_joint1'] is 0.0"),
    ],
)
def test_what_is_wrong_is_said(options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "panda", *GOAL, *options]) == 1
    assert words in capsys.readouterr().err
