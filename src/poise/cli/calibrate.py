"""`poise calibrate`: what is otherwise of a robot than its file says, from where its frame was measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

from poise.cli.command import Answer, Writes, command, numbers
from poise.common.errors import InvalidValue

if TYPE_CHECKING:
    from poise.calibration.calibration import Calibration
    from poise.common.array import Array
    from poise.model.model import Model


@command
class Calibrate(Writes):
    """Find placements, offsets of joints and the stand of a robot from where a frame was, and say how well.

    What the measurements cannot tell is named, and stays as it was.  Exit code 2 where the answer did not come to rest.
    """

    robot: Positional[str]
    """A known name (panda, ur5e ...) or a file."""
    measured: Positional[Path]
    """A .csv, a row for each measurement: what each joint read [rad or m], by name, and where the frame was, x y z [m],
    with a rotation or none."""
    free: Annotated[tuple[str, ...], arg(metavar="NAME ...")]
    """What may be otherwise: base, a joint, or a part of one, such as elbow.xyz, elbow.length, elbow.offset."""
    frame: str | None = None
    """The frame that was measured; left out, the end of the longest chain."""
    probe: Annotated[tuple[float, float, float] | None, numbers("X Y Z")] = None
    """A place in that frame [m], which was measured in its stead; --free probe.xyz finds it."""
    position_std: float | None = None
    """Standard deviation of measured places [m]; left out, it is told from what is left."""
    rotation_std: float | None = None
    """Standard deviation of measured rotations [rad]."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """Write the robot's URDF file with what was found, and nothing else changed."""

    def run(self) -> Answer:
        """Read, calibrate and write."""
        from poise.cli.output import refuse_file
        from poise.io import load

        refuse_file(self.out, (".urdf",), "a robot goes", force=self.force, read=(Path(self.robot), self.measured))
        if self.out is not None and not (Path(self.robot).is_file() and Path(self.robot).suffix.lower() == ".urdf"):
            raise InvalidValue(
                "wrong-format",
                f"--out writes the robot's file anew, and {self.robot} is no URDF file: name one, or leave it",
            )
        found = self._found(load(self.robot))
        if self.out is not None:
            found.save_urdf(self.out, self.robot)
        keys = ("names", "units", "values", "std", "noise", "condition", "undetermined", "converged")
        return Answer(
            facts={"robot": self.robot} | {key: getattr(found, key) for key in keys},
            show=lambda: self._print(found),
            explanation=f"{found.explain()} A value is what is added to what the file says, in the unit beside it, and "
            "std is how well it is known; what is undetermined stays as it was.",
            code=0 if found.converged else 2,
        )

    def _print(self, found: "Calibration") -> None:
        from poise.cli.output import say, show

        show(found.table())
        say("")
        say(found.explain())
        if self.out is not None:
            say(f"written to {self.out}")

    def _found(self, model: "Model") -> "Calibration":
        from poise.calibration.identify import calibrate
        from poise.calibration.measurements import Measurements
        from poise.motion.clip import load_motion
        from poise.scale.waypoints import read_waypoints

        frame = self.frame or model.tip
        if self.probe is not None:
            model = model.with_frame("probe", link=frame, origin=(*self.probe, 1.0, 0.0, 0.0, 0.0))
            frame = "probe"
        places = read_waypoints(self.measured)
        measured = Measurements(frame, load_motion(self.measured, model=model).q, places, std=self._std(places))
        return calibrate(model, measured, free=self.free)

    def _std(self, places: "Array") -> float | tuple[float, float] | None:
        """The deviations of places (n, 3), or of poses (n, 7)."""
        if places.shape[1] == 3:
            if self.rotation_std is not None:
                raise InvalidValue(
                    "conflict", f"{self.measured} has no rotations: leave --rotation-std out, or add qw qx qy qz"
                )
            return self.position_std
        if self.position_std is None and self.rotation_std is None:
            return None
        if self.position_std is None or self.rotation_std is None:
            raise InvalidValue(
                "needs", "poses have two standard deviations: state --position-std and --rotation-std, or neither"
            )
        return self.position_std, self.rotation_std
