"""Rotations and rigid motions for people: parse, compose, print; any number of leading batch axes.

A pose of b in a is written `T_ab`, so that `T_ab @ T_bc` is `T_ac`.  It is stored as seven numbers,
`[x y z, w x y z]`: metres and a unit quaternion, scalar first.  Twists are linear first, then angular.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, Self, final

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError

Array = npt.NDArray[np.float64]
_CONJUGATE: Final = np.array([1.0, -1.0, -1.0, -1.0])
_TINY: Final = 1e-8
"""Below this angle [rad] the first terms of a series are exact to rounding."""
LARGEST: Final = 2.0**50
"""The largest length or angle [m or rad]: there a double is exact to 1/8, and beyond it holds no angle."""
BOUND: Final = f"beyond 2^50 = {LARGEST:.3g} [m or rad] a double has no digits left"
"""Why a number of a robot is too large, for messages."""


def finite(name: str, value: npt.ArrayLike, *tail: int) -> Array:
    """`value` as float64 with trailing shape `tail`; raises ShapeError or ValueError naming `name` and the index."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{name} must be numbers of shape {_shape(tail)}, got {value!r}") from error
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        raise ShapeError(f"{name} must have shape {_shape(tail)}, got {array.shape}")
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        place = f"[{', '.join(map(str, index))}]" if index else ""
        raise ValueError(f"{name}{place} is {array[index]}; every entry must be finite")
    return array


def _shape(tail: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, tail))}{',' if len(tail) == 1 else ''})"


def unit_quaternion(name: str, value: npt.ArrayLike) -> Array:
    """(..., 4) numbers normalised to unit length; raises ValueError for a zero quaternion."""
    wxyz = finite(name, value, 4)
    norm = np.linalg.norm(wxyz, axis=-1, keepdims=True)
    if (norm < 1e-12).any():
        raise ValueError(f"{name} is a zero quaternion, which is no rotation; the identity is wxyz = 1 0 0 0")
    return wxyz / norm


def _split(array: Array) -> Any:
    """The numbers along the last axis, each with the batch axes.

    Those of a single item are floats: with so few, Python's own arithmetic is ten times as fast as NumPy's.
    """
    return array.tolist() if array.ndim == 1 else np.moveaxis(array, -1, 0)


def _joined(numbers: Sequence[Any]) -> Array:
    """(..., n) from n numbers as `_split` gives them."""
    return np.array(numbers) if type(numbers[0]) is float else np.stack(numbers, axis=-1)


