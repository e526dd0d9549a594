"""A file of targets to a file of answers, part by part."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from poise import __version__
from poise.model.model import Model
from poise.scale.parts import Job, Part, Parts, Summary, write_part
from poise.scale.source import Source
from poise.scale.table import solve_table, task_of
from poise.solving.solvers.solver import Solver

Engine: TypeAlias = Callable[[Solver, Source, Parts, int], Iterator[Part]]
"""Solves, of a source in parts of so many rows, those that are not done yet, and writes them."""
ProgressCallback: TypeAlias = Callable[[int], None]
"""Is told how many rows are done, at the beginning and after every part; what it raises ends the job."""


def solve_file(
    solver: Solver,
    source: Source,
    out: Path,
    *,
    rows: int,
    engine: Engine,
    start_over: bool,
    on_progress: ProgressCallback,
) -> tuple[Summary, bool]:
    """Solve for all rows of `source` into the Parquet file `out`; the summary, and whether there was nothing to do.

    What was done before it was stopped, by whatever, stays done: the same call goes on from there.  Raises ValueError
    for columns that do not fit and for an `out` or parts of another job, OSError for files that cannot be read or
    written, with all finished parts kept.
    """
    nothing = solve_table(solver, source.schema.empty_table())
    parts = Parts(out, job_of(solver, source, rows))
    with parts.locked(start_over=start_over) as complete:
        if complete is not None:
            return complete, True
        on_progress(parts.rows)
        try:
            for part in engine(solver, source, parts, rows):
                parts.record(part)
                on_progress(parts.rows)
            source.refuse_changes()
            return parts.merge(nothing.schema), False
        except OSError as error:
            raise OSError(f"{error}; {resume_hint(parts)}") from error


def resume_hint(parts: Parts) -> str:
    """What is safe, and how to go on."""
    return f"{parts.rows:,} rows are done and kept in {parts.folder}; the same command goes on from there"


def one_process(threads: int | None) -> Engine:
    """Solve part after part on the threads of this process."""

    def engine(solver: Solver, source: Source, parts: Parts, rows: int) -> Iterator[Part]:
        number = 0
        while number in parts.done:
            number += 1
        for table in source.tables(rows, number * rows):
            if number not in parts.done:
                yield write_part(parts.folder, number, number * rows, solve_table(solver, table, threads=threads))
            number += 1

    return engine


def job_of(solver: Solver, source: Source, rows: int) -> Job:
    """All that the answers and their parts depend on."""
    task = task_of(solver)
    return source.stamp | {
        "model": solver.model.name,
        "model_digest": digest(solver.model),
        "still": sorted(solver.model.still),
        "joint_costs": dict(solver.model.joint_costs),
        "frame": task.frame,
        "offset": None if task.offset is None else task.offset.array.tolist(),
        "task": type(task).__name__,
        "tolerances": [block.tolerance for block in task.blocks],
        "select": solver.select,
        "seed": solver.seed,
        "limits": solver.limits,
        "max_restarts": solver.max_restarts,
        "rows": rows,
        "poise": __version__,
    }


def digest(model: Model) -> str:
    """Hex digits that differ for two models whose joints, limits, frames or homes differ."""
    joints = [
        (j.name, str(j.kind), j.parent, j.child, j.origin.array.tolist(), j.axis, j.pitch, j.lower, j.upper, j.mimic)
        for j in model.joints
    ]
    frames = [(frame.name, frame.link, frame.origin.array.tolist()) for frame in map(model.frame, model.frames)]
    return hashlib.sha256(repr((joints, frames, model.home.tolist())).encode()).hexdigest()[:16]
