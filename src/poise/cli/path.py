"""`poise path`: a joint path along a file of poses."""

from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated

from tyro.conf import Positional, arg

import poise as pz
from poise.cli.command import Answer, MovesSome, ToTargets, Writes, command

if TYPE_CHECKING:
    from poise.solving.path.path import JointPath


@command
class Path(Writes, MovesSome, ToTargets):
    """Follow a file of poses: the redundancy is resolved over the whole path, the limits are kept, and no joint jumps.

    Columns of poses: x y z [m], with qw qx qy qz or roll pitch yaw [rad] for a pose; each row is a waypoint.

    Exit code 0 when all of it can be followed, 2 when not: then the first waypoint that cannot is named, and why.
    """

    poses: Positional[File]
    """File of waypoints: .csv or .parquet."""
    out: Annotated[File | None, arg(aliases=["-o"])] = None
    """File for the joints, .csv or .parquet: a row a waypoint, whether or not all of it can be followed."""
    q0: Annotated[tuple[float, ...] | None, arg(metavar="Q ...")] = None
    """Where the search begins, nq numbers [rad or m], and the path too if that meets the first pose."""
    start: Annotated[tuple[float, ...] | None, arg(metavar="Q ...")] = None
    """Where the arm stands, nq numbers [rad or m]: the path begins there, and fails if that misses the first pose."""
    closed: bool = False
    """End in the configuration of the beginning; the last pose must be the first."""
    dt: float | None = None
    """Seconds from each waypoint to the next; left out, the least times that keep the limits."""
    velocity: float | None = None
    """Largest speed of each joint [rad/s or m/s]; left out, the robot's own."""
    acceleration: float | None = None
    """Largest acceleration of each joint [rad/s^2 or m/s^2]; left out, none.  Not with --dt, which says the times."""
    max_jump: float | None = None
    """Largest change of a joint from a waypoint to the next [rad or m]; left out, none that is out of proportion."""
    reconfigurations: int = 0
    """How often the arm may leave the path to go on from another configuration, at most."""
    optimise: bool = True
    """Make the path as short as can be; --no-optimise takes the first that can be followed."""
    threads: int | None = None
    """Threads; left out, one a core."""
    figure: File | None = None
    """File for a picture, .png, .svg or .pdf."""
    report: bool = False
    """Print the table of the path: length, largest step, errors, distance from limits, duration."""

    def run(self) -> Answer:
        """Load, follow and write."""
        from poise.cli.output import JOINTS, PICTURES, refuse_file, say
        from poise.common.progress import busy
        from poise.scale.waypoints import read_waypoints

        refuse_file(self.out, JOINTS, "joints go", force=self.force, read=[self.poses])
        refuse_file(self.figure, PICTURES, "a picture goes", force=self.force)
        poses = read_waypoints(self.poses)
        model = self.model()
        task = self.task(model, turns=poses.shape[1] == 7)
        with busy("path"):
            found = pz.solve_path(
                model,
                task,
                poses,
                q0=self.q0,
                start=self.start,
                limits=self.limits,
                closed=self.closed,
                dt=self.dt,
                velocity=self.velocity,
                acceleration=self.acceleration,
                max_jump=self.max_jump,
                reconfigurations=self.reconfigurations,
                optimise=self.optimise,
                seed=self.seed,
                threads=self.threads,
            )
        written = self._write(found)
        text = found.report() if self.report else found.explain()
        return Answer(
            facts=found.facts(),
            show=lambda: say("\n".join([text, *([f"written: {', '.join(written)}"] if written else [])])),
            explanation=f"{found.explain()} --out has the joints [rad or m], a row for each waypoint with its time "
            "[s]; the largest errors are of the waypoints that are reached.",
            code=0 if found.success else 2,
        )

    def _write(self, found: "JointPath") -> list[str]:
        """Write the files that were asked for; their names."""
        from poise.common.drawing import save_figure

        written = []
        if self.out is not None:
            write = found.to_csv if self.out.suffix.lower() == ".csv" else found.to_parquet
            write(self.out)
            written.append(str(self.out))
        if self.figure is not None:
            save_figure(found.figure(), self.figure)
            written.append(str(self.figure))
        return written
