"""NumPy's archives, .npz, whose arrays claim no more than the file holds, and which are read some rows at a time.

A header says how large an array is, and memory is taken by its word; so it is held against the bytes that the zip says
it unpacks to, and those against the bytes of the file.  Lib/zipfile checks the sums of what is read.
"""

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Final, Literal, final

import numpy as np
import numpy.typing as npt

from poise.common.errors import InvalidValue

_BROKEN: Final = (
    ArithmeticError, EOFError, LookupError, MemoryError, NotImplementedError, RuntimeError, SyntaxError, TypeError,
    ValueError, struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What NumPy and the zip raise for damage."""
_DEFLATED: Final = 1032
"""Bytes that one byte unpacks to at most: 258 of two bits (RFC 1951, 3.2.5)."""
_ONE: Final = b"\x93NUMPY"
"""With which a file of one array begins."""


@final
@dataclass(frozen=True)
class Member:
    """An array of an archive."""

    path: Path
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]
    offset: int | None
    """Where its numbers begin in the file; None where they are packed, or there are none."""

    def __getitem__(self, rows: slice) -> npt.NDArray[Any]:
        if self.offset is None:
            return self.whole[rows]
        # Mapped anew each time: what was read of a file stays in memory for as long as it is mapped.
        return np.array(np.memmap(self.path, self.dtype, "r", self.offset, self.shape, self.order)[rows])

    @property
    def nbytes(self) -> int:
        """Bytes of its numbers."""
        return prod(self.shape) * self.dtype.itemsize

    @cached_property
    def whole(self) -> npt.NDArray[Any]:
        """All of it, its sum checked; raises as `members` does."""
        with _named(self.name), zipfile.ZipFile(self.path) as archive, archive.open(f"{self.name}.npy") as member:
            array: npt.NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
            if array.shape != self.shape or array.dtype != self.dtype or member.read(1):
                raise ValueError("it was changed while it was read")
            return array


def members(path: Path, only: Collection[str] | None = None) -> dict[str, Member]:
    """The arrays of an archive, or `only` those of these names, unread.

    Raises OSError for a file that cannot be read; ValueError, which names the array, for what is no archive, for an
    array that claims more or less than is there, and for one of Python's objects.
    """
    with path.open("rb") as file:
        if file.read(len(_ONE)) == _ONE:
            raise InvalidValue("wrong-format", "it is one array, and no archive of arrays")
    with _named(None), zipfile.ZipFile(path) as archive:
        arrays = {i.filename.removesuffix(".npy"): i for i in archive.infolist() if i.filename.endswith(".npy")}
        found = [_member(path, archive, i) for name, i in arrays.items() if only is None or name in only]
    return {member.name: member for member in found}


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    name = info.filename.removesuffix(".npy")
    with _named(name):
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("it is packed in a way that NumPy does not write")
        most = info.compress_size * (_DEFLATED if info.compress_type == zipfile.ZIP_DEFLATED else 1)
        if info.file_size > most or info.header_offset + info.compress_size > path.stat().st_size:
            raise ValueError(f"the archive says that it unpacks to {info.file_size:,} bytes, which are not there")
        with archive.open(info) as member:
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(member)
            begin = member.tell()
        if dtype.hasobject:
            raise ValueError("it holds Python objects, and those are not read from files")
        # A dtype of no bytes would let a header claim any number of elements.
        claimed, stored = prod(shape) * max(dtype.itemsize, 1), info.file_size - begin
        if min(shape, default=0) < 0 or (claimed != stored and (dtype.itemsize or claimed > 1)):
            raise ValueError(f"its header claims {shape} of {dtype}, {claimed:,} bytes, and {stored:,} are there")
        offset = None
        if info.compress_type == zipfile.ZIP_STORED and 0 not in shape and shape:
            # Its data stand behind its local header, whose last two numbers are the lengths of what is before them.
            with path.open("rb") as file:
                file.seek(info.header_offset + 26)
                filename, extra = struct.unpack("<HH", file.read(4))
            offset = info.header_offset + 30 + filename + extra + begin
            if offset + claimed > path.stat().st_size:
                raise ValueError(f"its {claimed:,} bytes go on behind the end of the file")
    return Member(path, name, shape, dtype, "F" if fortran else "C", offset)


@contextmanager
def _named(array: str | None) -> Iterator[None]:
    """What is wrong with an archive, or with an array of it, as a ValueError that names the array."""
    try:
        yield
    except OSError:
        raise
    except _BROKEN as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidValue(
            "wrong-format", said if array is None or said.startswith("array '") else f"array {array!r}: {said}"
        ) from error
