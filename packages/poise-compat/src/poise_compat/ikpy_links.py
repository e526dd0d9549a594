"""ikpy's links, and a chain of them as a model; its own link objects do as well as these."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

from poise import DH, SE3, Model, ModelBuilder, ModelError
from poise.extending import ArrayLike, add_rows, one_of

Bounds = tuple[float | None, float | None] | None


@final
@dataclass(frozen=True, eq=False)
class OriginLink:
    """Where a chain begins."""

    name: str = "Base link"
    bounds: Bounds = None
    joint_type: str = "fixed"


@final
@dataclass(frozen=True, eq=False)
class URDFLink:
    """A joint of a URDF and the link behind it: metres and radians, roll, pitch and yaw."""

    name: str
    origin_translation: ArrayLike
    origin_orientation: ArrayLike
    rotation: ArrayLike | None = None
    translation: ArrayLike | None = None
    bounds: Bounds = None
    angle_representation: str = "rpy"
    use_symbolic_matrix: bool = True
    joint_type: str = "revolute"

    def __post_init__(self) -> None:
        one_of("joint_type", self.joint_type, ("revolute", "continuous", "prismatic", "fixed"))
        needed = {"revolute": (True, False), "continuous": (True, False), "prismatic": (False, True)}
        if (self.rotation is not None, self.translation is not None) != needed.get(self.joint_type, (False, False)):
            raise ValueError(
                f"link {self.name!r} is {self.joint_type}: give a revolute one a rotation, a prismatic one a "
                "translation, and a fixed one neither"
            )


@final
@dataclass(frozen=True, eq=False)
class DHLink:
    """A row of a Denavit-Hartenberg table, classic or modified."""

    name: str | None = None
    d: float = 0.0
    a: float = 0.0
    alpha: float = 0.0
    theta: float = 0.0
    bounds: Bounds = None
    use_symbolic_matrix: bool = True
    length: float = 0.0
    convention: Literal["classic", "modified"] = "classic"
    joint_type: str = "revolute"


def model_of(links: Sequence[Any], active: Sequence[bool], name: str) -> Model:
    """The links in a row, as links "0", "1" and so on behind joints of these names; inactive ones have no limits.

    Raises ModelError for none.
    """
    if not links:
        raise ModelError(f"the chain {name!r} has no links; give it an OriginLink, then one for each joint")
    builder = ModelBuilder(name)
    builder.link("base")
    parent = "base"
    for i, link in enumerate(links):
        low, high = (active[i] and link.bounds) or (None, None)
        limits = (-math.inf if low is None else low, math.inf if high is None else high)
        if hasattr(link, "alpha"):
            convention: Any = "standard" if link.convention == "classic" else link.convention
            row = DH(link.a, link.alpha, link.d, link.theta, limits=limits, name=str(i), link=str(i))
            parent = add_rows(builder, [row], convention, root=parent)
            continue
        origin = None
        if hasattr(link, "origin_translation"):
            origin = SE3.from_xyz_rpy(link.origin_translation, link.origin_orientation)
        moves = link.joint_type in ("revolute", "prismatic")
        builder.joint(
            str(i), link.joint_type, parent=parent, child=str(i), origin=origin, limits=limits if moves else None,
            axis=(0.0, 0.0, 1.0) if link.joint_type == "fixed" else _axis(link),
        )  # fmt: skip
        parent = str(i)
    return builder.build()


def _axis(link: Any) -> Any:
    return link.translation if link.joint_type == "prismatic" else link.rotation
