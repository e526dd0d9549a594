"""`poise doctor`: what is wrong with a robot's file, or with a recording of its joints, and how to mend it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tyro.conf import Positional

from poise.cli.command import Answer, Answers, Base, command
from poise.common.errors import InvalidValue

if TYPE_CHECKING:
    from poise.doctor.finding import Finding


@command
class Doctor(Answers):
    """Look at a robot's file, or with --log at a recording of its joints, and say what is wrong, where, and the cure.

    Of a robot: limits that are swapped, closed or in degrees, angles beyond a turn, links far apart, axes of another
    length than 1, inertias that no body has, followers and postures beyond limits, links that meet at home, joints that
    float in a chain, arms of fewer than six joints, ends that are fingers.  Of a recording: each jump by its cause, a
    late step, the target, a whole turn, a limit, a singularity, another branch.
    Exit code 0 when there is nothing but notes, and 2 when there is more.
    """

    robot: Positional[str]
    """A known name (panda, ur5e ...) or a file."""
    log: Path | None = None
    """A recording of the joints, .csv or .npz: a column for each coordinate, by name, and one of times, time [s]."""
    targets: Path | None = None
    """Where the frame was sent, .csv or .parquet, a row for each of its: x y z [m], and a rotation or none."""
    frame: str | None = None
    """The frame of the targets; left out, the end of the longest chain."""
    base: Base = "fixed"
    """How the robot stands in the world."""
    package_dirs: tuple[Path, ...] = ()
    """Folders with the packages of package:// and $(find ...)."""
    xacro_args: tuple[str, ...] = ()
    """Values of <xacro:arg>, each as name=value."""

    def run(self) -> Answer:
        """Examine."""
        if self.log is None and (self.targets is not None or self.frame is not None):
            raise InvalidValue("needs", "--targets and --frame are of a recording; name it: --log motion.csv")
        found = self._of_robot() if self.log is None else self._of_log(self.log)
        serious = sum(finding.severity != "note" for finding in found)
        return Answer(
            facts={"robot": self.robot, "findings": [asdict(finding) for finding in found]},
            show=lambda: _print(found),
            explanation=f"{self.log or self.robot} was examined; {serious} of {len(found)} findings ask for a cure, "
            "and the others are notes. Each says where it is, what is wrong there, and what mends it.",
            code=2 if serious else 0,
        )

    def _of_robot(self) -> "list[Finding]":
        from poise.doctor import examine

        return examine(self.robot, base=self.base, package_dirs=self.package_dirs, xacro_args=self._arguments())

    def _arguments(self) -> dict[str, str] | None:
        """The arguments of a xacro file by name."""
        from poise.cli.start import pairs

        return pairs(self.xacro_args, "--xacro-args") or None

    def _of_log(self, log: Path) -> "list[Finding]":
        from poise.doctor import examine_log
        from poise.io import load
        from poise.motion.tables import read_table
        from poise.scale.waypoints import read_waypoints

        model = load(self.robot, base=self.base, package_dirs=self.package_dirs, xacro_args=self._arguments())
        times, q, _ = read_table(log.expanduser(), model, growing=False)
        targets = None if self.targets is None else read_waypoints(self.targets)
        return examine_log(model, q, targets=targets, time=times, frame=self.frame)


def _print(found: "list[Finding]") -> None:
    from poise.cli.output import say

    if not found:
        say("nothing was found")
    for finding in found:
        say(f"{finding.severity}: {finding.where}", style="bold")
        say(finding.what, indent="  ")
        say(f"-> {finding.mend}", indent="  ")
