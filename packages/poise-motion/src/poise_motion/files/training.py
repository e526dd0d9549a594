"""What policies that track a motion are trained on: joints and all bodies, even in time, as each program reads it.

| format | file | joints | bodies | velocities of bodies |
|---|---|---|---|---|
| `beyondmimic`, whole_body_tracking | .npz | breadth first | breadth first | of their centres of mass |
| `mjlab` | .npz | depth first | depth first | of their origins |
| `holosoma` | .npz | depth first, behind the root's numbers | the world, then depth first | of their centres of mass |
| `asap`, HumanoidVerse and PHC | .pkl | depth first | a rotation vector each | none: its loader derives them |

Isaac Lab goes through the tree breadth first, links at one joint by the joints' names; MuJoCo depth first, in the
order of the file.  Bodies are the root and the links that move against another; where an MJCF has bodies without
joints, `bodies` must name them all.  Loaders of the first two take arrays by their places, so `joint_names` and
`body_names` stand in the file too, for people.  Quaternions are w x y z but for `root_rot` of `asap`, and all is along
the world's axes.
"""

import io
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, final

import numpy as np

from poise import InvalidValue, Joint, JointKind, Model, ModelWarning, Motion
from poise.extending import WORLD, Array, finite_positive, write_whole
from poise.quaternions import conjugate, quaternion_log, rotate

_FPS: Final = 50.0
_MOST: Final = 1_000_000
"""Frames that are made, at most."""
_EXTENDED: Final = 3
"""Bodies without a joint that settings of ASAP add behind the robot's own, head and hands, at most; more rows than it
has bodies its loader cuts off."""


def beyondmimic(
    motion: Motion,
    path: Path,
    *,
    joints: Sequence[str] | None = None,
    bodies: Sequence[str] | None = None,
    fps: float = _FPS,
) -> None:
    """Write what `MotionLoader` of whole_body_tracking reads, in the order of Isaac Lab; see the head of this file.

    Raises ValueError for another suffix than .npz, for a robot that does not float or has joints of several numbers,
    NameNotFound for joints and links that are not there, OSError that names the file, the reason and the mend.
    """
    _write_npz(_Moved.of(motion, joints, bodies, fps, _breadth_first), path, "beyondmimic", at_centres=True)


def mjlab(
    motion: Motion,
    path: Path,
    *,
    joints: Sequence[str] | None = None,
    bodies: Sequence[str] | None = None,
    fps: float = _FPS,
) -> None:
    """Write what `MotionLoader` of mjlab reads, in the order of MuJoCo; raises as `beyondmimic` does."""
    _write_npz(_Moved.of(motion, joints, bodies, fps, _depth_first), path, "mjlab", at_centres=False)


def holosoma(
    motion: Motion,
    path: Path,
    *,
    joints: Sequence[str] | None = None,
    bodies: Sequence[str] | None = None,
    fps: float = _FPS,
) -> None:
    """Write what `MotionLoader` of holosoma reads, by names, with the root's place and velocity as MuJoCo has them;
    raises as `beyondmimic` does."""
    moved = _Moved.of(motion, joints, bodies, fps, _depth_first)
    turning = rotate(conjugate(moved.root[:, 3:]), moved.root_speed[:, 3:])  # along the base's own axes
    arrays = moved.arrays(at_centres=True)
    arrays["joint_pos"] = np.concatenate([moved.root, moved.angles], axis=1)
    arrays["joint_vel"] = np.concatenate([moved.root_speed[:, :3], turning, moved.speeds], axis=1)
    still = np.zeros((len(moved.root), 1, 3))
    for name, world in (("body_pos_w", still), ("body_lin_vel_w", still), ("body_ang_vel_w", still)):
        arrays[name] = np.concatenate([world, arrays[name]], axis=1)
    upright = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (len(moved.root), 1, 4))
    arrays["body_quat_w"] = np.concatenate([upright, arrays["body_quat_w"]], axis=1)
    _save(path, "holosoma", arrays, moved.fps, moved.joints, ("world", *moved.bodies))


