"""Keep a frame at a distance from a point."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.jit import routine
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.rows.frame import seen_frame
from poise.spatial import SE3, Array
from poise.tasks.aim import only
from poise.tasks.base import goal_of, number, point, settled
from poise.tasks.effector import Block
from poise.tasks.frame import OfFrame

if TYPE_CHECKING:
    from poise.model.model import Model


@routine
def distance_rows(p: Any, w: Any, k: Any) -> None:
    """What the distance to a point lacks [m], in the first row."""
    f = seen_frame(p, w, k)
    x, y, z = load(f.target, 9) - f.px, load(f.target, 10) - f.py, load(f.target, 11) - f.pz
    square = x * x + y * y + z * z
    far = square > 1e-24  # at the point itself any direction leads away
    distance = sqrt(select(far, square, 1.0))
    u0, u1, u2 = select(far, -x / distance, 1.0), select(far, -y / distance, 0.0), select(far, -z / distance, 0.0)
    linear, o = f.linear, splat(f.e, 0.0)
    store(f.e, 0, load(f.target, 0) - select(far, distance, 0.0)), store(f.e, 1, o), store(f.e, 2, o)
    for j in range(0, len(linear), 3):
        along = u0 * load(linear, j) + u1 * load(linear, j + 1) + u2 * load(linear, j + 2)
        store(linear, j, along), store(linear, j + 1, o), store(linear, j + 2, o)


@final
@dataclass(frozen=True, eq=False, repr=False)
class DistanceTask(OfFrame):
    """Bring the origin of `frame` to the `distance` [m] from the point `target` [m], shape (3,).

    With a `base`, the point is fixed in that frame: (0, 0, 0) keeps the distance between the two.
    """

    distance: float
    target: npt.ArrayLike | None = None

    routine: ClassVar[Any] = staticmethod(distance_rows)

    def __post_init__(self) -> None:
        if self.target is not None:
            self._set("target", settled(point("target", self.target)))
        if number("distance", self.distance) < 0.0:
            raise ValueError(f"distance is {self.distance}; it must be 0 or more")
        super().__post_init__()

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The rows of its residual, three by three."""
        weight = float(self.weight)  # type: ignore[arg-type]
        return (Block((weight, weight, weight), self.tolerance, "m", rows=1),)

    def goal(self, target: Any, name: str = "target") -> Array:
        """(7,) numbers of the point; the fourth is the distance."""
        return goal_of(point(name, target), (self.distance, 0.0, 0.0, 0.0))

    def at(self, model: "Model", q: Array) -> Array:
        """(7,) the goal that the configuration `q` (nq,) fulfils: the point where it is, the distance as it is."""
        out = self.goal(np.zeros(3) if self.target is None else self.target)
        out[3] = np.linalg.norm(self.seen(model, q).xyz - out[:3])
        return out

    def target_of(self, pose: SE3) -> Array:
        """A target that the frame fulfils where it is seen at `pose`: a point behind it."""
        return pose.act([0.0, 0.0, -self.distance])

    def left(self, goal: Array, pose: SE3) -> list[Array]:
        """(N, 3) what the distances lack [m]."""
        return [only(goal[:, 3] - np.linalg.norm(pose.xyz - goal[:, :3], axis=-1))]
