"""The picture of a map: slices by three planes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from poise.checks import finite
from poise.errors import MissingExtra
from poise.spatial import Array, ArrayLike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from poise.reachability.map import ReachMap

_GREY: Final = "#666666"
_EMPTY: Final = "#ededed"
"""Voxels in which nothing is reached."""
_PLANES: Final = ((0, 2), (1, 2), (0, 1))
"""The axes to the right and upwards of each slice."""
_STYLE: Final = {
    "font.size": 9,
    "axes.edgecolor": _GREY,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
}


def draw(found: "ReachMap", through: ArrayLike | None) -> "Figure":
    """See `ReachMap.figure`."""
    try:
        matplotlib = import_module("matplotlib")
        figures = import_module("matplotlib.figure")
    except ImportError:
        raise MissingExtra("drawing a reach map", "matplotlib", "plots") from None
    at = found.centre if through is None else finite("through", through, 3)
    rows: list[tuple[str, Array, float]] = []
    if found.orientations is not None:
        rows.append(("orientations reached [%]", 100.0 * found.share, 100.0))
    best = np.nanmax(found.manipulability, initial=0.0)
    rows.append(("best manipulability [product of m, rad]", found.manipulability, float(best) or 1.0))
    with matplotlib.rc_context(_STYLE):
        figure = figures.Figure(figsize=(10.0, 0.8 + 3.0 * len(rows)), layout="constrained", dpi=150)
        grid = figure.subplots(len(rows), len(_PLANES), squeeze=False)
        for axes_row, (title, values, top) in zip(grid, rows, strict=True):
            for axes, plane in zip(axes_row, _PLANES, strict=True):
                image = _slice(axes, found, plane, at, values, top)
            figure.colorbar(image, ax=list(axes_row), label=title, shrink=0.75, aspect=20)
        what = f"{found.frame} of {found.model.name}, voxels of {found.grid:g} m; grey: nothing found"
        figure.suptitle(what, x=0.01, ha="left")
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
    inside[place] = 0.0
    image[place] = np.where(found.counts[here] > 0, values[here], np.nan)
    ends = [(low[i] - 0.5, high[i] + 0.5) for i in plane]
    extent = [float(end) * found.grid for pair in ends for end in pair]
    axes.imshow(inside, origin="lower", extent=extent, cmap=_flat(), interpolation="nearest")
    drawn = axes.imshow(image, origin="lower", extent=extent, vmin=0.0, vmax=top, interpolation="nearest")
    names = "xyz"
    axes.set(xlabel=f"{names[right]} [m]", ylabel=f"{names[up]} [m]")
    axes.set_title(f"{names[normal]} = {level * found.grid + 0.0:.4g} m", color=_GREY)
    return drawn


def _flat() -> Any:
    """A colour map of one colour."""
    return import_module("matplotlib.colors").ListedColormap([_EMPTY])