def asap(
    motion: Motion,
    path: Path,
    *,
    joints: Sequence[str] | None = None,
    bodies: Sequence[str] | None = None,
    fps: float = _FPS,
) -> None:
    """Write what `MotionLib` of ASAP reads, a .pkl of one motion by its name; raises as `beyondmimic` does, and
    ValueError for a joint whose axis is not x, y or z, for the loader takes its angle to be the sum of three numbers.

    `joints` are those that the robot there has; the others are taken for locked, and their links for parts of others.
    """
    model = motion.model
    moved = _Moved.of(motion, joints, bodies, fps, _depth_first, locked=True)
    rows = np.zeros((len(moved.root), len(moved.bodies) + _EXTENDED, 3))
    rows[:, 0] = quaternion_log(moved.root[:, 3:])
    for number, name in enumerate(moved.joints):
        joint = model.joint(name)
        axis = np.asarray(joint.axis)
        if joint.kind not in (JointKind.REVOLUTE, JointKind.CONTINUOUS) or sorted(axis.tolist()) != [0.0, 0.0, 1.0]:
            raise InvalidValue("not-supported", f"ASAP takes joints about x, y or z, and {name!r} is {_said(joint)}")
        if joint.child not in moved.bodies:
            raise InvalidValue("inconsistent", f"bodies lacks {joint.child!r}, which {name!r} moves")
        rows[:, moved.bodies.index(joint.child)] = moved.angles[:, number, None] * axis
    content = {
        "root_trans_offset": moved.root[:, :3].astype(np.float32),
        "pose_aa": rows.astype(np.float32),
        "dof": moved.angles.astype(np.float32),
        "root_rot": np.roll(moved.root[:, 3:], -1, axis=1).astype(np.float32),  # x y z w
        "fps": _whole(moved.fps),
    }
    _refuse_suffix(path, "asap", ".pkl")
    out = io.BytesIO()
    _Pickler(out, protocol=4).dump({path.stem: content})
    write_whole(path, out.getvalue())


def _write_npz(moved: "_Moved", path: Path, format: str, *, at_centres: bool) -> None:
    arrays = {"joint_pos": moved.angles, "joint_vel": moved.speeds, **moved.arrays(at_centres=at_centres)}
    _save(path, format, arrays, moved.fps, moved.joints, moved.bodies)


def _save(
    path: Path, format: str, arrays: dict[str, Array], fps: float, joints: Sequence[str], bodies: Sequence[str]
) -> None:
    _refuse_suffix(path, format, ".npz")
    content: dict[str, Any] = {name: array.astype(np.float32) for name, array in arrays.items()}
    content |= {"joint_names": np.array(joints, dtype=str), "body_names": np.array(bodies, dtype=str)}
    out = io.BytesIO()
    np.savez(out, fps=np.array([_whole(fps)]), **content)
    write_whole(path, out.getvalue())


def _refuse_suffix(path: Path, format: str, suffix: str) -> None:
    if path.suffix.lower() != suffix:
        raise InvalidValue("wrong-format", f"{path} must end in {suffix}, for a motion to be written as {format!r}")


def _whole(fps: float) -> int | float:
    return round(fps) if fps == round(fps) else fps


class _Pickler(pickle.Pickler):
    """Arrays by names that every NumPy has, for theirs may be older."""

    def reducer_override(self, made: Any) -> Any:
        if isinstance(made, np.ndarray):
            return np.ndarray, (made.shape, made.dtype.str, bytearray(made.tobytes()))
        return NotImplemented


# What moves ----------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Moved:
    """A robot's motion at even times: its root, its joints, and where its bodies are."""

    model: Model
    q: Array
    v: Array
    fps: float
    root: Array
    """(frames, 7) its place [m] and its quaternion w x y z."""
    root_speed: Array
    """(frames, 6) linear, then angular, along the world's axes [m/s, rad/s]."""
    joints: tuple[str, ...]
    angles: Array
    """(frames, joints) [rad or m]."""
    speeds: Array
    """(frames, joints) [rad/s or m/s]."""
    bodies: tuple[str, ...]

    @classmethod
    def of(
        cls,
        motion: Motion,
        joints: Sequence[str] | None,
        bodies: Sequence[str] | None,
        fps: float,
        order: Callable[[Model], Iterator[Joint]],
        *,
        locked: bool = False,
    ) -> Self:
        """With `locked`, links that only other joints than `joints` move are parts of those before them."""
        model = motion.model
        tree = [joint for joint in order(model) if joint.kind is not JointKind.FIXED]
        root = tree[0] if tree else None
        if root is None or root.kind is not JointKind.FLOATING or root.parent != WORLD:
            raise InvalidValue("not-supported", f"{model.name} does not float; load it with base='floating'")
        several = [joint.name for joint in tree[1:] if joint.nq > 1]
        if several:
            raise InvalidValue(
                "not-supported",
                f"{several[0]!r} of {model.name} has more than one number; formats for training know one a joint",
            )
        listed = [joint.name for joint in tree[1:] if joint.nq] if joints is None else _names("joints", joints)
        chosen = [model.joint(name) for name in listed]
        for joint in chosen:
            if joint.nq != 1:
                raise InvalidValue("out-of-range", f"joints has {joint.name!r}, {_said(joint)}, which has no angle")
        if bodies is None:
            moving = [joint for joint in tree if not locked or joint is root or joint.name in listed]
            some = tuple(joint.child for joint in moving)
        else:
            some = tuple(model.frame(name).name for name in _names("bodies", bodies))
        finite_positive("fps", fps)
        q, v = _even(motion, fps)
        at, there = model.index(root.name), model.velocity_index(root.name)
        places = [model.index(joint.name).start for joint in chosen]
        speeds = [model.velocity_index(joint.name).start for joint in chosen]
        return cls(
            model, q, v, float(fps), q[:, at], v[:, there], tuple(listed), q[:, places], v[:, speeds], some
        )  # fmt: skip

    def arrays(self, *, at_centres: bool) -> dict[str, Array]:
        """Places, quaternions and velocities of the bodies, those of their centres of mass or of their origins."""
        poses = self.model.poses(self.q, self.bodies)
        twists = np.stack([self.model.jacobian(name, self.q) @ self.v[..., None] for name in self.bodies], axis=1)
        linear, angular = twists[..., :3, 0], twists[..., 3:, 0]
        if at_centres:
            arms = rotate(poses.wxyz, np.broadcast_to(_centres(self.model, self.bodies), linear.shape))
            linear = linear + np.cross(angular, arms)
        return {
            "body_pos_w": poses.xyz,
            "body_quat_w": poses.wxyz,
            "body_lin_vel_w": linear,
            "body_ang_vel_w": angular,
        }


