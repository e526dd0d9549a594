"""The picture of a map: slices by three planes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.drawing import GREY, looking, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EMPTY: Final = 0.93
"""The grey of voxels in which nothing is reached, of white."""
_PLANES: Final = ((0, 2), (1, 2), (0, 1))
"""The axes to the right and upwards of each slice."""


def draw(what: str, points: Array, grid: float, at: Array, layers: Sequence[tuple[str, Array, float]]) -> "Figure":
    """See `ReachMap.figure`; each layer is its title, what colours the points (n, 3), NaN where nothing is reached, and
    its largest value."""
    cells = np.rint(points / grid).astype(np.int64)
    with looking(axes_grid=False):
        figure = titled(what, (10.0, 0.8 + 3.0 * len(layers)))
        panels = figure.subplots(len(layers), len(_PLANES), squeeze=False)
        for axes_row, (title, values, top) in zip(panels, layers, strict=True):
            for axes, plane in zip(axes_row, _PLANES, strict=True):
                nearest = np.argmin(np.abs((points - at)[:, 3 - sum(plane)]))
                image = _slice(axes, plane, cells, int(nearest), grid, values, top)
            figure.colorbar(image, ax=list(axes_row), label=title, shrink=0.75, aspect=20)
    return figure


def _slice(
    axes: Any, plane: tuple[int, int], cells: npt.NDArray[Any], nearest: int, grid: float, values: Array, top: float
) -> Any:
    """The slice through the nearest cell as an image: grey where nothing is reached, blank where no length reaches."""
    right, up = plane
    normal = 3 - right - up
    level = cells[nearest, normal]
    here = cells[:, normal] == level
    low, high = cells.min(0), cells.max(0)
    wide, tall = high[right] - low[right] + 1, high[up] - low[up] + 1
    inside, image = np.full((tall, wide), np.nan), np.full((tall, wide), np.nan)
    place = (cells[here, up] - low[up], cells[here, right] - low[right])
    inside[place] = _EMPTY
    image[place] = values[here]
    ends = [(low[i] - 0.5, high[i] + 0.5) for i in plane]
    extent = [float(end) * grid for pair in ends for end in pair]
    axes.imshow(inside, origin="lower", extent=extent, cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")
    drawn = axes.imshow(image, origin="lower", extent=extent, vmin=0.0, vmax=top, interpolation="nearest")
    names = "xyz"
    axes.set(xlabel=f"{names[right]} [m]", ylabel=f"{names[up]} [m]")
    axes.set_title(f"{names[normal]} = {level * grid + 0.0:.4g} m", color=GREY)
    return drawn
