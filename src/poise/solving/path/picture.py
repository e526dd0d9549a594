"""The picture of a path: joints, speeds or steps, and errors."""

from typing import TYPE_CHECKING, Any

import numpy as np

from poise.common.drawing import BAD, GREY, LEAST, legend_beside, looking, titled
from poise.model.units import units

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from poise.solving.path.path import JointPath


def draw(path: "JointPath") -> "Figure":
    """See `JointPath.figure`."""
    model = path.model
    along = np.arange(len(path)) if path.times is None else path.times
    word = "waypoint [number]" if path.times is None else "time [s]"
    moved = [i for i in range(model.nq) if np.ptp(path.q[:, i]) > 0.0]
    unit = units(model)
    with looking():
        figure = titled(f"{model.name}: {path.status.name}", (8.0, 8.0))
        joints, rates, errors = figure.subplots(3, 1, sharex=True, height_ratios=(2, 1, 1))
        for i in moved:
            (line,) = joints.plot(along, path.q[:, i], label=f"{model.coordinates[i]} [{unit[model.coordinates[i]]}]")
            for limit in (model.lower[i], model.upper[i]):
                if np.isfinite(limit):
                    joints.axhline(limit, color=line.get_color(), linewidth=0.5, linestyle=":")
        joints.set_title("joints; dotted: their limits", color=GREY)
        joints.set_ylabel(" or ".join(sorted({unit[model.coordinates[i]] for i in moved}, reverse=True)) or "rad or m")
        legend_beside(joints)
        _rates(rates, path, along)
        for name, values, kind in (
            ("position [m]", path.position_errors, "-"),
            ("rotation [rad]", path.rotation_errors, "--"),
        ):
            if values.size and not np.isnan(values).all():
                worst = np.fmax.reduce(values, axis=1)
                errors.semilogy(along[path.stations], np.maximum(worst, LEAST), kind, label=name)
        errors.set_title(f"errors; {LEAST:g} where they are less", color=GREY)
        errors.set_ylabel("m or rad")
        errors.set_xlabel(word)
        errors.xaxis.get_major_locator().set_params(integer=path.times is None)
        for k, waypoint in enumerate(path.reconfigurations):
            ends = along[path.stations[[waypoint - 1, waypoint]]]
            for axes in (joints, rates, errors):
                axes.axvspan(*ends, color=GREY, alpha=0.3, linewidth=0.0, label="reconfigured" if not k else None)
        for failure in path.failures[:1]:
            for axes in (joints, rates, errors):
                axes.axvline(
                    along[path.stations[failure.waypoint]],
                    color=BAD,
                    linewidth=0.8,
                    label="first that cannot be followed",
                )
        legend_beside(errors)
    return figure


def _rates(axes: Any, path: "JointPath", along: Any) -> None:
    """Speeds where there are times, else the largest change of a joint in each step."""
    timed = path.times is not None
    axes.set_title("speeds" if timed else "largest change of a joint in a step", color=GREY)
    axes.set_ylabel("rad/s or m/s" if timed else "rad or m")
    if len(path) < 2:
        return
    steps = path.steps
    if path.times is None:
        axes.plot(along[1:], np.abs(steps).max(axis=1), "o-", markersize=2)
        return
    gaps = np.maximum(np.diff(path.times), 1e-12)
    for v in np.flatnonzero(np.abs(steps).max(axis=0) > 0.0):
        axes.plot(along[1:], steps[:, v] / gaps)
