"""NumPy's archives, .npz, some rows at a time."""

import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt


@final
@dataclass(frozen=True, slots=True)
class Member:
    """An array of an archive."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Literal["C", "F"]
    offset: int
    """Where its numbers begin in the file, if they are stored as they are."""
    held: npt.NDArray[Any] | None
    """The whole, if they are not."""

    def __getitem__(self, rows: slice) -> npt.NDArray[Any]:
        if self.held is not None:
            return self.held[rows]
        # Mapped anew each time: what was read of a file stays in memory for as long as it is mapped.
        return np.array(np.memmap(self.path, self.dtype, "r", self.offset, self.shape, self.order)[rows])


def members(path: Path) -> dict[str, Member]:
    """The arrays of an archive; raises ValueError, OSError or BadZipFile for what is none."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename.removesuffix(".npy"): _member(path, archive, info) for info in archive.infolist()}


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(member)
        begin = member.tell()
    if dtype.hasobject:
        raise ValueError(f"{info.filename} holds Python objects, and those are not read from files")
    held = None
    if info.compress_type != zipfile.ZIP_STORED or 0 in shape:
        with archive.open(info) as member:
            held = np.lib.format.read_array(member)
    # A member's data stand behind its local header, whose last two numbers are the lengths of what else is before them.
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
    offset = info.header_offset + 30 + name + extra + begin
    return Member(path, shape, dtype, "F" if fortran else "C", offset, held)
