"""pink's `Configuration`: a model of Pinocchio's and the data of where it stands."""

from typing import Any, final

import numpy as np
import pinocchio as pin

from poise.extending import Array
from poise_compat.pink.exceptions import FrameNotFound, NotWithinConfigurationLimits
from poise_compat.pink.limits.usual import usual
from poise_compat.pink.utils import VectorSpace, get_root_joint_dim


@final
class Configuration:
    """A model at a q (nq,) of Pinocchio's, and, with a collision model, how far its shapes are apart."""

    def __init__(
        self, model: Any, data: Any, q: Array, copy_data: bool = True, forward_kinematics: bool = True,
        collision_model: Any = None, collision_data: Any = None,
    ) -> None:  # fmt: skip
        self.model, self.data = model, data.copy() if copy_data else data
        self.collision_model, self.collision_data = collision_model, collision_data
        if collision_model is not None and collision_data is None:
            self.collision_data = pin.GeometryData(collision_model)
        self.tangent = VectorSpace(model.nv)
        self.last: Array | None = None
        """The last step, and what held it of its limits, see `least_squares`."""
        self._frames: dict[str, int] = {}
        self.q = np.array(q)
        self.q.setflags(write=False)
        usual(model)
        if forward_kinematics:
            self.update()

    def update(self, q: Array | None = None) -> None:
        """Stand at `q` (nq,), or where it is, and compute where everything is."""
        self.q = self.q if q is None else np.array(q)
        self.q.setflags(write=False)
        if self.collision_model is not None:
            pin.computeDistances(self.model, self.data, self.collision_model, self.collision_data, self.q)
        pin.computeJointJacobians(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)

    def at(self, q: Array) -> "Configuration":
        """The same at another q."""
        pairs = None if self.collision_model is None else pin.GeometryData(self.collision_model)
        return Configuration(self.model, self.data, q, collision_model=self.collision_model, collision_data=pairs)

    def check_limits(self, tol: float = 1e-6, safety_break: bool = True) -> None:
        """Raises NotWithinConfigurationLimits for a joint more than `tol` outside, with `safety_break`."""
        low, high = self.model.lowerPositionLimit, self.model.upperPositionLimit
        outside = (high > low + tol) & ((self.q < low - tol) | (self.q > high + tol))
        outside[: get_root_joint_dim(self.model)[0]] = False
        for i in np.flatnonzero(outside)[:1] if safety_break else ():
            names = [
                n for n, j in zip(self.model.names, self.model.joints, strict=True) if j.idx_q <= i < j.idx_q + j.nq
            ]
            raise NotWithinConfigurationLimits(
                f"joint {names[0]!r} is at {self.q[i]:g}, outside {low[i]:g} to {high[i]:g}"
            )

    def frame(self, name: str) -> int:
        """The number of a frame; raises FrameNotFound."""
        if name not in self._frames:
            if not self.model.existFrame(name):
                raise FrameNotFound(name, dict.fromkeys(frame.name for frame in self.model.frames))
            self._frames[name] = int(self.model.getFrameId(name))
        return self._frames[name]

    def get_frame_jacobian(self, frame: str) -> Array:
        """(6, nv) from velocities to the twist of a frame, seen from it [m, rad]."""
        rows = pin.getFrameJacobian(self.model, self.data, self.frame(frame), pin.ReferenceFrame.LOCAL)
        return np.array(rows).reshape(6, -1)

    def get_place_jacobian(self, frame: str) -> Array:
        """(3, nv) from velocities to that of the origin of a frame, along the axes of the world [m]."""
        return np.asarray(self.data.oMf[self.frame(frame)].rotation @ self.get_frame_jacobian(frame)[:3])

    def get_transform_frame_to_world(self, frame: str) -> Any:
        """The pose of a frame in the world."""
        return self.data.oMf[self.frame(frame)].copy()

    def get_transform(self, source: str, dest: str) -> Any:
        """The pose of the source in the destination."""
        return self.get_transform_frame_to_world(dest).actInv(self.get_transform_frame_to_world(source))

    def integrate(self, velocity: Array, dt: float) -> Array:
        """(nq,) after moving with `velocity` (nv,) for `dt` [s]."""
        return np.asarray(pin.integrate(self.model, self.q, np.asarray(velocity) * dt))

    def integrate_inplace(self, velocity: Array, dt: float) -> None:
        """Stand there."""
        self.update(self.integrate(velocity, dt))
