"""The figures, in colours that colour-blind readers can tell apart (Okabe and Ito)."""

from typing import TYPE_CHECKING, Final

import numpy as np

from poise.extending import WORLD, drawing
from poise_experiments.buss import released
from poise_experiments.buss.problem import (
    CLAMPED,
    CURVES,
    DLS,
    JT,
    MEASURED,
    PINV,
    SDLS,
    SWEEPS,
    TIME_STEP,
    TITLES,
    WARM_UP,
    Results,
    mechanism,
    targets,
)
from poise_experiments.drawing import with_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS: Final = {JT: "#D55E00", PINV: "#CC79A7", DLS: "#0072B2", CLAMPED: "#009E73", SDLS: "#E69F00"}
_CLAMPS: Final = {"none": "#D55E00", "constant": "#0072B2", "adaptive": "#009E73"}
_EFFECTORS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
_SHADE: Final = "#BBBBBB"
_WHISKER: Final = "least to largest total of starts that are 1e-9 rad apart"
_WINDOW: Final = 400
"""Steps that the figure of the error over time shows."""


def figures(results: Results) -> dict[str, "Figure"]:
    """Every figure, by its name."""
    return {
        "shapes": _shapes(),
        "totals": _totals(results),
        "tracking": _tracking(results),
        "damping": _damping(results),
        "jumps": _jumps(results),
        "cost": _cost(results),
    }


def _shapes() -> "Figure":
    figure, axes = with_axes(
        "The two shapes at rest and the curves of their targets, from the front", 1, 2, (12, 4.2), (1, 1.8)
    )
    for axis, (shape, curves) in zip(axes, CURVES.items(), strict=True):
        model = mechanism(shape)
        places = {joint.child: model.pose(joint.child, model.home).xyz for joint in model.joints}
        way = targets(shape, np.linspace(0.0, 2.0 * np.pi, 2000))
        for i in range(len(curves)):
            axis.plot(way[:, i, 0], way[:, i, 1], color=_EFFECTORS[i], linewidth=1, label=f"target of e{i}")
        for joint in model.joints:
            if joint.parent != WORLD:
                ends = np.array([places[joint.parent], places[joint.child]])
                axis.plot(ends[:, 0], ends[:, 1], color="black", linewidth=3, solid_capstyle="round", zorder=3)
        nodes = np.array([places[joint.child] for joint in model.joints if joint.nv])
        axis.plot(
            nodes[:, 0], nodes[:, 1], "o", color="white", markeredgecolor="black", markersize=6, zorder=4, label="joint"
        )
        for i in range(len(curves)):
            tip = places[f"e{i}"]
            axis.plot(tip[0], tip[1], "o", color=_EFFECTORS[i], markersize=9, zorder=5, label=f"e{i} at rest")
        axis.set(title=f"{TITLES[shape]}: {model.nv} joints", xlabel="x [link units]", ylabel="y [link units]")
        axis.set_aspect("equal")
        axis.margins(0.08)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, fontsize=8)
    return figure


def _totals(results: Results) -> "Figure":
    starts = max(len(run.totals) for runs in results.runs.values() for run in runs.values())
    title = f"Total error over {MEASURED} steps, one update a step; bars and numbers: the median of {starts} starts"
    figure, axes = with_axes(title, 1, 2, (10, 4.5))
    for axis, (shape, runs) in zip(axes, results.runs.items(), strict=True):
        for i, (name, colour) in enumerate(_COLOURS.items()):
            run = runs[name]
            middle = float(np.median(run.totals))
            axis.bar(i, middle, color=colour)
            if max(run.totals) - min(run.totals) > 1.0:
                spread = [[middle - min(run.totals)], [max(run.totals) - middle]]
                axis.errorbar(i, middle, spread, fmt="none", color="black", capsize=4, label=_WHISKER)
            axis.annotate(f"{middle:.0f}", (i, max(run.totals)), (0, 4), textcoords="offset points", ha="center")
        axis.set_xticks(range(len(_COLOURS)), list(_COLOURS))
        axis.set(title=TITLES[shape], xlabel="method", ylabel="sum of distances [link units]")
        axis.grid(visible=False, axis="x")
        axis.margins(y=0.12)
    drawing.below_all(figure, axes)
    return figure


