"""The judge: forward kinematics in plain NumPy from the URDF, sharing no code with any library that is measured.

A configuration is the joints of the chain in the file's order, after `[x y z, w x y z]` if the base floats.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Joint:
    """A joint between the root and a tip."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    """(4, 4) pose of the joint in its parent link."""
    axis: Array
    """(3,) unit direction in the joint's frame."""
    lower: float
    upper: float
    speed: float
    """Largest [rad/s or m/s]."""

    @property
    def moves(self) -> bool:
        """Whether it has a place in the configuration."""
        return self.kind != "fixed"


@dataclass(frozen=True)
class Verdict:
    """What is true of N answers; NaN answers fail every test."""

    position_error: Array
    """(N,) largest distance of a frame to its target [m]."""
    rotation_error: Array
    """(N,) largest angle of a frame to its target [rad]."""
    outside: npt.NDArray[np.bool_]
    """(N,) whether a joint is beyond its limit, by however little."""

    def reached(self, tolerance: float) -> npt.NDArray[np.bool_]:
        """(N,) whether every frame is within `tolerance` [m] and [rad]."""
        return (self.position_error <= tolerance) & (self.rotation_error <= tolerance)


class Judge:
    """Poses of the tips, errors to their targets, and limits, for one URDF."""

    def __init__(self, urdf: Path, tips: tuple[str, ...], *, floating: bool = False) -> None:
        self.tips, self.floating = tips, floating
        self.joints = chain(urdf, tips)
        self.above = {joint.child: joint for joint in self.joints}
        moving = [joint for joint in self.joints if joint.moves]
        self.names = tuple(joint.name for joint in moving)
        free = np.full(7 if floating else 0, np.inf)
        self.lower = np.array([*-free, *(joint.lower for joint in moving)])
        self.upper = np.array([*free, *(joint.upper for joint in moving)])

    @property
    def root(self) -> str:
        """The link that carries the chain."""
        return next(joint.parent for joint in self.joints if joint.parent not in self.above)

    def poses(self, q: Array) -> Array:
        """(N, K, 4, 4) poses of the K tips for (N, nq) configurations."""
        base = np.broadcast_to(np.eye(4), (len(q), 4, 4)).copy()
        if self.floating:
            base[:, :3, 3], base[:, :3, :3] = q[:, :3], rotation_of_wxyz(q[:, 3:7])
        placed = {self.root: base}

        def place(link: str) -> Array:
            if link not in placed:
                joint = self.above[link]
                placed[link] = place(joint.parent) @ joint.origin
                if joint.moves:
                    at = self.names.index(joint.name) - len(self.names)
                    placed[link] = placed[link] @ motion(joint, q[:, at])
            return placed[link]

        return np.stack([place(tip) for tip in self.tips], axis=1)

    def verdict(self, q: Array, targets: Array) -> Verdict:
        """Errors of (N, nq) answers to (N, K, 4, 4) targets."""
        distance, angle = errors(self.poses(q), targets)
        return Verdict(distance.max(axis=1), angle.max(axis=1), self.outside(q))

    def outside(self, q: Array) -> npt.NDArray[np.bool_]:
        """(N,) whether a joint of (N, nq) configurations is beyond its limit."""
        return np.any((q < self.lower) | (q > self.upper), axis=1)


class Balance:
    """The centre of mass, from the masses of all links of one URDF."""

    def __init__(self, urdf: Path, *, floating: bool = False) -> None:
        links = [link for link in ET.parse(urdf).getroot().findall("link") if link.find("inertial/mass") is not None]
        self.judge = Judge(urdf, tuple(link.get("name", "") for link in links), floating=floating)
        masses = np.array([float(attribute(link, "inertial/mass", "value", "0")) for link in links])
        self.shares = masses / masses.sum()
        self.centres = np.array([numbers(attribute(link, "inertial/origin", "xyz", "0 0 0")) for link in links])

    def places(self, q: Array) -> Array:
        """(N, 3) for (N, nq) configurations."""
        poses = self.judge.poses(q)
        return self.shares @ (np.einsum("nkij,kj->nki", poses[..., :3, :3], self.centres) + poses[..., :3, 3])


