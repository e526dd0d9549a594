"""mink's `SE3`, by its names: `wxyz_xyz`, a product that is `@`."""

import math
from dataclasses import dataclass
from typing import Self, final

import mujoco
import numpy as np

from poise import SE3 as Pose
from poise.extending import Array, ArrayLike
from poise.spatial import pose_of
from poise_compat.mink.lie.jacobians import adjoint, inverse_of_twist, of_twist, twist_to
from poise_compat.mink.lie.poses import Poses
from poise_compat.mink.lie.so3 import SO3


@final
@dataclass(frozen=True, eq=False)
class SE3(Poses):
    """A pose, as `wxyz_xyz` (7,)."""

    wxyz_xyz: ArrayLike

    def __post_init__(self) -> None:
        if np.shape(self.wxyz_xyz) != (7,):
            raise ValueError(f"wxyz_xyz has the shape {np.shape(self.wxyz_xyz)}; it must be (7,), turn and place")

    @classmethod
    def of(cls, pose: Pose) -> Self:
        """That of poise."""
        return cls(np.concatenate([pose.wxyz, pose.xyz]))

    @classmethod
    def identity(cls) -> Self:
        """No motion."""
        return cls.of(Pose.identity())

    @classmethod
    def from_rotation_and_translation(cls, rotation: SO3, translation: ArrayLike) -> Self:
        """Of both."""
        return cls.of(Pose.from_parts(translation, rotation.turn))

    @classmethod
    def from_rotation(cls, rotation: SO3) -> Self:
        """At the origin."""
        return cls(np.concatenate([rotation.wxyz, np.zeros(3)]))

    @classmethod
    def from_translation(cls, translation: ArrayLike) -> Self:
        """Without a turn."""
        return cls.of(Pose.from_parts(translation))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Of a matrix (4, 4)."""
        return cls.of(Pose.from_matrix(matrix, orthonormalise=True))

    @classmethod
    def exp(cls, tangent: ArrayLike) -> Self:
        """Of a twist (6,) over one second [m, rad]."""
        return cls.of(Pose.exp(tangent))

    @property
    def pose(self) -> Pose:
        """As poise has it."""
        numbers = self.parameters()
        return pose_of(np.concatenate([numbers[4:], numbers[:4] / math.sqrt(numbers[:4] @ numbers[:4])]))

    def parameters(self) -> Array:
        """(7,) wxyz_xyz."""
        return np.asarray(self.wxyz_xyz, dtype=np.float64)

    def log(self) -> Array:
        """(6,) its twist [m, rad]."""
        numbers, turn = self.parameters(), np.empty(3)
        mujoco.mju_quat2Vel(turn, numbers[:4], 1.0)
        return twist_to(numbers[4:], turn)

    def rotation(self) -> SO3:
        """Its rotation."""
        return SO3(self.parameters()[:4])

    def translation(self) -> Array:
        """(3,) [m]."""
        return self.parameters()[4:].copy()

    def as_matrix(self) -> Array:
        """(4, 4)."""
        return self.pose.matrix()

    def inverse(self) -> "SE3":
        """The motion back."""
        numbers, out = self.parameters(), np.empty(7)
        mujoco.mju_negPose(out[4:], out[:4], numbers[4:], numbers[:4])
        return SE3(out)

    def apply(self, target: ArrayLike) -> Array:
        """A point (3,), moved."""
        return self.pose.act(target)

    def multiply(self, other: "SE3") -> "SE3":
        """This after the other."""
        first, then, out = self.parameters(), other.parameters(), np.empty(7)
        mujoco.mju_mulPose(out[4:], out[:4], first[4:], first[:4], then[4:], then[:4])
        return SE3(out)

    def adjoint(self) -> Array:
        """(6, 6) of twists."""
        return adjoint(self.parameters())

    @classmethod
    def ljac(cls, other: ArrayLike) -> Array:
        """(6, 6) left Jacobian of `exp` at a twist."""
        return of_twist(np.asarray(other, dtype=np.float64))

    @classmethod
    def ljacinv(cls, other: ArrayLike) -> Array:
        """(6, 6) its inverse."""
        return inverse_of_twist(np.asarray(other, dtype=np.float64))
