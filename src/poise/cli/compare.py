"""`poise compare`: methods side by side on the same problems."""

from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

import poise as pz
from poise.cli.command import Base, command

if TYPE_CHECKING:
    from poise.tasks.pose import PoseTask, PositionTask

Problems = Literal["reachable", "near", "singular", "unreachable"]
"""As `poise.bench.problems.SETS`, whose module would import NumPy before the help is printed."""


@command
class Compare:
    """Solve the same random problems with several methods: success, time, iterations, oscillation."""

    robot: Positional[str]
    """A known name (panda, ur5e ...) or a file."""
    methods: Annotated[tuple[str, ...] | None, arg(metavar="METHOD ...")] = None
    """Short names, such as lm dls or lm,dls, and default, the solver's own way; left out, all that can do it."""
    frame: str | None = None
    """The frame to bring there; left out, the end of the longest chain."""
    position_only: bool = False
    """Leave the rotation free."""
    problems: Problems = "reachable"
    """Targets within reach; the same with starts near an answer; at nearly singular poses; or out of reach."""
    count: int = 100
    """How many problems."""
    seed: int = 0
    """Seed of the problems and of the restarts."""
    max_restarts: int = 0
    """Random starts after the first, at most."""
    base: Base = "fixed"
    """How the robot stands in the world."""
    position_tolerance: float = 1e-6
    """Largest distance from the target position [m]."""
    rotation_tolerance: float = 1e-6
    """Largest angle from the target rotation [rad]."""
    plot: Annotated[str | None, arg(metavar="FILE")] = None
    """Draw success against time, and convergence, into this file: .png, .svg or .pdf."""
    json: bool = False
    """Print one line of JSON."""

    def run(self) -> int:
        """Load, compare, print and draw."""
        from poise.bench.plots import require
        from poise.bench.problems import SETS
        from poise.checks import whole
        from poise.cli.output import console, say, width
        from poise.cli.start import names

        if self.plot is not None:
            require(self.plot)  # what is missing is said before the work, not after it
        model = pz.load(self.robot, base=self.base)
        task = self._task(self.frame or model.tip)
        whole("count", self.count, 1)
        whole("seed", self.seed, 0)
        problems = SETS[self.problems](model, [task], self.count, self.seed)
        comparison = pz.compare(
            model,
            task,
            problems.targets,
            methods=None if self.methods is None else names(self.methods),
            q0=problems.starts,
            seed=self.seed,
            max_restarts=self.max_restarts,
        )
        if self.json:
            console().print(comparison.json())
        else:
            say(comparison.text(width()))
        if self.plot is not None:
            comparison.plot(self.plot)
        return 0

    def _task(self, frame: str) -> "PoseTask | PositionTask":
        if self.position_only:
            return pz.PositionTask(frame, tolerance=self.position_tolerance)
        return pz.PoseTask(
            frame, position_tolerance=self.position_tolerance, rotation_tolerance=self.rotation_tolerance
        )
