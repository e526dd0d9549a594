"""`--use`, `--still` and `--joint-costs`: the same answers as those of the library's arguments."""

import csv
import json
from pathlib import Path

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
    ("options", "words"),
    [
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