def quaternion_product(a: Array, b: Array) -> Array:
    """Hamilton product of (..., 4) quaternions, scalar first: the rotation b, then the rotation a."""
    aw, ax, ay, az = _split(a)
    bw, bx, by, bz = _split(b)
    return _joined(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def quaternion_matrix(wxyz: Array) -> Array:
    """(..., 3, 3) rotation matrices of (..., 4) unit quaternions."""
    w, x, y, z = _split(wxyz)
    rows = [
        *(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        *(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        *(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    ]
    return _joined(rows).reshape(*wxyz.shape[:-1], 3, 3)


def matrix_quaternion(matrix: Array) -> Array:
    """(..., 4) unit quaternions, scalar first and not negative, of (..., 3, 3) rotation matrices."""
    m = matrix
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    wx, wy, wz = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    xy, xz, yz = m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 1, 2] + m[..., 2, 1]
    # Each row is 4 * (one component) * quaternion; the row with the largest component divides by no small number.
    rows = np.stack(
        [
            np.stack([1 + xx + yy + zz, wx, wy, wz], axis=-1),
            np.stack([wx, 1 + xx - yy - zz, xy, xz], axis=-1),
            np.stack([wy, xy, 1 - xx + yy - zz, yz], axis=-1),
            np.stack([wz, xz, yz, 1 - xx - yy + zz], axis=-1),
        ],
        axis=-2,
    )
    best = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    q = row / np.linalg.norm(row, axis=-1, keepdims=True)
    return np.where(q[..., :1] < 0, -q, q)


def quaternion_exp(rotvec: Array) -> Array:
    """(..., 4) unit quaternions of (..., 3) rotation vectors [rad]."""
    angle = np.linalg.norm(rotvec, axis=-1, keepdims=True)
    half = 0.5 * angle
    scale = np.where(angle < _TINY, 0.5, np.sin(half) / np.where(angle < _TINY, 1.0, angle))
    return np.concatenate([np.cos(half), scale * rotvec], axis=-1)


def quaternion_log(wxyz: Array) -> Array:
    """(..., 3) rotation vectors [rad], of length at most pi, of (..., 4) unit quaternions."""
    q = np.where(wxyz[..., :1] < 0, -wxyz, wxyz)
    vector = q[..., 1:]
    sine = np.linalg.norm(vector, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    return np.where(sine < _TINY, 2.0, angle / np.where(sine < _TINY, 1.0, sine)) * vector


def rotate(wxyz: Array, point: Array) -> Array:
    """The (..., 3) points turned by the (..., 4) unit quaternions."""
    w, x, y, z = _split(wxyz)
    px, py, pz = _split(point)
    tx, ty, tz = 2.0 * (y * pz - z * py), 2.0 * (z * px - x * pz), 2.0 * (x * py - y * px)
    return _joined(
        [
            px + w * tx + (y * tz - z * ty),
            py + w * ty + (z * tx - x * tz),
            pz + w * tz + (x * ty - y * tx),
        ]
    )


def conjugate(wxyz: Array) -> Array:
    """The inverse rotations of (..., 4) unit quaternions."""
    return wxyz * _CONJUGATE


def rpy_quaternion(rpy: Array) -> Array:
    """(..., 4) unit quaternions of (..., 3) roll, pitch, yaw [rad] about fixed x, y, z axes, as URDF has them."""
    half = 0.5 * rpy
    cr, cp, cy = _split(np.cos(half))
    sr, sp, sy = _split(np.sin(half))
    return _joined(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )


def frozen(values: npt.ArrayLike) -> Array:
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

    def __init__(self, *, wxyz: npt.ArrayLike) -> None:
        self.wxyz = frozen(unit_quaternion("wxyz", wxyz))

    @classmethod
    def identity(cls) -> Self:
        """No rotation."""
        return cls(wxyz=[1.0, 0.0, 0.0, 0.0])

    @classmethod
    def from_xyzw(cls, xyzw: npt.ArrayLike) -> Self:
        """From (..., 4) quaternions with the scalar last, as ROS, SciPy, Pinocchio and glTF write them."""
        return cls(wxyz=np.roll(unit_quaternion("xyzw", xyzw), 1, axis=-1))

    @classmethod
    def from_rpy(cls, rpy: npt.ArrayLike) -> Self:
        """From (..., 3) roll, pitch, yaw [rad] about the fixed x, y and z axes in this order (URDF)."""
        return cls(wxyz=rpy_quaternion(finite("rpy", rpy, 3)))

    @classmethod
    def from_rotvec(cls, rotvec: npt.ArrayLike) -> Self:
        """From (..., 3) rotation vectors [rad]: axis times angle."""
        return cls(wxyz=quaternion_exp(finite("rotvec", rotvec, 3)))

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike) -> Self:
        """From (..., 3, 3) rotation matrices; raises ValueError if one is not orthonormal to 1e-6."""
        m = finite("matrix", matrix, 3, 3)
        if np.abs(m @ np.swapaxes(m, -1, -2) - np.eye(3)).max(initial=0.0) > 1e-6 or (np.linalg.det(m) < 0).any():
            raise ValueError("matrix is not a rotation: its columns must be orthonormal and right-handed (to 1e-6)")
        return cls(wxyz=matrix_quaternion(m))

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

    def __matmul__(self, other: "SO3") -> "SO3":
        if not isinstance(other, SO3):
            return NotImplemented
        return rotation_of(_rescaled(quaternion_product(self.wxyz, other.wxyz)))

    def act(self, point: npt.ArrayLike) -> Array:
        """The (..., 3) points turned."""
        return rotate(self.wxyz, finite("point", point, 3))

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

    def __init__(self, array: npt.ArrayLike) -> None:
        values = finite("pose", array, 7)
        self.array = frozen(np.concatenate([values[..., :3], unit_quaternion("pose wxyz", values[..., 3:])], axis=-1))

    @classmethod
    def identity(cls) -> Self:
        """No motion."""
        return cls([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    @classmethod
    def from_parts(cls, xyz: npt.ArrayLike, rotation: SO3 | None = None) -> Self:
        """From (..., 3) metres and a rotation (none: the identity)."""
        p = finite("xyz", xyz, 3)
        wxyz = np.array([1.0, 0.0, 0.0, 0.0]) if rotation is None else rotation.wxyz
        batch = np.broadcast_shapes(p.shape[:-1], wxyz.shape[:-1])
        parts = [np.broadcast_to(p, (*batch, 3)), np.broadcast_to(wxyz, (*batch, 4))]
        return cls(np.concatenate(parts, axis=-1))

    @classmethod
    def from_xyz_rpy(cls, xyz: npt.ArrayLike, rpy: npt.ArrayLike) -> Self:
        """From (..., 3) metres and (..., 3) roll, pitch, yaw [rad] about fixed axes (URDF)."""
        return cls.from_parts(xyz, SO3.from_rpy(rpy))

    @classmethod
    def from_xyz_wxyz(cls, xyz: npt.ArrayLike, wxyz: npt.ArrayLike) -> Self:
        """From (..., 3) metres and (..., 4) quaternions, scalar first."""
        return cls.from_parts(xyz, SO3(wxyz=wxyz))

    @classmethod
    def from_xyz_xyzw(cls, xyz: npt.ArrayLike, xyzw: npt.ArrayLike) -> Self:
        """From (..., 3) metres and (..., 4) quaternions, scalar last (ROS, SciPy, Pinocchio, glTF)."""
        return cls.from_parts(xyz, SO3.from_xyzw(xyzw))

    @classmethod
    def from_rotvec(cls, xyz: npt.ArrayLike, rotvec: npt.ArrayLike) -> Self:
        """From (..., 3) metres and (..., 3) rotation vectors [rad]."""
        return cls.from_parts(xyz, SO3.from_rotvec(rotvec))

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike) -> Self:
        """From (..., 4, 4) homogeneous matrices; raises ValueError if the rotation part is none."""
        m = finite("matrix", matrix, 4, 4)
        if np.abs(m[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max(initial=0.0) > 1e-9:
            raise ValueError("matrix is not a pose: its last row must be 0 0 0 1")
        return cls.from_parts(m[..., :3, 3], SO3.from_matrix(m[..., :3, :3]))

    @classmethod
    def parse(cls, value: Any, name: str = "pose") -> "SE3":
        """From an SE3, 7 numbers `[x y z, w x y z]`, or a 4x4 matrix; batches of them too."""
        if isinstance(value, SE3):
            return value
        wanted = f"{name} must be an SE3, 7 numbers [x y z, w x y z] or a 4x4 matrix"
        try:
            array = np.asarray(value, dtype=object if isinstance(value, SO3) else None)
        except ValueError as error:
            raise ShapeError(f"{wanted}, got {value!r}") from error
        if array.ndim >= 2 and array.shape[-2:] == (4, 4):
            return cls.from_matrix(finite(name, value, 4, 4))
        if array.ndim >= 1 and array.shape[-1] == 7:
            numbers = finite(name, value, 7)
            return pose_of(np.concatenate([numbers[..., :3], unit_quaternion(name, numbers[..., 3:])], axis=-1))
        raise ShapeError(f"{wanted}, got shape {array.shape}")

    @classmethod
    def exp(cls, twist: npt.ArrayLike) -> Self:
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

    def __matmul__(self, other: "SE3") -> "SE3":
        if not isinstance(other, SE3):
            return NotImplemented
        xyz = self.xyz + rotate(self.wxyz, other.xyz)
        wxyz = _rescaled(quaternion_product(self.wxyz, other.wxyz))
        return pose_of(np.concatenate([xyz, wxyz], axis=-1))

    def act(self, point: npt.ArrayLike) -> Array:
        """The (..., 3) points of frame b seen in frame a."""
        return self.xyz + rotate(self.wxyz, finite("point", point, 3))

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
            raise TypeError("a single pose cannot be indexed; use .xyz, .wxyz or .array")
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
        raise ValueError(f"{name} stands at {pose.xyz.tolist()}; {BOUND}")
    return pose


def rotation_of(wxyz: Array) -> SO3:
    """The rotation of (..., 4) unit quaternions: neither checked nor copied; read-only from here on."""
    wxyz.flags.writeable = False
    rotation = object.__new__(SO3)
    rotation.wxyz = wxyz
    return rotation


def _rescaled(wxyz: Array) -> Array:
    """(..., 4) quaternions of unit length but for rounding, brought back to it."""
    return wxyz / np.sqrt(np.einsum("...i,...i->...", wxyz, wxyz))[..., None]


def aligning(axis: tuple[float, float, float]) -> Array:
    """(4,) quaternion w x y z of the shortest turn that takes the z axis to the unit vector `axis`."""
    x, y, z = axis
    across = math.hypot(x, y)
    if across == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0]) if z > 0.0 else np.array([0.0, 1.0, 0.0, 0.0])
    half = 0.5 * math.atan2(across, z)
    sine = math.sin(half) / across
    return np.array([math.cos(half), -y * sine, x * sine, 0.0])
