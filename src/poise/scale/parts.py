"""The finished parts of an output file, which a kill, a full disk or a power cut leaves whole.

A Parquet file cannot be continued: its index is its last page.  So each part is a file of its own in a folder beside
the output, written aside, synced and then moved to its name; only then a line of the manifest names it, synced too.  A
line that was cut off counts as not written, and so does the part that it would have named.  The parts become one file,
by the same steps, when the last one is there.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from poise.common.errors import InvalidValue
from poise.common.files import atomic_write, explained, sync

Job: TypeAlias = dict[str, Any]
"""What was asked, in words and numbers that JSON has: two runs with the same job give the same rows."""

_JOB: Final = b"poise.job"
_SUMMARY: Final = b"poise.summary"
"""Under which the output's metadata hold the job and the summary."""
_SHOWN: Final = 5
"""Rows that are named for each status that is no success."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A finished part, as the manifest names it."""

    number: int
    rows: int
    bytes: int
    counts: dict[str, int]
    """How many of its rows ended with which status."""
    first: dict[str, list[int]]
    """The first rows of each status but CONVERGED, counted from the first row of the input."""

    @classmethod
    def of(cls, number: int, begin: int, table: pa.Table, size: int) -> "Part":
        """The part whose first row is the input's row `begin`, in a file of `size` bytes."""
        status = table["status"].combine_chunks()
        ended, names = status.indices.to_numpy(), status.dictionary.to_pylist()
        rows = {names[place]: np.flatnonzero(ended == place) for place in np.unique(ended)}
        counts = {name: len(found) for name, found in rows.items()}
        first = {name: (begin + found[:_SHOWN]).tolist() for name, found in rows.items() if name != "CONVERGED"}
        return cls(number=number, rows=table.num_rows, bytes=size, counts=counts, first=first)


@final
@dataclass(frozen=True, slots=True)
class Summary:
    """How the rows of a job ended."""

    rows: int
    counts: dict[str, int]
    """How many rows ended with which status."""
    first: dict[str, list[int]]
    """The first rows of each status but CONVERGED."""

    @classmethod
    def of(cls, parts: list[Part]) -> "Summary":
        """All parts together, in their order."""
        counts: dict[str, int] = {}
        first: dict[str, list[int]] = {}
        for part in parts:
            for status, count in part.counts.items():
                counts[status] = counts.get(status, 0) + count
            for status, rows in part.first.items():
                first[status] = (first.get(status, []) + rows)[:_SHOWN]
        return cls(sum(part.rows for part in parts), counts, first)