def _even(motion: Motion, fps: float) -> tuple[Array, Array]:
    """(frames, nq) the configurations `fps` a second, and (frames, nv) their velocities, by central differences."""
    many = int(motion.duration * fps + 1e-6) + 1
    if many > _MOST:
        raise InvalidValue("too-many", f"{motion.duration:g} s at {fps:g} a second are {many:,} frames; cut the motion")
    q = motion.at(motion.times[0] + np.arange(many) / fps)
    before, after = np.maximum(np.arange(many) - 1, 0), np.minimum(np.arange(many) + 1, many - 1)
    time = np.maximum(after - before, 1) / fps
    return q, motion.model.difference(q[before], q[after]) / time[:, None]


def _centres(model: Model, bodies: Sequence[str]) -> Array:
    """(bodies, 3) the centres of mass in each, of it and what hangs on it by fixed joints alone."""
    if not model.masses:
        warnings.warn(
            f"{model.name} has no masses, so velocities of bodies are those of their origins, not of their centres",
            ModelWarning,
            stacklevel=5,
        )
    rest = model.poses(model.neutral, model.links)
    pose = {link: rest[i] for i, link in enumerate(model.links)}
    carrier = {joint.child: joint for joint in model.joints}
    sums = {name: np.zeros(4) for name in bodies}
    for link, (mass, centre) in model.masses.items():
        body = link
        while body not in sums and body in carrier and carrier[body].kind is JointKind.FIXED:
            body = carrier[body].parent
        if body in sums:
            sums[body] += mass * np.append((pose[body].inverse() @ pose[link]).act(centre), 1.0)
    return np.array([total[:3] / total[3] if total[3] > 0.0 else np.zeros(3) for total in sums.values()])


def _names(what: str, names: Sequence[str]) -> list[str]:
    if isinstance(names, str):
        raise InvalidValue("not-a-sequence", f"{what} must be a list of names, got {names!r}; put it in a list")
    if not names:
        raise InvalidValue("empty", f"{what} is empty; leave it out for all")
    if len({*names}) < len(names):
        raise InvalidValue("duplicate", f"{what} names something twice; each stands there once")
    return list(names)


def _said(joint: Joint) -> str:
    return f"{joint.kind.value} about {np.round(np.asarray(joint.axis, dtype=float), 6).tolist()}"


def _below(model: Model) -> dict[str, list[Joint]]:
    below: dict[str, list[Joint]] = {}
    for joint in model.joints:
        below.setdefault(joint.parent, []).append(joint)
    return below


def _depth_first(model: Model) -> Iterator[Joint]:
    below = _below(model)
    pending = below.get(WORLD, [])[::-1]
    while pending:
        joint = pending.pop()
        yield joint
        pending += below.get(joint.child, [])[::-1]


def _breadth_first(model: Model) -> Iterator[Joint]:
    """Link by link; links that fixed joints carry are one with what carries them, as the importer merges them."""
    below = _below(model)
    level = below.get(WORLD, [])
    while level:
        yield from level
        level = [other for joint in level for other in _moving_below(below, joint.child)]


def _moving_below(below: dict[str, list[Joint]], link: str) -> list[Joint]:
    out, pending = list[Joint](), [link]
    for name in pending:  # which grows
        for joint in below.get(name, []):
            if joint.kind is JointKind.FIXED:
                pending.append(joint.child)
            else:
                out.append(joint)
    return sorted(out, key=lambda joint: joint.name)
