"""The same rows on more machines, by Ray Data: workers that prepare a solver once, then take table after table."""

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, final

import pyarrow as pa

from poise.common.checks import whole
from poise.common.errors import InvalidValue
from poise.common.lazy import optional
from poise.model.model import Model
from poise.scale.columns import TargetTask
from poise.scale.job import Engine
from poise.scale.parts import Part, Parts, write_part
from poise.scale.source import Source
from poise.scale.table import solve_table, task_of
from poise.solving.solvers.solver import Solver


def map_batches(dataset: Any, model: Model, task: TargetTask, *, workers: int | None = None, **settings: Any) -> Any:
    """Solve for all rows of a Ray dataset; the answer is a lazy dataset too, of the columns that `solve_table` gives.

    `settings` are those of `Solver`, such as `seed`.  Each worker is an actor on one core, and prepares its solver
    once; `workers` is how many there are, and without it Ray decides.  A worker that dies is replaced, and what it had
    not finished is solved again, with the same answers: they depend on their own row and the seed alone.

    Raises MissingExtra without Ray, FrameNotFound and ValueError as `Solver` and `solve_table` do.
    """
    data = _ray().data
    if workers is not None:
        whole("workers", workers, 1)
    solver = Solver(model, task, **settings)
    task_of(solver)
    return dataset.map_batches(
        _Worker, batch_format="pyarrow", batch_size=None, compute=data.ActorPoolStrategy(size=workers), num_cpus=1,
        fn_constructor_args=(solver,),
    )  # fmt: skip


@final
class _Worker:
    """Solves the tables of a dataset."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver

    def __call__(self, table: pa.Table) -> pa.Table:
        return solve_table(self._solver, table, threads=1)


@final
class _PartWorker:
    """Solves parts of a file, which it reads and writes by itself."""

    def __init__(self, solver: Solver, source: Source, folder: Path, rows: int) -> None:
        self._solver, self._source, self._folder, self._rows = solver, source, folder, rows

    def __call__(self, numbers: pa.Table) -> pa.Table:
        return pa.table({"answer": [json.dumps(self._solved(number)) for number in numbers["number"].to_pylist()]})

    def _solved(self, number: int) -> dict[str, Any]:
        """The fields of the part; or, under "error", what a file that cannot be read or written says.

        For Ray would try an error again, and then tell of it in words of its own.
        """
        begin = number * self._rows
        try:
            table = next(self._source.tables(self._rows, begin))
            return asdict(write_part(self._folder, number, begin, solve_table(self._solver, table, threads=1)))
        except OSError as error:
            return {"error": str(error)}


def on_ray(source: Source, address: str | None, workers: int | None) -> Engine:
    """Solve parts of `source` on the workers of a Ray cluster, or of one on this machine; all must see the same disk.

    Raises MissingExtra without Ray, ValueError for a source that cannot be read from its middle.
    """
    ray = _ray()
    data = ray.data
    count = source.count
    if workers is not None:
        whole("workers", workers, 1)
    if count is None:
        raise InvalidValue(
            "not-supported", f"{source.path} can be read from its beginning alone; workers of Ray take .parquet or .npz"
        )

    def engine(solver: Solver, source: Source, parts: Parts, rows: int) -> Iterator[Part]:
        missing = [{"number": k} for k in range(-(-count // rows)) if k not in parts.done]
        if not missing:
            return
        try:
            ray.init(address=address or "local", log_to_driver=False, logging_level="error")
        except ConnectionError as error:
            raise OSError(f"there is no Ray cluster at {address}: {error}") from None
        try:
            logging.getLogger("ray.data").setLevel(logging.ERROR)
            data.DataContext.get_current().enable_progress_bars = False
            cores = int(ray.cluster_resources()["CPU"])
            pool = data.ActorPoolStrategy(size=min(workers or cores, len(missing)))
            answers = data.from_items(missing, override_num_blocks=len(missing)).map_batches(
                _PartWorker, batch_format="pyarrow", batch_size=1, compute=pool, num_cpus=1,
                fn_constructor_args=(solver, source, parts.folder, rows),
            )  # fmt: skip
            for answer in answers.iter_rows():
                fields = json.loads(answer["answer"])
                if "error" in fields:
                    raise OSError(fields["error"])
                yield Part(**fields)
        except ray.exceptions.RayError as error:
            raise OSError(f"a worker of Ray failed: {str(error).strip().splitlines()[-1]}") from error
        finally:
            ray.shutdown()

    return engine


def _ray() -> Any:
    return optional("more than one machine", "Ray", "scale", "ray", "ray.data")
