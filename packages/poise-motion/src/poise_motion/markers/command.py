"""`poise fit`: the motion of a body whose markers are nearest to measured ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

import poise as pz
from poise import InvalidValue
from poise.extending import Answer, Base, Writes, command

if TYPE_CHECKING:
    from poise_motion.markers.fit import MarkerFit

_MOTIONS = (".mot", ".sto", ".npz", ".csv")


@command
class Fit(Writes):
    """Fit a body to measured markers: of each frame the joints for which its own are nearest to them.

    Prints how far the markers are off, and which of them are doubtful.  With a setup of OpenSim's InverseKinematicsTool
    it does what that does.
    """

    markers: Positional[Path | None] = None
    """Measured markers, .trc or .c3d; left out, those that the setup names."""
    model: str | None = None
    """A body whose frames have the markers' names, .osim or a robot's file; left out, that of the setup."""
    setup: Annotated[Path | None, arg(metavar="FILE")] = None
    """An .xml of OpenSim's InverseKinematicsTool: weights, coordinates, times and files."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """File for the motion: .mot, .sto, .npz or .csv."""
    errors: Annotated[Path | None, arg(metavar="FILE")] = None
    """Write how far each marker is off in each frame [m], a .csv."""
    start: float | None = None
    """The first time [s]; left out, that of the setup, or of the markers."""
    stop: float | None = None
    """The last time [s]; likewise."""
    unit: float | None = None
    """Metres that one unit of length of the markers is; left out, their file says it."""
    base: Base | None = None
    """How a robot stands in the world; a body of OpenSim says it itself."""

    def run(self) -> Answer:
        """Load, fit and write."""
        from poise.extending import refuse_file, say
        from poise_motion.markers.fitting import fit_markers
        from poise_motion.markers.ik_setup import IkSetup
        from poise_motion.markers.markers import load_markers

        setup = IkSetup({}, {}) if self.setup is None else IkSetup.load(self.setup)
        source = self.markers or setup.marker_file
        body = self.model or (None if setup.model_file is None else str(setup.model_file))
        for given, what, option in ((source, "markers", "a .trc"), (body, "body", "--model")):
            if given is None:
                raise InvalidValue("needs", f"no {what} to fit: name {option}, or a --setup that does")
        assert source is not None
        assert body is not None
        read = [source, Path(body), *([] if self.setup is None else [self.setup])]
        refuse_file(self.out, _MOTIONS, "a motion goes", force=self.force, read=read)
        refuse_file(self.errors, (".csv",), "distances go", force=self.force, read=read)
        markers = load_markers(source, unit=self.unit)
        model = pz.load(body) if self.base is None else pz.load(body, base=self.base)
        first, last = setup.times or (float(markers.times[0]), float(markers.times[-1]))
        first, last = (first if self.start is None else self.start), (last if self.stop is None else self.stop)
        markers = markers.between(first, last)
        fit = fit_markers(model, markers, setup=self.setup)
        written = []
        if self.out is not None:
            fit.motion.save(self.out)
            written.append(self.out)
        if self.errors is not None:
            _write(self.errors, fit)
            written.append(self.errors)
        text = "\n".join([str(fit), *(f"written: {file}" for file in written)])
        return Answer(
            facts=fit.to_dict(),
            show=lambda: say(text),
            explanation="Of each frame half the weighted mean of squared distances of markers [m^2] was made least, "
            "and half the weighted squares of differences of coordinates, within the limits of joints; markers that "
            "were not seen are left out in their frames.",
        )


def _write(file: Path, fit: "MarkerFit") -> None:
    from poise.extending import write_whole

    names = ['"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\n') else name for name in fit.names]
    lines = [",".join(["time_s", "rms", *names])]
    for time, rms, row in zip(fit.motion.times.tolist(), fit.rms.tolist(), fit.distances.tolist(), strict=True):
        lines.append(",".join([f"{time:.17g}", f"{rms:.9g}", *("" if x != x else f"{x:.9g}" for x in row)]))
    write_whole(file, ("\n".join(lines) + "\n").encode())
