"""The picture of a map: slices by three planes."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite
from poise.common.drawing import GREY, looking, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from poise.reachability.map import ReachMap

_EMPTY: Final = 0.93
"""The grey of voxels in which nothing is reached, of white."""
_PLANES: Final = ((0, 2), (1, 2), (0, 1))
"""The axes to the right and upwards of each slice."""


def draw(found: "ReachMap", through: ArrayLike | None) -> "Figure":
    """See `ReachMap.figure`."""
    at = found.centre if through is None else finite("through", through, 3)
    rows: list[tuple[str, Array, float]] = []
    if found.orientations is not None:
        rows.append(("orientations reached [%]", 100.0 * found.share, 100.0))
    best = np.nanmax(found.manipulability, initial=0.0)
    rows.append(("best manipulability [product of m, rad]", found.manipulability, float(best) or 1.0))
    with looking(axes_grid=False):
        what = f"{found.frame} of {found.model.name}, voxels of {found.grid:g} m; grey: nothing found"
        figure = titled(what, (10.0, 0.8 + 3.0 * len(rows)))
        grid = figure.subplots(len(rows), len(_PLANES), squeeze=False)
        for axes_row, (title, values, top) in zip(grid, rows, strict=True):
            for axes, plane in zip(axes_row, _PLANES, strict=True):
                image = _slice(axes, found, plane, at, values, top)
            figure.colorbar(image, ax=list(axes_row), label=title, shrink=0.75, aspect=20)
    return figure


def _slice(axes: Any, found: "ReachMap", plane: tuple[int, int], at: Array, values: Array, top: float) -> Any:
    """One slice as an image, its voxels grey where nothing is reached and blank where no length reaches."""
    right, up = plane
    normal = 3 - right - up
    cells = np.rint(found.points / found.grid).astype(np.int64)
    level = cells[np.argmin(np.abs(found.points[:, normal] - at[normal])), normal]
    here = cells[:, normal] == level
    low, high = cells.min(0), cells.max(0)
    wide, tall = high[right] - low[right] + 1, high[up] - low[up] + 1
    inside, image = np.full((tall, wide), np.nan), np.full((tall, wide), np.nan)
    place = (cells[here, up] - low[up], cells[here, right] - low[right])
    inside[place] = _EMPTY
    image[place] = np.where(found.counts[here] > 0, values[here], np.nan)
    ends = [(low[i] - 0.5, high[i] + 0.5) for i in plane]
    extent = [float(end) * found.grid for pair in ends for end in pair]
    axes.imshow(inside, origin="lower", extent=extent, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    drawn = axes.imshow(image, origin="lower", extent=extent, vmin=0.0, vmax=top, interpolation="nearest")
    names = "xyz"
    axes.set(xlabel=f"{names[right]} [m]", ylabel=f"{names[up]} [m]")
    axes.set_title(f"{names[normal]} = {level * found.grid + 0.0:.4g} m", color=GREY)
    return drawn
