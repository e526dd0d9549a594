"""pink's `Configuration`: a model of Pinocchio's and the data of where it stands."""

from typing import Any, final

import numpy as np
import pinocchio as pin

from poise.compat.pink.from_pinocchio import FromPinocchio
from poise.compat.steps import Steps
from poise.errors import FrameNotFound, PoiseError
from poise.spatial import Array


class PinkError(PoiseError):
    """The root of them."""


class NotWithinConfigurationLimits(PinkError):
    """A joint stands outside its limits, and `safety_break` was asked for."""


class TargetNotSet(PinkError):
    """A task has no target yet."""

    def __init__(self, task: object) -> None:
        super().__init__(f"{type(task).__name__} has no target; call its set_target first")


@final
class Configuration:
    """A model at a q (nq,) of Pinocchio's."""

    def __init__(
        self, model: Any, data: Any, q: Array, copy_data: bool = True, forward_kinematics: bool = True
    ) -> None:
        self.model, self.data = model, data.copy() if copy_data else data
        if not hasattr(model, "as_poise"):
            model.as_poise = FromPinocchio(model), Steps()
        self.known, self.steps = model.as_poise
        self.q = np.array(q)
        if forward_kinematics:
            self.update()

    def update(self, q: Array | None = None) -> None:
        """Stand at `q` (nq,), or where it is, and compute where everything is."""
        self.q = self.q if q is None else np.array(q)
        self.q.setflags(write=False)
        pin.computeJointJacobians(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)

    def check_limits(self, tol: float = 1e-6, safety_break: bool = True) -> None:
        """Raises NotWithinConfigurationLimits for a joint more than `tol` outside, with `safety_break`."""
        if not safety_break:
            return
        model, q = self.known.model, self.known.q(self.q)
        for joint in model.joints:
            if joint.nq == 1:
                x, low, high = q[model.index(joint.name)][0], joint.lower[0], joint.upper[0]
                if not low - tol <= x <= high + tol:
                    raise NotWithinConfigurationLimits(f"joint {joint.name!r} is at {x:g}, outside {low:g} to {high:g}")

    def frame(self, name: str) -> int:
        """The number of a frame; raises FrameNotFound."""
        if not self.model.existFrame(name):
            raise FrameNotFound(name, dict.fromkeys(frame.name for frame in self.model.frames))
        return int(self.model.getFrameId(name))

    def get_transform_frame_to_world(self, frame: str) -> Any:
        """The pose of a frame in the world."""
        return self.data.oMf[self.frame(frame)].copy()

    def get_transform(self, source: str, dest: str) -> Any:
        """The pose of the source in the destination."""
        return self.get_transform_frame_to_world(dest).actInv(self.get_transform_frame_to_world(source))

    def integrate(self, velocity: Array, dt: float) -> Array:
        """(nq,) after moving with `velocity` (nv,) for `dt` [s]."""
        return np.asarray(pin.integrate(self.model, self.q, velocity * dt))

    def integrate_inplace(self, velocity: Array, dt: float) -> None:
        """Stand there."""
        self.update(self.integrate(velocity, dt))
