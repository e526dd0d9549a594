"""A job that is stopped anywhere, by anything, goes on without losing or repeating a row."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from support.refusals import refused
from targets import ARM, SOLVER, targets

import poise as pz
from poise.scale import solve_table
from poise.scale.job import digest, one_process, solve_file
from poise.scale.parts import Summary
from poise.scale.source import source_of

ROWS = 8
TABLE = targets(30)
ANSWERS = solve_table(SOLVER, TABLE)


class Killed(BaseException):
    """The end of a process, after which nothing of it happens."""


class Disk:
    """The system's calls that change what is on the disk; the process dies at one of them."""

    def __init__(self, patch: pytest.MonkeyPatch, dies_at: int, *, after: bool) -> None:
        self.calls, self.dead = 0, False
        self._dies_at, self._after = dies_at, after
        for owner, name in ((os, "fsync"), (os, "truncate"), (Path, "replace"), (Path, "unlink"), (Path, "mkdir")):
            patch.setattr(owner, name, self._mortal(getattr(owner, name)))

    def _mortal(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def mortal(*arguments: Any, **options: Any) -> Any:
            if self.dead:
                raise Killed
            self.calls += 1
            self.dead = self.calls == self._dies_at
            if self.dead and not self._after:
                raise Killed
            value = call(*arguments, **options)
            if self.dead:
                raise Killed
            return value

        return mortal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(TABLE, tmp_path / "targets.parquet", row_group_size=11)
    return tmp_path


def run(
    folder: Path,
    *,
    solver: pz.Solver = SOLVER,
    rows: int = ROWS,
    start_over: bool = False,
    on_progress: Any = lambda n: None,
) -> tuple[Summary, bool]:
    return solve_file(
        solver, source_of(folder / "targets.parquet"), folder / "out.parquet",
        rows=rows, engine=one_process(1), start_over=start_over, on_progress=on_progress,
    )  # fmt: skip


def stop_after(parts: int) -> Callable[[int], None]:
    def on_progress(done: int) -> None:
        if done >= parts * ROWS:
            raise KeyboardInterrupt

    return on_progress


def interrupted(folder: Path, parts: int = 2) -> Path:
    """A job stopped after so many parts; its folder."""
    with pytest.raises(KeyboardInterrupt):
        run(folder, on_progress=stop_after(parts))
    return folder / "out.parquet.parts"


def whole(folder: Path) -> bool:
    """Whether the output has every row once, with its answer, and nothing else was left."""
    names = {path.name for path in folder.iterdir()}
    return names == {"targets.parquet", "out.parquet"} and pq.read_table(folder / "out.parquet").equals(ANSWERS)


def test_parts_become_row_groups_of_one_file(folder: Path) -> None:
    seen: list[int] = []
    summary, complete = run(folder, on_progress=seen.append)
    assert whole(folder)
    assert not complete
    assert seen == [0, 8, 16, 24, 30]
    metadata = pq.ParquetFile(folder / "out.parquet").metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [8, 8, 8, 6]
    assert summary.rows == 30
    assert summary.counts == {"CONVERGED": 27, "BAD_INPUT": 2, "UNREACHABLE": 1}
    assert summary.first == {"BAD_INPUT": [3, 4], "UNREACHABLE": [5]}


def test_the_output_says_what_was_asked(folder: Path) -> None:
    run(folder)
    job = json.loads(pq.read_schema(folder / "out.parquet").metadata[b"poise.job"])
    wanted = {"model": "panda", "frame": ARM.tip, "task": "PoseTask", "seed": 0, "poise": pz.__version__}
    assert job.items() >= wanted.items()
    assert job["tolerances"] == [1e-6, 1e-6]


def test_a_process_may_die_at_any_call_that_changes_the_disk(folder: Path) -> None:
    for after in (False, True):
        for dies_at in count(1):
            with pytest.MonkeyPatch.context() as patch:
                disk = Disk(patch, dies_at, after=after)
                with suppress(Killed):
                    run(folder)
            if not disk.dead:
                break
            run(folder)
            assert whole(folder), (dies_at, after)
            (folder / "out.parquet").unlink()
        assert dies_at > 20


def test_a_line_of_the_manifest_may_end_anywhere(folder: Path) -> None:
    parts = interrupted(folder)
    kept = folder.parent / "kept"
    shutil.copytree(parts, kept)
    text = (parts / "manifest.jsonl").read_bytes()
    for length in range(0, len(text), 7):
        (parts / "manifest.jsonl").write_bytes(text[:length])
        interrupted(folder, 3)
        run(folder)
        assert whole(folder), length
        (folder / "out.parquet").unlink()
        shutil.copytree(kept, parts)


def test_what_is_done_is_not_solved_again(folder: Path) -> None:
    parts = interrupted(folder)
    before = [(path, path.stat().st_mtime_ns) for path in sorted(parts.glob("part-*"))]
    assert len(before) == 2
    interrupted(folder, 3)
    assert all(path.stat().st_mtime_ns == time for path, time in before)
    seen: list[int] = []
    run(folder, on_progress=seen.append)
    assert seen == [24, 30]
    assert whole(folder)


def test_a_part_whose_file_is_gone_or_cut_off_is_solved_again(folder: Path) -> None:
    parts = interrupted(folder, 3)
    (parts / "part-000000.parquet").unlink()
    os.truncate(parts / "part-000001.parquet", 100)
    seen: list[int] = []
    run(folder, on_progress=seen.append)
    assert seen == [8, 16, 24, 30]
    assert whole(folder)


def test_a_damaged_manifest_is_refused(folder: Path) -> None:
    parts = interrupted(folder)
    manifest = parts / "manifest.jsonl"
    manifest.write_bytes(b"no job\n" + manifest.read_bytes())
    with refused("wrong-format", "manifest.jsonl"):
        run(folder)
    run(folder, start_over=True)
    assert whole(folder)


def test_the_same_job_again_finds_it_complete(folder: Path) -> None:
    first, _ = run(folder)
    time = (folder / "out.parquet").stat().st_mtime_ns
    assert run(folder) == (first, True)
    assert (folder / "out.parquet").stat().st_mtime_ns == time
    assert whole(folder)


OTHER = pz.Solver(ARM, pz.PoseTask(ARM.tip), seed=7)
LOOSE = pz.Solver(ARM, pz.PoseTask(ARM.tip, position_tolerance=1e-3))
ELSEWHERE = pz.Solver(ARM, pz.PoseTask("panda_link8"))


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"solver": OTHER}, "seed was 0, is 7"),
        ({"solver": LOOSE}, r"tolerances was \[1e-06, 1e-06\], is \[0.001, 1e-06\]"),
        ({"solver": ELSEWHERE}, "frame was panda_hand_tcp, is panda_link8"),
        ({"rows": 9}, "rows was 8, is 9"),
    ],
)
def test_another_job_is_refused_and_says_how_it_differs(
    other: dict[str, Any], difference: str, complete: bool, folder: Path
) -> None:
    if complete:
        run(folder)
    else:
        interrupted(folder)
    with pytest.raises(ValueError, match=rf"another job: {difference}; .*--start-over"):
        run(folder, **other)
    run(folder)
    assert whole(folder)
    summary, done = run(folder, **other, start_over=True)
    assert (summary.rows, done) == (30, False)


