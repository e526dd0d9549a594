"""Unit quaternions and rotation matrices as arrays, any number of leading batch axes: parse, compose, convert.

A quaternion is scalar first, w x y z; a rotation matrix takes a vector of the turned frame to the one that it is in.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite
from poise.common.errors import InvalidValue, ShapeError

_CONJUGATE: Final = np.array([1.0, -1.0, -1.0, -1.0])
_TINY: Final = 1e-8
"""Below this angle [rad] the first terms of a series are exact to rounding."""
_LEAST: Final = 1e-300
"""In place of a length of 0, by which what is 0 is divided."""
TOLERANCE: Final = 1e-6
"""Two motions are close, and a matrix is a rotation, to this [m, rad and its entries]."""
_ROUNDED: Final = 0.05
"""A matrix whose singular values are no farther from 1 than this can be a rotation that was rounded."""
LENGTHS: Final = 0.1
"""How far from 1 the length of a quaternion may be that was rounded: farther off, seven numbers are no pose."""


def unit_quaternion(name: str, value: ArrayLike) -> Array:
    """(..., 4) numbers normalised to unit length; raises ValueError for a zero quaternion."""
    return normalized(name, finite(name, value, 4))


def near_unit_quaternion(name: str, value: ArrayLike) -> Array:
    """The same of the last four of seven numbers, which joint angles could be too.

    Raises ValueError for those that are farther than `LENGTHS` from unit length.
    """
    numbers = finite(name, value, 4)
    unit = normalized(name, numbers)
    lengths = np.linalg.norm(numbers, axis=-1)
    if (np.abs(lengths - 1.0) > LENGTHS).any():
        worst = float(lengths.flat[np.argmax(np.abs(lengths - 1.0))])
        raise InvalidValue(
            "not-a-pose",
            f"{name} is no pose: the last four of its seven numbers are a quaternion w x y z, and have length "
            f"{worst:.3g} in place of 1; of joint angles model.pose(frame, q) makes a pose, of a quaternion of any "
            "length SE3.from_xyz_wxyz(xyz, wxyz)",
        )
    return unit


def normalized(name: str, wxyz: Array) -> Array:
    """(..., 4) finite numbers normalised to unit length."""
    norm = np.linalg.norm(wxyz, axis=-1, keepdims=True)
    if (norm < 1e-12).any():
        raise InvalidValue(
            "not-a-rotation", f"{name} is a zero quaternion, which is no rotation; the identity is wxyz = 1 0 0 0"
        )
    return wxyz / norm


def _split(array: Array) -> Any:
    """The numbers along the last axis, each with the batch axes.

    Those of a single item are floats: with so few, Python's own arithmetic is ten times as fast as NumPy's.
    """
    return array.tolist() if array.ndim == 1 else [array[..., i] for i in range(array.shape[-1])]


def _joined(numbers: Sequence[Any]) -> Array:
    """(..., n) from n numbers as `_split` gives them."""
    if type(numbers[0]) is float:
        return np.array(numbers)
    out = np.empty((*numbers[0].shape, len(numbers)))
    for i, number in enumerate(numbers):
        out[..., i] = number
    return out


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


def part_of_turn(wxyz: Array, share: Array) -> Array:
    """(..., 4) unit quaternions: a share (...) of the shorter turns by unit quaternions (..., 4), about their axes."""
    w, x, y, z = (wxyz[..., i] for i in range(4))
    sine = np.sqrt(x * x + y * y + z * z)
    half = share * np.arctan2(sine, np.abs(w))
    scale = np.copysign(np.sin(half) / np.maximum(sine, _LEAST), w)
    return _joined([np.cos(half), scale * x, scale * y, scale * z])


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


def rotation_matrices(name: str, value: ArrayLike, *, orthonormalise: bool = False) -> Array:
    """(..., 3, 3) rotation matrices, or with `orthonormalise` the rotations that are nearest to such as were rounded.

    The nearest is U V^T of the singular value decomposition U S V^T: the least sum of the squares of all changes
    (Higham 1986, doi:10.1137/0907079).  Raises ShapeError, and ValueError that says what is wrong with which matrix.
    """
    m = finite(name, value, 3, 3)
    off = np.abs(m @ np.swapaxes(m, -1, -2) - np.eye(3)).max(axis=(-2, -1), initial=0.0)
    mirrored = np.linalg.det(m) < 0.0
    if not orthonormalise and not (mirrored | (off > TOLERANCE)).any():
        return m
    u, sizes, vt = np.linalg.svd(m)
    far = np.abs(sizes - 1.0).max(axis=-1, initial=0.0)
    bad = mirrored | (far > _ROUNDED) | (not orthonormalise and off > TOLERANCE)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        which = f"{name}[{', '.join(map(str, index))}]" if index else name
        wanted = "its columns must be orthonormal and right-handed"
        if mirrored[index] and far[index] <= _ROUNDED:
            raise InvalidValue(
                "not-a-rotation", f"{which} is not a rotation: it is a mirror image, of determinant -1; {wanted}"
            )
        if far[index] > _ROUNDED:
            stretch = ", ".join(f"{x:.3g}" for x in sizes[index])
            raise InvalidValue("not-a-rotation", f"{which} is not a rotation: it stretches by {stretch}; {wanted}")
        raise InvalidValue(
            "not-a-rotation",
            f"{which} is not a rotation to {TOLERANCE:g}: it is off by {off[index]:.2g}, as rounded decimals are; "
            f"{wanted}; from_matrix(..., orthonormalise=True) takes the nearest rotation",
        )
    nearest: Array = u @ vt
    return nearest


def is_rotation(matrix: Any) -> bool:
    """Whether numbers of shape (3, 3) are a rotation matrix."""
    try:
        rotation_matrices("matrix", matrix)
    except ValueError:
        return False
    return True


def canonical(wxyz: Array) -> Array:
    """(..., 4) the one of the two quaternions of a rotation whose first number other than 0 is positive; no -0."""
    first = np.take_along_axis(wxyz, np.argmax(wxyz != 0.0, axis=-1)[..., None], axis=-1)
    return np.where(first < 0.0, -wxyz, wxyz) + 0.0


def angles_between(a: Array, b: Array) -> Array:
    """(...,) angles between the rotations of (..., 4) unit quaternions [rad]; raises ShapeError for unlike batches."""
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise ShapeError(f"batches of {a.shape[:-1]} and {b.shape[:-1]} do not go together") from None
    angles: Array = np.linalg.norm(quaternion_log(quaternion_product(conjugate(a), b)), axis=-1)
    return angles


def rescaled(wxyz: Array) -> Array:
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


def pose_numbers(value: Any) -> Array | None:
    """(7,) read-only, the numbers of one pose that is given as 7 or as a 4x4 matrix; None for all else.

    What is None here may still be a pose, or is refused where it is looked at closely.

    One pose is so few numbers that Python's own arithmetic is ten times as fast on them as NumPy's.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    if array.dtype.kind not in "fiu" or hasattr(value, "mask"):
        return None
    off = math.inf  # a quaternion of a matrix is made here, of any length
    if array.shape == (7,):
        numbers, off = array.tolist(), LENGTHS
    elif array.shape == (4, 4):
        numbers = _matrix_numbers(array.tolist())
    else:
        return None
    x, y, z, w, i, j, k = numbers
    norm = math.sqrt(w * w + i * i + j * j + k * k)
    if not (math.isfinite(x + y + z) and 1e-12 <= norm < math.inf and abs(norm - 1.0) <= off):
        return None
    pose = np.array([x, y, z, w / norm, i / norm, j / norm, k / norm], dtype=np.float64)
    pose.flags.writeable = False
    return pose


