"""mink's `Configuration`: a MuJoCo model and the data of where it stands."""

from typing import Any, final

import mujoco
import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.mink.constants import FRAME_TO_JAC_FUNC, FRAME_TO_POS_ATTR, FRAME_TO_XMAT_ATTR
from poise_compat.mink.exceptions import InvalidKeyframe, NotWithinConfigurationLimits
from poise_compat.mink.frames import number_of
from poise_compat.mink.lie.se3 import SE3


@final
class Configuration:
    """A model at a qpos (nq,); None: at `qpos0`."""

    def __init__(self, model: Any, q: ArrayLike | None = None) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.ranges: Any = None
        """The ConfigurationLimit of the model, once a step has asked for it."""
        self.last: Array | None = None
        """The last step, and what held it of its limits, see `least_squares`."""
        self._frames: dict[tuple[str | int, str], int] = {}
        self.update(q)

    def update(self, q: ArrayLike | None = None) -> None:
        """Stand at `q` (nq,), or at what the data has, and compute where everything is."""
        if q is not None:
            self.data.qpos = q
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        if self.model.neq:
            mujoco.mj_makeConstraint(self.model, self.data)

    def update_from_keyframe(self, key_name: str) -> None:
        """Stand as a keyframe has it; raises InvalidKeyframe."""
        number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_KEY, key_name)
        if number < 0:
            names = [self.model.key(i).name for i in range(self.model.nkey)]
            raise InvalidKeyframe(f"the model has no keyframe {key_name!r}; it has {names}")
        self.update(self.model.key_qpos[number])

    def check_limits(self, tol: float = 1e-6, safety_break: bool = True) -> None:
        """Raises NotWithinConfigurationLimits for a joint that is more than `tol` outside, with `safety_break`."""
        for j in np.flatnonzero(self.model.jnt_limited) if safety_break else ():
            if self.model.jnt_type[j] >= int(mujoco.mjtJoint.mjJNT_SLIDE):  # a slide or a hinge
                x, (low, high) = self.data.qpos[self.model.jnt_qposadr[j]], self.model.jnt_range[j]
                if not low - tol <= x <= high + tol:
                    name = self.model.joint(int(j)).name
                    raise NotWithinConfigurationLimits(f"joint {name!r} is at {x:g}, outside {low:g} to {high:g}")

    def frame(self, frame_name: str | int, frame_type: str) -> int:
        """The number of a frame; raises InvalidFrame."""
        key = frame_name, frame_type
        if key not in self._frames:
            self._frames[key] = number_of(self.model, frame_name, frame_type)
        return self._frames[key]

    def get_transform_frame_to_world(self, frame_name: str | int, frame_type: str) -> SE3:
        """The pose of a frame in the world."""
        number, numbers = self.frame(frame_name, frame_type), np.empty(7)
        mujoco.mju_mat2Quat(numbers[:4], getattr(self.data, FRAME_TO_XMAT_ATTR[frame_type])[number])
        numbers[4:] = getattr(self.data, FRAME_TO_POS_ATTR[frame_type])[number]
        return SE3(numbers)

    def get_transform(self, source_name: str | int, source_type: str, dest_name: str | int, dest_type: str) -> SE3:
        """The pose of the source in the destination."""
        there = self.get_transform_frame_to_world(dest_name, dest_type)
        return there.inverse().multiply(self.get_transform_frame_to_world(source_name, source_type))

    def get_frame_jacobian(self, frame_name: str | int, frame_type: str) -> Array:
        """(6, nv) from the velocities of MuJoCo to the twist of a frame, seen from it [m, rad]."""
        number, rows = self.frame(frame_name, frame_type), np.empty((2, 3, self.model.nv))
        FRAME_TO_JAC_FUNC[frame_type](self.model, self.data, rows[0], rows[1], number)
        turn = getattr(self.data, FRAME_TO_XMAT_ATTR[frame_type])[number].reshape(3, 3)
        return np.asarray(turn.T @ rows).reshape(6, -1)

    def get_inertia_matrix(self) -> Array:
        """(nv, nv) the inertia of the joints [kg, kg m, kg m^2]."""
        inertia, axes = np.empty((self.model.nv, self.model.nv)), np.eye(self.model.nv)
        mujoco.mj_makeM(self.model, self.data)
        for row, axis in zip(inertia, axes, strict=True):
            mujoco.mj_mulM(self.model, self.data, row, axis)
        return inertia

    def integrate(self, velocity: ArrayLike, dt: float) -> Array:
        """(nq,) after moving with `velocity` (nv,) for `dt` [s]."""
        q = self.data.qpos.copy()
        mujoco.mj_integratePos(self.model, q, np.asarray(velocity, dtype=np.float64), dt)
        return q

    def integrate_inplace(self, velocity: ArrayLike, dt: float) -> None:
        """Stand there."""
        self.update(self.integrate(velocity, dt))

    @property
    def q(self) -> Array:
        """(nq,) where it stands."""
        return self.data.qpos.copy()

    @property
    def nv(self) -> int:
        """Velocities."""
        return int(self.model.nv)

    @property
    def nq(self) -> int:
        """Numbers of a qpos."""
        return int(self.model.nq)
