"""The branching mechanisms on which Buss compared inverse-kinematics methods.

Source: the program released with S. R. Buss and J.-S. Kim, "Selectively damped least squares for inverse
kinematics", Journal of Graphics Tools 10(3), 2005.  Every joint is revolute, without limits, and starts at zero;
joint `jK` moves link `linkK`, and the effectors are `e0`, `e1` and so on.
"""

import math
from collections.abc import Iterable

import numpy as np

from poise.model.builder import ModelBuilder
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.spatial import SE3

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_SKEW = (math.sqrt(7.0 / 32.0), 0.125, 0.875)
_Node = tuple[str, str, tuple[float, float], tuple[float, float, float] | None]
"""Name, parent, x and y in the world when all angles are zero (z is 0), axis in the world; effectors have no axis."""

_BRANCHES = (
    ("j0", "", (0.0, -0.5), _Z),
    ("j1", "j0", (0.0, 0.4), _Z),
    ("j2", "j0", (0.0, 0.4), _Z),
    ("j3", "j1", (0.5, 1.0), _X),
    ("j4", "j2", (-0.5, 1.0), _X),
    ("j5", "j3", (0.7, 1.3), _SKEW),
    ("j6", "j4", (-0.8, 1.5), _SKEW),
    ("e0", "j5", (0.7, 2.0), None),
    ("e1", "j6", (-0.8, 1.9), None),
)

_FORK = math.sqrt(0.125)
_STEP = math.sqrt(3.0) / 4.0
"""The arms of the double Y go out from (+-_FORK, _FORK - 0.5) in steps of _STEP along x, and along y of these."""
_LOW, _HIGH = 0.25, _STEP


def _arm(side: float, rise: float, step: int) -> tuple[float, float]:
    return side * (_FORK + step * _STEP), _FORK - 0.5 + step * rise


_DOUBLE_BRANCHES = (
    ("j0", "", (0.0, -1.5), _SKEW),
    ("j1", "j0", (0.0, -1.0), _X),
    ("j2", "j1", (0.0, -1.0), _Z),
    ("j3", "j2", (0.0, -0.5), _Z),
    ("j4", "j2", (0.0, -0.5), _Z),
    ("j5", "j3", _arm(1, _LOW, 0), _Y),
    ("j6", "j3", _arm(1, _HIGH, 0), _Y),
    ("j7", "j5", _arm(1, _LOW, 0), _X),
    ("j8", "j7", _arm(1, _LOW, 1), _Z),
    ("j9", "j8", _arm(1, _LOW, 2), _X),
    ("j10", "j9", _arm(1, _LOW, 2), _Y),
    ("e0", "j10", _arm(1, _LOW, 3), None),
    ("j11", "j6", _arm(1, _HIGH, 0), _X),
    ("j12", "j11", _arm(1, _HIGH, 1), _Z),
    ("j13", "j12", _arm(1, _HIGH, 2), _X),
    ("j14", "j13", _arm(1, _HIGH, 2), _Y),
    ("e1", "j14", _arm(1, _HIGH, 3), None),
    ("j15", "j4", _arm(-1, _HIGH, 0), _Y),
    ("j16", "j15", _arm(-1, _HIGH, 0), _X),
    ("j17", "j4", _arm(-1, _LOW, 0), _Y),
    ("j18", "j16", _arm(-1, _HIGH, 1), _Z),
    ("j19", "j18", _arm(-1, _HIGH, 2), _X),
    ("j20", "j19", _arm(-1, _HIGH, 2), _Y),
    ("e2", "j20", _arm(-1, _HIGH, 3), None),
    ("j21", "j17", _arm(-1, _LOW, 0), _X),
    ("j22", "j21", _arm(-1, _LOW, 1), _Z),
    ("j23", "j22", _arm(-1, _LOW, 2), _X),
    ("j24", "j23", _arm(-1, _LOW, 2), _Y),
    ("e3", "j24", _arm(-1, _LOW, 3), None),
)


def y() -> Model:
    """Buss's Y: a trunk that forks into two arms, 7 joints, 2 effectors."""
    return _mechanism("y", _BRANCHES)


def double_y() -> Model:
    """Buss's double Y: a trunk that forks twice into four arms, 25 joints, 4 effectors."""
    return _mechanism("double_y", _DOUBLE_BRANCHES)


def _mechanism(name: str, nodes: Iterable[_Node]) -> Model:
    builder = ModelBuilder(name)
    links = {"": WORLD}
    places = {"": np.zeros(2)}
    for node, parent, place, axis in nodes:
        places[node] = np.array(place)
        links[node] = node if axis is None else f"link{node[1:]}"
        builder.joint(
            node,
            "fixed" if axis is None else "revolute",
            parent=links[parent],
            child=links[node],
            origin=SE3.from_parts([*(places[node] - places[parent]), 0.0]),
            axis=_Z if axis is None else axis,
        )
    return builder.build()
