"""mink's `Configuration`: a MuJoCo model and the data of where it stands."""

from typing import Any, final

import mujoco
import numpy as np

from poise.compat.mink.errors import InvalidFrame, InvalidKeyframe, NotWithinConfigurationLimits
from poise.compat.mink.se3 import SE3
from poise.compat.steps import Steps
from poise.errors import nearest_names
from poise.io.from_mujoco import FromMuJoCo
from poise.spatial import SE3 as Pose
from poise.spatial import SO3 as Turn
from poise.spatial import Array, ArrayLike

_KINDS = {"body": ("x", "nbody"), "geom": ("geom_x", "ngeom"), "site": ("site_x", "nsite")}


@final
class Configuration:
    """A model at a qpos (nq,); None: at `qpos0`."""

    def __init__(self, model: Any, q: ArrayLike | None = None) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.known = FromMuJoCo.of(model)
        """The model as poise has it."""
        self.steps = Steps()
        self.limited: dict[Any, Any] = {}
        """Models and limits by the limits that a step was given."""
        self.update(q)

    def update(self, q: ArrayLike | None = None) -> None:
        """Stand at `q` (nq,), or at what the data has, and compute where everything is."""
        if q is not None:
            self.data.qpos = q
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

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
        if frame_type not in _KINDS:
            raise InvalidFrame(f"frame_type is {frame_type!r}; it must be 'body', 'geom' or 'site'")
        count = int(getattr(self.model, _KINDS[frame_type][1]))
        names = [getattr(self.model, frame_type)(i).name for i in range(count)] if isinstance(frame_name, str) else []
        if frame_name in names:
            return names.index(str(frame_name))
        if isinstance(frame_name, str) or not 0 <= frame_name < count:
            near = nearest_names(frame_name, names)
            raise InvalidFrame(
                f"the model has no {frame_type} {frame_name!r}" + (f"; did you mean {near}?" * bool(near))
            )
        return int(frame_name)

    def place(self, frame_name: str | int, frame_type: str) -> tuple[str, Pose | None]:
        """The frame in poise, and the pose in it of a geom."""
        number = self.frame(frame_name, frame_type)
        if frame_type == "site":
            return self.known.site(self.model.site(number).name or f"site{number}"), None
        body = number if frame_type == "body" else int(self.model.geom_bodyid[number])
        name = self.model.body(body).name or f"body{body}"
        if frame_type == "body":
            return name, None
        return name, Pose.from_xyz_wxyz(self.model.geom_pos[number], self.model.geom_quat[number])

    def get_transform_frame_to_world(self, frame_name: str | int, frame_type: str) -> SE3:
        """The pose of a frame in the world."""
        number, of = self.frame(frame_name, frame_type), _KINDS[frame_type][0]
        turn = Turn.from_matrix(getattr(self.data, of + "mat")[number].reshape(3, 3), orthonormalise=True)
        return SE3.of(Pose.from_parts(getattr(self.data, of + "pos")[number], turn))

    def get_transform(self, source_name: str | int, source_type: str, dest_name: str | int, dest_type: str) -> SE3:
        """The pose of the source in the destination."""
        there = self.get_transform_frame_to_world(dest_name, dest_type)
        return there.inverse().multiply(self.get_transform_frame_to_world(source_name, source_type))

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
