"""A map as one page of HTML that needs no network: `page.html` with the voxels put in."""

import base64
import html
import json
import os
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.files import write_whole
from poise.reachability.colours import VIRIDIS


def write_page(
    path: str | os.PathLike[str],
    title: str,
    points: Array,
    layers: Sequence[tuple[str, Array, float]],
    *,
    grid: float,
    centre: Array,
    summary: str,
) -> None:
    """See `ReachMap.to_html`; each layer is its title, what colours the points (n, 3), and its largest value."""
    template = files("poise.reachability").joinpath("page.html").read_text(encoding="utf-8")
    data = {
        "grid": grid,
        "count": len(points),
        "centre": centre.tolist(),
        "summary": summary,
        "colours": VIRIDIS,
        "cells": _base64(np.rint(points / grid).astype("<i4")),
        "layers": [{"title": of, "top": top, "values": _base64(values.astype("<f4"))} for of, values, top in layers],
    }
    # "<" is written as JSON lets it be, so that no name can end the script that it stands in.
    text = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    write_whole(path, template.replace("{{title}}", html.escape(title)).replace("{{data}}", text))


def _base64(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
