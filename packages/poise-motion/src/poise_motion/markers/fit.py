"""What a fit found: the motion, how far each marker and each sensor is off, and which are doubtful."""

from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from poise import SE3, Motion
from poise.extending import Array, aligned, plain
from poise_motion.markers.doubts import Ghost, Swap
from poise_motion.markers.off import root_mean_square

_SHOWN: Final = 6


@final
@dataclass(frozen=True, slots=True, eq=False)
class MarkerFit:
    """What `fit_markers` and `fit_orientations` found: a motion, and how far off markers and sensors are."""

    motion: Motion
    names: tuple[str, ...]
    """The markers that were used, in the order of the columns below."""
    distances: Array
    """(frames, markers) from the model's marker to the measured one [m]; NaN in gaps."""
    places: Array
    """(frames, markers, 3) where the model's markers are [m]."""
    costs: Array
    """(frames,) what was made least: half the weighted mean of squares, and half the weighted squares of differences of
    coordinates [m^2, or rad^2 of sensors alone]."""
    swaps: tuple[Swap, ...] = ()
    ghosts: tuple[Ghost, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out and bridged, in words."""
    sensors: tuple[str, ...] = ()
    """The sensors that were used, in the order of the columns of `angles`."""
    angles: Array = field(default_factory=lambda: np.empty((0, 0)))
    """(frames, sensors) between the model's orientation and the measured one [rad]; NaN in gaps."""

    def __post_init__(self) -> None:
        if not self.angles.size:
            object.__setattr__(self, "angles", np.empty((len(self.distances), 0)))
        for array in (self.distances, self.places, self.costs, self.angles):
            array.flags.writeable = False

    @property
    def rms(self) -> Array:
        """(frames,) root mean square of the distances of each frame [m]; NaN where no marker was seen."""
        return root_mean_square(self.distances)

    @property
    def rms_angle(self) -> Array:
        """(frames,) root mean square of the angles of each frame [rad]; NaN where no sensor was measured."""
        return root_mean_square(self.angles)

    @property
    def worst(self) -> list[tuple[str, float]]:
        """Of each frame the marker that is farthest off, and how far [m]; no name and NaN where none was seen."""
        if not self.names:
            return [("", float("nan"))] * len(self.motion)
        seen = np.where(np.isnan(self.distances), -1.0, self.distances)
        at = seen.argmax(axis=1)
        most = seen[np.arange(len(seen)), at]
        return [(self.names[k], float(d)) if d >= 0.0 else ("", float("nan")) for k, d in zip(at, most, strict=True)]

    @property
    def by_marker(self) -> dict[str, tuple[float, float]]:
        """Of each marker the root mean square and the largest of its distances [m]; NaN for one that was never seen."""
        return _by_name(self.names, self.distances)

    @property
    def by_sensor(self) -> dict[str, tuple[float, float]]:
        """Of each sensor the root mean square and the largest of its angles [rad]; NaN for one never measured."""
        return _by_name(self.sensors, self.angles)

    @property
    def upright(self) -> Motion:
        """The motion with z up, as the viewer and `retarget` take it: where y is up, the body is turned as a whole."""
        motion = self.motion
        if motion.up == "z":
            return motion
        stood = motion.model.with_base(SE3.from_xyz_rpy([0.0, 0.0, 0.0], [0.5 * np.pi, 0.0, 0.0]))
        return Motion(stood, motion.times, motion.q, name=motion.name, notes=motion.notes)

    def to_dict(self) -> dict[str, Any]:
        """All that is found, but for the motion, as numbers and words for JSON [m and rad]."""
        found: dict[str, Any] = plain(
            {
                "frames": len(self.motion),
                "markers": self.names,
                "rms": _of_all(self.distances),
                "rms_of_frames": self.rms,
                "worst_of_frames": self.worst,
                "by_marker": self.by_marker,
                "sensors": self.sensors,
                "rms_angle": _of_all(self.angles),
                "rms_angle_of_frames": self.rms_angle,
                "by_sensor": self.by_sensor,
                "swaps": [(*swap.names, swap.first, swap.last) for swap in self.swaps],
                "ghosts": [(ghost.name, ghost.first, ghost.last, ghost.distance) for ghost in self.ghosts],
                "notes": self.notes,
            }
        )
        return found

    def __str__(self) -> str:
        """A few lines: of all frames, of the worst markers and sensors, and what is doubtful."""
        said = list[str]()
        kinds = (
            ("marker", self.names, self.distances, 1000.0, "mm"),
            ("sensor", self.sensors, self.angles, float(np.degrees(1.0)), "degrees"),
        )
        for what, names, off, unit, word in kinds:
            if names:
                said.append(_summary(what, names, unit * off, word))
        lines = [f"{len(self.motion)} frames, {'; '.join(said)}"]
        for what, names, off, unit, word in kinds:
            if names:
                far = sorted(_by_name(names, unit * off).items(), key=lambda one: -np.nan_to_num(one[1][0]))[:_SHOWN]
                columns = (what, f"rms [{word}]", f"largest [{word}]")
                rows = [(name, f"{rms:.1f}", f"{most:.1f}") for name, (rms, most) in far]
                lines += ["", aligned(columns, rows, numbers=columns[1:])]
        doubts = [*map(str, self.swaps), *map(str, self.ghosts)]
        if doubts:
            more = [f"and {len(doubts) - _SHOWN} more"] if len(doubts) > _SHOWN else []
            lines += ["", *doubts[:_SHOWN], *more]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)


def _by_name(names: tuple[str, ...], off: Array) -> dict[str, tuple[float, float]]:
    """Of each column the root mean square and the largest; NaN without any."""
    largest = np.where(np.isnan(off), -np.inf, off).max(axis=0, initial=-np.inf)
    rms = root_mean_square(off.T)
    return {
        name: (float(r), float(most) if r == r else np.nan) for name, r, most in zip(names, rms, largest, strict=True)
    }


def _of_all(off: Array) -> float:
    """The root mean square of all numbers; NaN without any."""
    return float(root_mean_square(off.reshape(1, -1))[0])


def _summary(what: str, names: tuple[str, ...], off: Array, unit: str) -> str:
    """A sentence on distances or angles (frames, n)."""
    rms = root_mean_square(off)
    if np.isnan(rms).all():
        return f"{len(names)} {what}s, none of which was seen"
    frame = int(np.nanargmax(rms))
    column = int(np.nanargmax(np.nanmax(np.where(np.isnan(off), -1.0, off), axis=0)))
    return (
        f"{len(names)} {what}s: root mean square {_of_all(off):.3g} {unit}, in the worst frame, {frame}, "
        f"{rms[frame]:.3g} {unit}; farthest off is {names[column]}, {np.nanmax(off):.3g} {unit}"
    )
