"""mink's `SE3`, by its names: `wxyz_xyz`, a product that is `@`."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from poise.compat.mink.so3 import SO3
from poise.spatial import SE3 as Pose
from poise.spatial import SO3 as Turn
from poise.spatial import Array, ArrayLike


@final
@dataclass(frozen=True, eq=False)
class SE3:
    """A pose, as `wxyz_xyz` (7,)."""

    wxyz_xyz: ArrayLike

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
        return cls.from_rotation_and_translation(rotation, np.zeros(3))

    @classmethod
    def from_translation(cls, translation: ArrayLike) -> Self:
        """Without a turn."""
        return cls.of(Pose.from_parts(translation))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Of a matrix (4, 4)."""
        return cls.of(Pose.from_matrix(matrix, orthonormalise=True))

    @classmethod
    def from_mocap_id(cls, data: Any, mocap_id: int) -> Self:
        """Of a mocap body, by its number."""
        return cls(np.concatenate([data.mocap_quat[mocap_id], data.mocap_pos[mocap_id]]))

    @classmethod
    def from_mocap_name(cls, model: Any, data: Any, mocap_name: str) -> Self:
        """Of a mocap body; raises ValueError for another body."""
        number = int(model.body(mocap_name).mocapid[0])
        if number < 0:
            raise ValueError(f'body {mocap_name!r} is no mocap body; write mocap="true" in its element')
        return cls.from_mocap_id(data, number)

    @classmethod
    def exp(cls, tangent: ArrayLike) -> Self:
        """Of a twist (6,) over one second [m, rad]."""
        return cls.of(Pose.exp(tangent))

    @property
    def pose(self) -> Pose:
        """As poise has it."""
        numbers = np.asarray(self.wxyz_xyz, dtype=np.float64)
        return Pose.from_parts(numbers[4:], Turn(wxyz=numbers[:4]))

    def log(self) -> Array:
        """(6,) its twist [m, rad]."""
        return self.pose.log()

    def copy(self) -> "SE3":
        """The same, with numbers of its own."""
        return SE3(np.array(self.wxyz_xyz))

    def rotation(self) -> SO3:
        """Its rotation."""
        return SO3(self.pose.wxyz)

    def translation(self) -> Array:
        """(3,) [m]."""
        return np.array(self.wxyz_xyz, dtype=np.float64)[4:]

    def as_matrix(self) -> Array:
        """(4, 4)."""
        return self.pose.matrix()

    def inverse(self) -> "SE3":
        """The motion back."""
        return SE3.of(self.pose.inverse())

    def apply(self, target: ArrayLike) -> Array:
        """A point (3,), moved."""
        return self.pose.act(target)

    def multiply(self, other: "SE3") -> "SE3":
        """This after the other."""
        return SE3.of(self.pose @ other.pose)

    def __matmul__(self, other: Any) -> Any:
        return self.multiply(other) if isinstance(other, SE3) else self.apply(other)
