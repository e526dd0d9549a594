"""mink's `SO3`, by its names."""

from dataclasses import dataclass
from typing import Any, Self, final

from poise.spatial import SO3 as Turn
from poise.spatial import Array, ArrayLike


@final
@dataclass(frozen=True, eq=False)
class SO3:
    """A rotation, as `wxyz` (4,)."""

    wxyz: ArrayLike

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
    def exp(cls, tangent: ArrayLike) -> Self:
        """Of a rotation vector (3,) [rad]."""
        return cls(Turn.from_rotvec(tangent).wxyz)

    @property
    def turn(self) -> Turn:
        """As poise has it."""
        return Turn(wxyz=self.wxyz)

    def log(self) -> Array:
        """(3,) rotation vector [rad]."""
        return self.turn.log()

    def inverse(self) -> "SO3":
        """The rotation back."""
        return SO3(self.turn.inverse().wxyz)

    def as_matrix(self) -> Array:
        """(3, 3)."""
        return self.turn.matrix()

    def apply(self, target: ArrayLike) -> Array:
        """A point or direction (3,), turned."""
        return self.turn.act(target)

    def multiply(self, other: "SO3") -> "SO3":
        """This after the other."""
        return SO3((self.turn @ other.turn).wxyz)

    def __matmul__(self, other: Any) -> Any:
        return self.multiply(other) if isinstance(other, SO3) else self.apply(other)
