"""What programs of sensors write: a text a sensor of Xsens's MT Manager, a table of APDM's with all of them."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from poise import ModelError
from poise.extending import Array
from poise.quaternions import matrix_quaternion
from poise_motion.markers.trc import text_lines
from poise_motion.osim.document import document, listed, named, word

_MATRIX: Final = [f"Mat[{i}][{j}]" for i in (1, 2, 3) for j in (1, 2, 3)]
_QUATERNION: Final = [f"Quat_q{i}" for i in range(4)]
_COUNTER: Final = "PacketCounter"
_WRAPS: Final = 2**16
"""Where a counter of packets begins again."""
_STRETCH: Final = 0.2
"""By how much products of a matrix's rows may miss those of a rotation's."""
_APDM: Final = ("Scalar", "X", "Y", "Z")
_MICROSECOND: Final = 1e-6
"""Of APDM's clock [s]."""
_QUATERNION_AT: Final = 10
"""Columns of a sensor before its quaternion: three axes of three kinds, and the pressure."""
_NAME_BEFORE: Final = 7
"""So many columns before its quaternion a sensor has its name."""


def xsens_files(settings: Path) -> tuple[dict[str, Path], float | None]:
    """By the name in the model, the files that OpenSim's XsensDataReaderSettings names, and a rate if it says one."""
    root, _ = document(settings, "XsensDataReaderSettings")
    folder, end = word(root, "data_folder"), word(root, "trial_extension") or ".txt"
    stem = settings.parent / (folder.replace("\\", "/") or ".") / word(root, "trial_prefix")
    sensors = [each for each in listed(root.child("ExperimentalSensors")) if each.tag == "ExperimentalSensor"]
    files = {word(each, "name_in_model") or named(each): Path(f"{stem}{named(each)}{end}") for each in sensors}
    if not files:
        raise root.error("it names no <ExperimentalSensor>; give it one for each file")
    said = word(root, "sampling_rate")
    rate = _number(said)
    return files, rate if 0.0 < rate < np.inf else None


def read_xsens(files: Mapping[str, Path], rate: float | None) -> tuple[list[str], Array, Array, list[str]]:
    """Names, times [s], quaternions (frames, sensors, 4) and notes of a recording, a file a sensor.

    Packets that a file lacks are gaps.  Raises ModelError, with file and line, for what is no such file.
    """
    notes, said = list[str](), list[float]()
    found = {name: _read_one(file, said) for name, file in files.items()}
    if rate is None and not said:
        first = next(iter(files.values()))
        raise ModelError("its header says no Update Rate; say how many frames a second with rate", file=str(first))
    rate = said[0] if rate is None else rate
    if any(abs(other / rate - 1.0) > 1e-3 for other in said):
        rates = ", ".join(f"{other:g}" for other in dict.fromkeys(said))
        notes.append(f"headers say {rates} frames a second; {rate:g} is taken")
    begin = min(int(packets[0]) for packets, _ in found.values())
    count = max(int(packets[-1]) for packets, _ in found.values()) - begin + 1
    if count > 4 * max(len(packets) for packets, _ in found.values()):
        raise ModelError(
            "its packets are far from those of the others; give files of one recording",
            file=str(list(files.values())[-1]),
        )
    wxyz = np.full((count, len(found), 4), np.nan)
    for k, (packets, rows) in enumerate(found.values()):
        wxyz[packets - begin, k] = rows
    return list(found), np.arange(count) / rate, wxyz, notes


def _read_one(file: Path, rates: list[float]) -> tuple[Array, Array]:
    """The numbers of its packets (n,), which grow, and quaternions (n, 4)."""
    lines = text_lines(file)
    at = next((i for i, line in enumerate(lines[:100]) if line.startswith(_COUNTER)), None)
    if at is None:
        raise ModelError(
            f"no line begins with {_COUNTER}, as that of the names does in a file of Xsens", file=str(file)
        )
    for line in lines[:at]:
        key, _, value = line.strip("/ ").partition(":")
        if key == "Update Rate" and (number := _number(value.strip().removesuffix("Hz"))) > 0.0:
            rates.append(number)
    names = [name.strip() for name in lines[at].split("\t")]
    wanted = next((some for some in (_MATRIX, _QUATERNION) if set(some) <= set(names)), None)
    if wanted is None:
        raise ModelError(
            "it has neither the columns Mat[1][1] to Mat[3][3] nor Quat_q0 to Quat_q3; export orientations as one of "
            "these", file=str(file), line=at + 1,
        )  # fmt: skip
    places = [names.index(name) for name in wanted]
    packets, rows = list[int](), list[list[float]]()
    for number, line in enumerate(lines[at + 1 :], start=at + 2):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) <= max(places) or not cells[0].strip().isdecimal():
            raise ModelError("a row that ends early, or begins with no number", file=str(file), line=number)
        packet = int(cells[0])
        if packets:
            packet += _WRAPS * ((packets[-1] - packet + _WRAPS) // _WRAPS)
        packets.append(packet)
        rows.append([_number(cells[place]) for place in places])
    if not rows:
        raise ModelError("there is no frame after the line of names", file=str(file))
    if len(set(packets)) < len(packets):
        raise ModelError("a packet is there twice; export it anew", file=str(file))
    numbers = np.array(rows)
    return np.array(packets), _of_matrices(numbers) if wanted is _MATRIX else numbers


def _of_matrices(rows: Array) -> Array:
    """(n, 4) quaternions of (n, 9) matrices, as nine numbers that were rounded; NaN for what is none."""
    out, matrices = np.full((len(rows), 4), np.nan), np.where(np.abs(rows) < 2.0, rows, 0.0).reshape(-1, 3, 3)
    there = np.abs(matrices @ matrices.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2)) < _STRETCH
    there &= np.linalg.det(matrices) > 0.0
    out[there] = matrix_quaternion(matrices[there])
    return out


