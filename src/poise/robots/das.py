"""The arm and the vehicle of Das, Slotine and Sheridan 1988, and the fields of point obstacles that the arm crosses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from poise.model.builder import ModelBuilder
from poise.model.model import Model
from poise.spatial import SE3

START: Final = (0.55, -0.1, -0.15, -0.15, -0.15, -0.1, -0.1, 0.0, 0.0, 0.1)
"""Joint angles of the planar arm of ten unit links, from the base; the effector is at (9.627, 0.607)."""
PARKED: Final = (0.0, 0.0, 0.9, 0.8, -0.5)
"""Where the vehicle begins: x, y [links] and the three angles of its arm [rad]."""


@final
@dataclass(frozen=True, slots=True)
class Field:
    """Point obstacles (k, 2), and the straight way of the effector to `goal` (2,)."""

    obstacles: tuple[tuple[float, float], ...]
    goal: tuple[float, float]


FIELDS: Final[Mapping[str, Field]] = {
    "open": Field(((2.5, 1.6), (4.5, -0.6), (6.0, 1.8)), (7.0, -2.5)),
    "crowded": Field(((2.5, 1.6), (4.5, -0.6), (6.0, 1.8), (2.0, 0.1), (7.5, 0.9), (7.0, -0.9)), (7.0, -2.5)),
    "gate": Field(((3.5, 1.1), (3.5, 2.6), (6.0, 0.3), (6.0, 1.9), (7.8, -1.2)), (6.0, -3.5)),
}
"""The first is that of the independent script of `poise reproduce das`; the others are harder."""


def truck() -> Model:
    """Two slides, and three unit links that turn about z."""
    builder = ModelBuilder("truck")
    builder.joint("x", "prismatic", parent="world", child="rail", axis=(1.0, 0.0, 0.0), limits=(-50.0, 50.0))
    builder.joint("y", "prismatic", parent="rail", child="link0", axis=(0.0, 1.0, 0.0), limits=(-50.0, 50.0))
    for i in range(3):
        origin = SE3.from_parts([0.0 if i == 0 else 1.0, 0.0, 0.0])
        builder.joint(
            f"joint{i}", "continuous", parent=f"link{i}", child=f"link{i + 1}", axis=(0.0, 0.0, 1.0), origin=origin
        )
    builder.frame("tool", link="link3", origin=SE3.from_parts([1.0, 0.0, 0.0]))
    return builder.build()
