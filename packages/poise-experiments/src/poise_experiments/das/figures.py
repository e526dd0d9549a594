"""The figures, in colours that colour-blind readers can tell apart (Okabe and Ito)."""

from typing import TYPE_CHECKING, Final

import numpy as np

from poise.extending import das, drawing
from poise_experiments.das.problem import (
    HYBRID,
    LITERAL,
    NEWTON,
    NONE,
    POSTURE,
    RULED,
    STRONG,
    TRANSPOSE,
    WEAK,
    Results,
    joints,
    way,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS: Final = {
    NONE: "#D55E00", POSTURE: "#CC79A7", WEAK: "#E69F00", STRONG: "#0072B2", LITERAL: "#000000", RULED: "#009E73"
}  # fmt: skip
_METHODS: Final = {TRANSPOSE: "#D55E00", NEWTON: "#0072B2", HYBRID: "#009E73"}
_FRAMES: Final = 6
_LEAST: Final = 1e-8
"""Errors below this are drawn as this, for a curve to stay in view."""
_WAYPOINT, _UPDATE = "waypoint [number]", "update [number]"


def figures(results: Results) -> dict[str, "Figure"]:
    """Every figure, by its name."""
    return {
        "frames": _frames(results),
        "clearance": _clearance(results),
        "vehicle": _vehicle(results),
        "iterations": _iterations(results),
    }


def _frames(results: Results) -> "Figure":
    figure = drawing.titled("Ten links through a field: along the path, light to dark", (13, 8))
    axes = figure.subplots(2, len(das.FIELDS), sharex=True, sharey=True)
    shades = np.linspace(0.25, 1.0, _FRAMES)
    for column, (field, instance) in enumerate(das.FIELDS.items()):
        points, target = np.array(instance.obstacles), way(instance)
        for axis, name in zip(axes[:, column], (NONE, STRONG), strict=True):
            path = results.passages[field][name].path
            for k, shade in zip(np.linspace(0, len(path) - 1, _FRAMES).astype(int), shades, strict=True):
                x, y = joints(path[k]).T
                axis.plot(
                    x, y, "o-", color=_COLOURS[name], alpha=shade, markersize=3, linewidth=1.5, label=f"arm, {name}"
                )
            axis.plot(target[:, 0], target[:, 1], "--", color="grey", linewidth=1, zorder=1, label="way of the target")
            axis.plot(points[:, 0], points[:, 1], "X", color="black", markersize=9, zorder=5, label="obstacle")
            axis.set_title(f"{field}: {name}", fontsize=10)
            axis.set_aspect("equal")
            axis.set(xlabel="x [links]", ylabel="y [links]")
    drawing.below_all(figure, axes[:, 0])
    return figure


def _clearance(results: Results) -> "Figure":
    figure = drawing.titled("Clearance of the nearest joint, and error of the effector, along the path", (13, 6.5))
    axes = figure.subplots(2, len(das.FIELDS), sharex=True, sharey="row")
    for (top, bottom), (field, row) in zip(axes.T, results.passages.items(), strict=True):
        for name, passage in row.items():
            top.plot(passage.clearances, color=_COLOURS[name], label=name, linewidth=1.4)
            bottom.semilogy(np.maximum(passage.errors, _LEAST), color=_COLOURS[name], linewidth=1.2)
        top.set(title=field, xlabel=_WAYPOINT, ylabel="clearance [links]")
        bottom.set(xlabel=_WAYPOINT, ylabel=f"error [links], {_LEAST:g} where it is less")
    axes[0, 0].set_ylim(bottom=0.0)
    drawing.below_all(figure, axes[:1, 0], columns=3)
    return figure


def _vehicle(results: Results) -> "Figure":
    figure = drawing.titled(
        "An arm on a vehicle: what is left of the vehicle's way, and how far the arm has turned", (10, 4)
    )
    left, right = figure.subplots(1, 2)
    for name, drive, colour in (("S = 1", results.plain, "#D55E00"), ("S of appendix B", results.split, "#0072B2")):
        rest = np.linalg.norm(drive.path[:, :2] - drive.path[-1, :2], axis=1)
        turned = np.linalg.norm(drive.path[:, 2:] - drive.path[0, 2:], axis=1)
        left.plot(100.0 * rest / rest[0], "o-", color=colour, markersize=3, label=name, clip_on=False)
        right.plot(turned, "o-", color=colour, markersize=3, label=name)
    left.set(xlabel=_UPDATE, ylabel="left of the vehicle's way [%]", ylim=(0.0, 100.0))
    right.set(xlabel=_UPDATE, ylabel="turn of the arm from its start [rad]", ylim=(0.0, None))
    drawing.below_all(figure, [left])
    return figure


def _iterations(results: Results) -> "Figure":
    figure = drawing.titled("Starts that have arrived, by iteration", (10, 4))
    for axis, (spread, counts) in zip(figure.subplots(1, len(results.counts)), results.counts.items(), strict=True):
        for name, count in counts.items():
            total = len(count.iterations) + count.failed
            needed = np.sort(np.maximum(count.iterations, 1.0))
            axis.step(
                [*needed[:1], *needed],
                100.0 * np.arange(len(needed) + len(needed[:1])) / total,
                where="post",
                color=_METHODS[name],
                label=name,
                clip_on=False,
            )
        axis.set_xscale("log")
        axis.set(title=spread, xlabel="iterations [count]", ylabel="starts that have arrived [%]", ylim=(0.0, 100.0))
        axis.legend(loc="lower right")
    return figure
