"""What a fit of markers found: the motion, how far each marker is off, and which are doubtful."""

from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from poise import SE3, Motion
from poise.extending import Array, aligned, plain
from poise_motion.markers.doubts import Ghost, Swap

_SHOWN: Final = 6


@final
@dataclass(frozen=True, slots=True, eq=False)
class MarkerFit:
    """What `fit_markers` found: a motion, and how far each marker is from where it was measured."""

    motion: Motion
    names: tuple[str, ...]
    """The markers that were used, in the order of the columns below."""
    distances: Array
    """(frames, markers) from the model's marker to the measured one [m]; NaN in gaps."""
    places: Array
    """(frames, markers, 3) where the model's markers are [m]."""
    costs: Array
    """(frames,) what was made least: half the weighted mean of squared distances [m^2], and half the weighted squares
    of differences of coordinates."""
    swaps: tuple[Swap, ...] = ()
    ghosts: tuple[Ghost, ...] = ()
    notes: tuple[str, ...] = ()
    """What was left out and bridged, in words."""
    _rms: Array = field(init=False)

    def __post_init__(self) -> None:
        squares = np.where(np.isnan(self.distances), 0.0, self.distances) ** 2
        count = np.maximum((~np.isnan(self.distances)).sum(axis=1), 1)
        object.__setattr__(self, "_rms", np.sqrt(squares.sum(axis=1) / count))
        for array in (self.distances, self.places, self.costs, self._rms):
            array.flags.writeable = False

    @property
    def rms(self) -> Array:
        """(frames,) root mean square of the distances of each frame [m]."""
        return self._rms

    @property
    def worst(self) -> list[tuple[str, float]]:
        """Of each frame the marker that is farthest off, and how far [m]; no name where none was seen."""
        seen = np.where(np.isnan(self.distances), -1.0, self.distances)
        at = seen.argmax(axis=1)
        most = seen[np.arange(len(seen)), at]
        return [(self.names[k], float(d)) if d >= 0.0 else ("", 0.0) for k, d in zip(at, most, strict=True)]

    @property
    def by_marker(self) -> dict[str, tuple[float, float]]:
        """Of each marker the root mean square and the largest of its distances [m]; NaN for one that was never seen."""
        out = {}
        for k, name in enumerate(self.names):
            seen = self.distances[~np.isnan(self.distances[:, k]), k]
            out[name] = (float(np.sqrt((seen**2).mean())), float(seen.max())) if len(seen) else (np.nan, np.nan)
        return out

    @property
    def upright(self) -> Motion:
        """The motion with z up, as the viewer and `retarget` take it: where y is up, the body is turned as a whole."""
        motion = self.motion
        if motion.up == "z":
            return motion
        stood = motion.model.with_base(SE3.from_xyz_rpy([0.0, 0.0, 0.0], [0.5 * np.pi, 0.0, 0.0]))
        return Motion(stood, motion.times, motion.q, name=motion.name, notes=motion.notes)

    def to_dict(self) -> dict[str, Any]:
        """All that is found, but for the motion, as numbers and words for JSON [m]."""
        found: dict[str, Any] = plain(
            {
                "frames": len(self.motion),
                "markers": self.names,
                "rms": self._over_all,
                "rms_of_frames": self.rms,
                "worst_of_frames": self.worst,
                "by_marker": self.by_marker,
                "swaps": [(*swap.names, swap.first, swap.last) for swap in self.swaps],
                "ghosts": [(ghost.name, ghost.first, ghost.last, ghost.distance) for ghost in self.ghosts],
                "notes": self.notes,
            }
        )
        return found

    @property
    def _over_all(self) -> float:
        seen = self.distances[~np.isnan(self.distances)]
        return float(np.sqrt((seen**2).mean())) if len(seen) else 0.0

    def __str__(self) -> str:
        """A few lines: of all frames, of the worst markers, and what is doubtful."""
        frame = int(np.argmax(self.rms))
        name, far = max(self.worst, key=lambda one: one[1])
        lines = [
            f"{len(self.motion)} frames, {len(self.names)} markers: root mean square {1000.0 * self._over_all:.3g} mm, "
            f"in the worst frame, {frame}, {1000.0 * self.rms[frame]:.3g} mm; farthest off is {name}, "
            f"{1000.0 * far:.3g} mm",
        ]
        far_off = sorted(self.by_marker.items(), key=lambda one: -np.nan_to_num(one[1][0]))[:_SHOWN]
        rows = [(name, f"{1000.0 * rms:.1f}", f"{1000.0 * most:.1f}") for name, (rms, most) in far_off]
        columns = ("marker", "rms [mm]", "largest [mm]")
        lines += ["", aligned(columns, rows, numbers=columns[1:])]
        doubts = [*map(str, self.swaps), *map(str, self.ghosts)]
        if doubts:
            more = [f"and {len(doubts) - _SHOWN} more"] if len(doubts) > _SHOWN else []
            lines += ["", *doubts[:_SHOWN], *more]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)
