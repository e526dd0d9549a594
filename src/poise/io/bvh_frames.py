"""The second half of a BVH: the numbers of each frame, read by NumPy all at once."""

import re
import warnings
from dataclasses import dataclass
from typing import Final, NoReturn, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import ModelError
from poise.io.bvh_tree import NUMBER
from poise.io.notes import Notes

FPS: Final = 30.0
"""Frames a second, where a file gives no time."""
_LINES: Final = 2**23
"""The most lines of frames, of which most could be empty."""
_OLD_NAN: Final = re.compile(rb"(?<!\S)[+-]?1\.#\w+")
"""Not a number, and infinity, as an old C library prints them."""
_TIMES: Final = re.compile(rb"\s*Frames\b[\s:]*([^\s:]\S*)\s+Frame[ \t]*Time\b[\s:]*([^\s:]\S*)", re.IGNORECASE)


@final
@dataclass(frozen=True, slots=True)
class Mended:
    """What was assumed and mended: in words for the motion's notes, and what was wrong in the file for a warning."""

    notes: list[str]
    wrong: Notes

    def add(self, remark: str, line: int, example: str = "") -> None:
        """What was wrong, in both."""
        self.wrong.add(remark, line, example)
        self.notes.append(f"{remark}: {example}" if example else remark)


def read_frames(
    data: bytes, at: int, width: int, file: str | None, fps: float | None, mended: Mended
) -> tuple[Array, float]:
    """(frames, width) the numbers of a file behind its word MOTION, and the seconds from frame to frame.

    Raises ModelError, with file and line, for a frame with more or fewer numbers, and for words that are none.
    """
    line = data.count(b"\n", 0, at) + 1
    head = _TIMES.match(data, at)
    if head is None:
        raise ModelError("MOTION needs two lines, 'Frames: 100' and 'Frame Time: 0.01'", file=file, line=line)
    declared, seconds = (_text(word) for word in head.groups())
    if not re.fullmatch(r"\d{1,18}", declared, re.ASCII):
        raise ModelError(f"Frames is {declared!r}; it must be a whole number", file=file, line=line)
    body = data[head.end() :]
    first = line + data.count(b"\n", at, head.end())
    if b"#" in body:
        body = _OLD_NAN.sub(b"nan", body)
    rows = _table(body, first, width, int(declared), file)
    if len(rows) != int(declared):
        mended.add(f"Frames says {int(declared)}, and there are {len(rows)} rows; all of them are read", line)
    if fps is not None:
        return rows, 1.0 / fps
    time = float(seconds) if NUMBER.fullmatch(seconds.encode()) and "(" not in seconds else float("nan")
    if not 1e-9 < time < 1e9:
        mended.add(f"Frame Time is {seconds!r}, and 1/{FPS:g} s is taken; fps says another", line)
        time = 1.0 / FPS
    return rows, time


def _table(body: bytes, first: int, width: int, declared: int, file: str | None) -> Array:
    """(frames, width) the numbers of the text, whose first line has the number `first` in the file."""
    if body.count(b"\n") > _LINES:
        raise ModelError(f"MOTION has more than {_LINES} lines, which no motion needs", file=file, line=first)
    lines = body.split(b"\n")
    counts = [len(line.split()) for line in lines]
    total = sum(counts)
    numbers = _numbers(body)
    if numbers is None or len(numbers) != total:
        _refuse_words(lines, first, file)
    odd = next((i for i, count in enumerate(counts) if count not in (0, width)), None)
    if odd is not None and (width == 0 or total != width * declared):
        cut = odd == max(i for i, count in enumerate(counts) if count) and counts[odd] < width
        raise ModelError(
            f"this frame has {counts[odd]} numbers, and the joints have {width} channels"
            + ("; the file is cut off" if cut else "; mend the frame, or the CHANNELS"),
            file=file,
            line=first + odd,
        )
    if not total and declared and width:
        raise ModelError(
            f"{declared} frames are announced, and none follows; the file is cut off", file=file, line=first
        )
    return numbers.reshape(-1, max(width, 1))[:, :width]


def _numbers(body: bytes) -> Array | None:
    """All numbers of a text; None where one is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(body, sep=" ") if body.strip() else np.zeros(0)
        except (DeprecationWarning, ValueError):
            return None


def _refuse_words(lines: list[bytes], first: int, file: str | None) -> NoReturn:
    for i, line in enumerate(lines):
        for word in line.split():
            if not NUMBER.fullmatch(word):
                comma = "; write a point in place of the comma" if re.fullmatch(rb"[+-]?\d+,\d+", word) else ""
                raise ModelError(f"{_text(word)!r} in a frame is no number{comma}", file=file, line=first + i)
    raise ModelError("the frames cannot be read as numbers", file=file, line=first)


def _text(word: bytes) -> str:
    return word[:60].decode(errors="replace")
