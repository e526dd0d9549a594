"""The picture of a path: joints, speeds or steps, and errors."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.drawing import BAD, GREY, LEAST, legend_beside, looking, titled
from poise.model.model import Model
from poise.model.units import units

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(
    model: Model,
    q: Array,
    steps: Array,
    times: Array | None,
    errors_at: tuple[Array, Array],
    stations: npt.NDArray[np.int64],
    *,
    title: str,
    reconfigured: npt.NDArray[np.int64],
    failed: int | None,
) -> "Figure":
    """See `JointPath.figure`.

    `errors_at` are those of position and rotation at the waypoints, whose rows of q are `stations`; of these are
    `reconfigured` and the first that cannot be followed, `failed`.
    """
    along = np.arange(len(q)) if times is None else times
    word = "waypoint [number]" if times is None else "time [s]"
    moved = [i for i in range(model.nq) if np.ptp(q[:, i]) > 0.0]
    unit = units(model)
    with looking():
        figure = titled(title, (8.0, 8.0))
        joints, rates, errors = figure.subplots(3, 1, sharex=True, height_ratios=(2, 1, 1))
        for i in moved:
            (line,) = joints.plot(along, q[:, i], label=f"{model.coordinates[i]} [{unit[model.coordinates[i]]}]")
            for limit in (model.lower[i], model.upper[i]):
                if np.isfinite(limit):
                    joints.axhline(limit, color=line.get_color(), linewidth=0.5, linestyle=":")
        joints.set_title("joints; dotted: their limits", color=GREY)
        joints.set_ylabel(" or ".join(sorted({unit[model.coordinates[i]] for i in moved}, reverse=True)) or "rad or m")
        legend_beside(joints)
        _rates(rates, steps, times, along)
        for name, values, kind in (("position [m]", errors_at[0], "-"), ("rotation [rad]", errors_at[1], "--")):
            if values.size and not np.isnan(values).all():
                worst = np.fmax.reduce(values, axis=1)
                errors.semilogy(along[stations], np.maximum(worst, LEAST), kind, label=name)
        errors.set_title(f"errors; {LEAST:g} where they are less", color=GREY)
        errors.set_ylabel("m or rad")
        errors.set_xlabel(word)
        errors.xaxis.get_major_locator().set_params(integer=times is None)
        for k, waypoint in enumerate(reconfigured):
            ends = along[stations[[waypoint - 1, waypoint]]]
            for axes in (joints, rates, errors):
                axes.axvspan(*ends, color=GREY, alpha=0.3, linewidth=0.0, label="reconfigured" if not k else None)
        for axes in (joints, rates, errors) if failed is not None else ():
            axes.axvline(along[stations[failed]], color=BAD, linewidth=0.8, label="first that cannot be followed")
        legend_beside(errors)
    return figure


def _rates(axes: Any, steps: Array, times: Array | None, along: Any) -> None:
    """Speeds where there are times, else the largest change of a joint in each step."""
    timed = times is not None
    axes.set_title("speeds" if timed else "largest change of a joint in a step", color=GREY)
    axes.set_ylabel("rad/s or m/s" if timed else "rad or m")
    if not len(steps):
        return
    if times is None:
        axes.plot(along[1:], np.abs(steps).max(axis=1), "o-", markersize=2)
        return
    gaps = np.maximum(np.diff(times), 1e-12)
    for v in np.flatnonzero(np.abs(steps).max(axis=0) > 0.0):
        axes.plot(along[1:], steps[:, v] / gaps)
