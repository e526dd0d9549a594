"""The look of all figures, and how they are written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from poise.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOK: Final = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 120,
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
}


def save(folder: Path, make: Callable[[], Mapping[str, "Figure"]]) -> list[Path]:
    """Write the figures that `make` draws into `folder`, by their names; raises MissingExtra without matplotlib."""
    try:
        from matplotlib import rc_context
    except ImportError:
        raise MissingExtra("drawing the figures", "matplotlib", "plots") from None
    files = []
    with rc_context(_LOOK):
        for name, figure in make().items():
            files.append(folder / f"{name}.png")
            figure.savefig(files[-1])
    return files


def titled(title: str, size: tuple[float, float]) -> "Figure":
    """An empty figure of this size [inches]."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(title)
    return figure


def below_all(figure: "Figure", axes: Iterable["Axes"], columns: int | None = None) -> None:
    """The legend of what is drawn on `axes`, each label once, below the whole figure."""
    found = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if found:
        figure.legend(found.values(), found, loc="outside lower center", ncols=columns or len(found))


def with_axes(
    title: str, rows: int, columns: int, size: tuple[float, float], widths: Sequence[float] | None = None
) -> tuple["Figure", list["Axes"]]:
    """A figure of this size [inches] with `rows` times `columns` axes, row by row."""
    figure = titled(title, size)
    return figure, list(figure.subplots(rows, columns, squeeze=False, width_ratios=widths).flat)
