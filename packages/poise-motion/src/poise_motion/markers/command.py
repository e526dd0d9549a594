"""`poise fit`: the motion of a body whose markers and sensors are nearest to measured ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from tyro.conf import Positional, arg

import poise as pz
from poise import InvalidValue
from poise.extending import Answer, Base, Writes, command

if TYPE_CHECKING:
    from poise_motion.markers.fit import MarkerFit
    from poise_motion.markers.recording import Recording

_R = TypeVar("_R", bound="Recording")
_ORIENTATIONS = (".sto",)
_MOTIONS = (".mot", ".sto", ".npz", ".csv")


@command
class Fit(Writes):
    """Fit a body to measured markers, to orientations, or both: of each frame the joints for which its own are nearest.

    Prints how far markers and sensors are off, and what is doubtful.  With a setup of OpenSim's InverseKinematicsTool
    or IMUInverseKinematicsTool it does what that does.
    """

    recording: Positional[Path | None] = None
    """Measured markers, .trc or .c3d, or orientations, .sto; left out, those that the setup names."""
    model: str | None = None
    """A body whose frames have the names of markers and sensors, .osim or a robot's file; left out, that of a setup."""
    orientations: Annotated[Path | None, arg(metavar="FILE")] = None
    """Orientations of sensors beside markers: .sto, APDM's .csv, or an .xml of OpenSim's XsensDataReaderSettings."""
    setup: Annotated[Path | None, arg(metavar="FILE")] = None
    """An .xml of OpenSim's InverseKinematicsTool or IMUInverseKinematicsTool: weights, coordinates, times, files."""
    placer: Annotated[Path | None, arg(metavar="FILE")] = None
    """An .xml of OpenSim's IMUPlacer: how sensors are placed on the body, of a person who stands."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """File for the motion: .mot, .sto, .npz or .csv."""
    errors: Annotated[Path | None, arg(metavar="FILE")] = None
    """Write how far each marker [m] and each sensor [rad] is off in each frame, a .csv."""
    start: float | None = None
    """The first time [s]; left out, that of the setup, or of the recording."""
    stop: float | None = None
    """The last time [s]; likewise."""
    unit: float | None = None
    """Metres that one unit of length of the markers is; left out, their file says it."""
    base: Base | None = None
    """How a robot stands in the world; a body of OpenSim says it itself."""

    def run(self) -> Answer:
        """Load, place, fit and write."""
        from poise.extending import refuse_file, say
        from poise_motion.markers.fitting import fit_markers, fit_orientations
        from poise_motion.markers.ik_setup import IkSetup, PlacerSetup
        from poise_motion.markers.markers import load_markers
        from poise_motion.markers.orientations import load_orientations
        from poise_motion.markers.sensors import place_sensors

        setup = IkSetup({}, {}) if self.setup is None else IkSetup.load(self.setup)
        placer = None if self.placer is None else PlacerSetup.load(self.placer)
        of_sensors = self.recording is not None and self.recording.suffix.lower() in _ORIENTATIONS
        if of_sensors and self.orientations is not None:
            raise InvalidValue("conflict", "there are two files of orientations; give markers first, or leave one out")
        turns = (self.recording if of_sensors else self.orientations) or setup.orientations_file
        points = None if of_sensors else self.recording or setup.marker_file
        file = setup.model_file if placer is None else placer.model_file
        body = self.model or (None if file is None else str(file))
        source = points or turns
        for given, what, option in ((source, "markers or orientations", "a .trc or .sto"), (body, "body", "--model")):
            if given is None:
                raise InvalidValue("needs", f"no {what} to fit: name {option}, or a --setup that does")
        assert body is not None
        read = [file for file in (points, turns, self.setup, self.placer) if file is not None]
        refuse_file(self.out, _MOTIONS, "a motion goes", force=self.force, read=[*read, Path(body)])
        refuse_file(self.errors, (".csv",), "distances go", force=self.force, read=[*read, Path(body)])
        model = pz.load(body) if self.base is None else pz.load(body, base=self.base)
        notes = ""
        if placer is not None:
            if placer.standing_file is None:
                raise InvalidValue("needs", f"{self.placer} names no orientation_file_for_calibration; add it there")
            standing = load_orientations(placer.standing_file)[:1].turned(placer.turn)
            placed = place_sensors(model, standing, heading=placer.heading)
            model, notes = placed.model, f"{placed}\n\n"
        orientations = None if turns is None else self._between(load_orientations(turns), setup.times)
        if points is None:
            assert orientations is not None
            fit = fit_orientations(model, orientations, setup=self.setup)
        else:
            markers = self._between(load_markers(points, unit=self.unit), setup.times)
            fit = fit_markers(model, markers, orientations=orientations, setup=self.setup)
        written = []
        if self.out is not None:
            fit.motion.save(self.out)
            written.append(self.out)
        if self.errors is not None:
            _write(self.errors, fit)
            written.append(self.errors)
        text = notes + "\n".join([str(fit), *(f"written: {file}" for file in written)])
        return Answer(
            facts=fit.to_dict(),
            show=lambda: say(text),
            explanation="Of each frame half the weighted mean of squared distances of markers [m^2] and angles of "
            "sensors was made least, and half the weighted squares of differences of coordinates, within the limits of "
            "joints; what was not measured is left out in its frames.",
        )

    def _between(self, recording: "_R", times: tuple[float, float] | None) -> "_R":
        """The frames that count."""
        first, last = times or (float(recording.times[0]), float(recording.times[-1]))
        return recording.between(first if self.start is None else self.start, last if self.stop is None else self.stop)


def _write(file: Path, fit: "MarkerFit") -> None:
    from poise.extending import write_whole

    every = [*fit.names, *fit.sensors]
    names = ['"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\n') else name for name in every]
    lines = [",".join(["time_s", "rms", *names])]
    columns = fit.rms.tolist(), fit.distances.tolist(), fit.angles.tolist()
    rows = [[off, *markers, *sensors] for off, markers, sensors in zip(*columns, strict=True)]
    for time, row in zip(fit.motion.times.tolist(), rows, strict=True):
        lines.append(",".join([f"{time:.17g}", *("" if x != x else f"{x:.9g}" for x in row)]))
    write_whole(file, ("\n".join(lines) + "\n").encode())
