"""`.c3d`: the binary files of motion capture, read by ezc3d."""

from pathlib import Path
from typing import Any

import numpy as np

from poise import ModelError
from poise.extending import Array, optional
from poise_motion.markers.trc import apart, metres


def read_c3d(file: Path, unit: float | None) -> tuple[list[str], Array, Array, list[str]]:
    """Names, times [s], places [m] and notes; raises ModelError for no such file, MissingExtra without ezc3d."""
    ezc3d = optional("reading .c3d", "ezc3d", "markers", "ezc3d")
    if not file.is_file():
        raise ModelError("it is a directory" if file.is_dir() else "no such file", file=str(file))
    try:
        found = ezc3d.c3d(str(file))
        group, header = found["parameters"]["POINT"], found["header"]["points"]
        places = np.array(found["data"]["points"][:3].transpose(2, 1, 0), dtype=np.float64)
        rate, first = float(header["frame_rate"]), int(header["first_frame"])
    except Exception as error:  # whatever the library finds
        why = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"is no C3D that can be read: {why[:200]}", file=str(file)) from None
    labels, notes, count = _labels(group), list[str](), places.shape[1]
    labels = [*labels, *[""] * count][:count]
    if "" in labels:
        notes.append(f"{labels.count('')} points have no label")
    names = apart([label or f"point{i}" for i, label in enumerate(labels)], notes)
    if not places.size:
        raise ModelError("there are no points in it", file=str(file))
    if not 0.0 < rate < 1e9:
        raise ModelError(f"the rate is {rate:g} frames a second; it must be positive", file=str(file))
    if unit is None:
        unit = metres((_words(group, "UNITS") or [""])[0], file, notes)
    places[~np.isfinite(places).all(axis=2)] = np.nan
    return names, (first + np.arange(len(places))) / rate, unit * places, notes


def _labels(group: Any) -> list[str]:
    """Those of all points, which are in several lists where they are many."""
    found = _words(group, "LABELS")
    i = 2
    while f"LABELS{i}" in group:
        found += _words(group, f"LABELS{i}")
        i += 1
    return [label.strip() for label in found]


def _words(group: Any, name: str) -> list[str]:
    return [str(word) for word in group[name]["value"]] if name in group else []
