"""Rotations and rigid motions for people: parse, compose, print; any number of leading batch axes.

A pose of b in a is written `T_ab`, so that `T_ab @ T_bc` is `T_ac`.  It is stored as seven numbers,
`[x y z, w x y z]`: metres and a unit quaternion, scalar first.  Twists are linear first, then angular.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any, Final, Self, final, overload

import numpy as np
import numpy.typing as npt

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.kernels.machine import layout
from poise.quaternions import (
    TOLERANCE,
    angles_between,
    canonical,
    conjugate,
    is_rotation,
    matrix_quaternion,
    near_unit_quaternion,
    normalized,
    pose_numbers,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
    rescaled,
    rotate,
    rotation_matrices,
    rpy_quaternion,
    unit_quaternion,
)

LARGEST: Final = layout.LARGEST
"""The largest length or angle [m or rad]."""
_WIDEST: Final = 2.001 * math.pi
"""No angle that a person states in radians is much more than a whole turn."""
BOUND: Final = f"beyond 2^50 = {LARGEST:.3g} [m or rad] a double has no digits left"
"""Why a number of a robot is too large, for messages."""


def ask_for_degrees(
    name: str, angles: ArrayLike, *, mend: str = "numpy.radians makes them radians", stacklevel: int = 2
) -> None:
    """Warn of angles [rad] that can hardly be radians; `stacklevel` leads to the line that states them, 2 is the caller
    of who asks."""
    found = np.asarray(angles, dtype=np.float64)
    if found.size and np.abs(found).max() > _WIDEST:
        warnings.warn(
            f"{name} holds more than a whole turn in radians: degrees? {mend}", UserWarning, stacklevel=stacklevel + 1
        )


def _shape_of(points: Any) -> tuple[int, ...]:
    """The shape of an array, list or tuple; of rows that differ in length it is ()."""
    try:
        return np.shape(points)
    except ValueError:
        return ()


def _points(batch: tuple[int, ...], point: ArrayLike) -> Array:
    """(..., 3) points for motions of this batch; raises ShapeError in words."""
    p = finite("point", point, 3)
    if batch and p.ndim > 1:
        try:
            np.broadcast_shapes(batch, p.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"point has shape {p.shape} and the motions are a batch of {batch}: a point a motion is {(*batch, 3)}, "
                "one for all is (3,); points[..., None, :] are all points under each motion"
            ) from None
    return p


def frozen(values: ArrayLike) -> Array:
    """A read-only copy."""
    array = np.array(values, dtype=np.float64, order="C")
    array.flags.writeable = False
    return array


@final
class SO3:
    """A rotation, or a batch of them: `wxyz` (..., 4), unit quaternions with the scalar first."""

    __slots__ = ("wxyz",)
    __array_ufunc__ = None  # so that `array @ rotation` is a TypeError, not a puzzle
    wxyz: Array

    def __init__(self, *, wxyz: ArrayLike) -> None:
        self.wxyz = frozen(unit_quaternion("wxyz", wxyz))

    @classmethod
    def identity(cls) -> Self:
        """No rotation."""
        return cls(wxyz=[1.0, 0.0, 0.0, 0.0])

    @classmethod
    def from_xyzw(cls, xyzw: ArrayLike) -> Self:
        """From (..., 4) quaternions with the scalar last, as ROS, SciPy, Pinocchio and glTF write them."""
        return cls(wxyz=np.roll(unit_quaternion("xyzw", xyzw), 1, axis=-1))

    @classmethod
    def from_rpy(cls, rpy: ArrayLike) -> Self:
        """From (..., 3) roll, pitch, yaw [rad] about the fixed x, y and z axes in this order (URDF).

        Warns of angles of more than a whole turn, which are degrees more often than not.
        """
        angles = finite("rpy", rpy, 3)
        ask_for_degrees("rpy", angles)
        return cls(wxyz=rpy_quaternion(angles))

    @classmethod
    def from_rotvec(cls, rotvec: ArrayLike) -> Self:
        """From (..., 3) rotation vectors [rad]: axis times angle."""
        return cls(wxyz=quaternion_exp(finite("rotvec", rotvec, 3)))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, *, orthonormalise: bool = False) -> Self:
        """From (..., 3, 3) rotation matrices; raises ValueError if one is not orthonormal to 1e-6.

        With `orthonormalise` it is the nearest rotation, for numbers that were rounded; what stretches by more than 5 %
        or mirrors is refused even so.
        """
        return cls(wxyz=matrix_quaternion(rotation_matrices("matrix", matrix, orthonormalise=orthonormalise)))

    @property
    def xyzw(self) -> Array:
        """(..., 4) with the scalar last."""
        return np.roll(self.wxyz, -1, axis=-1)

    def matrix(self) -> Array:
        """(..., 3, 3) rotation matrices."""
        return quaternion_matrix(self.wxyz)

    def log(self) -> Array:
        """(..., 3) rotation vectors [rad], of length at most pi."""
        return quaternion_log(self.wxyz)

    def rpy(self) -> Array:
        """(..., 3) roll, pitch, yaw [rad]; at a pitch of +-90 degrees the yaw is 0."""
        m = self.matrix()
        flat = np.hypot(m[..., 0, 0], m[..., 1, 0])
        pitch = np.arctan2(-m[..., 2, 0], flat)
        locked = flat < 1e-9
        roll = np.where(locked, np.arctan2(-m[..., 1, 2], m[..., 1, 1]), np.arctan2(m[..., 2, 1], m[..., 2, 2]))
        yaw = np.where(locked, 0.0, np.arctan2(m[..., 1, 0], m[..., 0, 0]))
        return np.stack([roll, pitch, yaw], axis=-1)

    def inverse(self) -> "SO3":
        """The rotation back."""
        return rotation_of(conjugate(self.wxyz))

    @overload
    def __matmul__(self, other: "SO3") -> "SO3": ...
    @overload
    def __matmul__(self, other: npt.NDArray[Any] | Sequence[Any]) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        """`R_ab @ R_bc` is `R_ac`, and `R_ab @ points` are the (..., 3) points turned, as `act` does.

        Raises TypeError for a 3x3 rotation matrix, whose rows would be taken for points.
        """
        if isinstance(other, SO3):
            return rotation_of(rescaled(quaternion_product(self.wxyz, other.wxyz)))
        if not isinstance(other, (np.ndarray, list, tuple)):
            return NotImplemented
        shape = _shape_of(other)
        if shape == (3, 3) and is_rotation(other):
            raise InvalidType(
                "wrong-type",
                "a 3x3 matrix that is a rotation can be meant as one, or as three points: say SO3.from_matrix(matrix), "
                "or act(points), which takes a point a row",
            )
        if shape[-1:] == (4,):
            raise InvalidType(
                "wrong-type", f"R @ x takes an SO3 or (..., 3) points, got shape {shape}: say SO3(wxyz=x), or T @ x"
            )
        return self.act(other)

    def act(self, point: ArrayLike) -> Array:
        """The (..., 3) points turned."""
        return rotate(self.wxyz, _points(self.wxyz.shape[:-1], point))

    def isclose(self, other: "SO3", *, atol: float = TOLERANCE) -> Any:
        """Whether the angle between the two is at most `atol` [rad]: a bool, or (...,) of them for batches."""
        if not isinstance(other, SO3):
            raise InvalidType(
                "not-a-rotation",
                f"isclose compares with another SO3, got {type(other).__name__}; see SO3.from_matrix and SO3.from_xyzw",
            )
        return _flag(angles_between(self.wxyz, other.wxyz) <= atol)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same rotation to the last bit, for quaternions of either sign; of batches, all.

        What was computed in two ways differs by roundings: ask `isclose`, which compares batches one by one.
        """
        if not isinstance(other, SO3):
            return NotImplemented
        return np.array_equal(canonical(self.wxyz), canonical(other.wxyz))

    def __hash__(self) -> int:
        return hash((self.wxyz.shape, canonical(self.wxyz).tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return rotation_of, (self.wxyz,)

    def __repr__(self) -> str:
        if self.wxyz.ndim > 1:
            return f"SO3(batch of {self.wxyz.shape[:-1]})"
        return "SO3(wxyz=[" + " ".join(f"{x:.6g}" for x in self.wxyz) + "])"


@final
class SE3:
    """A pose, or a batch of them: `array` (..., 7) holds `[x y z, w x y z]`, metres and a unit quaternion."""

    __slots__ = ("array",)
    __array_ufunc__ = None  # so that `array @ pose` is a TypeError, not a puzzle
    array: Array

    def __init__(self, array: ArrayLike) -> None:
        values = finite("pose", array, 7)
        self.array = np.concatenate([values[..., :3], normalized("pose wxyz", values[..., 3:])], axis=-1)
        self.array.flags.writeable = False

    @classmethod
    def identity(cls) -> Self:
        """No motion."""
        return cls([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    @classmethod
    def from_parts(cls, xyz: ArrayLike, rotation: SO3 | None = None) -> Self:
        """From (..., 3) metres and a rotation (none: the identity)."""
        p = finite("xyz", xyz, 3)
        wxyz = np.array([1.0, 0.0, 0.0, 0.0]) if rotation is None else rotation.wxyz
        if p.ndim > 1 or wxyz.ndim > 1:
            batch = np.broadcast_shapes(p.shape[:-1], wxyz.shape[:-1])
            p, wxyz = np.broadcast_to(p, (*batch, 3)), np.broadcast_to(wxyz, (*batch, 4))
        return cls(np.concatenate([p, wxyz], axis=-1))

    @classmethod
    def from_xyz_rpy(cls, xyz: ArrayLike, rpy: ArrayLike) -> Self:
        """From (..., 3) metres and (..., 3) roll, pitch, yaw [rad] about fixed axes (URDF).

        Warns of angles of more than a whole turn, which are degrees more often than not.
        """
        angles = finite("rpy", rpy, 3)
        ask_for_degrees("rpy", angles)
        return cls.from_parts(xyz, SO3(wxyz=rpy_quaternion(angles)))

    @classmethod
    def from_xyz_wxyz(cls, xyz: ArrayLike, wxyz: ArrayLike) -> Self:
        """From (..., 3) metres and (..., 4) quaternions, scalar first."""
        return cls.from_parts(xyz, SO3(wxyz=wxyz))

    @classmethod
    def from_xyz_xyzw(cls, xyz: ArrayLike, xyzw: ArrayLike) -> Self:
        """From (..., 3) metres and (..., 4) quaternions, scalar last (ROS, SciPy, Pinocchio, glTF)."""
        return cls.from_parts(xyz, SO3.from_xyzw(xyzw))

    @classmethod
    def from_rotvec(cls, xyz: ArrayLike, rotvec: ArrayLike) -> Self:
        """From (..., 3) metres and (..., 3) rotation vectors [rad]."""
        return cls.from_parts(xyz, SO3.from_rotvec(rotvec))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, *, orthonormalise: bool = False) -> Self:
        """From (..., 4, 4) homogeneous matrices; raises ValueError if the rotation part is none.

        With `orthonormalise` that becomes the nearest rotation, see `SO3.from_matrix`.
        """
        if isinstance(matrix, np.ndarray) and matrix.shape == (4, 4) and not orthonormalise:
            one = pose_numbers(matrix)
            if one is not None:
                return pose_of(one)
        return cls.from_parts(*_parts_of("matrix", matrix, orthonormalise=orthonormalise))

    @classmethod
    def parse(cls, value: Any, name: str = "pose") -> "SE3":
        """From an SE3, 7 numbers `[x y z, w x y z]`, or a 4x4 matrix; batches of them too.

        Raises ShapeError for another shape, ValueError for numbers that are no pose, such as seven joint angles: a
        quaternion must have unit length, to a tenth.
        """
        if isinstance(value, SE3):
            return value
        one = pose_numbers(value)
        if one is not None:
            return pose_of(one)
        wanted = f"{name} must be an SE3, 7 numbers [x y z, w x y z] or a 4x4 matrix"
        try:
            array = np.asarray(value, dtype=object if isinstance(value, SO3) else None)
        except ValueError as error:
            raise ShapeError(f"{wanted}, got {value!r}") from error
        if array.ndim >= 2 and array.shape[-2:] == (4, 4):
            return cls.from_parts(*_parts_of(name, value))
        if array.ndim >= 1 and array.shape[-1] == 7:
            numbers = finite(name, value, 7)
            return pose_of(np.concatenate([numbers[..., :3], near_unit_quaternion(name, numbers[..., 3:])], axis=-1))
        way = {
            (3,): "; a place alone is SE3.from_parts(xyz), or the target of a PositionTask",
            (6,): "; three metres and roll, pitch, yaw are SE3.from_xyz_rpy(xyz, rpy)",
            (3, 3): "; a rotation alone is SE3.from_parts(xyz, SO3.from_matrix(R))",
        }
        raise ShapeError(f"{wanted}, got shape {array.shape}{way.get(array.shape, '')}")

    @classmethod
    def exp(cls, twist: ArrayLike) -> Self:
        """The motion of the constant (..., 6) twist, linear then angular, over unit time."""
        t = finite("twist", twist, 6)
        v, w = t[..., :3], t[..., 3:]
        angle2 = np.sum(w * w, axis=-1, keepdims=True)
        angle = np.sqrt(angle2)
        small = angle < 1e-4
        safe = np.where(small, 1.0, angle)
        a = np.where(small, 0.5 - angle2 / 24.0, 2.0 * (np.sin(0.5 * safe) / safe) ** 2)
        b = np.where(small, 1.0 / 6.0 - angle2 / 120.0, (safe - np.sin(safe)) / safe**3)
        wv = np.cross(w, v)
        return cls(np.concatenate([v + a * wv + b * np.cross(w, wv), quaternion_exp(w)], axis=-1))

    def log(self) -> Array:
        """(..., 6) twist, linear then angular, whose `exp` this is."""
        w = quaternion_log(self.array[..., 3:])
        p = self.array[..., :3]
        angle2 = np.sum(w * w, axis=-1, keepdims=True)
        angle = np.sqrt(angle2)
        small = angle < 1e-4
        safe = np.where(small, 1.0, angle)
        half = 0.5 * safe
        c = np.where(small, 1.0 / 12.0 + angle2 / 720.0, (1.0 - half / np.tan(half)) / safe**2)
        wp = np.cross(w, p)
        return np.concatenate([p - 0.5 * wp + c * np.cross(w, wp), w], axis=-1)

    @property
    def xyz(self) -> Array:
        """(..., 3) position [m]."""
        return self.array[..., :3]

    @property
    def wxyz(self) -> Array:
        """(..., 4) unit quaternion, scalar first."""
        return self.array[..., 3:]

    @property
    def rotation(self) -> SO3:
        """The rotation part."""
        return rotation_of(self.wxyz)

    def matrix(self) -> Array:
        """(..., 4, 4) homogeneous matrices."""
        m = np.zeros((*self.array.shape[:-1], 4, 4))
        m[..., :3, :3] = quaternion_matrix(self.wxyz)
        m[..., :3, 3] = self.xyz
        m[..., 3, 3] = 1.0
        return m

    def inverse(self) -> "SE3":
        """`T_ab.inverse()` is `T_ba`."""
        back = conjugate(self.wxyz)
        return pose_of(np.concatenate([-rotate(back, self.xyz), back], axis=-1))

    @overload
    def __matmul__(self, other: "SE3") -> "SE3": ...
    @overload
    def __matmul__(self, other: npt.NDArray[Any] | Sequence[Any]) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        """`T_ab @ T_bc` is `T_ac`, and `T_ab @ points` are the (..., 3) points of b seen in a, as `act` has them.

        Raises TypeError for a 4x4 matrix, 7 numbers or an SO3, ShapeError for what are no points.
        """
        if isinstance(other, SE3):
            xyz = self.xyz + rotate(self.wxyz, other.xyz)
            wxyz = rescaled(quaternion_product(self.wxyz, other.wxyz))
            return pose_of(np.concatenate([xyz, wxyz], axis=-1))
        if isinstance(other, SO3):
            raise InvalidType(
                "not-a-pose", "an SO3 is no pose: write T @ SE3.from_parts([0, 0, 0], R), or T.rotation @ R"
            )
        if not isinstance(other, (np.ndarray, list, tuple)):
            return NotImplemented
        shape = _shape_of(other)
        if shape[-2:] == (4, 4) or shape[-1:] == (7,):
            raise InvalidType(
                "wrong-type", f"T @ x takes an SE3 or (..., 3) points, got shape {shape}: make it a pose, SE3.parse(x)"
            )
        return self.act(other)

    def act(self, point: ArrayLike) -> Array:
        """The (..., 3) points of frame b seen in frame a."""
        return self.xyz + rotate(self.wxyz, _points(self.array.shape[:-1], point))

    def isclose(self, other: "SE3", *, atol: float = TOLERANCE) -> Any:
        """Whether the origins are at most `atol` [m] apart and the angle between the two is at most `atol` [rad]:
        a bool, or (...,) of them for batches."""
        if not isinstance(other, SE3):
            raise InvalidType(
                "not-a-pose",
                f"isclose compares with another SE3, got {type(other).__name__}; SE3.parse makes one of numbers",
            )
        turned = angles_between(self.wxyz, other.wxyz) <= atol
        return _flag(turned & (np.linalg.norm(self.xyz - other.xyz, axis=-1) <= atol))

    def __eq__(self, other: object) -> bool:
        """Whether both are the same pose to the last bit, for quaternions of either sign; of batches, all.

        What was computed in two ways differs by roundings: ask `isclose`, which compares batches one by one.
        """
        if not isinstance(other, SE3):
            return NotImplemented
        return np.array_equal(self.xyz, other.xyz) and np.array_equal(canonical(self.wxyz), canonical(other.wxyz))

    def __hash__(self) -> int:
        return hash((self.array.shape, (self.xyz + 0.0).tobytes(), canonical(self.wxyz).tobytes()))

    def adjoint(self) -> Array:
        """(..., 6, 6) matrix that takes a twist in b to the same twist in a (linear first)."""
        r = quaternion_matrix(self.wxyz)
        x, y, z = np.moveaxis(self.xyz, -1, 0)
        o = np.zeros_like(x)
        rows = [np.stack([o, -z, y], axis=-1), np.stack([z, o, -x], axis=-1), np.stack([-y, x, o], axis=-1)]
        cross = np.stack(rows, axis=-2)
        out = np.zeros((*self.array.shape[:-1], 6, 6))
        out[..., :3, :3] = out[..., 3:, 3:] = r
        out[..., :3, 3:] = cross @ r
        return out

    def __getitem__(self, index: Any) -> "SE3":
        """The poses of a batch at `index`, the same to the last bit."""
        if self.array.ndim == 1:
            raise InvalidType("not-a-sequence", "a single pose cannot be indexed; use .xyz, .wxyz or .array")
        rows = self.array[index]
        if rows.ndim < 1 or rows.shape[-1] != self.array.shape[-1]:
            raise IndexError(f"index {index!r} reaches into the numbers of a pose; use .array for those")
        return pose_of(rows.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        return pose_of, (self.array,)

    def __repr__(self) -> str:
        if self.array.ndim > 1:
            return f"SE3(batch of {self.array.shape[:-1]})"
        p, q = (" ".join(f"{x:.6g}" for x in part) for part in (self.xyz, self.wxyz))
        return f"SE3(xyz=[{p}], wxyz=[{q}])"


def pose_of(array: Array) -> SE3:
    """The pose of (..., 7) finite numbers with unit quaternions: neither checked nor copied; read-only from here on."""
    array.flags.writeable = False
    pose = object.__new__(SE3)
    pose.array = array
    return pose


def one_pose(name: str, value: Any) -> SE3:
    """One pose, as `SE3.parse` takes it; raises ShapeError for a batch, ValueError for one that is too far away."""
    pose = SE3.parse(value, name)
    if pose.array.ndim != 1:
        raise ShapeError(f"{name} must be one pose, got {pose!r}")
    if not (np.abs(pose.xyz) <= LARGEST).all():
        raise InvalidValue("out-of-range", f"{name} stands at {pose.xyz.tolist()}; {BOUND}")
    return pose


def rotation_of(wxyz: Array) -> SO3:
    """The rotation of (..., 4) unit quaternions: neither checked nor copied; read-only from here on."""
    wxyz.flags.writeable = False
    rotation = object.__new__(SO3)
    rotation.wxyz = wxyz
    return rotation


def _parts_of(name: str, matrix: ArrayLike, *, orthonormalise: bool = False) -> tuple[Array, SO3]:
    """(..., 3) metres and the rotations of (..., 4, 4) homogeneous matrices; raises as `SE3.from_matrix` does."""
    m = finite(name, matrix, 4, 4)
    if np.abs(m[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max(initial=0.0) > 1e-9:
        raise InvalidValue("not-a-pose", f"{name} is not a pose: its last row must be 0 0 0 1")
    turn = rotation_matrices(name, m[..., :3, :3], orthonormalise=orthonormalise)
    return m[..., :3, 3], SO3(wxyz=matrix_quaternion(turn))


def _flag(flags: Any) -> Any:
    """A bool for a single item, else the array."""
    return bool(flags) if np.ndim(flags) == 0 else flags
