"""What is wrong with a recorded motion of joints: its unit, its times, and each jump by its cause."""

from typing import Any, Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite, numbers
from poise.common.errors import ShapeError
from poise.doctor.finding import Finding
from poise.model.model import Model
from poise.model.units import MANY, ROUNDED, units
from poise.solving.path.jumps import FACTOR, Jump, around, jumps
from poise.spatial import SE3

_LATE: Final = 3.0
"""A step that took so many times the usual time is late."""
_NEAR: Final = 5e-3
"""Of a joint's range, how near to an end it stands at a limit."""
_SINGULAR: Final = 0.02
"""Smallest singular value of a Jacobian, of its largest, of a configuration that is nearly singular."""
_TURN: Final = 2.0 * np.pi
_FEW: Final = 0.1
"""More than this share of the rows are farther from 0 than turns in radians are, where a joint is in degrees."""
_LEAST: Final = 0.05
"""The least jump of a target [m or rad] that makes a jump of joints."""


def examine_log(
    model: Model, q: ArrayLike, *, targets: Any = None, time: ArrayLike | None = None, frame: str | None = None
) -> list[Finding]:
    """What is wrong with a recording `q` (n, nq): its unit and its times, then its jumps, each named by its cause.

    "degrees" are joints that are beyond their limits in most rows, and within them as degrees, whole turns aside; no
    jump is looked for then, for all of them would be.  "time" is a step whose time is not later than the one before.
    The others are jumps, in their order: `targets` are the (n,) poses or (n, 3) places that the frame was sent to,
    `time` (n,) [s] when; the frame is the end of the longest chain, if none is named.  The causes, looked for in this
    order, by their codes:

    - "lag": the step took far longer than the others, so more was gone than in one;
    - "target": the target jumped too;
    - "turn": a joint went on a whole turn later;
    - "limit": a joint stood at a limit, and the others had to go another way;
    - "singularity": the frame's Jacobian was nearly singular, where small motions take large ones of joints;
    - "branch": none of these: another solution of nearly the same pose was taken.

    Raises ShapeError for arrays that do not fit each other, ValueError for numbers that are not finite, FrameNotFound.
    """
    name = model.tip if frame is None else frame
    model.frame(name)
    path = model.check_q(q)
    if path.ndim != 2:
        raise ShapeError(f"q must be a recording of shape (n, {model.nq}), got {path.shape}")
    stamps = None if time is None else _column("time", finite("time", time), len(path))
    moved = None if targets is None else _moves(targets, len(path))
    unit = _degrees(model, path)
    if unit is not None:
        return [unit]
    back = [] if stamps is None else [_back(stamps, int(k)) for k in np.flatnonzero(np.diff(stamps) <= 0.0)]
    return back + [_finding(model, path, jump, moved, stamps, name) for jump in jumps(path, model)]


def _degrees(model: Model, path: Array) -> Finding | None:
    """Of the joint whose numbers are the largest, among those that are beyond their limits in most of the rows."""
    span = model.upper - model.lower
    beyond = (path < model.lower) | (path > model.upper)
    far = beyond & (np.abs(path) > MANY)
    turns = np.floor((np.radians(path) - np.where(np.isfinite(span), model.lower, 0.0) + ROUNDED) / _TURN)
    within = beyond & (np.radians(path) - _TURN * turns <= model.upper + ROUNDED)
    unit = units(model)
    turning = np.array([unit[name] == "rad" for name in model.coordinates], dtype=bool)
    half = 0.5 * len(path)
    found = turning & (within.sum(axis=0) > half) & (far.sum(axis=0) > _FEW * len(path))
    if not found.any():
        return None
    sizes = np.abs(path) * found
    row, i = np.unravel_index(int(sizes.argmax()), sizes.shape)
    return Finding(
        "degrees", "warning", model.coordinates[i],
        f"it goes to {path[row, i]:.4g}, and its limits are {model.lower[i]:.4g} to {model.upper[i]:.4g} rad: degrees?",
        "numpy.radians makes radians of them",
    )  # fmt: skip


