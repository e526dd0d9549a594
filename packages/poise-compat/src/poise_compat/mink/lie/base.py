"""What mink's `SO3` and `SE3` have in common."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from poise.extending import Array, ArrayLike


class MatrixLieGroup(ABC):
    """Motions that follow each other, and tangents (k,) of them."""

    def __init__(self, numbers: ArrayLike) -> None:  # noqa: B027  # dataclasses write it
        ...

    @abstractmethod
    def parameters(self) -> Array:
        """The numbers that it is made of, a quaternion first."""

    @classmethod
    @abstractmethod
    def exp(cls, tangent: ArrayLike) -> Self:
        """That of a tangent over one second."""

    @abstractmethod
    def log(self) -> Array:
        """Its tangent."""

    @abstractmethod
    def inverse(self) -> Self:
        """The motion back."""

    @abstractmethod
    def multiply(self, other: Self) -> Self:
        """This after the other."""

    @abstractmethod
    def apply(self, target: ArrayLike) -> Array:
        """A point (3,), moved."""

    @abstractmethod
    def adjoint(self) -> Array:
        """(k, k) what takes tangents behind it before it."""

    @classmethod
    @abstractmethod
    def ljac(cls, other: ArrayLike) -> Array:
        """(k, k) left Jacobian of `exp` at a tangent."""

    @classmethod
    def ljacinv(cls, other: ArrayLike) -> Array:
        """(k, k) its inverse."""
        return np.asarray(np.linalg.inv(cls.ljac(other)), dtype=np.float64)

    @classmethod
    def rjac(cls, other: ArrayLike) -> Array:
        """(k, k) right Jacobian of `exp`."""
        return cls.ljac(-np.asarray(other, dtype=np.float64))

    @classmethod
    def rjacinv(cls, other: ArrayLike) -> Array:
        """(k, k) its inverse."""
        return cls.ljacinv(-np.asarray(other, dtype=np.float64))

    def jlog(self) -> Array:
        """(k, k) derivative of `log` by a motion behind it."""
        return self.rjacinv(self.log())

    def copy(self) -> Self:
        """The same, with numbers of its own."""
        return type(self)(self.parameters().copy())

    def normalize(self) -> Self:
        """The same, with a quaternion of length 1."""
        numbers = self.parameters().copy()
        numbers[:4] /= np.linalg.norm(numbers[:4])
        return type(self)(numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and np.array_equal(self.parameters(), other.parameters())

    def __hash__(self) -> int:
        return hash(self.parameters().tobytes())

    def __matmul__(self, other: Any) -> Any:
        return self.multiply(other) if isinstance(other, MatrixLieGroup) else self.apply(other)

    def rplus(self, other: ArrayLike) -> Self:
        """This, then a tangent seen from it."""
        return self.multiply(self.exp(other))

    def rminus(self, other: Self) -> Array:
        """The tangent that leads from the other to this, seen from the other."""
        return other.inverse().multiply(self).log()

    def lplus(self, other: ArrayLike) -> Self:
        """This, then a tangent seen from the world."""
        return self.exp(other).multiply(self)

    def lminus(self, other: Self) -> Array:
        """The tangent that leads from the other to this, seen from the world."""
        return self.multiply(other.inverse()).log()

    plus, minus = rplus, rminus

    def interpolate(self, other: Self, alpha: float = 0.5) -> Self:
        """From this, for 0, to the other, for 1."""
        if not 0.0 <= alpha <= 1.0:
            raise ValueError(f"alpha is {alpha!r}; it must be from 0 to 1")
        return self.rplus(alpha * other.rminus(self))
