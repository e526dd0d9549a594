"""The picture of a comparison: who solves how many problems in which time, and how fast the error falls."""

import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

import numpy as np

from poise.bench.row import Row
from poise.common.drawing import COLOURS, GREY, LEAST, library, looking, save_figure, titled
from poise.common.errors import InvalidValue
from poise.common.files import refuse_place

_KINDS: Final = (".png", ".svg", ".pdf")
_DASHES: Final = ("-", (0, (4, 1.5)), (0, (1, 1)))
_DIGIT: Final = "\u2007"
"""A space as wide as a digit."""
_LETTERS: Final = 40
"""Letters in a line of the legend, at most."""


def require(path: str | os.PathLike[str]) -> None:
    """Refuse what no picture can be written to.

    Raises MissingExtra without Matplotlib, ValueError for a kind of file that is none of .png, .svg and .pdf, OSError
    for a place that cannot be written to.
    """
    file = Path(path)
    if file.suffix.lower() not in _KINDS:
        raise InvalidValue(
            "wrong-format", f"{file} is no picture; its name must end in {', '.join(_KINDS[:-1])} or {_KINDS[-1]}"
        )
    refuse_place(file)
    library()


def draw(
    path: str | os.PathLike[str],
    rows: Sequence[Row],
    ranking: Sequence[Row],
    *,
    model: str,
    count: int,
    tasks: Sequence[str],
    unit: str,
) -> None:
    """Write the picture of so many problems, whose curves are coloured in the order of `rows`; raises as `require`
    does."""
    require(path)
    styles = {
        row.label: {"color": COLOURS[i % len(COLOURS)], "linestyle": _DASHES[i // len(COLOURS) % len(_DASHES)]}
        for i, row in enumerate(rows)
    }
    with looking() as matplotlib:
        letters = min(max(len(row.label) for row in ranking), _LETTERS)
        methods = f"{len(ranking)} methods" if len(ranking) > 1 else ranking[0].label
        title = f"{model}: {methods} on the same {count} problems\n"
        figure = titled(title, (10.2 + 0.085 * letters, 5.0))
        success, convergence = figure.subplots(1, 2)
        _success(success, ranking, styles, matplotlib.ticker)
        _convergence(convergence, ranking, styles, matplotlib.ticker, unit)
        figure.text(0.01, 0.945, "; ".join(tasks), va="top", color=GREY, size=9)
        figure.legend(
            *success.get_legend_handles_labels(), loc="outside right center", title="solved", alignment="left"
        )
        save_figure(figure, path)


def _success(axes: Any, ranking: Sequence[Row], styles: dict[str, dict[str, Any]], ticker: Any) -> None:
    """The share of the problems that are solved within a time; every curve ends at the method's success."""
    first, last = min(row.times.min() for row in ranking), max(row.times.max() for row in ranking)
    for row in ranking:
        times = np.sort(row.times[row.solved])
        share = 100.0 * np.arange(len(times) + 1) / len(row.times)
        percent = f"{100.0 * row.success:3.0f}".replace(" ", _DIGIT)
        label = f"{percent} %  " + f"\n{7 * _DIGIT}".join(wrap(row.label, _LETTERS))
        axes.step(
            [first, *times, last],
            [*share, share[-1]],
            where="post",
            linewidth=1.8,
            label=label,
            clip_on=False,
            **styles[row.label],
        )
    axes.set(xscale="log", ylim=(0.0, 100.0), xlabel="time of a call [s]", ylabel="problems solved [%]")
    axes.xaxis.set_major_formatter(ticker.EngFormatter("s"))
    axes.set_title("Solved within a time")


def _convergence(axes: Any, ranking: Sequence[Row], styles: dict[str, dict[str, Any]], ticker: Any, unit: str) -> None:
    """The median error after so many iterations, of the methods that have a trace."""
    traced = [row for row in ranking if len(row.curve[0])]
    for row in traced:
        iterations, errors = row.curve[0], np.maximum(row.curve[1], LEAST)
        axes.plot(iterations, errors, linewidth=1.8, **styles[row.label])
        axes.plot(iterations[-1:], errors[-1:], "o", markersize=4, color=styles[row.label]["color"])
    least = min((row.curve[1].min() for row in traced), default=LEAST)
    label = f"median error [{unit}]" + (f", {LEAST:g} where it is less" if least < LEAST else "")
    longest = max((row.curve[0][-1] for row in traced), default=0)
    axes.set_xscale("symlog", linthresh=1.0, linscale=0.4)
    axes.set_xlim(0.0, max(1.0, 1.1 * longest))
    axes.set(yscale="log", xlabel="iteration [count]", ylabel=label)
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_minor_formatter(ticker.LogFormatterSciNotation(minor_thresholds=(1.5, 0.5)))
    axes.set_title("Convergence; dot: the last iteration")