def test_a_changed_input_is_another_job(folder: Path) -> None:
    interrupted(folder)
    pq.write_table(targets(31), folder / "targets.parquet")
    with refused("inconsistent", "input_bytes"):
        run(folder)


def test_an_input_that_changes_meanwhile_makes_no_output(folder: Path) -> None:
    def on_progress(done: int) -> None:
        if done == ROWS:
            os.utime(folder / "targets.parquet")

    with pytest.raises(OSError, match="was changed while it was read"):
        run(folder, on_progress=on_progress)
    assert not (folder / "out.parquet").exists()


def test_a_file_of_somebody_else_is_not_replaced(folder: Path) -> None:
    for content in (b"my notes", (folder / "targets.parquet").read_bytes()):
        (folder / "out.parquet").write_bytes(content)
        with refused("duplicate", "out.parquet"):
            run(folder)
        assert {path.name for path in folder.iterdir()} == {"targets.parquet", "out.parquet"}
        assert (folder / "out.parquet").read_bytes() == content
    run(folder, start_over=True)
    assert whole(folder)


def test_two_processes_do_not_write_one_output(folder: Path) -> None:
    def on_progress(done: int) -> None:
        if done == ROWS:
            with pytest.raises(OSError, match=r"another process is writing .*out\.parquet"):
                run(folder, start_over=True)

    run(folder, on_progress=on_progress)
    assert whole(folder)


@pytest.mark.parametrize("full_at", [3, 6, 12, 15])
def test_a_full_disk_leaves_the_finished_parts(full_at: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync, calls = os.fsync, count(1)

    def full(handle: int) -> None:
        if next(calls) >= full_at:
            raise OSError(errno.ENOSPC, "no words for it")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OSError,
        match=r"cannot be written: the disk is full; make room, or name another place; \d+ rows are done and kept in",
    ):
        run(folder)
    assert not list((folder / "out.parquet.parts").glob("*.parquet.*"))  # what was not finished gives its room back
    monkeypatch.setattr(os, "fsync", fsync)
    run(folder)
    assert whole(folder)


def test_a_folder_that_is_not_there_is_a_sentence(folder: Path) -> None:
    with pytest.raises(
        OSError, match=r"out\.parquet cannot be written: there is no folder .*; make it, or name another"
    ):
        solve_file(
            SOLVER, source_of(folder / "targets.parquet"), folder / "none" / "out.parquet",
            rows=8, engine=one_process(1), start_over=False, on_progress=lambda n: None,
        )  # fmt: skip


@pytest.mark.parametrize("rows", [0, 1, 8, 9])
def test_few_rows_are_a_file_too(rows: int, folder: Path) -> None:
    pq.write_table(TABLE.slice(6, rows), folder / "targets.parquet")
    summary, _ = run(folder)
    found = pq.read_table(folder / "out.parquet")
    assert summary.rows == found.num_rows == rows
    assert found.equals(ANSWERS.slice(6, rows))
    assert run(folder) == (summary, True)


def test_columns_that_do_not_fit_leave_no_trace(folder: Path) -> None:
    pq.write_table(TABLE.drop_columns("y"), folder / "targets.parquet")
    with refused("wrong-format", "no column y"):
        run(folder)
    assert [path.name for path in folder.iterdir()] == ["targets.parquet"]


def test_the_digest_tells_models_apart() -> None:
    def arm(length: float, upper: float) -> pz.Model:
        b = pz.ModelBuilder("arm")
        origin = pz.SE3.from_parts([length, 0, 0])
        b.joint("turn", "revolute", parent="base", child="link", origin=origin, limits=(-1.0, upper))
        return b.build()

    digests = [digest(arm(*numbers)) for numbers in ((1.0, 1.0), (1.0, 1.0), (np.nextafter(1.0, 2.0), 1.0), (1.0, 1.5))]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
    assert digest(pz.load("panda")) == digest(ARM)
