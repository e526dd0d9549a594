"""What `reach` found: arrays with a row a voxel, their sums in words, and how they are written and drawn."""

import os
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite
from poise.model.model import Model
from poise.solving.requirements.outcome import duration
from poise.spatial import SO3

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ReachMap:
    """Where a frame can go: a row for each of n voxels, a column for each of m orientations; the arrays are read-only.

    What is reached is certified, and what is `proved` can never be.  The rest was not found by as many starts as
    `budget` allows, so the map is a lower bound.
    """

    model: Model
    """Whose frame it is."""
    frame: str
    """The frame that goes there."""
    grid: float
    """Edge of a voxel [m]; the centres are whole multiples of it."""
    orientations: SO3 | None
    """(m,) rotations of the frame in the world that were tried at each voxel; None: any would do, and m is 1."""
    limits: bool
    """Whether every joint is within its limits."""
    budget: int
    """Starts besides home, at most, for each target."""
    seed: int
    """What the random ones among the starts depend on."""
    centre: Array
    """(3,) the point of the first axis from which the frame's reach is measured [m]."""
    points: Array
    """(n, 3) centres in the world [m] of the voxels that no length rules out."""
    reached: npt.NDArray[np.bool_]
    """(n, m) whether the frame reaches the centre with the orientation."""
    proved: npt.NDArray[np.bool_]
    """(n, m) whether the lengths between the axes prove that it cannot; such a target is not tried."""
    counts: npt.NDArray[np.int64]
    """(n,) how many orientations it reaches."""
    manipulability: Array
    """(n,) the best of the solutions found, of Yoshikawa's index sqrt(det J J^T): the product of the singular values of
    the Jacobian, whose rows are m and rad a joint's rad or m; of its position rows alone where the orientation is free.
    NaN where nothing is reached.  What an arm can never do is left out of the product: a planar arm has three singular
    values, an arm of five joints five."""
    mean_manipulability: Array
    """(n,) the mean over the orientations that are reached, of one solution each."""
    q: Array
    """(n, nq) the solution with the best index; NaN where nothing is reached."""
    time: float
    """What it took [s]."""

    def __post_init__(self) -> None:
        for array in (
            self.points,
            self.reached,
            self.proved,
            self.counts,
            self.manipulability,
            self.mean_manipulability,
            self.q,
        ):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ReachMap, **{field.name: getattr(self, field.name) for field in fields(self)}), ()

    @property
    def share(self) -> Array:
        """(n,) the share of the orientations that is reached, from 0 to 1."""
        return self.counts / self.reached.shape[1]

    @property
    def solves(self) -> int:
        """Targets that were tried: all that are not proved to be out of reach."""
        return int((~self.proved).sum())

    @property
    def volume(self) -> float:
        """Of the voxels that are reached in some orientation [m^3]."""
        return self._volume(self.counts > 0)

    @property
    def dexterous_volume(self) -> float:
        """Of the voxels that are reached in every orientation tried [m^3]."""
        return self._volume(self.counts == self.reached.shape[1])

    def _volume(self, chosen: npt.NDArray[np.bool_]) -> float:
        return float(chosen.sum()) * self.grid**3

    @property
    def farthest(self) -> Array | None:
        """(3,) the reached centre that is farthest from `centre` [m]; None if none is reached."""
        if not self.counts.any():
            return None
        away = np.linalg.norm(self.points - self.centre, axis=1)
        return np.array(self.points[np.argmax(np.where(self.counts > 0, away, -1.0))])

    def facts(self) -> dict[str, Any]:
        """The map in numbers, by name, in m, m^3 and s."""
        some, farthest = self.counts > 0, self.farthest
        return {
            "robot": self.model.name,
            "frame": self.frame,
            "grid": self.grid,
            "orientations": 0 if self.orientations is None else self.reached.shape[1],
            "limits": self.limits,
            "budget": self.budget,
            "seed": self.seed,
            "voxels": len(self.points),
            "voxels_reached": int(some.sum()),
            "volume": self.volume,
            "dexterous_volume": self.dexterous_volume,
            "share": float(self.share[some].mean()) if some.any() else 0.0,
            "manipulability": float(self.manipulability[some].max()) if some.any() else None,
            "farthest": None if farthest is None else farthest,
            "farthest_distance": None if farthest is None else float(np.linalg.norm(farthest - self.centre)),
            "targets": self.reached.size,
            "targets_reached": int(self.counts.sum()),
            "targets_proved": int(self.proved.sum()),
            "targets_not_found": self.solves - int(self.counts.sum()),
            "solves": self.solves,
            "time": self.time,
        }

    def summary(self) -> str:
        """The map in a few sentences."""
        f = self.facts()
        free = self.orientations is None
        kind = "any orientation" if free else f"{f['orientations']} orientations"
        lines = [
            f"{self.frame} of {self.model.name}: voxels of {self.grid:g} m, {kind}, "
            f"limits {'kept' if self.limits else 'ignored'}.",
            f"Reached: {f['volume']:.4g} m^3, {f['voxels_reached']:,} of {f['voxels']:,} voxels.",
        ]
        if f["voxels_reached"]:
            if not free:
                lines.append(
                    f"There it reaches {f['share']:.1%} of the orientations on average, and all of them in "
                    f"{f['dexterous_volume']:.4g} m^3."
                )
            place = ", ".join(f"{x + 0.0:.4g}" for x in f["farthest"])
            lines.append(f"Farthest: ({place}) m, {f['farthest_distance']:.4g} m from the first axis.")
            lines.append(f"Best manipulability: {f['manipulability']:.4g}.")
        lines.append(
            f"{f['targets']:,} targets in {duration(self.time)}: {f['targets_reached']:,} reached, "
            f"{f['targets_proved']:,} proved to be out of reach, "
            f"{f['targets_not_found']:,} not found by {self.budget + 1} start{'s' * (self.budget > 0)}."
        )
        return "\n".join(lines)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a table with a row a voxel: x, y, z [m], count, proved, share, manipulability, mean_manipulability, q.

        Of the orientations, `count` are reached and `proved` are proved to be out of reach.  The columns of q are named
        "q." and the coordinate.  What the map is of stands in the metadata of the schema, as JSON under "poise".
        Raises MissingExtra without pyarrow.
        """
        from poise.reachability.files import write_parquet

        turns = self.orientations
        columns = dict(zip("xyz", self.points.T, strict=True)) | {
            "count": self.counts,
            "proved": self.proved.sum(1),
            "share": self.share,
            "manipulability": self.manipulability,
            "mean_manipulability": self.mean_manipulability,
        }
        columns |= {f"q.{name}": column for name, column in zip(self.model.coordinates, self.q.T, strict=True)}
        facts = self.facts() | {"orientations_wxyz": None if turns is None else turns.wxyz}
        write_parquet(path, columns, facts)

    def to_ply(self, path: str | os.PathLike[str]) -> None:
        """Write the reached voxels as points, binary little-endian PLY, coloured by share, or by manipulability where
        the orientation is free: x, y, z [m], red, green, blue, share, manipulability."""
        from poise.reachability.files import write_ply

        some, best = self.counts > 0, self.manipulability
        shade = best / np.nanmax(best, initial=1e-300) if self.orientations is None else self.share
        what = f"reach of {self.frame} of {self.model.name}, voxels of {self.grid:g} m"
        write_ply(path, what, self.points[some], shade[some], self.share[some], best[some])

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one page that any browser opens without a network: points that turn, zoom and are cut open."""
        from poise.reachability.page import write_page

        some = self.counts > 0
        title = f"Reach of {self.frame} of {self.model.name}"
        layers = [("best manipulability", self.manipulability[some], self._best)]
        if self.orientations is not None:
            layers.insert(0, ("share of orientations", self.share[some], 1.0))
        write_page(path, title, self.points[some], layers, grid=self.grid, centre=self.centre, summary=self.summary())

    def figure(self, through: ArrayLike | None = None) -> "Figure":
        """Slices of share and manipulability by the three planes through a point (3,) [m], or through `centre`.

        A Matplotlib figure; its `savefig` writes it.  Raises MissingExtra without Matplotlib.
        """
        from poise.reachability.slices import draw

        at = self.centre if through is None else finite("through", through, 3)
        what = f"{self.frame} of {self.model.name}, voxels of {self.grid:g} m; grey: nothing found"
        layers = [("best manipulability [product of m, rad]", self.manipulability, self._best)]
        if self.orientations is not None:
            share = np.where(self.counts > 0, 100.0 * self.share, np.nan)
            layers.insert(0, ("orientations reached [%]", share, 100.0))
        return draw(what, self.points, self.grid, at, layers)

    @property
    def _best(self) -> float:
        """The best manipulability of all; 1 where there is none."""
        return float(np.nanmax(self.manipulability, initial=0.0)) or 1.0

    def __len__(self) -> int:
        return len(self.points)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"ReachMap({self.frame!r}, {int((self.counts > 0).sum()):,} of {len(self):,} voxels reached)"