def _back(stamps: Array, k: int) -> Finding:
    """Of the step from row k to the next."""
    way = "goes back" if stamps[k + 1] < stamps[k] else "stands still"
    return Finding(
        "time", "warning", f"step {k}, {stamps[k]:.4g} s",
        f"the time {way}, from {stamps[k]:.6g} s to {stamps[k + 1]:.6g} s",
        "sort the rows by their time, or find the clock that was set meanwhile",
    )  # fmt: skip


def _column(name: str, values: Array, count: int) -> Array:
    if values.shape != (count,):
        raise ShapeError(f"{name} must have shape ({count},), one for each configuration, got {values.shape}")
    return values


def _moves(targets: Any, count: int) -> Array:
    """(n - 1, 2) how far the target goes in each step [m] and [rad]."""
    places = numbers("targets", targets.array if isinstance(targets, SE3) else targets)
    if places.shape == (count, 3):
        turns = np.zeros(count - 1)
    else:
        poses = SE3.parse(places, "targets")
        if poses.array.shape != (count, 7):
            raise ShapeError(f"targets must be {count} poses or places, one for each configuration")
        turns = np.linalg.norm((poses[:-1].rotation.inverse() @ poses[1:].rotation).log(), axis=-1)
        places = poses.xyz
    way = np.linalg.norm(np.diff(finite("targets", places), axis=0), axis=-1)
    return np.stack([way, turns], axis=-1)


def _finding(model: Model, path: Array, jump: Jump, moved: Array | None, stamps: Array | None, frame: str) -> Finding:
    step = jump.step
    where = f"step {step}" if stamps is None else f"step {step}, {stamps[step]:.4g} s"
    code, why, mend = _cause(model, path, jump, moved, stamps, frame)
    return Finding(code, "warning", where, f"{', '.join(jump.joints)} by {jump.size:.3g}: {why}", mend)


def _cause(
    model: Model, path: Array, jump: Jump, moved: Array | None, stamps: Array | None, frame: str
) -> tuple[str, str, str]:
    """The code of the cause, the sentence, and what mends it."""
    k = jump.step
    if stamps is not None:
        steps = np.diff(stamps)
        usual = float(np.median(steps))
        if steps[k] > _LATE * usual:
            why = f"the step took {steps[k]:.3g} s where {usual:.3g} s are usual"
            return "lag", why, "find what held the loop up; a Tracker with dt never goes faster than its limits"
    if moved is not None:
        for size, usual, unit in zip(moved[k], (around(column)[k] for column in moved.T), ("m", "rad"), strict=True):
            if size > _LEAST and size > FACTOR * usual:
                why = f"the target went {size:.3g} {unit} in this step"
                return "target", why, "bound what is asked: pz.teleop.SpeedClip, or waypoints that are nearer"
    turns = np.maximum(np.round(np.abs(jump.changes) / _TURN), 1.0)
    if (np.abs(np.abs(jump.changes) - _TURN * turns) < _LEAST).any():
        return "turn", "it is the same angle a whole turn later", "unwrap the recording, or begin at the last q"
    q = path[k]
    span = np.where(np.isfinite(model.upper - model.lower), model.upper - model.lower, np.inf)
    at_end = np.isfinite(span) & (np.abs(np.minimum(q - model.lower, model.upper - q)) <= _NEAR * span)
    if at_end.any():
        names = ", ".join(model.coordinates[i] for i in np.flatnonzero(at_end)[:3])
        why = f"{names} stood at a limit, and the others went another way"
        return "limit", why, "begin where that joint has room, or follow with a Tracker, which waits at limits"
    worst = min(_openness(model, frame, each) for each in (q, path[k + 1]))
    if worst < _SINGULAR:
        why = f"{frame} was nearly singular there ({worst:.1e})"
        return "singularity", why, 'lead it around, or damp the method: a Tracker with method="dls"'
    return "branch", "another solution of nearly the same pose was taken", "solve near the last q, or use solve_path"


def _openness(model: Model, frame: str, q: Array) -> float:
    """The smallest singular value of the frame's Jacobian of places, of its largest; 0 where one is missing."""
    values = np.linalg.svd(model.jacobian(frame, q), compute_uv=False)
    return float(values[-1] / values[0]) if values.size and values[0] > 0.0 else 0.0
