"""`poise batch`: what it prints and leaves with, and that a signal costs no row."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from targets import ARM, SOLVER, targets

import poise as pz
from poise.cli import main
from poise.scale import solve_table

ROWS = 40
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(targets(50), tmp_path / "targets.parquet")
    return tmp_path


def batch(folder: Path, *more: str, name: str = "targets.parquet") -> int:
    return main(["batch", "panda", str(folder / name), "-o", str(folder / "out.parquet"), *more])


def test_it_counts_how_rows_ended_and_names_the_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert batch(folder) == 0
    out = capsys.readouterr().out
    assert "out.parquet: 50 rows of PoseTask('panda_hand_tcp'), in " in out
    assert "\n47 CONVERGED: " in out
    assert "\n2 BAD_INPUT: the target or the start holds numbers that make none" in out
    assert "the first in rows 3, 4\n" in out
    assert pq.read_table(folder / "out.parquet").equals(solve_table(SOLVER, targets(50)))
    assert batch(folder) == 0
    assert "out.parquet is complete already, with 50 rows" in capsys.readouterr().out


def test_json_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for complete in (False, True):
        assert batch(folder, "--json") == 0
        out = capsys.readouterr().out
        assert out.count("\n") == 1
        answer = json.loads(out)
        assert answer["complete_before"] is complete
        assert answer["rows"] == 50
        assert answer["first"] == {"UNREACHABLE": [5], "BAD_INPUT": [3, 4]}


def test_settings_are_those_of_the_solver(folder: Path) -> None:
    more = ["--frame", "panda_link8", "--seed", "3", "--select", "first", "--no-limits", "--max-restarts", "5"]
    assert batch(folder, *more, "--position-tolerance", "1e-4", "--rotation-tolerance", "1e-3", "--threads", "2") == 0
    task = pz.PoseTask("panda_link8", position_tolerance=1e-4, rotation_tolerance=1e-3)
    solver = pz.Solver(ARM, task, seed=3, select="first", limits=False, max_restarts=5)
    assert pq.read_table(folder / "out.parquet").equals(solve_table(solver, targets(50)))


def test_positions_alone_make_a_position_task(folder: Path) -> None:
    points = targets(20).select(["id", "x", "y", "z"])
    pa.csv.write_csv(points, folder / "points.csv")
    assert batch(folder, name="points.csv") == 0
    solver = pz.Solver(ARM, pz.PositionTask(ARM.tip))
    assert pq.read_table(folder / "out.parquet").equals(solve_table(solver, points))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--rows", "0"], "rows is 0; it must be at least 1"),
        (["--threads", "0"], "threads is 0; it must be at least 1"),
        (["--workers", "2"], "--address and --workers are for --engine ray"),
        (["--frame", "hand"], "no frame 'hand'; did you mean"),
        (["--out", "answers.csv"], "answers.csv cannot be written: answers go into a file whose name ends in .parquet"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    more: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert batch(folder, *more) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1


def test_without_pyarrow_the_message_is_the_command_that_installs_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert batch(folder) == 1
    assert 'pip install "poise[data]"' in capsys.readouterr().err


def test_without_ray_the_message_is_the_command_that_installs_it(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray.data", None)
    assert batch(folder, "--engine", "ray") == 1
    assert 'pip install "poise[scale]"' in capsys.readouterr().err


# Signals ---------------------------------------------------------------------------------------------------------


def started(folder: Path, rows: int = ROWS) -> "subprocess.Popen[str]":
    command = [
        "batch",
        "panda",
        str(folder / "targets.parquet"),
        "-o",
        str(folder / "out.parquet"),
        "--rows",
        str(rows),
    ]
    return subprocess.Popen([sys.executable, "-m", "poise", *command], stderr=subprocess.PIPE, text=True)


def lines(folder: Path) -> int:
    """Lines of the manifest: one for the job, one for each part."""
    try:
        return (folder / "out.parquet.parts" / "manifest.jsonl").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def wait_for_a_part(folder: Path, process: "subprocess.Popen[str]") -> None:
    before, end = lines(folder), time.monotonic() + 120
    while lines(folder) <= max(before, 1) and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.002)


@UNIX
@pytest.mark.parametrize("kills", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_costs_no_row(kills: int, folder: Path) -> None:
    rows = 50 * kills * ROWS
    table = targets(rows)
    pq.write_table(table, folder / "targets.parquet")
    moments = random.Random(0)
    for _ in range(kills):
        process = started(folder)
        wait_for_a_part(folder, process)
        time.sleep(moments.uniform(0.0, 0.1))
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (folder / "out.parquet").exists()
    assert batch(folder, "--rows", str(ROWS)) == 0
    answers = pq.read_table(folder / "out.parquet")
    assert answers["id"].to_pylist() == list(range(rows))
    assert answers.equals(solve_table(SOLVER, table))
    assert {path.name for path in folder.iterdir()} == {"targets.parquet", "out.parquet"}


@UNIX
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_says_how_to_go_on(folder: Path) -> None:
    pq.write_table(targets(4000 * ROWS), folder / "targets.parquet")
    process = started(folder)
    wait_for_a_part(folder, process)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    # Where kernels were not compiled yet, a line said so.
    said = re.fullmatch(r"stopped: ([\d,]+) rows are done and kept; the same command goes on", error.splitlines()[-1])
    assert said is not None
    named = lines(folder) - 1
    # A part may just have been named when the signal came.
    assert int(said[1].replace(",", "")) in (named * ROWS, (named - 1) * ROWS)
    assert not (folder / "out.parquet").exists()


@pytest.mark.usefixtures("ctrl_c")
def test_a_ctrl_c_that_a_batch_swallowed_is_heard(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from poise.scale import job

    def pressed(*arguments: object, **options: object) -> pa.Table:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            pass
        return solve_table(*arguments, **options)  # type: ignore[arg-type]

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(job, "solve_table", pressed)
    assert batch(folder, "--rows", "10") == 130
    assert signal.getsignal(signal.SIGINT) == before
    monkeypatch.undo()
    assert batch(folder, "--rows", "10") == 0
    assert pq.read_table(folder / "out.parquet").num_rows == 50


@UNIX
def test_the_limit_of_a_file_is_an_error_and_what_is_done_stays(folder: Path) -> None:
    pq.write_table(targets(2000), folder / "targets.parquet")
    code = (
        "import resource, sys; from poise.cli import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, resource.RLIM_INFINITY)); sys.exit(main(sys.argv[1:]))"
    )
    command = ["batch", "panda", str(folder / "targets.parquet"), "-o", str(folder / "out.parquet"), "--rows", "500"]
    run = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 1
    assert "out.parquet cannot be written: it grows larger than files may be there; name another place" in run.stderr
    assert "; 2,000 rows are done and kept in" in run.stderr
    assert main(command) == 0
    assert pq.read_table(folder / "out.parquet").equals(solve_table(SOLVER, targets(2000)))
