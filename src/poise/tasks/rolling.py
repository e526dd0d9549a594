"""Let a wheel roll on the floor without slipping.

The point of the wheel that touches the floor, r = -radius up from its hub, has the velocity v + w x r, v of the hub and
w of the wheel: none of it is to be along the floor, and the hub is to be one radius above it.
"""

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import number
from poise.common.errors import InvalidValue
from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.rows.frame import seen_frame
from poise.spatial import SE3
from poise.tasks.aim import axis_of
from poise.tasks.effector import Block
from poise.tasks.fields import direction
from poise.tasks.frame import OfFrame
from poise.tasks.pose import three
from poise.tasks.velocity import only_in_steps

if TYPE_CHECKING:
    from poise.model.model import Model


@routine
def rolling_rows(p: Any, w: Any, k: Any) -> None:
    """Two rows of the slip of the contact point, along the heading and along the axle: their residual is 0, their
    Jacobian its velocity; then the height that is missing [m]."""
    f = seen_frame(p, w, k)
    radius = p.numbers[p.effectors[k].first_number + 3]
    a0, a1, _ = axis_of(p, k, f)
    square, o = a0 * a0 + a1 * a1, splat(f.e, 0.0)
    upright = square > 1e-24
    inverse = select(upright, 1.0 / sqrt(select(upright, square, 1.0)), 0.0)
    h0, h1 = a1 * inverse, -a0 * inverse
    store(f.e, 0, o), store(f.e, 1, o), store(f.e, 2, radius - f.pz)
    for j in range(0, len(f.linear), 3):
        x = load(f.linear, j) - radius * load(f.angular, j + 1)
        y = load(f.linear, j + 1) + radius * load(f.angular, j)
        store(f.linear, j, h0 * x + h1 * y), store(f.linear, j + 1, h0 * y - h1 * x)


@final
@dataclass(frozen=True, eq=False, repr=False)
class RollingTask(OfFrame):
    """Let the wheel with the hub `frame` roll without slipping on the plane z = 0 of the world, or of a `base`.

    The frame turns with the wheel, about its own `axis`.  Three rows [m]: the slip along the heading, the slip along
    the axle, and the height of the hub above the floor.  A weight of (1, 0, 1) leaves the second free, as an omniwheel
    does.  The rim is that of a ball, so of a wheel that leans it is not where a thin one touches.  For a `Tracker`,
    with what drives the wheels at a later `priority`: within one level they slip, and a slip is no error.
    """

    radius: float = field(kw_only=True)
    """[m]"""
    axis: ArrayLike = field(default=(0.0, 1.0, 0.0), kw_only=True)
    """(3,) the axle, fixed in the frame, of any length but 0."""
    _stepping: bool = field(default=False, init=False, repr=False)

    rows: ClassVar[int] = 3
    routine: ClassVar[Any] = staticmethod(rolling_rows)

    def __post_init__(self) -> None:
        self._set("radius", number("radius", self.radius))
        if not self.radius > 0.0:
            raise InvalidValue("not-positive", f"radius is {self.radius}; it must be above 0")
        self._set("axis", direction("axis", self.axis))
        super().__post_init__()

    def in_steps(self, model: "Model", dt: float | None) -> Self:
        """The task of a Tracker."""
        made = copy(self)
        made._set("_stepping", True)
        return made

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three; raises ValueError where no step is taken."""
        if not self._stepping:
            raise only_in_steps(self)
        return (Block(three(self.weight), self.tolerance, "m"),)

    def constants(self, hang: SE3) -> list[float]:
        """The axle, as the frame's unit has it, and the radius."""
        return [*hang.rotation.act(np.array(self.axis)).tolist(), self.radius]

    def target_at(self, model: "Model", q: Array) -> None:
        """None: it has no target."""

    def fulfilled(self, model: "Model", q: Array) -> None:
        """None: few configurations have a wheel on the floor."""

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) what the height lacks [m]; a configuration does not slip."""
        height = pose.xyz[:, 2]
        return [np.stack([0.0 * height, 0.0 * height, self.radius - height], axis=-1)]
