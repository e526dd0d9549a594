"""Figures like the paper's 4 to 6, and one of the weight, in colours that colour-blind readers can tell apart."""

from typing import TYPE_CHECKING, Final

import numpy as np

from poise.extending import Array, drawing
from poise_experiments.drawing import with_axes
from poise_experiments.soch_lorencz.problem import AXES, BASE, DLS, LENGTHS, PINV, Results, Run, extended

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS: Final = {
    PINV: "#D55E00",
    extended(1.0): "#0072B2",
    extended(0.1): "#009E73",
    extended(0.01): "#CC79A7",
    DLS: "#E69F00",
}
_SHOWN: Final = 8
"""Updates whose postures are drawn."""
_LEAST: Final = 1e-2
"""Distances below this are drawn as this [points]."""


def figures(results: Results) -> dict[str, "Figure"]:
    """Every figure, by its name."""
    runs = results.runs[100]
    return {
        "errors": _errors(results),
        "inversion": _postures("Jacobian inversion: the first steps", runs[PINV]),
        "extension": _postures("Pairwise extended Jacobian, w = 1: the first steps", runs[extended(1.0)]),
        "weights": _weights(results),
    }


def _errors(results: Results) -> "Figure":
    figure, axes = with_axes("Distance of the effector from its target (the paper's figure 4)", 1, 2, (11, 4.2))
    for axis, steps in zip(axes, (100, 360), strict=True):
        for name, colour in _COLOURS.items():
            errors = results.runs[steps][name].errors
            axis.semilogy(np.arange(1, steps + 1), np.maximum(errors, _LEAST), color=colour, linewidth=1.3, label=name)
        axis.set(
            title=f"{steps} steps a revolution",
            xlabel="step [number]",
            ylabel=f"distance [points], {_LEAST:g} where it is less",
        )
        axis.margins(x=0.01)
    drawing.below_all(figure, axes[:1])
    return figure


def _postures(title: str, run: Run) -> "Figure":
    from matplotlib import colormaps

    figure, (axis,) = with_axes(title, 1, 1, (8, 6.5))
    angle = np.linspace(0.0, 2.0 * np.pi, 400)
    axis.plot(AXES[0] * np.cos(angle), AXES[1] * np.sin(angle), color="#888888", linewidth=1, label="ellipse")
    shades = colormaps["viridis"](np.linspace(0.0, 0.9, _SHOWN + 1))
    for k in range(_SHOWN + 1):
        places = _joints(run.path[k])
        axis.plot(places[:, 0], places[:, 1], "o-", color=shades[k], linewidth=1.6, markersize=4, label=f"step {k}")
        label = "effector" if k == _SHOWN else None
        axis.plot(*places[-1], "o", color=shades[k], markersize=9, markeredgecolor="black", label=label)
    axis.plot(*BASE, "s", linestyle="none", color="black", markersize=8, label="base")
    axis.set(xlabel="x [points]", ylabel="y [points]")
    axis.set_aspect("equal", adjustable="datalim")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    return figure


def _joints(q: Array) -> Array:
    """(n + 1, 2) the ends of the segments."""
    angles = np.cumsum(q)
    steps = np.array(LENGTHS)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.vstack([np.zeros(2), np.cumsum(steps, axis=0)]) + np.array(BASE)


def _weights(results: Results) -> "Figure":
    figure, (left, right) = with_axes("The weight of the pairs: never the plain pseudoinverse", 1, 2, (11, 4.2))
    for runs, colour, form in ((results.sweep, "#0072B2", "printed"), (results.twists, "#009E73", "twists")):
        weights = list(runs)
        left.loglog(weights, [run.errors.mean() for run in runs.values()], "o-", color=colour, label=f"{form}, mean")
        left.loglog(weights, [run.errors.max() for run in runs.values()], "^--", color=colour, label=f"{form}, largest")
    left.set(
        xlabel="weight w [printed: points a rad; twists: 1]", ylabel="error over a revolution of 100 steps [points]"
    )
    left.legend(fontsize=8)
    weights = list(results.limits)
    near, far = zip(*results.limits.values(), strict=True)
    right.loglog(weights, near, "o-", color="#0072B2", label="from the pseudoinverse weighted by P$^T$P")
    right.loglog(weights, far, "^-", color="#D55E00", label="from the plain pseudoinverse")
    right.set(xlabel="weight w [points a rad]", ylabel="distance of one step [rad]")
    right.legend(fontsize=8)
    return figure
