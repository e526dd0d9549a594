"""The operator's work as files: all of it in one archive of NumPy, and the scene alone in JSON.

The archive holds, beside the arrays of each attempt, one text `about` of JSON: the schema, the robot, the frame, the
setup that is there and those of each attempt.  The arrays of attempt i are `attempt_i_time_s` (n,), `attempt_i_q`
(n, nq) in the `units` (nq,) of the `joints` (nq,), and `attempt_i_target_m_wxyz` (n, 7); `start_q` (nq,) is where it
begins.
"""

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise.common.archive import members
from poise.common.array import Array
from poise.common.files import write_whole
from poise.model.model import Model
from poise.model.units import units
from poise.spatial import frozen
from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.scene import (
    SCHEMA,
    Part,
    Placed,
    Unreadable,
    check_robot,
    check_schema,
    read_scene,
    read_setup,
    robot_fields,
    scene_text,
    setup_fields,
)
from poise.viewer.operator.setup import Setup

_LARGEST: Final = 4 * 2**30
"""Bytes that an archive may unpack to."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Work:
    """All that the operator has made."""

    model: Model
    frame: str
    turns: bool
    start: Array
    """(nq,)"""
    setup: Setup
    attempts: tuple[Attempt, ...] = ()
    committed: str | None = None
    """The name of one of them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", frozen(self.start))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Work) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content[:3])

    @property
    def _content(self) -> tuple[object, ...]:
        start = self.start.tobytes()
        return (self.model.coordinates, self.frame, self.turns, start, self.setup, self.attempts, self.committed)


def save_work(path: str | os.PathLike[str], work: Work) -> None:
    """Write an archive; what was there of this name is replaced when all is written.

    Raises OSError for a place that cannot be written to, ValueError for a method with settings that no file can hold.
    """
    model = work.model
    setups: list[Setup] = []
    attempts = []
    for attempt in work.attempts:
        rows = []
        for row, setup in attempt.setups:
            rows.append([row, _number(setups, setup)])
        attempts.append({"name": attempt.name, "frame": attempt.frame, "turns": attempt.turns, "setups": rows})
    about = {
        "schema": SCHEMA,
        **robot_fields(model),
        "frame": work.frame,
        "turns": work.turns,
        "setup": _number(setups, work.setup),
        "setups": [setup_fields(setup) for setup in setups],
        "attempts": attempts,
        "committed": work.committed,
    }
    arrays: dict[str, Any] = {
        "about": np.array(json.dumps(about, allow_nan=False)),
        "joints": np.array(model.coordinates, dtype=str),
        "units": np.array([units(model)[name] for name in model.coordinates], dtype=str),
        "start_q": work.start,
    }
    for i, attempt in enumerate(work.attempts):
        arrays |= zip(_keys(i), (attempt.time, attempt.q, attempt.target), strict=True)
    out = io.BytesIO()
    np.savez_compressed(out, allow_pickle=False, **arrays)
    write_whole(path, out.getvalue())


def load_work(path: str | os.PathLike[str], model: Model) -> Work:
    """Read an archive of the same robot.

    Raises OSError for a file that cannot be read, Unreadable, which names the file, the place and the fix, for one
    that is no archive of the program, is broken, or is of another robot.
    """
    file = os.fspath(path)
    arrays = _arrays(file)
    about = _text(arrays, file)
    top = Part(about, file)
    check_schema(top)
    check_robot(top, model)
    setups = [read_setup(Part(s, f"{file}: setups[{i}]"), model) for i, s in enumerate(top.entry("setups", list))]
    attempts = []
    for i, found in enumerate(top.entry("attempts", list)):
        part = Part(found, f"{file}: attempts[{i}]")
        rows = tuple((row, _setup(setups, number, part.place)) for row, number in _pairs(part))
        time, q, target = (_array(arrays, key, file) for key in _keys(i))
        with Placed(f"{part.place}: "):
            attempt = Attempt(
                name=part.entry("name", str), model=model, frame=part.entry("frame", str),
                turns=part.entry("turns", bool), time=time, q=q, target=target, setups=rows,
            )  # fmt: skip
        attempts.append(attempt)
    start = _array(arrays, "start_q", file)
    with Placed(f"{file}: "):
        model.check_q(start, "start_q")
        model.frame(top.entry("frame", str))
    committed = top.entry("committed", str, type(None))
    if committed is not None and committed not in [attempt.name for attempt in attempts]:
        raise Unreadable(f"{file}: committed is {committed!r}, and there is no attempt of this name")
    return Work(
        model=model, frame=top.entry("frame", str), turns=top.entry("turns", bool), start=start,
        setup=_setup(setups, top.entry("setup", int), file), attempts=tuple(attempts), committed=committed,
    )  # fmt: skip


def save_scene(path: str | os.PathLike[str], setup: Setup, model: Model) -> None:
    """Write a setup as JSON; see `scene_text`."""
    write_whole(path, scene_text(setup, model))


def load_scene(path: str | os.PathLike[str], model: Model) -> Setup:
    """Read a setup of the same robot; raises OSError, or Unreadable as `read_scene` does."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{os.fspath(path)} is no scene: it is no text in UTF-8; choose a file of JSON") from error
    return read_scene(text, model, os.fspath(path))


def _number(setups: list[Setup], setup: Setup) -> int:
    """The place of a setup in the list, to which it is added where it is not its last."""
    if not setups or setups[-1] is not setup:
        setups.append(setup)
    return len(setups) - 1


def _keys(i: int) -> tuple[str, str, str]:
    """The names of an attempt's arrays."""
    return f"attempt_{i}_time_s", f"attempt_{i}_q", f"attempt_{i}_target_m_wxyz"


def _arrays(file: str) -> Mapping[str, Any]:
    """All arrays of an archive."""
    try:
        found = members(Path(file))
        size = sum(array.nbytes for array in found.values())
        if size > _LARGEST:
            raise ValueError(f"it would unpack to {size:,} bytes")
        return {name: array.whole for name, array in found.items()}
    except ValueError as error:
        raise Unreadable(
            f"{file} is no archive of the program, or a broken one ({error}): choose a file that it saved, or save the "
            "work again"
        ) from error


def _text(arrays: Mapping[str, Any], file: str) -> Any:
    text = arrays.get("about")
    if text is None or text.ndim != 0 or text.dtype.kind != "U":
        raise Unreadable(f"{file} has no text 'about', so the program did not write it: choose a file that it saved")
    try:
        return json.loads(text.item())
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{file}: 'about' is no JSON ({error}): save the work again") from error


def _array(arrays: Mapping[str, Any], key: str, file: str) -> Array:
    array = arrays.get(key)
    if array is None:
        raise Unreadable(f"{file} has no array {key!r}: save the work again")
    if array.dtype != np.float64:
        raise Unreadable(f"{file}: {key} must be numbers of 64 bits, got {array.dtype}")
    found: Array = array
    return found


def _pairs(part: Part) -> list[tuple[int, int]]:
    pairs = part.entry("setups", list)
    if not all(isinstance(p, list) and len(p) == 2 and all(type(x) is int for x in p) for p in pairs):
        raise Unreadable(f"{part.place}: setups must be pairs of a row and the number of a setup")
    return [(row, number) for row, number in pairs]


def _setup(setups: list[Setup], number: int, place: str) -> Setup:
    if not 0 <= number < len(setups):
        raise Unreadable(f"{place}: there is no setup {number}; the file has {len(setups)}")
    return setups[number]
