"""The picture of a report: its measures over time."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from poise.common.drawing import BAD, COLOURS, GREY, legend_beside, looking, titled
from poise.retargeting.anatomy.contact_schedule import runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from poise.retargeting.report.report import Report

_PALE: Final = "#aaaaaa"


def draw(report: "Report") -> "Figure":
    """See `Report.figure`."""
    with looking():
        figure = titled(f"{report.source} on {report.robot}", (9.0, 10.0))
        panels = figure.subplots(5, 1, sharex=True, height_ratios=(1.2, 1.6, 0.9, 0.9, 1.0))
        for panel, fill in zip(panels, (_errors, _feet, _depth, _speeds, _jerks), strict=True):
            fill(panel, report)
            legend_beside(panel)
        panels[-1].set_xlabel("time [s]")
    return figure


def _errors(axes: Any, report: "Report") -> None:
    """How far the parts are from their targets."""
    errors = 100.0 * report.tracking.position
    axes.set_title("distance of the parts to their targets", color=GREY)
    axes.set_ylabel("cm")
    if errors.size:
        axes.plot(report.times, errors.max(axis=1), color=_PALE, linewidth=0.8, label="largest")
        axes.plot(report.times, errors.mean(axis=1), color=COLOURS[0], label="mean")
        axes.set_ylim(bottom=0.0)


def _feet(axes: Any, report: "Report") -> None:
    """How high the feet are, and below, bars where the source has them stand."""
    ground = report.ground
    axes.set_title("lowest points of the feet over the ground; bars: where the source stands", color=GREY)
    axes.set_ylabel("cm")
    lowest = min(0.0, 100.0 * float(ground.heights.min(initial=0.0)))
    thick = 0.05 * (100.0 * float(ground.heights.max(initial=0.01)) - lowest)
    for i, foot in enumerate(ground.feet):
        colour = COLOURS[i % len(COLOURS)]
        axes.plot(report.times, 100.0 * ground.heights[:, i], color=colour, linewidth=1.0, label=foot.replace("_", " "))
        bars = [
            (report.times[start], report.times[stop - 1] - report.times[start]) for start, stop in runs(ground.on[:, i])
        ]
        axes.broken_barh(bars, (lowest - 1.5 * (i + 1) * thick, thick), color=colour)


def _depth(axes: Any, report: "Report") -> None:
    """How far below the ground the robot reaches."""
    axes.set_title("lowest point of the robot, cut off at 1 cm above the ground", color=GREY)
    axes.set_ylabel("mm")
    low = np.minimum(1000.0 * report.ground.lowest, 10.0)
    if np.isnan(low).any():
        return  # it stands on no ground
    axes.plot(report.times, low, color=COLOURS[0], linewidth=1.0)
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.fill_between(report.times, low, 0.0, where=low < 0.0, color=BAD, alpha=0.4, linewidth=0.0)
    axes.set_ylim(min(-2.0, 1.1 * float(low.min())), 11.0)


def _speeds(axes: Any, report: "Report") -> None:
    """How near the fastest joint is to its limit."""
    speed = report.limits.speed
    axes.set_title("speed of the fastest joint, of its limit", color=GREY)
    axes.set_ylabel("share")
    if len(speed):
        axes.plot(report.times[1:], speed, color=COLOURS[0], linewidth=1.0)
    axes.axhline(1.0, color=BAD, linewidth=0.8)
    axes.set_ylim(0.0, 1.08 * max(1.0, float(speed.max(initial=0.0))))


def _jerks(axes: Any, report: "Report") -> None:
    """How rough the motion is."""
    axes.set_title("jerk of the joints", color=GREY)
    axes.set_ylabel("rad/s$^3$")
    for jerk, colour, name in (
        (report.jerk.source, _PALE, "source"),
        (report.jerk.robot, COLOURS[0], "robot"),
    ):
        if (jerk > 0.0).any():
            middle = 0.25 * (report.times[:-3] + report.times[1:-2] + report.times[2:-1] + report.times[3:])
            axes.semilogy(middle, np.where(jerk > 0.0, jerk, np.nan), color=colour, linewidth=0.8, label=name)
