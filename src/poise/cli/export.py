"""`poise export`: a solver or a tracker as a file, for programs in C, C++ or a browser."""

from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional, arg

import poise as pz
from poise.cli.command import Answer, Base, Writes, command


@command
class Export(Writes):
    """Write a solver, or with --dt a tracker, as a file that libpoise loads; see `poise sdk`.

    Its targets are poses of the frames, in their order, and stand where the frames are at home until a program gives
    others.  What needs other tasks or shapes is written in Python, by `Solver.export` or `Tracker.export`.
    """

    robot: Positional[str]
    """A known name (panda, ur5e ...) or a file."""
    file: Positional[Path]
    """File to write, such as arm.poise."""
    frame: Annotated[tuple[str, ...], arg(metavar="FRAME ...")] = ()
    """The frames to lead; left out, the end of the longest chain."""
    dt: float | None = None
    """Seconds of a step, for a tracker; left out, it is a solver."""
    position_only: bool = False
    """Lead the frames to positions, and leave their rotations free."""
    method: str | None = None
    """Short name of a method, such as dls; left out, the solver's or the tracker's own way."""
    limits: bool = True
    """Ignore the joint limits, which are kept otherwise."""
    base: Base = "fixed"
    """How the robot stands in the world."""

    def run(self) -> Answer:
        """Load, prepare and write."""
        from poise.cli.output import refuse_file, say
        from poise.cli.start import names

        refuse_file(self.file, (), "", force=self.force)
        model = pz.load(self.robot, base=self.base)
        frames = names(self.frame) or [model.tip]
        kind: Any = pz.PositionTask if self.position_only else pz.PoseTask
        tasks = [kind(frame) for frame in frames]
        made: pz.Solver | pz.Tracker
        if self.dt is None:
            made = pz.Solver(model, tasks, method=self.method, limits=self.limits)
        else:
            made = pz.Tracker(model, tasks, self.method, dt=self.dt, limits=self.limits)
        made.export(self.file)
        what, size = type(made).__name__.lower(), self.file.stat().st_size
        line = f"{self.file}: a {what} of {model.name}, which leads {', '.join(frames)}; {size / 1e3:.0f} kB"
        return Answer(
            facts={"file": str(self.file), "kind": what, "robot": model.name, "frames": frames, "bytes": size},
            show=lambda: say(line),
            explanation=f"{line}. libpoise loads it, see `poise sdk`; its targets are the poses of these frames in "
            "this order, x y z w x y z.",
        )
