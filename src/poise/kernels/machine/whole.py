"""Whether a library is whole, by what its own header says: a process that opens half of one dies of it.

A full disk or a download that broke off leaves such a file.  The loader maps what is not there, and a bus error,
SIGBUS, ends Python without a word.  The headers of all three formats say where each part of a file lies; it is at least
as long as the farthest of them reaches.
"""

from pathlib import Path
from struct import error, unpack_from
from typing import Final

_HEADER: Final = 1 << 16
"""Bytes in which all headers stand."""
_LC_SEGMENT_64: Final = 0x19


class CutShort(OSError):
    """A library of which the end is missing."""


def check_whole(file: Path) -> None:
    """Raise CutShort for a library that ends before it should, OSError for what cannot be read.

    What is no library passes: the loader itself refuses it.
    """
    with file.open("rb") as stream:
        head = stream.read(_HEADER)
    size = file.stat().st_size
    try:
        whole = _end(head)
    except error:
        whole = size + 1
    if size < whole:
        raise CutShort(
            f"{file} was cut short, at {size} bytes of {whole} or more: install poise again, with pip install "
            "--force-reinstall, or compile it here, by python -m poise.build"
        )


def _end(head: bytes) -> int:
    """Where the farthest part of a library ends, 0 for what is none; struct.error where the header itself is cut."""
    if head.startswith(b"\x7fELF\x02\x01"):  # of 64 bits, little end first, as all of ours
        programs, sections = unpack_from("<QQ", head, 32)
        each, count, section, many = unpack_from("<4H", head, 54)
        parts = [(sections, section * many)]
        for k in range(count):
            offset, length = unpack_from("<8xQ16xQ", head, programs + k * each)
            parts.append((offset, length))
    elif head.startswith(b"MZ"):
        (at,) = unpack_from("<I", head, 60)
        count, optional = unpack_from("<6xH12xH", head, at)
        parts = []
        for k in range(count):
            length, offset = unpack_from("<16xII", head, at + 24 + optional + 40 * k)
            parts.append((offset, length))
    elif head.startswith(b"\xcf\xfa\xed\xfe"):  # of one machine, 64 bits
        count, at, parts = unpack_from("<16xI", head)[0], 32, []
        for _ in range(count):
            kind, length = unpack_from("<II", head, at)
            if kind == _LC_SEGMENT_64:
                parts.append(unpack_from("<40xQQ", head, at))
            at += length
    else:
        return 0
    return max((offset + length for offset, length in parts), default=0)