def read_apdm(file: Path, rate: float | None) -> tuple[list[str], Array, Array, list[str]]:
    """The same of a table of APDM: its columns are `name/Orientation/Scalar`, X, Y and Z, or it begins with `Format=7`.

    With `Format=7` its times are those of its first column, unless a `rate` is given.
    """
    try:
        table = list(csv.reader(text_lines(file)))
    except csv.Error as error:
        raise ModelError(f"it is no table: {error}", file=str(file)) from None
    seventh = bool(table and table[0]) and table[0][0].strip().startswith("Format=")
    names, places, begin = _seventh(table, file) if seventh else _labelled(table, file)
    if rate is None and not seventh:
        said = next((row[1] for row in table[: begin - 2] if len(row) > 1 and row[0].startswith("Sample Rate")), "")
        rate = _number(said)
    if rate is not None and not 0.0 < rate < 1e9:
        raise ModelError("its header says no Sample Rate; say how many frames a second with rate", file=str(file))
    rows, clock = list[list[float]](), list[float]()
    for number, row in enumerate(table[begin:], start=begin + 1):
        if not any(row):
            continue
        if len(row) <= max(places):
            raise ModelError("a row that ends early", file=str(file), line=number)
        rows.append([_number(row[place]) for place in places])
        clock.append(_number(row[0]))
        if rate is None and not (clock[-1] > clock[-2] if len(clock) > 1 else np.isfinite(clock[-1])):
            raise ModelError(
                "its time does not grow; say how many frames a second with rate", file=str(file), line=number
            )
    if not rows:
        raise ModelError("there is no frame after the lines of names and units", file=str(file))
    times = _MICROSECOND * (np.array(clock) - clock[0]) if rate is None else np.arange(len(rows)) / rate
    return names, times, np.array(rows).reshape(len(rows), len(names), 4), []


def _labelled(table: list[list[str]], file: Path) -> tuple[list[str], list[int], int]:
    """Names, the columns of their quaternions, and which row is the first of a table with a label for each column."""
    at = next(
        (i for i, row in enumerate(table[:10]) if any(cell.endswith("/Orientation/Scalar") for cell in row)), None
    )
    if at is None:
        raise ModelError("no column is a sensor's, such as lumbar/Orientation/Scalar", file=str(file))
    labels = [cell.strip() for cell in table[at]]
    names = [label.removesuffix("/Orientation/Scalar") for label in labels if label.endswith("/Orientation/Scalar")]
    wanted = [f"{name}/Orientation/{part}" for name in names for part in _APDM]
    lacking = next((label for label in wanted if label not in labels), None)
    if lacking is not None:
        raise ModelError(f"there is no column {lacking!r}", file=str(file), line=at + 1)
    return names, [labels.index(label) for label in wanted], at + 2  # a line of units is between


def _seventh(table: list[list[str]], file: Path) -> tuple[list[str], list[int], int]:
    """The same of a table with Format=7: lines of sensors, of what they measure, and of axes are above its rows.

    A sensor's first column has its number, the fourth its name; its quaternion begins with the eleventh.
    """
    said = table[0][0].strip()
    if said != "Format=7":
        raise ModelError(
            f"it is APDM's {said}, and of those Format=7 is read; export it anew as that, or as a table whose columns "
            "are as lumbar/Orientation/Scalar", file=str(file), line=1,
        )  # fmt: skip
    sensors, kinds, axes = ([cell.strip() for cell in row] for row in (*table[:3], [], [])[:3])
    starts = [k for k, kind in enumerate(kinds) if kind == "Orientation" and axes[k : k + 4] == ["S", "X", "Y", "Z"]]
    if not starts or min(starts) <= _QUATERNION_AT or max(starts) - _NAME_BEFORE >= len(sensors):
        raise ModelError(
            "no column of the second line is an Orientation with S, X, Y and Z beneath it, ten after its sensor's "
            "number; export orientations too", file=str(file), line=2,
        )  # fmt: skip
    names = [sensors[k - _NAME_BEFORE] or sensors[k - _QUATERNION_AT] for k in starts]
    return names, [k + i for k in starts for i in range(4)], 3


def _number(text: str) -> float:
    """The number in a cell, NaN for none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
