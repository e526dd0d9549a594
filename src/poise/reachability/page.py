"""A map as one page of HTML that needs no network: `page.html` with the voxels put in."""

import base64
import html
import json
import os
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from poise.common.files import write_whole
from poise.reachability.colours import VIRIDIS

if TYPE_CHECKING:
    from poise.reachability.map import ReachMap


def write_page(found: "ReachMap", path: str | os.PathLike[str]) -> None:
    """See `ReachMap.to_html`."""
    template = files("poise.reachability").joinpath("page.html").read_text(encoding="utf-8")
    # "<" is written as JSON lets it be, so that no name can end the script that it stands in.
    data = json.dumps(payload(found), allow_nan=False).replace("<", "\\u003c")
    title = html.escape(f"Reach of {found.frame} of {found.model.name}")
    write_whole(path, template.replace("{{title}}", title).replace("{{data}}", data))


def payload(found: "ReachMap") -> dict[str, Any]:
    """What the page draws: the reached voxels by whole multiples of the grid, and what colours them, in base64."""
    some = found.counts > 0
    cells = np.rint(found.points[some] / found.grid)
    layers = []
    if found.orientations is not None:
        layers.append(_layer("share of orientations", found.share[some], 1.0))
    best = found.manipulability[some]
    layers.append(_layer("best manipulability", best, float(best.max(initial=0.0)) or 1.0))
    return {
        "grid": found.grid,
        "count": int(some.sum()),
        "centre": found.centre.tolist(),
        "summary": found.summary(),
        "colours": VIRIDIS,
        "cells": _base64(cells.astype("<i4")),
        "layers": layers,
    }


def _layer(title: str, values: npt.NDArray[np.float64], top: float) -> dict[str, Any]:
    return {"title": title, "top": top, "values": _base64(values.astype("<f4"))}


def _base64(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
