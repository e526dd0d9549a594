"""`libpoise` as a C program sees it: the library of this process, through ctypes."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.library import library
from poise.kernels.statuses import STATUSES

NAMES = tuple(STATUSES)
NQ, NV, TARGET, POSTURE, TASK, ERROR, COORDINATE, FRAME, SHAPE, OBSTACLE = range(10)
STOP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Report(ctypes.Structure):
    """pz_report."""

    _fields_ = (
        ("status", ctypes.c_int),
        ("iterations", ctypes.c_int64),
        ("restarts", ctypes.c_int64),
        ("start", ctypes.c_int64),
        ("distance", ctypes.c_double),
        ("cost", ctypes.c_double),
        ("errors", ctypes.POINTER(ctypes.c_double)),
    )


class Proximity(ctypes.Structure):
    """pz_proximity."""

    _fields_ = (
        ("distance", ctypes.c_double),
        ("first", ctypes.c_int),
        ("second", ctypes.c_int),
        ("at_first", 3 * ctypes.c_double),
        ("at_second", 3 * ctypes.c_double),
        ("away", 3 * ctypes.c_double),
    )


def face() -> Any:
    """The functions of the library; None where there is no library."""
    found = library()
    if found is None:
        return None
    loaded = ctypes.CDLL(str(found.file))
    for name in ("pz_size", "pz_work_size"):
        getattr(loaded, name).restype = ctypes.c_size_t
    for name in ("pz_begin", "pz_lower", "pz_upper", "pz_home", "pz_targets"):
        getattr(loaded, name).restype = ctypes.c_void_p
    for name in ("pz_message", "pz_name"):
        getattr(loaded, name).restype = ctypes.c_char_p
    loaded.pz_count.restype = ctypes.c_int64
    return loaded


def _address(x: Array | None) -> Any:
    return None if x is None else ctypes.c_void_p(x.ctypes.data)


def _numbers(x: Any) -> Array | None:
    return None if x is None else np.ascontiguousarray(x, dtype=np.float64)


class Carried:
    """A file that is loaded, and work of one thread."""

    def __init__(self, file: Path | bytes) -> None:
        """Raises ValueError with the name of a status."""
        self.face = face()
        given = file if isinstance(file, bytes) else file.read_bytes()
        size = self.face.pz_size(given, ctypes.c_size_t(len(given)))
        self._memory = ctypes.create_string_buffer(size or 1)
        self.solver = ctypes.c_void_p()
        status = self.face.pz_load(given, ctypes.c_size_t(len(given)), self._memory, ctypes.byref(self.solver))
        if status:
            raise ValueError(NAMES[status])
        self._own = ctypes.create_string_buffer(self.face.pz_work_size(self.solver))
        self.begin()

    def begin(self) -> None:
        """Begin anew."""
        self.work = ctypes.c_void_p(self.face.pz_begin(self.solver, self._own))

    def count(self, what: int) -> int:
        """How many there are."""
        return int(self.face.pz_count(self.solver, what))

    def names(self, what: int) -> list[str]:
        """What they are called."""
        found = [self.face.pz_name(self.solver, what, ctypes.c_int64(i)) for i in range(self.count(what))]
        return [name.decode() for name in found]

    def numbers(self, name: str) -> Array:
        """(nq,) `lower`, `upper` or `home`, or all `targets`."""
        at = getattr(self.face, f"pz_{name}")(self.solver)
        count = self.count(TARGET if name == "targets" else NQ)
        return np.ctypeslib.as_array((ctypes.c_double * count).from_address(at)).copy()

    def solve(
        self, targets: Any = None, q0: Any = None, stop: Callable[[Any], int] | None = None
    ) -> tuple[str, Array, Report]:
        """The name of the status, q (nq,) and what is told."""
        q, report = np.full(self.count(NQ), np.nan), Report()
        targets, q0 = _numbers(targets), _numbers(q0)
        called = STOP(stop) if stop is not None else None
        status = self.face.pz_solve(
            self.work, _address(targets), _address(q0), _address(q), ctypes.byref(report), called, None
        )
        return NAMES[status], q, report

    def step(self, q: Any = None, targets: Any = None, measured: Any = None) -> tuple[str, Array]:
        """The name of the status, and where the step leads (nq,)."""
        led = np.full(self.count(NQ), np.nan)
        q, targets, measured = map(_numbers, (q, targets, measured))
        given = _address(q), _address(targets)
        if measured is None:
            return NAMES[self.face.pz_step(self.work, *given, _address(led))], led
        return NAMES[self.face.pz_step_measured(self.work, *given, _address(measured), _address(led))], led

    def pose(self, q: Any, frame: int) -> Array:
        """(7,)"""
        out, q = np.empty(7), _numbers(q)
        assert self.face.pz_pose(self.work, _address(q), ctypes.c_int64(frame), _address(out)) == 0
        return out

    def poses(self, q: Any) -> Array:
        """(frames, 7)"""
        out, q = np.empty((self.count(FRAME), 7)), _numbers(q)
        assert self.face.pz_poses(self.work, _address(q), _address(out)) == 0
        return out

    def jacobian(self, q: Any, frame: int) -> Array:
        """(6, nv)"""
        out, q = np.empty((6, self.count(NV))), _numbers(q)
        assert self.face.pz_jacobian(self.work, _address(q), ctypes.c_int64(frame), _address(out)) == 0
        return out

    def distance(self, q: Any) -> Proximity:
        """The two shapes that are nearest."""
        out, q = Proximity(), _numbers(q)
        status = self.face.pz_distance(self.work, _address(q), ctypes.byref(out))
        if status:
            raise ValueError(NAMES[status])
        return out

    def move(self, obstacle: int, pose: Any) -> str:
        """The name of the status."""
        return NAMES[self.face.pz_move(self.work, ctypes.c_int64(obstacle), _address(_numbers(pose)))]
