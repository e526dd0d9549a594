"""How the figures of experiments are laid out and written."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from poise.extending import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def save(folder: Path, make: Callable[[], Mapping[str, "Figure"]]) -> list[Path]:
    """Write the figures that `make` draws into `folder`, by their names; raises MissingExtra without matplotlib."""
    files = []
    with drawing.looking():
        for name, figure in make().items():
            files.append(folder / f"{name}.png")
            drawing.save_figure(figure, files[-1])
    return files


def over_decades(axis: "Axes") -> None:
    """Times along x by their logarithms, with ticks at 1, 2 and 5 of each decade, as plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter(NullFormatter())


def with_axes(
    title: str, rows: int, columns: int, size: tuple[float, float], widths: Sequence[float] | None = None
) -> tuple["Figure", list["Axes"]]:
    """A figure of this size [inches] with `rows` times `columns` axes, row by row."""
    figure = drawing.titled(title, size)
    return figure, list(figure.subplots(rows, columns, squeeze=False, width_ratios=widths).flat)
