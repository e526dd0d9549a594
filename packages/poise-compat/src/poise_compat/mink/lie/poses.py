"""Poses of mocap bodies, any, and within intervals."""

from typing import Any, Self

import numpy as np

from poise_compat.mink.frames import mocap_number
from poise_compat.mink.lie.base import MatrixLieGroup
from poise_compat.mink.lie.so3 import ANY, SO3, Interval


class Poses(MatrixLieGroup):
    """Numbers (7,), a quaternion and a place."""

    matrix_dim, parameters_dim, tangent_dim, space_dim = 4, 7, 6, 3

    @classmethod
    def from_mocap_id(cls, data: Any, mocap_id: int) -> Self:
        """Of a mocap body, by its number."""
        return cls(np.concatenate([data.mocap_quat[mocap_id], data.mocap_pos[mocap_id]]))

    @classmethod
    def from_mocap_name(cls, model: Any, data: Any, mocap_name: str) -> Self:
        """Of a mocap body; raises InvalidMocapBody for another body."""
        return cls.from_mocap_id(data, mocap_number(model, mocap_name))

    @classmethod
    def sample_uniform(cls) -> Self:
        """Any turn, and a place within a metre along each axis, by the random numbers of `numpy.random`."""
        place = np.random.uniform(-1.0, 1.0, size=3)  # noqa: NPY002  # as SO3
        return cls(np.concatenate([SO3.sample_uniform().parameters(), place]))

    def clamp(
        self,
        x_translation: Interval = ANY,
        y_translation: Interval = ANY,
        z_translation: Interval = ANY,
        roll_radians: Interval = ANY,
        pitch_radians: Interval = ANY,
        yaw_radians: Interval = ANY,
    ) -> Self:
        """The same within intervals [m, rad]."""
        limits, numbers = np.array([x_translation, y_translation, z_translation]), self.parameters()
        turn = SO3(numbers[:4]).clamp(roll_radians, pitch_radians, yaw_radians)
        return type(self)(np.concatenate([turn.parameters(), np.clip(numbers[4:], limits[:, 0], limits[:, 1])]))
