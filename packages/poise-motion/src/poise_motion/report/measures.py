"""How well a robot follows a body, and how clean its motion is: the measures, of plain arrays.

All arrays go over the frames first.  Places are in metres, in one world with z up; turns are unit quaternions wxyz.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise import InvalidValue, JointKind, Model, ShapeError
from poise.extending import Array, ArrayLike, finite, numbers
from poise.quaternions import conjugate, quaternion_log, quaternion_product
from poise_motion.anatomy.contact_schedule import Flags, runs
from poise_motion.anatomy.parts import PARENTS

SKATING: Final = 0.3
"""A foot in contact that is faster along the ground skates [m/s]: 1 cm a frame at 30 frames a second."""
DEEP: Final = (0.01, 0.001)
"""Depths in the ground that are counted [m]."""
NEAR: Final = 0.02
"""A foot up to so high above the ground touches it [m]."""
_SHUTTER: Final = 1.0 / 30.0
"""Over which a foot's speed is measured [s]."""
_TOUCHING: Final = 0.01
"""How far above the lowest point of a foot its points touch the ground with it [m]."""
_LIMBS: Final = ("knee", "ankle", "toe", "elbow", "wrist")
"""The parts at which a limb's bones end, from the part that carries them."""
_TURNING: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.HELICAL, JointKind.SPHERICAL)
_ROUNDING: Final = 1e-4
"""By how much of it a limit of speed may be passed and count as kept: files of float32 round angles by that much of a
step."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tracking:
    """How far the parts of a robot are from where and how they should be."""

    parts: tuple[str, ...]
    position: Array
    """(frames, parts) in the world [m]."""
    relative: Array
    """(frames, parts) of the places as seen from the root part, along the world's axes [m]."""
    rotation: Array
    """(frames, parts) [rad]; NaN for a part whose turn nobody asked for."""
    bones: tuple[str, ...]
    """The parts at which the bones of `direction` end."""
    direction: Array
    """(frames, bones) by how much the limbs point another way than those of the body [rad]: free of any scale."""


def tracking(
    parts: Sequence[str],
    places: ArrayLike,
    targets: ArrayLike,
    source: ArrayLike,
    *,
    turns: ArrayLike | None = None,
    target_turns: ArrayLike | None = None,
    joints: ArrayLike | None = None,
    root: str = "pelvis",
) -> Tracking:
    """The errors of a robot's parts at `places` (frames, parts, 3) with `turns` (frames, parts, 4).

    `targets` and `target_turns` are where and how they should be, the body's scaled to the robot; parts whose turn is
    NaN in the targets have no rotation error.  `source` (frames, parts, 3) is where they are in the body itself.
    `joints` (frames, parts, 3) are the ends of the robot's bones, where these are others than `places`: of a foot that
    stands on its toe the ankle.
    `root` is the part from which places are seen, or the first if it is none of the parts.
    """
    found, wanted, body = (
        _over_parts(name, value, parts, 3)
        for name, value in (("places", places), ("targets", targets), ("source", source))
    )
    if not len(found) == len(wanted) == len(body):
        raise ShapeError(f"places, targets and source have {len(found)}, {len(wanted)} and {len(body)} frames")
    at = parts.index(root) if root in parts else 0
    off = found - wanted
    rotation = np.full(found.shape[:2], np.nan)
    if turns is not None and target_turns is not None:
        back = conjugate(numbers("target_turns", target_turns))
        rotation = np.linalg.norm(quaternion_log(quaternion_product(numbers("turns", turns), back)), axis=-1)
    limbs = [(carrier(part, parts), part) for part in parts if part.endswith(_LIMBS) and carrier(part, parts)]
    ends = found if joints is None else _over_parts("joints", joints, parts, 3)
    ways = [
        [path[:, parts.index(end)] - path[:, parts.index(start or root)] for start, end in limbs]
        for path in (ends, body)
    ]
    direction = [_between(one, other) for one, other in zip(*ways, strict=True)]
    return Tracking(
        tuple(parts),
        np.linalg.norm(off, axis=-1),
        np.linalg.norm(off - off[:, at : at + 1], axis=-1),
        rotation,
        tuple(end for _, end in limbs),
        np.stack(direction, axis=1) if direction else np.zeros((len(found), 0)),
    )


def carrier(part: str, parts: Sequence[str]) -> str | None:
    """The part among `parts` that `part` hangs on, past those that are left out."""
    above = PARENTS[part]
    while above is not None and above not in parts:
        above = PARENTS[above]
    return above


