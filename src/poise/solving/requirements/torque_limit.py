"""What joints may give along a timed path, the weight and the motion together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from poise.common.array import ArrayLike
from poise.common.checks import finite
from poise.common.errors import InvalidValue
from poise.model.model import Model
from poise.solving.requirements.inequalities import NONE, Constraint, Inequalities, bounds, of_paths
from poise.solving.requirements.torques import Torques
from poise.tasks.torque import largest_torques, outer_wrenches, refuse_shared
from poise.tasks.value import freeze


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TorqueLimit(Constraint):
    """Along a timed path no joint of `most` gives more than so many N m, or N of one that slides, either way.

    It is inverse dynamics, `Model.inverse_dynamics`: inertia, the pull of turning links on one another, the weight of
    all masses, a payload among them (`Model.with_payload`), and `wrenches` from outside, by frame.  None: the efforts
    that the model's file states, `Model.efforts`.  Limits of speed are kept beside it, and accelerations where they are
    limited.  Which postures bear their weight at all is for a `TorqueTask` to say, whose limits leave a share to
    motion: a path whose weight alone is too much fails.

    In an answer by itself, as of `solve`, nothing moves, so there it is the `TorqueTask` of the same numbers: the
    weight stays within them.  A `Tracker` refuses it, for a step by itself does not tell what motion takes: give that a
    TorqueTask, whose limits leave a share to motion.
    Raises ValueError for one that is not above 0; where it is used JointNotFound, FrameNotFound, and ValueError for
    joints of several axes, models without masses or efforts, those with loops, and joints without a limit of speed.
    """

    most: Mapping[str, float] | None = None
    """Joint to the largest torque [N m] or force [N], above 0."""
    wrenches: Mapping[str, ArrayLike] = field(default_factory=dict, kw_only=True)
    """Frame to force [N] and moment about its origin [N m], (6,), along the world's axes, that act on it."""
    gravity: ArrayLike = field(default=(0.0, 0.0, -9.81), kw_only=True)
    """(3,) [m/s^2] in the world."""

    def __post_init__(self) -> None:
        if self.most is not None:
            object.__setattr__(self, "most", largest_torques("most", self.most))
        object.__setattr__(self, "wrenches", outer_wrenches(self.wrenches))
        object.__setattr__(self, "gravity", tuple(finite("gravity", self.gravity, 3).tolist()))
        freeze(self)

    def inequalities(self, model: Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        """What the joints may give; see `Limit`.  Raises ValueError without a time, and as the class says."""
        if dt is None:
            raise of_paths()
        most = model.efforts if self.most is None else self.most
        if not most:
            raise InvalidValue(
                "no-limits",
                f"TorqueLimit() takes what {model.name} states, and that states no effort of any joint: give "
                "TorqueLimit({joint: N m})",
            )
        refuse_shared("a TorqueLimit", model, most)
        torques = Torques(model, most, self.wrenches, self.gravity)
        torques.rest(model.home[None])  # raises for frames and masses that are not there
        return replace(bounds(np.full(len(velocities), NONE)), torques=(torques,))
