"""Measured orientations over time, as of IMUs: read from `.sto` tables of quaternions and from files of sensors."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final, final

import numpy as np

from poise import SO3, InvalidType, InvalidValue, ModelError, Motion
from poise.extending import Array, ArrayLike, finite, finite_positive, numbers, with_holes
from poise.quaternions import conjugate, part_of_turn, quaternion_matrix, quaternion_product
from poise_motion.markers.quaternion_table import read_quaternions, write_quaternions
from poise_motion.markers.recording import Recording
from poise_motion.markers.sensor_files import read_apdm, read_xsens, xsens_files
from poise_motion.markers.upright import up_of_model

_UNIT: Final = 0.1
"""By how much the length of a quaternion may miss 1, before it is told."""
_SHORTEST: Final = 1e-6
"""What is shorter is no quaternion, but a gap: some programs write zeros."""
_LONGEST: Final = 1e100
"""What has larger numbers is none either."""
_SHOWN: Final = 6


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Orientations(Recording):
    """How sensors were turned over time, such as IMUs; a copy of what it is given, and never changed.

    Raises ShapeError for arrays that do not fit, ValueError for names that are there twice, and times that do not grow.
    """

    names: Sequence[str]
    """A tuple of them: of frames of a model, such as `pelvis_imu`."""
    times: Array
    """(frames,) growing [s]."""
    wxyz: Array
    """(frames, sensors, 4) unit quaternions from the sensor's axes to those that all share; NaN in gaps."""
    name: str = ""
    notes: tuple[str, ...] = ()
    """What was assumed and mended while reading, in words."""

    what: ClassVar[str] = "sensor"
    measured: ClassVar[str] = "wxyz"
    width: ClassVar[int] = 4

    def __post_init__(self) -> None:
        self._keep(np.array(numbers("wxyz", self.wxyz)))
        self._put(quaternions("wxyz", self.wxyz))

    def __reduce__(self) -> tuple[object, ...]:
        return Orientations, (self.names, self.times, self.wxyz, self.name, self.notes)

    def turned(self, rotation: SO3) -> "Orientations":
        """All turned as a whole; `SO3.from_rpy([-pi/2, 0, 0])` leads from a world whose z is up to one whose y is."""
        if not isinstance(rotation, SO3) or rotation.wxyz.shape != (4,):
            raise InvalidType("wrong-type", f"rotation must be one SO3, as SO3.from_rpy gives, got {rotation!r:.60}")
        return replace(self, wxyz=quaternion_product(rotation.wxyz, self.wxyz))  # gaps stay

    def facing(self, motion: Motion, *, by: Sequence[str] | None = None) -> "Orientations":
        """All turned about the vertical into the world of a motion, such as that of markers: so that the sensors named
        in `by`, or all, go best with how the frames of these names are in it.  Name those whose segments have markers.

        It is the angle for which the sum of the traces of R^T Z S is largest, of a frame's rotation R, the measured S
        and the turn Z.  Raises ValueError where none of these is a frame of the motion's model that was measured in its
        time, NameNotFound for names that are not there.
        """
        model, some = motion.model, self if by is None else self.of(by)
        names = [name for name in some.names if name in model.frames]
        during = some.at(motion.times).of(names).wxyz if names else np.full((1, 1, 4), np.nan)
        seen = ~np.isnan(during[:, :, 0])
        if not seen.any():
            raise InvalidValue(
                "no-such-part",
                f"none of the sensors {', '.join(list(some.names)[:_SHOWN])} is a frame of {model.name} that was "
                "measured during the motion; place them with imus.place_sensors",
            )
        there = quaternion_matrix(model.poses(motion.q, names).wxyz[seen])
        lack = np.einsum("nij,nkj->ik", quaternion_matrix(during[seen]), there)  # sum of S R^T
        up = np.eye(3)["xyz".index(up_of_model(model, model.home))]
        around = up @ [lack[2, 1] - lack[1, 2], lack[0, 2] - lack[2, 0], lack[1, 0] - lack[0, 1]]
        angle = float(np.arctan2(-around, np.trace(lack) - up @ lack @ up))
        return self.turned(SO3.from_rotvec(angle * up))

    def at(self, times: ArrayLike) -> "Orientations":
        """At other times (n,) [s], by the shortest turns between frames; gaps stay, and times outside are gaps."""
        stamps = np.atleast_1d(finite("times", times))
        before = np.clip(np.searchsorted(self.times, stamps, side="right") - 1, 0, max(len(self) - 2, 0))
        after = np.minimum(before + 1, len(self) - 1)
        step = np.maximum(self.times[after] - self.times[before], 1e-300)
        share = np.clip((stamps - self.times[before]) / step, 0.0, 1.0)[:, None]
        first, last = self.wxyz[before], self.wxyz[after]
        wxyz = quaternion_product(first, part_of_turn(quaternion_product(conjugate(first), last), share))
        for whole, there in ((0.0, first), (1.0, last)):  # a gap on the other side is none here
            wxyz = np.where(share[:, :, None] == whole, there, wxyz)
        wxyz[(stamps < self.times[0]) | (stamps > self.times[-1])] = np.nan
        return replace(self, times=stamps, wxyz=wxyz)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `.sto` file of quaternions, as OpenSense reads it; gaps are NaN.

        Raises ValueError for another suffix and for names that no `.sto` can have, OSError that names the file, the
        reason and the mend.
        """
        file = Path(path)
        if file.suffix.lower() != ".sto":
            raise InvalidValue("wrong-format", f"{file} must end in .sto, for orientations to be written there")
        self._refuse_names(".sto")
        write_quaternions(file, self.names, self.times, self.wxyz, self.rate)


def load_orientations(
    path: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    *,
    rate: float | None = None,
) -> Orientations:
    """The orientations in a file, or in a file a sensor.

    | what | |
    |---|---|
    | `.sto` | OpenSense's table of quaternions, whose columns are sensors such as `pelvis_imu` |
    | `{"pelvis_imu": "MT_00B42268.txt", ...}` | the texts that Xsens's MT Manager exports, matrices or quaternions |
    | `.xml` | an XsensDataReaderSettings of OpenSim, which names these |
    | `.csv` | APDM's table, also one with `Format=7`; its sensors have its names, which `renamed` changes |

    Zeros and NaN are gaps, and so are packets that a file of Xsens lacks.  `rate` is frames a second where the files do
    not say it, or what they say is wrong; a `.sto` has times.  What was assumed is in `notes`.  Raises ModelError, with
    file and line, for what is no such file.
    """
    if rate is not None:
        finite_positive("rate", rate)
    if isinstance(path, Mapping):
        files = {str(name): Path(file).expanduser() for name, file in path.items()}
        if not files:
            raise InvalidValue("empty", "load_orientations needs a file at least; give one a sensor")
        file, read = next(iter(files.values())), read_xsens(files, rate)
    else:
        file = Path(path).expanduser()
        kind = file.suffix.lower()
        if kind == ".sto":
            if rate is not None:
                raise InvalidValue("conflict", f"{file} has times, so leave rate out")
            read = read_quaternions(file)
        elif kind == ".xml":
            files, said = xsens_files(file)
            read = read_xsens(files, said if rate is None else rate)
        elif kind == ".csv":
            read = read_apdm(file, rate)
        else:
            raise ModelError(
                "these are no orientations; the name must end in .sto, .csv or .xml, or give a file for each sensor, "
                "as {'pelvis_imu': 'MT_00B42268.txt'}", file=str(file),
            )  # fmt: skip
    names, times, wxyz, notes = read
    notes = [*notes, *_doubts(names, wxyz)]
    try:
        return Orientations(tuple(names), times, wxyz, file.stem, tuple(notes))
    except ValueError as error:
        raise ModelError(str(error), file=str(file)) from None


def quaternions(name: str, given: ArrayLike) -> Array:
    """Unit quaternions of numbers (..., 4); NaN where one is NaN in part, zero or endless."""
    found = np.array(with_holes(name, given), dtype=np.float64)
    found[~(np.abs(found) < _LONGEST)] = np.nan
    length = np.sqrt((found**2).sum(axis=-1, keepdims=True))
    found /= np.where(length > _SHORTEST, length, np.nan)
    return found


def _doubts(names: Sequence[str], wxyz: Array) -> list[str]:
    """What is odd about numbers of a file, in words."""
    length = np.sqrt((np.where(np.abs(wxyz) < _LONGEST, wxyz, np.nan) ** 2).sum(axis=2))
    there = length > _SHORTEST
    notes = []
    for what, wrong in (
        ("never measured", ~there.any(axis=0)),
        ("quaternions that are not of length 1", (there & (np.abs(length - 1.0) > _UNIT)).any(axis=0)),
    ):
        some = [name for name, is_wrong in zip(names, wrong, strict=True) if is_wrong]
        if some:
            more = f" and {len(some) - _SHOWN} more" if len(some) > _SHOWN else ""
            notes.append(f"{what}: {', '.join(some[:_SHOWN])}{more}")
    return notes
