"""The figure: how long poses take, and what is found where obstacles grow."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from poise.extending import drawing
from poise_experiments.motion_bench_maker.published import LADDER, SOLVERS
from poise_experiments.motion_bench_maker.results import Results, Rung

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figures(results: Results) -> dict[str, "Figure"]:
    """The figure, by its name."""
    figure = drawing.titled("A hand among obstacles: processor time of a pose, and a ladder of clearance", (11.0, 4.6))
    times, ladder = figure.subplots(1, 2)
    _times(times, results)
    _ladder(ladder, results.ladder)
    return {"motion_bench_maker": figure}


def _times(axes: "Axes", results: Results) -> None:
    for (name, found), colour in zip(results.sets.items(), drawing.COLOURS, strict=False):
        spent = np.sort([each.answer.microseconds for each in found if each.answer.solved])
        share = 100.0 * np.arange(1, len(spent) + 1) / len(found)
        axes.step(spent, share, where="post", color=colour, label=name, clip_on=False)
    axes.set_xscale("log")
    axes.set(xlabel="processor time of a call [us]", ylabel="poses solved by then [%]", ylim=(0.0, 100.0))
    axes.legend(loc="lower right")


def _ladder(axes: "Axes", ladder: Mapping[tuple[str, float], Rung]) -> None:
    """What was found of the poses with a known solution, here and by others."""
    ours = {k: rung for k, at in enumerate(LADDER) if (rung := ladder.get(at)) and any(rung.known)}
    shares = [100.0 * rung.of_known / sum(rung.known) for rung in ours.values()]
    rows = {"poise": (list(ours), shares)}
    rows |= {
        solver: (list(range(len(LADDER))), [level.percents[k] for level in LADDER.values()])
        for k, solver in enumerate(SOLVERS)
    }
    for k, ((solver, (places, percents)), colour) in enumerate(zip(rows.items(), drawing.COLOURS, strict=False)):
        bars = axes.barh([place + 0.2 * k for place in places], percents, 0.18, color=colour, label=solver)
        axes.bar_label(bars, fmt="%.0f", padding=2, fontsize=7)
    axes.set_yticks([k + 0.3 for k in range(len(LADDER))], [f"{name}\n+{1e3 * by:g} mm" for name, by in LADDER])
    axes.invert_yaxis()
    axes.set(xlabel="solved, of poses with a known solution [%]", ylabel="set, and growth of boxes", xlim=(0.0, 100.0))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(rows), fontsize=8)