def _tracking(results: Results) -> "Figure":
    figure, axes = with_axes("Tracking error over time, of the runs from q = 0", 2, 1, (10, 7))
    time = TIME_STEP * (WARM_UP + 1 + np.arange(MEASURED))
    for axis, (shape, runs) in zip(axes, results.runs.items(), strict=True):
        for name, colour in _COLOURS.items():
            axis.plot(time[:_WINDOW], runs[name].errors[:_WINDOW], color=colour, linewidth=1.3, label=name)
        axis.set(
            title=TITLES[shape],
            xlabel=f"time [time units of the program, {TIME_STEP} a step]",
            ylabel="sum of distances [link units]",
            ylim=(0.0, None),
        )
        axis.margins(x=0.01)
    drawing.below_all(figure, axes[:1])
    return figure


def _damping(results: Results) -> "Figure":
    figure, axes = with_axes("Damping: the least error lies where the body shakes", 2, 3, (12, 6.5))
    for column, name in enumerate(SWEEPS):
        sweep, (top, bottom) = results.sweeps[name], (axes[column], axes[3 + column])
        bottom.sharex(top)
        top.plot(sweep.dampings, sweep.means, "o-", color="#0072B2", markersize=3, label="one run")
        bottom.semilogy(sweep.dampings, sweep.jitters, "o-", color="#0072B2", markersize=3)
        for axis in (top, bottom):
            axis.axvspan(sweep.dampings[0], sweep.threshold[1], color=_SHADE, alpha=0.4, linewidth=0, label="shakes")
            axis.axvline(sweep.chosen, color="#D55E00", linestyle="--", linewidth=1.2, label="lambda as released")
        top.plot(sweep.best, min(sweep.means), "*", color="#009E73", markersize=13, label="least error")
        top.set(title=name, xlabel="lambda [link units]", ylabel="mean error [link units]")
        bottom.set(xlabel="lambda [link units]", ylabel="jitter [rad a step]")
    drawing.below_all(figure, axes[:1])
    return figure


def _jumps(results: Results) -> "Figure":
    figure, axes = with_axes("Error after the targets jump, by the way the error is clamped", 1, 2, (10, 4.2))
    shown = 60
    for axis, (shape, jumps) in zip(axes, results.jumps.items(), strict=True):
        for name, row in jumps.items():
            axis.plot(
                range(1, shown + 1), row.errors[:, :shown].mean(axis=0), color=_CLAMPS[name], label=f"D_max {name}"
            )
        axis.set(
            title=TITLES[shape], xlabel="update after the jump [count]", ylabel="mean sum of distances [link units]"
        )
        axis.set_ylim(bottom=0.0)
    drawing.below_all(figure, axes[:1])
    return figure


def _cost(results: Results) -> "Figure":
    figure, axes = with_axes("Cost of a whole update, with forward kinematics and Jacobian", 1, 2, (10, 4.2))
    for axis, (shape, runs) in zip(axes, results.runs.items(), strict=True):
        for i, (name, colour) in enumerate(_COLOURS.items()):
            axis.bar(i, runs[name].microseconds, color=colour, label="poise, this machine" if i == 0 else None)
        names = list(_COLOURS)
        kinematics = released.KINEMATICS_TIMES[shape]
        others = {
            "released program, 2.5 GHz Xeon": ("^", {n: t + kinematics for n, t in released.STEP_TIMES[shape].items()}),
            "paper, 2.8 GHz Pentium": ("D", released.PAPER_TIMES[shape]),
        }
        for label, (marker, times) in others.items():
            at = [names.index(name) for name in times]
            axis.plot(at, list(times.values()), marker, color="black", markerfacecolor="white", label=label)
        axis.set_xticks(range(len(names)), [f"{name}\n{runs[name].microseconds:.2f}" for name in names])
        axis.set(title=TITLES[shape], xlabel="method, with the time of poise below", ylabel="time of an update [us]")
        axis.grid(visible=False, axis="x")
        axis.margins(y=0.12)
    drawing.below_all(figure, axes[:1])
    return figure
