"""`poise reach`: where a frame can go."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import arg

import poise as pz
from poise.cli.command import Answer, OfRobot, Writes, command, numbers

if TYPE_CHECKING:
    from poise.reachability.map import ReachMap


@command
class Reach(Writes, OfRobot):
    """Map where a frame can go: the share of orientations that it reaches over a grid, and how well it moves there.

    Written into ./poise-reach, or the folder given by --out: reach.html, which turns in a browser, reach.png, slices,
    reach.ply, points for other programs, and reach.parquet, all numbers.  What is reached is certified; what is not was
    not found from so many starts.
    """

    grid: float = 0.05
    """Edge of a voxel [m]; what is tried is its centre."""
    orientations: int = 32
    """How many orientations are tried at each voxel, spread over all rotations; 0 leaves the orientation free."""
    bounds: Annotated[tuple[float, float, float, float, float, float] | None, numbers("X Y Z X Y Z")] = None
    """Lower and upper corner of a box to stay in [m]; left out, as far as the frame can ever be."""
    budget: int = 64
    """Starts besides home, at most, before a target counts as not reached."""
    seed: int = 0
    """Seed of the random starts."""
    threads: int | None = None
    """Threads that solve; left out, one a core."""
    out: Annotated[Path, arg(aliases=["-o"])] = Path("poise-reach")
    """Folder for the files."""

    def run(self) -> Answer:
        """Load, map and write."""
        from poise.cli.output import keep, say
        from poise.common.files import folder_for_work

        model = pz.load(self.robot, base=self.base)
        model.frame(self.frame or model.tip)
        # What cannot be written is said before the work, not after it.
        with folder_for_work(self.out):
            keep((self.out / f"reach.{kind}" for kind in ("html", "ply", "png", "parquet")), force=self.force)
            found = pz.reach(
                model,
                self.frame,
                grid=self.grid,
                orientations=self.orientations,
                bounds=None if self.bounds is None else (self.bounds[:3], self.bounds[3:]),
                limits=self.limits,
                budget=self.budget,
                seed=self.seed,
                threads=self.threads,
            )
        written = _write(found, self.out)
        line = f"written to {self.out}: {', '.join(written)}"
        facts = found.facts()

        def show() -> None:
            _print(found)
            say(line)

        return Answer(
            facts=facts,
            show=show,
            explanation=f"{facts['voxels_reached']:,} of {facts['voxels']:,} voxels of {self.grid:g} m were reached by "
            f"{found.frame}, which forward kinematics confirms; what is not was not found from {self.budget + 1} "
            f"starts, and proved are those that lengths rule out. {line}.",
            code=0 if found.counts.any() else 2,
        )


def _write(found: "ReachMap", folder: Path) -> list[str]:
    """Write all files whose packages are there, warn of the others, and return the names of those written."""
    from poise.common.drawing import save_figure
    from poise.common.errors import MissingExtra

    found.to_html(folder / "reach.html")
    found.to_ply(folder / "reach.ply")
    written = ["reach.html", "reach.ply"]
    for name, write in (
        ("reach.png", lambda path: save_figure(found.figure(), path)),
        ("reach.parquet", found.to_parquet),
    ):
        try:
            write(folder / name)
        except MissingExtra as error:
            print("warning:", error, file=sys.stderr)
        else:
            written.append(name)
    return written


def _print(found: "ReachMap") -> None:
    from poise.cli.output import print_table
    from poise.solving.requirements.outcome import duration

    f = found.facts()
    took, unit = duration(found.time).split()
    rows = [
        ("voxels reached", f"{f['voxels_reached']:,}", f"of {f['voxels']:,}"),
        ("volume reached", f"{f['volume']:.4g}", "m^3"),
    ]
    if found.orientations is not None:
        rows += [
            ("orientations reached, on average", f"{100.0 * f['share']:.1f}", f"% of {f['orientations']}"),
            ("volume with all orientations", f"{f['dexterous_volume']:.4g}", "m^3"),
        ]
    if f["farthest"] is not None:
        place = " ".join(f"{x + 0.0:.4g}" for x in f["farthest"])
        rows += [
            ("farthest from the first axis", f"{f['farthest_distance']:.4g}", f"m, at {place}"),
            ("best manipulability", f"{f['manipulability']:.4g}", ""),
        ]
    rows += [
        ("targets", f"{f['targets']:,}", ""),
        ("  reached", f"{f['targets_reached']:,}", ""),
        ("  not found", f"{f['targets_not_found']:,}", f"by {found.budget + 1} start{'s' * (found.budget > 0)} each"),
        ("  proved to be out of reach", f"{f['targets_proved']:,}", "by lengths"),
        ("time", took, unit),
    ]
    print_table([f"reach of {found.frame}, {found.model.name}", "value", "unit"], rows, numbers=("value",))
