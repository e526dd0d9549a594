"""The look of all figures; Matplotlib is imported when the first is drawn."""

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from poise.common.files import write_whole
from poise.common.lazy import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
"""Of Okabe and Ito, told apart by colour-blind readers; the yellow is left out, too pale for a line."""
GREY: Final = "#666666"
BAD: Final = "#c0392b"
LEAST: Final = 1e-16
"""Errors below this are drawn as this, for a curve to stay in view [m or rad]."""
_LOOK: Final = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "svg.fonttype": "none",
}


def library() -> Any:
    """Matplotlib; raises MissingExtra without it."""
    return optional("drawing plots", "matplotlib", "plots", "matplotlib", "matplotlib.figure", "matplotlib.ticker")


@contextmanager
def looking(**other: Any) -> Iterator[Any]:
    """Matplotlib, in our look within the block, `other` settings with _ for a dot; raises MissingExtra without it."""
    matplotlib = library()
    with matplotlib.rc_context(_LOOK | {name.replace("_", "."): value for name, value in other.items()}):
        yield matplotlib


def titled(title: str, size: tuple[float, float]) -> "Figure":
    """An empty figure of this size [inches], to be drawn while `looking`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained", dpi=150)
    figure.suptitle(title, x=0.01, ha="left", weight="bold")
    return figure


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Write a figure, as the suffix says; raises as `atomic_write` does."""
    out = io.BytesIO()  # on a full disk Matplotlib goes wrong in ways of its own
    figure.savefig(out, format=Path(path).suffix[1:].lower() or None)
    write_whole(path, out.getvalue())


def legend_beside(axes: "Axes") -> None:
    """The legend of what is drawn on `axes`, if it has labels, to the right of it."""
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def below_all(figure: "Figure", axes: Iterable["Axes"], columns: int | None = None) -> None:
    """The legend of what is drawn on `axes`, each label once, below the whole figure."""
    found = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    if found:
        figure.legend(found.values(), found, loc="outside lower center", ncols=columns or len(found))
