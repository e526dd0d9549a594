"""`poise batch`: a file of targets to a file of answers, however large."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

import poise as pz
from poise.cli.command import Answer, MovesSome, ToTargets, command
from poise.common.errors import InvalidValue

if TYPE_CHECKING:
    from poise.scale.job import Engine
    from poise.scale.parts import Summary
    from poise.scale.source import Source


@command
class Batch(MovesSome, ToTargets):
    """Solve for every row of a file of targets; stopped by anything, the same command goes on where it was.

    Columns of targets: x y z [m], with qw qx qy qz or roll pitch yaw [rad] for a pose; of starts: q0_JOINT for each, or
    a list q0.  All others are carried through.  A .npz holds targets (n, 7), (n, 4, 4) or (n, 3), and perhaps q0.
    Exit code 0 when every row has its answer, whatever its status.
    """

    targets: Positional[Path]
    """File of targets: .parquet, .csv or .npz."""
    out: Annotated[Path, arg(aliases=["-o"])]
    """File of answers: .parquet."""
    select: Literal["nearest", "first"] = "nearest"
    """Which solution: the nearest to the start of those found, or the first."""
    max_restarts: int | None = None
    """Random starts of a row, at most; left out, as many as a solve takes."""
    rows: int = 65_536
    """Rows of a part, and so of a row group: what is held in memory, and what a kill can cost."""
    threads: int | None = None
    """Threads; left out, one a core."""
    engine: Literal["local", "ray"] = "local"
    """Threads of this process, or workers of Ray."""
    address: str | None = None
    """The Ray cluster, auto or HOST:PORT; left out, one on this machine."""
    workers: int | None = None
    """Workers of Ray; left out, one a core."""
    start_over: Annotated[bool, arg(aliases=["--force"])] = False
    """Remove what is there of the output, whoever wrote it, and begin anew."""

    def run(self) -> Answer:
        """Load, solve and write."""
        from poise.scale import require_arrow

        require_arrow()
        from poise.common.checks import whole
        from poise.scale.job import solve_file
        from poise.scale.source import source_of

        whole("rows", self.rows, 1)
        if self.threads is not None:
            whole("threads", self.threads, 1)
        if self.out.suffix.lower() != ".parquet":
            raise InvalidValue(
                "wrong-format", f"{self.out} cannot be written: answers go into a file whose name ends in .parquet"
            )
        source, out = source_of(self.targets.resolve()), self.out.resolve()
        solver, engine = self._solver(source), self._engine(source)
        began = time.perf_counter()
        with _reporting(source.count) as report:
            try:
                summary, complete = solve_file(
                    solver, source, out, rows=self.rows, engine=engine, start_over=self.start_over, on_progress=report
                )
            except KeyboardInterrupt:
                print(f"stopped: {report.done:,} rows are done and kept; the same command goes on", file=sys.stderr)
                raise
        return self._answer(summary, complete, time.perf_counter() - began, solver)

    def _solver(self, source: "Source") -> "pz.Solver":
        from poise.scale.names import rotation_columns

        model = self.model()
        task = self.task(model, turns=bool(rotation_columns(source.schema.names)))
        return pz.Solver(
            model, task, limits=self.limits, select=self.select, seed=self.seed, max_restarts=self.max_restarts
        )

    def _engine(self, source: "Source") -> "Engine":
        if self.engine == "ray":
            from poise.scale.cluster import on_ray

            return on_ray(source, self.address, self.workers)
        if self.address is not None or self.workers is not None:
            raise InvalidValue("needs", "--address and --workers are for --engine ray")
        from poise.scale.job import one_process

        return one_process(self.threads)

    def _answer(self, summary: "Summary", complete: bool, seconds: float, solver: "pz.Solver") -> Answer:
        from poise.cli.output import say
        from poise.scale.table import task_of

        label = task_of(solver).label
        if complete:
            done = f"{self.out} is complete already, with {summary.rows:,} rows; --start-over would solve them anew"
        else:
            done = f"{self.out}: {summary.rows:,} row{'s' * (summary.rows != 1)} of {label}, in {seconds:.1f} s"
        lines = [done]
        for status, count in summary.counts.items():
            first = ", ".join(f"{row:,}" for row in summary.first.get(status, []))
            where = f", the first in rows {first}" if first else ""
            lines.append(f"{count:,} {status}: {pz.Status[status].message}{where}")
        about = {"out": str(self.out), "task": label, "complete_before": complete, "time": seconds}
        return Answer(
            facts=about | asdict(summary),
            show=lambda: say("\n".join(lines)),
            explanation=f"{'; '.join(lines)}. The file has a row for each target, in their order; use those whose "
            "success is true, for the others hold the nearest that was found.",
        )


class _Reporter:
    """How many rows are done; calls of it end the job after a Ctrl-C that came when nobody listened."""

    def __init__(self, show: Callable[[int], None]) -> None:
        self.done, self._show, self._stopped = 0, show, False

    def __call__(self, done: int) -> None:
        self.done = done
        self._show(done)
        if self._stopped:
            raise KeyboardInterrupt

    def stop(self, *_: Any) -> None:
        """For the signal: a batch of rows that is nearly done ends well in spite of it, so it is remembered."""
        self._stopped = True
        raise KeyboardInterrupt


@contextmanager
def _reporting(count: int | None) -> Iterator[_Reporter]:
    """A bar on a terminal, and Ctrl-C heard."""
    from poise.common.progress import bar, on_terminal

    with bar("rows", count, shown=on_terminal()) as show:
        report = _Reporter(show)
        before = signal.signal(signal.SIGINT, report.stop)
        try:
            yield report
        finally:
            signal.signal(signal.SIGINT, before)