def errors(poses: Array, targets: Array) -> tuple[Array, Array]:
    """(...) distances [m] and angles [rad] between (..., 4, 4) poses and their targets."""
    distance = np.linalg.norm(poses[..., :3, 3] - targets[..., :3, 3], axis=-1)
    error = targets[..., :3, :3] @ poses[..., :3, :3].swapaxes(-1, -2)
    # The arctangent keeps full precision for small angles, where the arccosine of the trace has lost half of it.
    sine = np.linalg.norm(error[..., [2, 0, 1], [1, 2, 0]] - error[..., [1, 2, 0], [2, 0, 1]], axis=-1)
    return distance, np.arctan2(sine, np.trace(error, axis1=-2, axis2=-1) - 1.0)


def chain(urdf: Path, tips: tuple[str, ...]) -> tuple[Joint, ...]:
    """The joints between the root and the tips, in the file's order."""
    joints = [joint(element) for element in ET.parse(urdf).getroot().findall("joint")]
    above = {joint.child: joint for joint in joints}
    needed = set()
    for tip in tips:
        while tip in above:
            needed.add(tip)
            tip = above[tip].parent
    return tuple(joint for joint in joints if joint.child in needed)


def joint(element: ET.Element) -> Joint:
    """A joint from its XML."""
    origin = np.eye(4)
    roll, pitch, yaw = numbers(attribute(element, "origin", "rpy", "0 0 0"))
    origin[:3, :3] = turn([0, 0, 1], [yaw])[0] @ turn([0, 1, 0], [pitch])[0] @ turn([1, 0, 0], [roll])[0]
    origin[:3, 3] = numbers(attribute(element, "origin", "xyz", "0 0 0"))
    axis = numbers(attribute(element, "axis", "xyz", "1 0 0"))
    kind = element.get("type", "fixed")
    bounded = kind != "continuous" and element.find("limit") is not None
    return Joint(
        name=element.get("name", ""),
        kind=kind,
        parent=attribute(element, "parent", "link", ""),
        child=attribute(element, "child", "link", ""),
        origin=origin,
        axis=axis / (np.linalg.norm(axis) or 1.0),
        lower=float(attribute(element, "limit", "lower", "0")) if bounded else -np.inf,
        upper=float(attribute(element, "limit", "upper", "0")) if bounded else np.inf,
        speed=float(attribute(element, "limit", "velocity", "inf")),
    )


def attribute(element: ET.Element, path: str, name: str, default: str) -> str:
    """An attribute of a part of an XML element, if it is there."""
    part = element.find(path)
    return default if part is None else part.get(name, default)


def motion(joint: Joint, q: Array) -> Array:
    """(N, 4, 4) displacements of the joint at (N,) positions [rad or m]."""
    moved = np.broadcast_to(np.eye(4), (len(q), 4, 4)).copy()
    if joint.kind == "prismatic":
        moved[:, :3, 3] = q[:, None] * joint.axis
    else:
        moved[:, :3, :3] = turn(joint.axis, q)
    return moved


def turn(axis: npt.ArrayLike, angle: npt.ArrayLike) -> Array:
    """(N, 3, 3) rotations about a unit axis by (N,) angles [rad]: Rodrigues' formula."""
    x, y, z = np.asarray(axis, dtype=np.float64)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    a = np.asarray(angle, dtype=np.float64)[:, None, None]
    return np.eye(3) + np.sin(a) * cross + (1.0 - np.cos(a)) * (cross @ cross)


def rotation_of_wxyz(wxyz: Array) -> Array:
    """(N, 3, 3) rotations of (N, 4) quaternions of any length."""
    w, x, y, z = (wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def numbers(text: str) -> Array:
    """The numbers of an XML attribute."""
    return np.array(text.split(), dtype=np.float64)
