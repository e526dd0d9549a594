"""`poise batch` on a file larger than it may hold in memory: its speed, its memory, and kills at random moments."""

import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import poise as pz

CHUNK = 100_000
"""Rows that are made at a time."""
ROWS = 10_000
"""Rows of the file for each of `--count`."""
CORES = os.cpu_count() or 1
KILLS = 50
KILLED_ROWS, PART = 100_000, 500
"""Rows of the job that is killed, and of its parts."""


@dataclass(frozen=True)
class Streamed:
    """One run of `poise batch` to its end."""

    how: str
    rows: int
    seconds: float
    """Wall clock of the whole command, with the imports, and with making one file of the parts."""
    memory: float
    """Largest resident set of the process, without Ray's workers [MiB]."""
    read: float
    """Size of the targets [MiB]."""


@dataclass(frozen=True)
class Survived:
    """A job that was killed again and again."""

    kills: int
    jobs: int
    lost: int
    """Rows that are missing, there twice, or not what one run without a kill gives."""


def stream(count: int) -> list[Streamed]:
    """A tenth of the rows on one core and on all, by threads and by Ray; then all rows: their memory is no larger."""
    few, many = count * ROWS // 10, count * ROWS
    cores = sorted({1, CORES})
    ways = {f"threads {n}": ["--threads", str(n)] for n in cores}
    if find_spec("ray"):
        ways |= {f"Ray workers {n}": ["--engine", "ray", "--workers", str(n)] for n in cores}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _made(folder, few)
        runs = [_measured(folder, few, how, more) for how, more in ways.items()]
        _made(folder, many)
        return [*runs, _measured(folder, many, f"threads {CORES}", ways[f"threads {CORES}"])]


def survive() -> Survived:
    """Kill a job at random moments of its life, from its first import to its last file, until it is complete."""
    moments = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        targets = _made(folder, KILLED_ROWS)
        began = time.perf_counter()
        _run(targets, folder / "whole.parquet", PART)
        life = time.perf_counter() - began
        out, kills, jobs, lost = folder / "out.parquet", 0, 1, 0
        while kills < KILLS:
            process = _started(targets, out, PART)
            try:
                code = process.wait(moments.uniform(0.0, life))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
                continue
            # It came to its end before the moment did, so the next one begins anew.
            if code:
                raise RuntimeError(f"poise batch left with {code}")
            lost += _differing(out, folder / "whole.parquet")
            out.unlink()
            jobs += 1
        _run(targets, out, PART)
        return Survived(kills, jobs, lost + _differing(out, folder / "whole.parquet"))


def _differing(out: Path, whole: Path) -> int:
    found, wanted = pq.read_table(out), pq.read_table(whole)
    if found.equals(wanted):
        return 0
    return len(set(wanted["id"].to_pylist()) ^ set(found["id"].to_pylist())) or wanted.num_rows


def _measured(folder: Path, rows: int, how: str, more: list[str]) -> Streamed:
    targets, out = folder / "targets.parquet", folder / "out.parquet"
    began = time.perf_counter()
    process = _started(targets, out, 65_536, *more)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    if status:
        raise RuntimeError(f"poise batch left with {os.waitstatus_to_exitcode(status)}")
    if pq.ParquetFile(out).metadata.num_rows != rows:
        raise RuntimeError(f"{out} has not all of the {rows} rows")
    size = targets.stat().st_size
    out.unlink()
    return Streamed(how, rows, seconds, usage.ru_maxrss / 1024, size / 2**20)


def _made(folder: Path, rows: int) -> Path:
    """Poses of random configurations of a Panda, with an `id`."""
    arm = pz.load("panda")
    path = folder / "targets.parquet"
    names = ("x", "y", "z", "qw", "qx", "qy", "qz")
    schema = pa.schema([("id", pa.int64()), *((name, pa.float64()) for name in names)])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for begin in range(0, rows, CHUNK):
            n = min(CHUNK, rows - begin)
            poses = arm.pose(arm.tip, arm.sample(n, seed=begin)).array
            columns = dict(zip(names, poses.T, strict=True))
            writer.write_table(pa.table({"id": np.arange(begin, begin + n), **columns}))
    return path


def _run(targets: Path, out: Path, rows: int) -> None:
    if _started(targets, out, rows).wait():
        raise RuntimeError("poise batch did not end well")


def _started(targets: Path, out: Path, rows: int, *more: str) -> "subprocess.Popen[bytes]":
    command = [
        sys.executable,
        "-m",
        "poise",
        "batch",
        "panda",
        str(targets),
        "-o",
        str(out),
        "--rows",
        str(rows),
        *more,
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def show(streamed: list[Streamed], survived: Survived) -> None:
    """Print both."""
    print("\n`poise batch`, Panda\n\n| | rows | seconds | rows/s | largest memory, MiB | targets, MiB |")
    print("|---|--:|--:|--:|--:|--:|")
    for run in streamed:
        speed = f"{run.rows:,} | {run.seconds:.1f} | {run.rows / run.seconds:,.0f}"
        print(f"| {run.how} | {speed} | {run.memory:.0f} | {run.read:.0f} |")
    print(
        f"\n{survived.kills} kills at random moments of {survived.jobs} jobs of {KILLED_ROWS:,} rows: "
        f"{survived.lost} rows lost, repeated or other than without a kill"
    )
