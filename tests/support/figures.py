"""What every figure must have for a reader: names on its axes, all its data in view, percent that end at 100."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest


def legible(figure: Any) -> None:
    """Assert it."""
    for axes in figure.axes:
        if axes.get_label() == "<colorbar>":
            assert re.search(r"\[.+\]", axes.get_ylabel()), axes.get_ylabel()
            continue
        shared = axes.get_shared_x_axes().get_siblings(axes)
        assert any(other.get_xlabel() for other in shared), axes.get_title()
        assert axes.get_ylabel(), axes.get_title()
        _in_view(axes)
        for label, limits in ((axes.get_xlabel(), axes.get_xlim()), (axes.get_ylabel(), axes.get_ylim())):
            if "%" in label:
                assert limits[1] == 100.0, label


def _in_view(axes: Any) -> None:
    (left, right), (bottom, top) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    for line in axes.get_lines():
        if line.get_transform() != axes.transData:
            continue  # a line across the whole axes
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        seen = ~np.isnan(x + y)
        assert ((left <= x) & (x <= right))[seen].all(), (axes.get_title(), line.get_label())
        assert ((bottom <= y) & (y <= top))[seen].all(), (axes.get_title(), line.get_label())


def named(figure: Any) -> set[str]:
    """Every entry of every legend."""
    legends = [*figure.legends, *(legend for axes in figure.axes if (legend := axes.get_legend()) is not None)]
    return {text.get_text() for legend in legends for text in legend.get_texts()}


def drawn(draw: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, module: Any, results: Any) -> Mapping[str, Any]:
    """The figures of an experiment, as they would be written."""
    found: dict[str, Any] = {}
    monkeypatch.setattr(module, "save", lambda folder, make: found.update(make()) or [])
    draw(results, None)
    return found
