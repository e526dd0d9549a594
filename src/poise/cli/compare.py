"""`poise compare`: methods side by side on the same problems."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

import poise as pz
from poise.cli.command import Answer, ToTargets, Writes, command

Problems = Literal["reachable", "near", "singular", "unreachable"]
"""As `poise.bench.problems.SETS`, whose module would import NumPy before the help is printed."""


@command
class Compare(Writes, ToTargets):
    """Solve the same random problems with several methods: success, time, iterations, oscillation."""

    methods: Annotated[tuple[str, ...] | None, arg(metavar="METHOD ...")] = None
    """Short names, such as lm dls or lm,dls, and default, the solver's own way; left out, all that can do it."""
    position_only: bool = False
    """Leave the rotation free."""
    problems: Problems = "reachable"
    """Targets within reach; the same with starts near an answer; at nearly singular poses; or out of reach."""
    count: int = 100
    """How many problems."""
    max_restarts: int = 0
    """Random starts after the first, at most."""
    plot: Annotated[Path | None, arg(metavar="FILE")] = None
    """Draw success against time, and convergence, into this file: .png, .svg or .pdf."""

    def run(self) -> Answer:
        """Load, compare and draw."""
        from poise.bench.plots import require
        from poise.bench.problems import SETS
        from poise.cli.output import PICTURES, refuse_file, say, width
        from poise.cli.start import names
        from poise.common.checks import whole

        refuse_file(self.plot, PICTURES, "a picture goes", force=self.force)
        if self.plot is not None:
            require(self.plot)  # what is missing is said before the work, not after it
        model = pz.load(self.robot, base=self.base)
        task = self.task(model, turns=not self.position_only)
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
            limits=self.limits,
        )
        if self.plot is not None:
            comparison.plot(self.plot)
        return Answer(
            facts=comparison.to_dict(),
            show=lambda: say(comparison.text(width())),
            explanation=f"Each method solved the same {self.count} problems from the same starts; success is the share "
            "that forward kinematics confirms within the tolerances, and broken the share of answers beyond a limit. "
            "Times are of this machine: compare them with each other, and not with those of another run.",
        )