@final
class Parts:
    """The folder of parts of one output file, locked by this process alone while `locked` lasts."""

    def __init__(self, out: Path, job: Job) -> None:
        self.out, self.job = out, job
        self.folder = out.with_name(out.name + ".parts")
        self.done: dict[int, Part] = {}
        self._manifest = self.folder / "manifest.jsonl"

    @property
    def rows(self) -> int:
        """Rows that are done."""
        return sum(part.rows for part in self.done.values())

    @contextmanager
    def locked(self, *, start_over: bool) -> Iterator[Summary | None]:
        """The folder, made or found again; the value is the summary where the output is complete already.

        Raises ValueError where the output or its parts are those of another job, unless they may be removed to
        `start_over`; OSError where another process works on them, or a file cannot be written.
        """
        with explained(self.out):
            self.folder.mkdir(exist_ok=True)
            lock = (self.folder / "lock").open("a")
        with lock:
            _acquire(lock, self.out)
            if start_over:
                self._clear()
            try:
                complete = self._complete()
                if complete is None:
                    self._resume()
                yield complete
            finally:
                if self.out.exists():  # then no part is needed any more
                    shutil.rmtree(self.folder, ignore_errors=True)

    def record(self, part: Part) -> None:
        """Name a part in the manifest: from now on it is done.  Raises OSError where its file is not there."""
        if _size(path_of(self.folder, part.number)) != part.bytes:
            raise OSError(f"part {part.number} is not in {self.folder}: all workers must see the same disk")
        self._append(asdict(part))
        self.done[part.number] = part

    def merge(self, schema: pa.Schema) -> Summary:
        """Make the parts, a row group each, one file.  `schema` is theirs."""
        parts = [self.done[number] for number in sorted(self.done)]
        summary = Summary.of(parts)
        about = {_JOB: json.dumps(self.job), _SUMMARY: json.dumps(asdict(summary))}
        with atomic_write(self.out, self.folder) as path, _writer(path, schema.with_metadata(about)) as writer:
            for part in parts:
                writer.write_table(pq.read_table(path_of(self.folder, part.number)), row_group_size=max(part.rows, 1))
        return summary

    def _complete(self) -> Summary | None:
        if not self.out.exists():
            return None
        try:
            about = pq.read_schema(self.out).metadata or {}
            job, summary = json.loads(about[_JOB]), json.loads(about[_SUMMARY])
        except (OSError, KeyError, ValueError):
            raise InvalidValue(
                "duplicate",
                f"{self.out} is there already, and poise batch did not write it; name another output, or replace it "
                "with --start-over",
            ) from None
        self._refuse_another(job, f"{self.out} is there already, for another job")
        return Summary(**summary)

    def _resume(self) -> None:
        """Read the manifest, cut off a line that was not finished, and take in the parts whose files are whole."""
        try:
            text = self._manifest.read_bytes()
        except FileNotFoundError:
            text = b""
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            os.truncate(self._manifest, len(whole))
        if not whole:
            self._append(self.job)
            return
        try:
            job, *parts = map(json.loads, whole.splitlines())
            found = [Part(**part) for part in parts]
        except (TypeError, ValueError):
            raise InvalidValue("wrong-format", f"{self._manifest} is damaged; begin anew with --start-over") from None
        self._refuse_another(job, f"{self.folder} holds parts of another job")
        self.done = {part.number: part for part in found if _size(path_of(self.folder, part.number)) == part.bytes}

    def _refuse_another(self, job: Job, where: str) -> None:
        differ = [key for key in {**job, **self.job} if job.get(key) != self.job.get(key)]
        if differ:
            was = "; ".join(f"{key} was {job.get(key)}, is {self.job.get(key)}" for key in differ)
            raise InvalidValue(
                "inconsistent", f"{where}: {was}; name another output, or remove what is there with --start-over"
            )

    def _append(self, line: dict[str, Any]) -> None:
        with explained(self._manifest):
            with self._manifest.open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            sync(self.folder)

    def _clear(self) -> None:
        # The manifest goes first: without it no part counts.
        with explained(self.out):
            for path in (self._manifest, self.out, *self.folder.glob("*.parquet*")):
                path.unlink(missing_ok=True)


def write_part(folder: Path, number: int, begin: int, table: pa.Table) -> Part:
    """Write a part whole or not at all; its first row is the input's row `begin`."""
    path = path_of(folder, number)
    with atomic_write(path) as draft, _writer(draft, table.schema) as writer:
        writer.write_table(table, row_group_size=max(table.num_rows, 1))
    return Part.of(number, begin, table, path.stat().st_size)


def path_of(folder: Path, number: int) -> Path:
    """The file of a part."""
    return folder / f"part-{number:06d}.parquet"


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    # Numbers hardly ever repeat, so a dictionary of them costs time and saves nothing.
    texts = [field.name for field in schema if not pa.types.is_primitive(field.type)]
    return pq.ParquetWriter(path, schema, use_dictionary=texts)


def _acquire(lock: Any, out: Path) -> None:
    """Lock an open file; raises OSError where another process has it, or has just removed it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock.fileno()).st_nlink == 0:
                raise BlockingIOError
    except OSError:
        raise OSError(f"another process is writing {out}; wait for it, or name another output") from None


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