def _between(one: Array, other: Array) -> Array:
    """(frames,) the angles between ways (frames, 3) [rad]; NaN where one has no length."""
    across = np.linalg.norm(np.cross(one, other), axis=-1)
    along = np.einsum("fi,fi->f", one, other)
    return np.where((across == 0.0) & (along == 0.0), np.nan, np.arctan2(across, along))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Skate:
    """How feet move along the ground while they stand on it."""

    feet: tuple[str, ...]
    speed: Array
    """(frames, feet) along the ground [m/s]; NaN where a foot does not stand."""

    @property
    def share(self) -> float:
        """Of the frames in contact, those with more than 1 cm in 1/30 s; NaN without contact."""
        speeds = self.speed[~np.isnan(self.speed)]
        return float((speeds > SKATING).mean()) if len(speeds) else float("nan")

    @property
    def fastest(self) -> float:
        """[m/s]; NaN without contact."""
        return float(np.nanmax(self.speed)) if not np.isnan(self.speed).all() else float("nan")


def skate(
    feet: Sequence[str],
    paths: Sequence[ArrayLike],
    times: ArrayLike,
    on: Flags,
    *,
    touching: Sequence[Flags] | None = None,
) -> Skate:
    """The speeds of feet while they stand, `on` (frames, feet), from the paths (frames, points, 3) of their points.

    A foot's is the mean of those of the points that touch the ground, (frames, points) of each foot; without these, of
    those that are not more than 1 cm above the lowest.  A point's speed is how far it comes along the ground in the
    1/30 s about a frame, as far as this lies within the contact, so it does not depend on frames a second.
    """
    when = np.array(finite("times", times))
    out = np.full((len(when), len(feet)), np.nan)
    for i in range(len(feet)):
        path = np.array(finite(f"paths of {feet[i]}", paths[i], 3))
        heights = path[..., 2]
        touch = heights < heights.min(axis=1, keepdims=True) + _TOUCHING if touching is None else touching[i]
        for start, stop in runs(on[:, i]):
            speeds = _along_ground(path[start:stop, :, :2], when[start:stop])
            shares = touch[start:stop] / np.maximum(touch[start:stop].sum(axis=1, keepdims=True), 1)
            out[start:stop, i] = (speeds * shares).sum(axis=1)
    return Skate(tuple(feet), out)


def _along_ground(paths: Array, times: Array) -> Array:
    """(frames, points) speeds of paths (frames, points, 2) [m/s]."""
    if len(times) == 1:
        return np.zeros(paths.shape[:2])
    before, after = (np.clip(times + shift, times[0], times[-1]) for shift in (-0.5 * _SHUTTER, 0.5 * _SHUTTER))
    ends = []
    for at in (before, after):
        k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
        share = ((at - times[k]) / (times[k + 1] - times[k]))[:, None, None]
        ends.append((1.0 - share) * paths[k] + share * paths[k + 1])
    return np.asarray(np.linalg.norm(ends[1] - ends[0], axis=-1) / (after - before)[:, None])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """How deep a robot is in the ground, and whether its feet are on it when they should be."""

    lowest: Array
    """(frames,) how high the lowest point of the robot is over the ground [m]; NaN for one on a pedestal."""
    feet: tuple[str, ...]
    heights: Array
    """(frames, feet) how high the lowest point of each foot is over the ground where it stands [m]."""
    on: Flags
    """(frames, feet) when they should stand."""

    def deeper(self, depth: float) -> float:
        """The share of the frames that are deeper in the ground than `depth` [m]; NaN without ground."""
        return float("nan") if np.isnan(self.lowest).any() else float((self.lowest < -depth).mean())

    @property
    def depth(self) -> float:
        """The largest [m]; 0 for a robot that is never in the ground, NaN without ground."""
        return float(np.maximum(0.0, -self.lowest.min()))

    @property
    def kept(self) -> float:
        """The share of the contacts, frame by frame and foot by foot, that it has too: within 2 cm; NaN without any."""
        return float((np.abs(self.heights[self.on]) <= NEAR).mean()) if self.on.any() else float("nan")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """How a motion keeps the limits of the joints."""

    past: Array
    """(frames,) by how much the worst joint is past its limit [rad or m]; exactly 0 where all keep theirs."""
    joints: tuple[str, ...]
    """The joints that turn: all but sliding ones and those with which a whole body moves."""
    speed: Array
    """(frames - 1,) the largest speed of a joint from frame to frame, as a share of its limit; 0 without limits."""
    jump: Array
    """(frames - 1, joints) by how much each turns from frame to frame [rad]."""

    @property
    def broken(self) -> float:
        """The share of the frames with a joint past its limit."""
        return float((self.past > 0.0).mean())

    @property
    def too_fast(self) -> float:
        """The share of the steps in which a joint is faster than it may be."""
        return float((self.speed > 1.0 + _ROUNDING).mean()) if len(self.speed) else 0.0

    @property
    def largest_jump(self) -> tuple[str, int, float]:
        """The joint, the frame to which it jumps and how far [rad]; ("", 0, 0) where nothing turns."""
        if not self.jump.size:
            return "", 0, 0.0
        frame, joint = np.unravel_index(int(np.argmax(self.jump)), self.jump.shape)
        return self.joints[joint], int(frame) + 1, float(self.jump[frame, joint])


