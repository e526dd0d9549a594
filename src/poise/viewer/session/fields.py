"""The obstacle fields of Das, Slotine and Sheridan 1988, Figure 2.2, for any arm that moves in the plane of x and y.

The paper prints the figure without coordinates, so the stones stand where `poise reproduce das` has its points.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from poise.geometry.shapes import Sphere
from poise.model.model import Model
from poise.robots.das import FIELDS
from poise.viewer.session.body import reach
from poise.viewer.session.plane import normal_of

_LINKS: Final = 10
"""Of the paper's arm, each of length 1."""
_RADIUS: Final = 0.2
"""Of a stone [links]."""
_UP: Final = 1.0 - 1e-6
"""A normal with less of z is that of another plane."""


def fields(model: Model, frame: str) -> Mapping[str, Mapping[str, Sphere]]:
    """By its name each field as shapes by name, as large beside this arm as beside the paper's; none for others."""
    normal, path = normal_of(model), model.root_path(model.frame(frame).link)
    if normal is None or normal[2] < _UP or not path:
        return {}
    link = (reach(model, frame) - float(np.linalg.norm(path[0].origin.xyz))) / _LINKS
    base = model.pose(path[0].child, model.neutral).xyz.tolist()
    return {
        name: {
            f"{name} {k}": Sphere((base[0] + link * x, base[1] + link * y, base[2]), _RADIUS * link)
            for k, (x, y) in enumerate(field.obstacles, 1)
        }
        for name, field in FIELDS.items()
    }
