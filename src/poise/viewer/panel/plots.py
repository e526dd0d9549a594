"""Curves in the panel."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array

_COLOURS: Final = ("#2f6fde", "#e0643c", "#3a9b5b", "#9a5bd0", "#b8892b", "#2aa5a5", "#d0417e", "#777777")


@final
class Plot:
    """Curves over one axis, which are made anew when their names change and shown only where there are any."""

    def __init__(self, gui: Any, title: str, axis: str) -> None:
        self._gui, self._title, self._axis = gui, title, axis
        self._folder = gui.add_folder(title, visible=False)
        self._names: tuple[str, ...] = ()
        self._plot: Any = None

    def show(self, x: Array, curves: Sequence[tuple[str, Array]]) -> None:
        """Curves by name, each (n,) over x (n,); NaN where one has no value.  None at all hides the plot."""
        if not curves or len(x) < 2:
            self._folder.visible = False
            return
        names = tuple(name for name, _ in curves)
        data = (x, *(np.asarray(y, dtype=np.float64) for _, y in curves))
        if names != self._names:
            self._make(names, data)
        else:
            self._plot.data = data
        self._folder.visible = True

    def hide(self) -> None:
        """Show it no more."""
        self._folder.visible = False

    def _make(self, names: tuple[str, ...], data: tuple[Array, ...]) -> None:
        from viser import uplot

        if self._plot is not None:
            self._plot.remove()
        series = (
            uplot.Series(label=self._axis),
            *(uplot.Series(label=name, stroke=_COLOURS[i % len(_COLOURS)], width=2) for i, name in enumerate(names)),
        )
        with self._folder:
            # The axis of uPlot is time unless it is told otherwise.
            self._plot = self._gui.add_uplot(data, series, scales={"x": uplot.Scale(time=False)}, aspect=1.5)
        self._names = names
