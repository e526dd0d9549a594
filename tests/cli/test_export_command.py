"""`poise export` and `poise sdk`: a simple arm leaves without a line of Python."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.carried import FRAME, TASK, Carried

import poise as pz
from poise.cli import main
from poise.kernels.machine.library import library

with_library = pytest.mark.skipif(library() is None, reason="there is no library here: run python -m poise.build")


@with_library
def test_a_solver_leads_several_frames(tmp_path: Path) -> None:
    assert (
        main(["export", "g1", str(tmp_path / "g1.poise"), "--frame", "left_wrist_yaw_link", "right_wrist_yaw_link"])
        == 0
    )
    one, robot = Carried(tmp_path / "g1.poise"), pz.load("g1")
    assert (one.count(TASK), one.names(FRAME)) == (2, list(robot.frames))


@with_library
def test_with_dt_it_is_a_tracker_that_stays_where_it_is(tmp_path: Path) -> None:
    assert main(["export", "panda", str(tmp_path / "t.poise"), "--dt", "0.001", "--position-only"]) == 0
    home = pz.load("panda").home
    status, q = Carried(tmp_path / "t.poise").step(home)
    assert status == "OK"
    np.testing.assert_allclose(q, home, rtol=0.0, atol=1e-12)


def test_what_was_written_is_told_to_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "panda", str(tmp_path / "a.poise"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["robot"], told["frames"]) == ("solver", "panda", [pz.load("panda").tip])
    assert told["bytes"] == (tmp_path / "a.poise").stat().st_size


def test_a_wrong_frame_is_named_and_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "panda", str(tmp_path / "a.poise"), "--frame", "panda_hnad"]) == 1
    assert "panda_hand" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@with_library
def test_what_is_no_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "taken"
    taken.write_text("kept")
    assert main(["sdk", str(taken)]) == 1
    said = "cannot be made a folder to write to: a file is in the way; name another"
    assert capsys.readouterr().err == f"error: {taken / 'lib/cmake/poise'} {said}\n"
    assert taken.read_text() == "kept"


@with_library
def test_the_sdk_is_written_over_an_earlier_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for force in ([], ["--force"]):
        assert main(["sdk", str(tmp_path), "--json", *force]) == 0
        files = json.loads(capsys.readouterr().out)["files"]
        assert sorted(files) == sorted(str(f.relative_to(tmp_path)) for f in tmp_path.rglob("*") if f.is_file())
