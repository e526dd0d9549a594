"""The same rows from workers of Ray, of which one is killed in the middle."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from targets import SOLVER, targets

from poise.cli import main
from poise.scale import solve_table

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="workers are found in /proc"),
]
PARTS, ROWS = 150, 20
TABLE = targets(PARTS * ROWS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(TABLE, tmp_path / "targets.parquet")
    return tmp_path


def arguments(folder: Path, *more: str) -> list[str]:
    return [
        "batch",
        "panda",
        str(folder / "targets.parquet"),
        "-o",
        str(folder / "out.parquet"),
        "--rows",
        str(ROWS),
        *more,
    ]


def on_ray(folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "poise", *arguments(folder, "--engine", "ray", "--workers", "2")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def workers(root: int) -> list[int]:
    """The processes of Ray's workers under the process `root`."""
    parents, found = {}, []
    for entry in Path("/proc").iterdir():
        try:
            title = (entry / "cmdline").read_bytes()
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if title.startswith(b"ray::MapWorker"):
            found.append(int(entry.name))

    def below(process: int) -> bool:
        return process == root or (process in parents and below(parents[process]))

    return [process for process in found if below(process)]


def parts(folder: Path) -> int:
    try:
        return (folder / "out.parquet.parts" / "manifest.jsonl").read_bytes().count(b"\n") - 1
    except FileNotFoundError:
        return 0


def wait_until(reached: Callable[[], object], process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 120
    while not reached():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_killed_worker_costs_no_row(folder: Path) -> None:
    process = on_ray(folder)
    wait_until(lambda: parts(folder) >= 5, process)
    os.kill(workers(process.pid)[0], signal.SIGKILL)
    assert parts(folder) < PARTS
    out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert f"out.parquet: {PARTS * ROWS:,} rows" in out
    answers = pq.read_table(folder / "out.parquet")
    assert answers["id"].to_pylist() == list(range(PARTS * ROWS))
    assert answers.equals(solve_table(SOLVER, TABLE))
    assert {path.name for path in folder.iterdir()} == {"targets.parquet", "out.parquet"}


def test_one_process_goes_on_where_a_killed_cluster_was(folder: Path) -> None:
    process = on_ray(folder)
    wait_until(lambda: parts(folder) >= 5, process)
    process.kill()
    process.communicate()
    assert 5 <= parts(folder) < PARTS
    assert main(arguments(folder)) == 0
    assert pq.read_table(folder / "out.parquet").equals(solve_table(SOLVER, TABLE))


DATASET = """
import sys
import pyarrow.parquet as pq
import ray
import poise as pz

ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
table = pq.read_table(sys.argv[1])
dataset = ray.data.from_arrow([table.slice(begin, 20) for begin in range(0, len(table), 20)])
arm = pz.load("panda")
answers = pz.scale.map_batches(dataset, arm, pz.PoseTask(arm.tip), workers=2)
for batch in answers.iter_batches(batch_size=20, batch_format="pyarrow", prefetch_batches=0):
    pq.write_table(batch, f"{sys.argv[2]}/{batch['id'][0]}.parquet")
"""


def test_a_dataset_loses_no_row_with_a_worker(folder: Path) -> None:
    answers = folder / "answers"
    answers.mkdir()
    command = [sys.executable, "-c", DATASET, str(folder / "targets.parquet"), str(answers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: any(answers.iterdir()), process)
    os.kill(workers(process.pid)[0], signal.SIGKILL)
    assert len(list(answers.iterdir())) < PARTS
    _, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    found = pa.concat_tables([pq.read_table(path) for path in answers.iterdir()]).sort_by("id")
    assert found.equals(solve_table(SOLVER, TABLE))


def test_a_file_that_has_no_middle_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "targets.csv").write_text("x,y,z\n0.4,0.1,0.5\n")
    command = ["batch", "panda", str(folder / "targets.csv"), "-o", str(folder / "out.parquet"), "--engine", "ray"]
    assert main(command) == 1
    assert "targets.csv can be read from its beginning alone; workers of Ray take .parquet" in capsys.readouterr().err
    assert not (folder / "out.parquet.parts").exists()


def test_what_a_worker_cannot_read_is_a_sentence(folder: Path) -> None:
    pq.write_table(TABLE, folder / "targets.parquet", row_group_size=10 * ROWS)
    begin = pq.ParquetFile(folder / "targets.parquet").metadata.row_group(3).column(1).data_page_offset
    with (folder / "targets.parquet").open("rb+") as file:
        file.seek(begin)
        file.write(b"\xff" * 60)
    run = subprocess.run(
        [sys.executable, "-m", "poise", *arguments(folder, "--engine", "ray", "--workers", "2")],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 1
    # What Ray's processes say while they end may stand within the line.
    sentence = r"error: .*targets\.parquet cannot be read: .* rows are done and kept in"
    assert re.search(sentence, run.stderr, re.DOTALL), run.stderr
    assert 0 < parts(folder) < PARTS
