"""The picture of a report: its measures over time."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from poise.extending import Array, drawing
from poise_motion.anatomy.contact_schedule import runs
from poise_motion.report.measures import Ground, Jerk, Limits, Tracking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PALE: Final = "#aaaaaa"


def draw(title: str, times: Array, tracking: Tracking, ground: Ground, limits: Limits, jerk: Jerk) -> "Figure":
    """See `Report.figure`."""
    with drawing.looking():
        figure = drawing.titled(title, (9.0, 10.0))
        panels = figure.subplots(5, 1, sharex=True, height_ratios=(1.2, 1.6, 0.9, 0.9, 1.0))
        errors, feet, depth, speeds, jerks = panels
        _errors(errors, times, tracking)
        _feet(feet, times, ground)
        _depth(depth, times, ground.lowest)
        _speeds(speeds, times, limits.speed)
        _jerks(jerks, times, jerk)
        for panel in panels:
            drawing.legend_beside(panel)
        jerks.set_xlabel("time [s]")
    return figure


def _errors(axes: Any, times: Array, tracking: Tracking) -> None:
    """How far the parts are from their targets."""
    errors = 100.0 * tracking.position
    axes.set_title("distance of the parts to their targets", color=drawing.GREY)
    axes.set_ylabel("cm")
    if errors.size:
        axes.plot(times, errors.max(axis=1), color=_PALE, linewidth=0.8, label="largest")
        axes.plot(times, errors.mean(axis=1), color=drawing.COLOURS[0], label="mean")
        axes.set_ylim(bottom=0.0)


def _feet(axes: Any, times: Array, ground: Ground) -> None:
    """How high the feet are, and below, bars where the source has them stand."""
    axes.set_title("lowest points of the feet over the ground; bars: where the source stands", color=drawing.GREY)
    axes.set_ylabel("cm")
    lowest = min(0.0, 100.0 * float(ground.heights.min(initial=0.0)))
    thick = 0.05 * (100.0 * float(ground.heights.max(initial=0.01)) - lowest)
    for i, foot in enumerate(ground.feet):
        colour = drawing.COLOURS[i % len(drawing.COLOURS)]
        axes.plot(times, 100.0 * ground.heights[:, i], color=colour, linewidth=1.0, label=foot.replace("_", " "))
        bars = [(times[start], times[stop - 1] - times[start]) for start, stop in runs(ground.on[:, i])]
        axes.broken_barh(bars, (lowest - 1.5 * (i + 1) * thick, thick), color=colour)


def _depth(axes: Any, times: Array, lowest: Array) -> None:
    """How far below the ground the robot reaches."""
    axes.set_title("lowest point of the robot, cut off at 1 cm above the ground", color=drawing.GREY)
    axes.set_ylabel("mm")
    low = np.minimum(1000.0 * lowest, 10.0)
    if np.isnan(low).any():
        return  # it stands on no ground
    axes.plot(times, low, color=drawing.COLOURS[0], linewidth=1.0)
    axes.axhline(0.0, color=drawing.GREY, linewidth=0.8)
    axes.fill_between(times, low, 0.0, where=low < 0.0, color=drawing.BAD, alpha=0.4, linewidth=0.0)
    axes.set_ylim(min(-2.0, 1.1 * float(low.min())), 11.0)


def _speeds(axes: Any, times: Array, speed: Array) -> None:
    """How near the fastest joint is to its limit."""
    axes.set_title("speed of the fastest joint, of its limit", color=drawing.GREY)
    axes.set_ylabel("share")
    if len(speed):
        axes.plot(times[1:], speed, color=drawing.COLOURS[0], linewidth=1.0)
    axes.axhline(1.0, color=drawing.BAD, linewidth=0.8)
    axes.set_ylim(0.0, 1.08 * max(1.0, float(speed.max(initial=0.0))))


def _jerks(axes: Any, times: Array, jerk: Jerk) -> None:
    """How rough the motion is."""
    axes.set_title("jerk of the joints", color=drawing.GREY)
    axes.set_ylabel("rad/s$^3$")
    for values, colour, name in ((jerk.source, _PALE, "source"), (jerk.robot, drawing.COLOURS[0], "robot")):
        if (values > 0.0).any():
            middle = 0.25 * (times[:-3] + times[1:-2] + times[2:-1] + times[3:])
            axes.semilogy(middle, np.where(values > 0.0, values, np.nan), color=colour, linewidth=0.8, label=name)