def _matrix_numbers(rows: list[list[float]]) -> tuple[float, ...]:
    """Place and quaternion w x y z, of any length, of a homogeneous matrix; NaN for what is none."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), last = rows
    off = max(
        *(abs(a * a + b * b + c * c - 1.0), abs(d * d + e * e + f * f - 1.0), abs(g * g + h * h + i * i - 1.0)),
        *(abs(a * d + b * e + c * f), abs(a * g + b * h + c * i), abs(d * g + e * h + f * i)),
    )
    turning = g * (b * f - c * e) + h * (c * d - a * f) + i * (a * e - b * d)
    if not (off <= TOLERANCE and turning > 0.0 and last == [0.0, 0.0, 0.0, 1.0]):
        return (math.nan,) * 7
    # Four times one component, times the quaternion; the largest component divides by no small number.
    trace = a + e + i
    if trace >= max(a, e, i):
        return x, y, z, 1.0 + trace, h - f, c - g, d - b
    if a >= max(e, i):
        wxyz = h - f, 1.0 + a - e - i, b + d, c + g
    elif e >= i:
        wxyz = c - g, b + d, 1.0 - a + e - i, f + h
    else:
        wxyz = d - b, c + g, f + h, 1.0 - a - e + i
    return (x, y, z, *(wxyz if wxyz[0] >= 0.0 else (-t for t in wxyz)))


def unit_vectors(vectors: Array, otherwise: ArrayLike = 0.0) -> Array:
    """(..., k) vectors of length 1, and `otherwise` (k,) for those without a length."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(lengths > 0.0, vectors / np.where(lengths > 0.0, lengths, 1.0), otherwise)
