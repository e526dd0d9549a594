"""`.trc`: a table of text, with five lines before it, that tell rate, unit and names."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from poise import ModelError
from poise.extending import Array, write_whole

UNITS: Final = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "in": 0.0254, "ft": 0.3048}
"""Metres of one unit, by the words for it."""
_WORDS: Final = {
    "millimeters": "mm", "millimeter": "mm", "millimetres": "mm", "centimeters": "cm", "centimetres": "cm",
    "meters": "m", "metres": "m", "meter": "m", "inches": "in", "feet": "ft",
}  # fmt: skip
_MOST: Final = 2**30
"""The largest file [bytes]."""
_GONE: Final = (
    "", "nan", "null", "none", "na", "n/a", "-", "inf", "-inf",
    "nan(ind)", "-nan(ind)", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind",
)  # fmt: skip
"""What stands where a marker was not seen, the last ones as Windows writes NaN."""
_NOWHERE: Final = 9999999.0
"""The number that some programs write for a marker that was not seen, whatever the unit."""
_UNEVEN: Final = 0.02
"""By what share of a step times may miss the rate that the header says, before it is told."""


def read_trc(file: Path, unit: float | None) -> tuple[list[str], Array, Array, list[str]]:
    """Names, times [s], places [m] and notes; raises ModelError, with file and line, for what is no such file."""
    lines = text_lines(file)
    where = next((i for i, line in enumerate(lines[:64]) if line.split()[:1] in (["Frame#"], ["Frame"])), None)
    if where is None:
        raise ModelError("no line begins with Frame#, as that of the names does in a .trc", file=str(file))
    head = _header(lines[:where])
    names, notes = _names(lines[where], file, where + 1)
    scale = unit if unit is not None else metres(head.get("Units", ""), file, notes, line=3)
    times, rows = list[float](), list[list[float]]()
    width, short = 3 * len(names), 0
    for number, line in enumerate(lines[where + 1 :], start=where + 2):
        cells = [cell.strip() for cell in (line.rstrip("\r\n").split("\t") if "\t" in line else line.split())]
        if not any(cells) or (not rows and not _is_number(cells[0])):
            continue  # a blank line, or X1 Y1 Z1
        while len(cells) > 2 + width and not cells[-1]:
            cells.pop()
        if len(cells) > 2 + width:
            raise ModelError(
                f"a row of {len(cells) - 2} numbers; {len(names)} markers have {width}", file=str(file), line=number
            )
        if not cells[0] and not any(cells[1:]):
            continue
        short += len(cells) < 2 + width
        cells += [""] * (2 + width - len(cells))
        try:
            row = [np.nan if cell.lower() in _GONE else float(cell) for cell in cells[1:]]
        except ValueError:
            wrong = next(cell for cell in cells[1:] if cell.lower() not in _GONE and not _is_number(cell))
            raise ModelError(f"{wrong[:60]!r} is not a number", file=str(file), line=number) from None
        times.append(row[0])
        rows.append(row[1:])
    if not rows:
        raise ModelError("there is no frame after the line of names", file=str(file))
    if short:
        notes.append(f"{short} rows end early; what they lack is a gap")
    told = _count(head, "NumFrames")
    if told is not None and told != len(rows):
        notes.append(f"the header says {told} frames, and there are {len(rows)}")
    places = np.array(rows).reshape(len(rows), len(names), 3)
    places[(np.abs(places) == _NOWHERE).any(axis=2)] = np.nan
    places *= scale
    return names, _times(np.array(times), head, file, notes), places, notes


def write_trc(file: Path, names: Sequence[str], times: Array, positions: Array, rate: float, unit: str) -> None:
    """Write one; numbers have as many digits as give the same ones when they are read."""
    frames, count = positions.shape[:2]
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{file.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate:.12g}\t{rate:.12g}\t{frames}\t{count}\t{unit}\t{rate:.12g}\t1\t{frames}",
        "Frame#\tTime\t" + "\t\t\t".join(names) + "\t\t",
        "\t\t" + "\t".join(f"X{i}\tY{i}\tZ{i}" for i in range(1, count + 1)),
        "",
    ]
    scaled = positions / UNITS[unit]
    for i, (time, row) in enumerate(zip(times.tolist(), scaled.reshape(frames, -1).tolist(), strict=True)):
        cells = ["" if x != x else f"{x:.15g}" for x in row]
        lines.append(f"{i + 1}\t{time:.15g}\t" + "\t".join(cells))
    write_whole(file, ("\n".join(lines) + "\n").encode())


def text_lines(file: Path) -> list[str]:
    """The lines of a text; raises ModelError for what cannot be read, is too large, or is none."""
    try:
        if file.stat().st_size > _MOST:
            raise ModelError(f"the file has more than {_MOST // 2**20} MiB; cut the recording", file=str(file))
        data = file.read_bytes()
    except FileNotFoundError:
        raise ModelError("no such file", file=str(file)) from None
    except OSError as error:
        reason = "it is a directory" if file.is_dir() else error.strerror
        raise ModelError(f"cannot be read: {reason}", file=str(file)) from None
    if b"\0" in data[:4096]:
        raise ModelError(f"this is no text, as a {file.suffix} is", file=str(file))
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        return data.decode("latin-1").splitlines()


def _header(lines: Sequence[str]) -> dict[str, str]:
    """The words of the header by their names, which stand in the line above them."""
    for names, values in pairwise(lines):
        if "Rate" in names and "Units" in names:
            blanks = None if len(values.split()) >= len(names.split()) else "\t"  # a value is left out between tabs
            words, said = ([each.strip() for each in line.split(blanks)] for line in (names, values))
            return dict(zip(words, said, strict=False))
    return {}


def _names(line: str, file: Path, number: int) -> tuple[list[str], list[str]]:
    cells = [cell.strip() for cell in (line.split("\t") if "\t" in line else line.split())]
    names, notes = [cell for cell in cells[2:] if cell], list[str]()
    if not names:
        raise ModelError("the line of names has none", file=str(file), line=number)
    return apart(names, notes), notes


def apart(names: list[str], notes: list[str]) -> list[str]:
    """The same, of which those that are there again have a number behind them."""
    names, seen = list(names), dict.fromkeys(names, 0)
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            while (new := f"{name}.{seen[name]}") in seen:
                seen[name] += 1
            notes.append(f"the marker {name!r} is there again, and is called {new!r}")
            names[i], seen[new] = new, 1
    return names


def metres(said: str, file: Path, notes: list[str], line: int | None = None) -> float:
    """Metres of the unit that a header says; raises ModelError for an unknown one."""
    said = said.strip().lower()
    word = _WORDS.get(said, said)
    if word in UNITS:
        return UNITS[word]
    if said:
        raise ModelError(
            f"the unit {said!r} is not known; say how many metres it is with unit", file=str(file), line=line
        )
    notes.append("the header says no unit; millimetres are assumed")
    return UNITS["mm"]


def _count(head: dict[str, str], name: str) -> int | None:
    said = head.get(name, "")
    return int(said) if said.isdecimal() and len(said) < 12 else None


def _times(times: Array, head: dict[str, str], file: Path, notes: list[str]) -> Array:
    """The times, or what the rate makes of the numbers of frames where they say nothing."""
    rates = [float(head[name]) for name in ("DataRate", "CameraRate") if _is_number(head.get(name, ""))]
    rate = next((rate for rate in rates if 0.0 < rate < 1e9), None)
    if np.isfinite(times).all() and (np.diff(times) > 0.0).all():
        if rate is not None and len(times) > 1:
            own = (len(times) - 1) / float(times[-1] - times[0])
            if abs(own / rate - 1.0) > _UNEVEN:
                notes.append(f"the header says {rate:g} frames a second, and the times {own:.5g}: these count")
        return times
    if rate is None:
        bad = (
            int(np.argmax(~np.isfinite(times)))
            if not np.isfinite(times).all()
            else int(np.argmax(np.diff(times) <= 0.0)) + 1
        )
        raise ModelError(f"the time of frame {bad + 1} does not grow, and the header says no rate", file=str(file))
    notes.append(f"the times do not grow; {rate:g} frames a second are taken from the header")
    first = float(times[0]) if np.isfinite(times[0]) else 0.0
    return first + np.arange(len(times)) / rate


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
