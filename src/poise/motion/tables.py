"""Joint paths in tables: CSV, NPZ and those of OpenSim, a column a coordinate, by name; or CSV of rows alone."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from poise.common.archive import Member, members
from poise.common.array import Array
from poise.common.errors import InvalidValue, PoiseError
from poise.common.files import atomic_write
from poise.io.skeleton import Up
from poise.io.suffixes import STORAGE_SUFFIXES, TABLE_SUFFIXES
from poise.model.frame import WORLD
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.motion.storage import read_storage

Quaternion = Literal["wxyz", "xyzw"]
FRAME: Final = 1.0 / 30.0
"""Between the rows of a table without times [s]."""
_NAME: Final = re.compile(r"^(?:q_)?(?P<name>.*?)(?: \[(?:rad|m|1|s)\])?$")
_ROOT: Final = "root.x"
"""A coordinate of a robot that was loaded with a floating base."""
_EVEN: Final = 0.05
"""Times are a number of frames a second if none is off by more than this share of a step: 32-bit floats round them."""
_UNIT: Final = 0.01
"""By how much the length of a quaternion may miss 1, in columns without names."""


def columns_of(model: Model, quaternion: Quaternion, joints: Sequence[str] | None = None) -> list[str]:
    """The coordinates in the order of columns: a root that floats, then the `joints`, or without them as in the model.

    Those of a quaternion stand in the order that its word says.  Raises JointNotFound, with the nearest names.
    """
    if quaternion not in ("wxyz", "xyzw"):
        raise InvalidValue("unknown-word", f"quaternion must be 'wxyz' or 'xyzw', got {quaternion!r}")
    if isinstance(joints, str):
        raise InvalidValue("not-a-sequence", f"joints must be a list of names, got {joints!r}; put it in a list")
    all_joints = [joint.name for joint in model.joints if joint.nq]
    roots = [joint.name for joint in model.joints if joint.kind is JointKind.FLOATING and joint.parent == WORLD]
    names = list[str]()
    for name in all_joints if joints is None else [*(root for root in roots if root not in joints), *joints]:
        at = model.joint(name).quaternion_at
        own = list(model.coordinates[model.index(name)])
        if at is not None and quaternion == "xyzw":
            own[at : at + 4] = [*own[at + 1 : at + 4], own[at]]
        names += own
    if len(set(names)) < len(names):
        raise InvalidValue("duplicate", "joints names a joint twice; each has its columns once")
    return names


def refuse_uneven(times: Array, what: str) -> None:
    """Raises ValueError for frames that are not even, and that `what` is to be written of, which cannot say so."""
    off = np.abs(times - np.linspace(times[0], times[-1], len(times))).max()
    if len(times) > 1 and off > _EVEN * (times[-1] - times[0]) / (len(times) - 1):
        steps = np.diff(times)
        raise InvalidValue(
            "not-supported",
            f"the frames are {steps.min():.6g} to {steps.max():.6g} s apart, which {what} cannot say; take even ones "
            "with at()",
        )


def write_csv(file: Path, model: Model, times: Array, q: Array, columns: Sequence[str], *, header: bool) -> None:
    """A row a frame: times and `columns`, under their names; without a header the columns alone.

    Raises ValueError for a table without a header whose frames are not even, because it cannot say so.
    """
    if not header:
        refuse_uneven(times, "a table without a header")
    rows = q[:, [model.coordinates.index(name) for name in columns]]
    with atomic_write(file) as draft, draft.open("w", encoding="utf-8", newline="\n") as out:
        if header:
            out.write(",".join(["time_s", *map(_quoted, columns)]) + "\n")
            rows = np.column_stack([times, rows])
        np.savetxt(out, rows, fmt="%.17g", delimiter=",")


def read_table(
    file: Path,
    model: Model,
    *,
    fps: float | None = None,
    quaternion: Quaternion | None = None,
    joints: Sequence[str] | None = None,
    growing: bool = True,
) -> tuple[Array, Array, tuple[str, ...]]:
    """(n,) times, growing, from 0 on [s], (n, nq) configurations, and what was assumed, in words; unless `growing`, the
    times may go back too.

    Those of OpenSim's tables begin where they begin there, as the other files of a trial do.

    An NPZ has `time_s` (n,), `q` (n, nq) and `joints` (nq,).  A CSV has a column for each coordinate of the model, such
    as `elbow`, `q_elbow` or `elbow [rad]`, and one of times, `time_s`, `time` or `time [s]`; without times a row is
    1/30 s.  Other columns are passed over.  A CSV whose first row is numbers has no header: its columns are those of
    `columns_of`, and its rows `fps` a second.  Raises PoiseError for what is no motion of this model.
    """
    kind = file.suffix.lower()
    if kind not in TABLE_SUFFIXES:
        raise PoiseError(f"{file} is no motion: its name must end in {', '.join(TABLE_SUFFIXES)}")
    notes: tuple[str, ...] = ()
    try:
        bare = kind == ".csv" and _is_bare(file, model.coordinates)
        if bare:
            stamps, names, rows = _of_rows(file, model, fps, quaternion, joints)
        elif kind in STORAGE_SUFFIXES:
            stamps, names, rows, notes = read_storage(file, model)
        else:
            stamps, names, rows = _of_csv(file, model.coordinates) if kind == ".csv" else _of_npz(file)
    except (OSError, ValueError, csv.Error) as error:
        raise PoiseError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    missing = [name for name in model.coordinates if name not in names]
    if missing:
        raise PoiseError(
            f"{file} has no column for {', '.join(missing[:3])}{' ...' if missing[3:] else ''} of {model.name}; "
            f"its columns are {', '.join(names[:8]) or 'none'}"
        )
    if not bare and (quaternion is not None or joints is not None):
        raise InvalidValue(
            "conflict", f"quaternion and joints are for a CSV without a header; {file} names its columns"
        )
    q = rows[:, [names.index(name) for name in model.coordinates]]
    if stamps is None or fps is not None:
        stamps = (FRAME if fps is None else 1.0 / fps) * np.arange(len(q), dtype=np.float64)
    times: Array = stamps if kind in STORAGE_SUFFIXES else stamps - stamps[:1]
    if not len(q):
        raise PoiseError(f"{file} has no row; a motion needs one at least")
    if not (np.isfinite(q).all() and np.isfinite(times).all()):
        bad = int(np.flatnonzero(~(np.isfinite(q).all(axis=1) & np.isfinite(times)))[0])
        raise PoiseError(f"{file}: row {bad} holds a number that is not finite")
    if growing and (np.diff(times) <= 0.0).any():
        raise PoiseError(f"{file}: the time of row {int(np.argmax(np.diff(times) <= 0.0)) + 1} does not grow")
    try:
        return times, model.normalize(q), notes
    except ValueError as error:
        raise PoiseError(f"{file}: {error}") from None


def up_of(file: Path) -> Up:
    """The axis that is up in a table: what an NPZ says, y in those of OpenSim, else z; raises as `members`."""
    if file.suffix.lower() == ".npz":
        said = members(file, {"up"}).get("up")
        return "y" if said is not None and said.dtype.kind == "U" and str(said.whole) == "y" else "z"
    return "y" if file.suffix.lower() in STORAGE_SUFFIXES else "z"


def moves_root(file: Path) -> bool:
    """Whether a table has a column for the place of a robot that floats; False for what cannot be read."""
    try:
        if file.suffix.lower() == ".npz":
            return _ROOT in _array(members(file), "joints", "U")
        with file.open(newline="", encoding="utf-8-sig") as opened:
            return _ROOT in [_plain(name, ()) for name in next(csv.reader(opened), [])]
    except (OSError, ValueError, csv.Error):
        return False


def _is_bare(file: Path, coordinates: Sequence[str]) -> bool:
    """Whether the first row is numbers, and not the names of coordinates that look so."""
    with file.open(newline="", encoding="utf-8-sig") as opened:
        first = next((row for row in csv.reader(opened) if row), [])
    return _number([first], 0) and all(_number([first], k) for k in range(len(first))) and set(first) != {*coordinates}


def _of_rows(
    file: Path, model: Model, fps: float | None, quaternion: Quaternion | None, joints: Sequence[str] | None
) -> tuple[None, list[str], Array]:
    if fps is None:
        raise ValueError("its rows are numbers without a header; say how many are a second with fps")
    if quaternion is None and any(joint.nq and joint.quaternion_at is not None for joint in model.joints):
        raise ValueError("its rows are numbers without a header; say the order of quaternions, quaternion='xyzw'")
    names = columns_of(model, quaternion or "wxyz", joints)
    rows = np.loadtxt(file, delimiter=",", ndmin=2, encoding="utf-8-sig", comments=None)
    if rows.shape[1] != len(names):
        raise ValueError(
            f"its rows have {rows.shape[1]} numbers, and {model.name} {len(names)}: {', '.join(names[:8])}"
            f"{' ...' if names[8:] else ''}; joints names those that it has, in their order"
        )
    for joint in model.joints:
        if joint.nq and joint.quaternion_at is not None:
            own = list(model.coordinates[model.index(joint.name)])[joint.quaternion_at :][:4]
            if set(own) <= set(names):
                with np.errstate(over="ignore", invalid="ignore"):
                    lengths = np.linalg.norm(rows[:, [names.index(name) for name in own]], axis=1)
                wrong = ~(np.abs(lengths - 1.0) < _UNIT)
                if wrong.any():
                    raise ValueError(
                        f"row {int(np.argmax(wrong))} has a quaternion of {joint.name} of length "
                        f"{lengths[wrong][0]:.4g}, so its columns must be others than {', '.join(names[:8])} ..."
                    )
    return None, names, rows


def _of_csv(file: Path, coordinates: Sequence[str]) -> tuple[Array | None, list[str], Array]:
    with file.open(newline="", encoding="utf-8-sig") as opened:
        header, *rows = [row for row in csv.reader(opened) if row] or [[]]
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {i} has {len(row)} columns, and the header {len(header)}")
    names = [_plain(name, coordinates) for name in header]
    numeric = [k for k, name in enumerate(names) if name in ("time", "time_s") or _number(rows, k)]
    table = np.array([[float(row[k]) for k in numeric] for row in rows]).reshape(len(rows), len(numeric))
    names = [names[k] for k in numeric]
    at = next((k for k, name in enumerate(names) if name in ("time", "time_s")), None)
    return None if at is None else table[:, at], names, table


def _of_npz(file: Path) -> tuple[Array | None, list[str], Array]:
    arrays = members(file)
    if "about" in arrays:
        raise ValueError("it is the work of the operator's program; open it with --operate --work")
    names: list[str] = np.atleast_1d(_array(arrays, "joints", "U")).tolist()
    q = _array(arrays, "q", "fiu").astype(np.float64)
    times = _array(arrays, "time_s", "fiu").astype(np.float64) if "time_s" in arrays else None
    if q.ndim != 2 or q.shape[1] != len(names) or (times is not None and times.shape != q.shape[:1]):
        raise ValueError(f"q has shape {q.shape}, for {len(names)} joints")
    return times, names, q


def _array(arrays: dict[str, Member], name: str, kinds: str) -> npt.NDArray[Any]:
    """An array of an archive, whose numbers or words are of one of these kinds of NumPy's."""
    if name not in arrays:
        raise ValueError(f"it has no array {name!r}; its arrays are {', '.join(arrays) or 'none'}")
    found = arrays[name]
    if found.dtype.kind not in kinds:
        raise ValueError(f"array {name!r} is of {found.dtype}; it must be {'words' if kinds == 'U' else 'numbers'}")
    return found.whole


def _plain(name: str, coordinates: Sequence[str]) -> str:
    if name.strip() in coordinates:
        return name.strip()
    found = _NAME.match(name.strip())
    return name if found is None else found["name"]


def _quoted(name: str) -> str:
    return f'"{name.replace(chr(34), 2 * chr(34))}"' if any(mark in name for mark in ',"\n') else name


def _number(rows: list[list[str]], column: int) -> bool:
    """Whether a column holds numbers."""
    try:
        return all(float(row[column]) is not None for row in rows[:1])
    except (ValueError, IndexError):
        return False
