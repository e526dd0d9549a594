"""Rotations about single axes, and back."""

from typing import NamedTuple, Self

from poise_compat.mink.lie.base import MatrixLieGroup


class RollPitchYaw(NamedTuple):
    """Turns about the fixed x, y and z axes [rad]."""

    roll: float
    pitch: float
    yaw: float


class Turns(MatrixLieGroup):
    """What a rotation is about each axis."""

    matrix_dim, parameters_dim, tangent_dim, space_dim = 3, 4, 3, 3

    @classmethod
    def from_x_radians(cls, theta: float) -> Self:
        """About x [rad]."""
        return cls.exp([theta, 0.0, 0.0])

    @classmethod
    def from_y_radians(cls, theta: float) -> Self:
        """About y [rad]."""
        return cls.exp([0.0, theta, 0.0])

    @classmethod
    def from_z_radians(cls, theta: float) -> Self:
        """About z [rad]."""
        return cls.exp([0.0, 0.0, theta])

    def as_rpy_radians(self) -> RollPitchYaw:
        """Roll, pitch and yaw [rad]."""
        raise NotImplementedError

    def compute_roll_radians(self) -> float:
        """About x [rad]."""
        return self.as_rpy_radians().roll

    def compute_pitch_radians(self) -> float:
        """About y [rad]."""
        return self.as_rpy_radians().pitch

    def compute_yaw_radians(self) -> float:
        """About z [rad]."""
        return self.as_rpy_radians().yaw