def limits(model: Model, q: ArrayLike, times: ArrayLike) -> Limits:
    """How configurations `q` (frames, nq) at `times` (frames,) keep the limits of a model."""
    rows, when = model.check_q(q), np.array(finite("times", times))
    if rows.shape != (len(when), model.nq):
        raise ShapeError(f"q must have shape ({len(when)}, {model.nq}), a row for each time, got {rows.shape}")
    clipped = model.clip(rows)
    past = np.abs(model.difference(clipped, rows)).max(axis=1, initial=0.0)
    steps = model.difference(rows[:-1], rows[1:])
    names, blocks = _turning(model)
    return Limits(
        np.where((clipped != rows).any(axis=1), past, 0.0),
        names,
        (np.abs(steps) / np.diff(when)[:, None] / model.velocity).max(axis=1, initial=0.0),
        np.stack([np.linalg.norm(steps[:, block], axis=1) for block in blocks], axis=1)
        if blocks
        else np.zeros((len(steps), 0)),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Jerk:
    """How rough the joints of a robot move, and those of the body that it follows; see `jerk`."""

    robot: Array
    """(n,) [rad/s^3]"""
    source: Array
    """(n,) [rad/s^3]"""
    apart: int = 1
    """The frames between those of which it is the difference."""

    @property
    def ratio(self) -> float:
        """The robot's by the source's, of their root mean squares; NaN where the source has none."""
        source = rms(self.source)
        return rms(self.robot) / source if source > 0.0 else float("nan")


def jerk(model: Model, q: ArrayLike, times: ArrayLike, *, joints: Sequence[str] | None = None, apart: int = 1) -> Array:
    """(frames - 3 apart,) the jerk of the joints of `q` (frames, nq) at `times` (frames,), its length over all of them
    [rad/s^3]; none of fewer frames than that takes.

    The velocity of a joint from frame to frame is the difference of its angles through the time between; of a spherical
    joint, the rotation vector that leads from the one rotation to the other, in the frame of its parent, through that
    time.  Accelerations are differences of these, and jerks differences of those, through the times between the middles
    of what they are differences of.  With `apart` all are of frames that are so many apart: what is faster is not seen.

    Joints add up by their squares, so a spherical joint counts as the three hinges in its place do, and one that is
    still as none.  They are those that turn, or of these the ones named.
    """
    rows, when = model.check_q(q), np.array(finite("times", times))
    if rows.shape != (len(when), model.nq):
        raise ShapeError(f"q must have shape ({len(when)}, {model.nq}), a row for each time, got {rows.shape}")
    if apart < 1:
        raise InvalidValue("out-of-range", f"apart must be a number of frames, 1 or more, got {apart!r}")
    if len(when) <= 3 * apart:
        return np.zeros(0)
    names, blocks = _turning(model)
    chosen = [i for name, block in zip(names, blocks, strict=True) if joints is None or name in joints for i in block]
    change = model.difference(rows[:-apart], rows[apart:])[:, chosen]
    for _ in range(2):
        speed = change / (when[apart:] - when[:-apart])[:, None]
        change, when = speed[apart:] - speed[:-apart], 0.5 * (when[apart:] + when[:-apart])
    return np.asarray(np.linalg.norm(change / (when[apart:] - when[:-apart])[:, None], axis=1))


def rms(values: Array) -> float:
    """The root of the mean of the squares; NaN of none."""
    return float(np.sqrt(np.mean(values**2))) if values.size else float("nan")


def _turning(model: Model) -> tuple[tuple[str, ...], list[list[int]]]:
    """The joints that turn, and the places in v of each."""
    names = [name for name in model.joint_names if model.joint(name).kind in _TURNING]
    places = [model.velocity_index(name) for name in names]
    return tuple(names), [list(range(place.start, place.stop)) for place in places]


def _over_parts(name: str, value: ArrayLike, parts: Sequence[str], size: int) -> Array:
    array = finite(name, value, size)
    if array.ndim != 3 or array.shape[1] != len(parts):
        raise ShapeError(f"{name} must have shape (frames, {len(parts)}, {size}), got {array.shape}")
    return np.array(array)
