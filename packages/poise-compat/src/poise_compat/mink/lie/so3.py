"""mink's `SO3`, by its names."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from poise import SO3 as Turn
from poise.extending import Array, ArrayLike
from poise_compat.mink.lie.angles import RollPitchYaw, Turns
from poise_compat.mink.lie.jacobians import of_turn

Interval = tuple[float, float]
ANY: Interval = (-np.inf, np.inf)


@final
@dataclass(frozen=True, eq=False)
class SO3(Turns):
    """A rotation, as `wxyz` (4,)."""

    wxyz: ArrayLike

    def __post_init__(self) -> None:
        if np.shape(self.wxyz) != (4,):
            raise ValueError(f"wxyz has the shape {np.shape(self.wxyz)}; it must be (4,), a quaternion")

    @classmethod
    def identity(cls) -> Self:
        """No rotation."""
        return cls(Turn.identity().wxyz)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Of a matrix (3, 3)."""
        return cls(Turn.from_matrix(matrix, orthonormalise=True).wxyz)

    @classmethod
    def from_rpy_radians(cls, roll: float, pitch: float, yaw: float) -> Self:
        """Of roll, pitch and yaw [rad] about the fixed x, y and z axes."""
        return cls(Turn.from_rpy([roll, pitch, yaw]).wxyz)

    @classmethod
    def sample_uniform(cls) -> Self:
        """Any, all as likely, by the random numbers of `numpy.random`."""
        wxyz = np.random.normal(size=4)  # noqa: NPY002  # programs seed it as they seed the original
        return cls(wxyz / np.linalg.norm(wxyz))

    @classmethod
    def exp(cls, tangent: ArrayLike) -> Self:
        """Of a rotation vector (3,) [rad]."""
        return cls(Turn.from_rotvec(tangent).wxyz)

    @property
    def turn(self) -> Turn:
        """As poise has it."""
        return Turn(wxyz=self.wxyz)

    def parameters(self) -> Array:
        """(4,) wxyz."""
        return np.asarray(self.wxyz, dtype=np.float64)

    def log(self) -> Array:
        """(3,) rotation vector [rad]."""
        return self.turn.log()

    def inverse(self) -> "SO3":
        """The rotation back."""
        return SO3(self.turn.inverse().wxyz)

    def as_matrix(self) -> Array:
        """(3, 3)."""
        return self.turn.matrix()

    def as_rpy_radians(self) -> RollPitchYaw:
        """Roll, pitch and yaw [rad]."""
        return RollPitchYaw(*map(float, self.turn.rpy()))

    def clamp(self, roll_radians: Interval = ANY, pitch_radians: Interval = ANY, yaw_radians: Interval = ANY) -> "SO3":
        """The same with roll, pitch and yaw within intervals [rad]."""
        limits = np.array([roll_radians, pitch_radians, yaw_radians])
        return SO3.from_rpy_radians(*np.clip(self.turn.rpy(), limits[:, 0], limits[:, 1]))

    def apply(self, target: ArrayLike) -> Array:
        """A point or direction (3,), turned."""
        return self.turn.act(target)

    def multiply(self, other: "SO3") -> "SO3":
        """This after the other."""
        return SO3((self.turn @ other.turn).wxyz)

    def adjoint(self) -> Array:
        """(3, 3) its matrix."""
        return self.as_matrix()

    @classmethod
    def ljac(cls, other: ArrayLike) -> Array:
        """(3, 3) left Jacobian of `exp` at a rotation vector."""
        return of_turn(np.asarray(other, dtype=np.float64))
