"""Files of targets, read piece by piece: Parquet, CSV and NumPy's .npz, as tables of a fixed number of rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from poise.common.archive import Member, members
from poise.common.errors import InvalidValue
from poise.scale.names import POSITION, QUATERNION, START, numeric
from poise.tasks.pose import PoseTask

_BLOCK: Final = 4 << 20
"""Bytes of a CSV file that are parsed at a time; the first such block settles the types of carried columns."""
_ROWS: Final = 16_384
"""Rows that are taken from a Parquet or .npz file at a time."""


class Source(ABC):
    """A file of targets.  It holds no open file, so it can be sent to a process."""

    schema: pa.Schema
    count: int | None
    """Its rows; None where the file does not say how many, and can be read from its beginning alone."""

    def __init__(self, path: Path) -> None:
        """Raises OSError for a file that cannot be read, ValueError for one that is not what its name says."""
        self.path = path
        self.stamp = self.stamped()

    def stamped(self) -> dict[str, Any]:
        """What changes when somebody writes to the file."""
        try:
            found = self.path.stat()
        except OSError as error:
            raise OSError(f"{self.path} cannot be read: {error.strerror}") from None
        return {"input": self.path.name, "input_bytes": found.st_size, "input_modified_ns": found.st_mtime_ns}

    def tables(self, rows: int, first: int = 0) -> Iterator[pa.Table]:
        """Its rows from `first` on, in tables of `rows` rows each but for the last; raises OSError where that fails."""
        with self._explained():
            yield from _cut(self._pieces(first), rows)

    def refuse_changes(self) -> None:
        """Raises OSError where somebody wrote to the file since it was opened."""
        if self.stamped() != self.stamp:
            raise OSError(f"{self.path} was changed while it was read; begin anew with --start-over")

    @abstractmethod
    def _pieces(self, first: int) -> Iterator[pa.Table]:
        """Its rows from `first` on, in tables of any size."""

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What a reader raises, as a sentence that names the file."""
        try:
            yield
        except (pa.ArrowException, OSError, ValueError) as error:
            raise OSError(f"{self.path} cannot be read: {str(error).partition(chr(10))[0]}") from None


@final
class ParquetSource(Source):
    """A Parquet file: row groups are read one by one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._explained(), self._open() as file:
            self.schema = file.schema_arrow.remove_metadata()
            self.count = file.metadata.num_rows

    def _open(self) -> pq.ParquetFile:
        return pq.ParquetFile(self.path, pre_buffer=False, buffer_size=1 << 20)

    def _pieces(self, first: int) -> Iterator[pa.Table]:
        with self._open() as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            begin = 0
            while begin < len(sizes) and sizes[begin] <= first:
                first -= sizes[begin]
                begin += 1
            for group in range(begin, len(sizes)):
                batches = file.iter_batches(batch_size=_ROWS, row_groups=[group])
                yield from _without((pa.Table.from_batches([b]).replace_schema_metadata() for b in batches), first)
                first = 0


@final
class CsvSource(Source):
    """A CSV file whose first line names the columns; it is read from its beginning, whatever row is wanted."""

    count = None

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        if not self.stamp["input_bytes"]:
            raise InvalidValue("empty", f"{path} is empty; its first line must name its columns")
        self._types: dict[str, pa.DataType] = {}
        with self._explained():
            with self._open() as reader:
                self._types = {name: pa.float64() for name in reader.schema.names if numeric(name)}
            with self._open() as reader:
                self.schema = reader.schema

    def _open(self) -> pyarrow.csv.CSVStreamingReader:
        return pyarrow.csv.open_csv(
            self.path,
            read_options=pyarrow.csv.ReadOptions(block_size=_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=self._types),
        )

    def _pieces(self, first: int) -> Iterator[pa.Table]:
        with self._open() as reader:
            yield from _without((pa.Table.from_batches([batch]) for batch in reader), first)


@final
class NpzSource(Source):
    """A NumPy archive: `targets` (n, 3), (n, 7) or (n, 4, 4), perhaps `q0` (n, nq), and columns (n,) to be carried.

    Arrays are read piece by piece where they are not compressed, and else held in memory as a whole.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._explained():
            arrays = members(self.path)
        self.count = self._checked(arrays)
        with self._explained():
            self.schema = _columns(arrays, slice(0, 0)).schema

    def _checked(self, arrays: dict[str, Member]) -> int:
        """How many rows there are; raises ValueError for arrays that are no columns."""
        if "targets" not in arrays:
            raise InvalidValue(
                "wrong-format", f"{self.path} has no array 'targets'; found {', '.join(arrays) or 'none'}"
            )
        shape = arrays["targets"].shape
        if shape[1:] not in ((3,), (7,), (4, 4)):
            raise InvalidValue("wrong-shape", f"{self.path}: targets must be (n, 3), (n, 7) or (n, 4, 4), got {shape}")
        for name, array in arrays.items():
            wanted = {"targets": len(shape), START: 2}.get(name, 1)
            if len(array.shape) != wanted or array.shape[0] != shape[0]:
                raise InvalidValue(
                    "wrong-shape", f"{self.path}: {name} has shape {array.shape}, which is no row for each target"
                )
        return shape[0]

    def _pieces(self, first: int) -> Iterator[pa.Table]:
        arrays = members(self.path)
        for begin in range(first, self.count or 0, _ROWS):
            yield _columns(arrays, slice(begin, begin + _ROWS))


_KINDS: Final[dict[str, type[Source]]] = {".parquet": ParquetSource, ".csv": CsvSource, ".npz": NpzSource}


def source_of(path: Path) -> Source:
    """The file of targets at `path`; raises ValueError for another kind, and as `Source` does."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise InvalidValue("wrong-format", f"{path} is no file of targets; its name must end in {', '.join(_KINDS)}")
    return kind(path)


def _cut(pieces: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of `rows` rows each but for the last, whatever pieces a reader gives."""
    buffered: list[pa.Table] = []
    lack = rows
    for piece in pieces:
        remaining = piece
        while remaining.num_rows >= lack:
            yield pa.concat_tables([*buffered, remaining.slice(0, lack)])
            remaining, buffered, lack = remaining.slice(lack), [], rows
        if remaining.num_rows:
            buffered.append(remaining)
            lack -= remaining.num_rows
    if buffered:
        yield pa.concat_tables(buffered)


def _without(pieces: Iterable[pa.Table], first: int) -> Iterator[pa.Table]:
    """All but the first rows."""
    for piece in pieces:
        if first < piece.num_rows:
            yield piece.slice(first)
        first = max(first - piece.num_rows, 0)


def _columns(arrays: dict[str, Member], rows: slice) -> pa.Table:
    """Some rows of the arrays as the columns of a table."""
    targets = np.asarray(arrays["targets"][rows], dtype=np.float64)
    if targets.ndim == 3:
        targets = PoseTask("").goals(targets).reshape(-1, 7)
    columns = dict(zip((*POSITION, *QUATERNION), (pa.array(column) for column in targets.T), strict=False))
    for name, array in arrays.items():
        if name == START:
            starts = np.ascontiguousarray(array[rows], dtype=np.float64)
            columns[START] = pa.FixedSizeListArray.from_arrays(starts.ravel(), starts.shape[1])
        elif name != "targets":
            columns[name] = pa.array(array[rows])
    return pa.table(columns)
