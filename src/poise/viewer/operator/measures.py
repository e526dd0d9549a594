"""How good an attempt is, in numbers that are the same whichever method made it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.geometry.world import World
from poise.model.model import Model
from poise.model.proximity import nearest_of_many
from poise.quaternions import conjugate, quaternion_log, quaternion_product
from poise.solving.requirements.collision import CollisionLimit
from poise.solving.requirements.positions import at_limits
from poise.viewer.operator.setup import Setup, surround
from poise.viewer.session.body import bodied

_SINGULAR: Final = 0.02
"""A pose is singular where the least singular value is below this share of the largest of the whole attempt."""
_ALWAYS_ZERO: Final = 1e-9
"""Singular values below this share of the largest, in every pose, are no directions of the arm at all."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """An attempt in numbers."""

    duration: float
    """[s]"""
    joint_length: float
    """The sum of the Euclidean lengths of all steps [rad and m]."""
    hand_length: float
    """The way of the effector's origin [m]."""
    clearance: float | None
    """The least distance of a link from an obstacle where that was at the time, whoever heeded it [m]; negative: how
    deep inside.  None without obstacles."""
    worst_speed: float
    """The largest speed of a joint over a step [rad/s or m/s]."""
    worst_joint: str
    """Whose it is; empty where nothing moves."""
    speed_share: float | None
    """The largest speed as a share of the joint's limit, of those that have one; None where none has."""
    least_singular_value: float
    """Of the effector's Jacobian, without values that are zero in every pose."""
    singular_below: float
    """A pose counts as singular where its least singular value is below this."""
    singular_poses: int
    """How often the motion came to singular poses, from others or at its start."""
    position_error: float
    """The largest distance of the effector from its target [m]."""
    position_error_rms: float
    """The root of the mean square of it [m]."""
    rotation_error: float | None
    """The largest turn that was left [rad]; None where the target's rotation was not followed."""
    limits_touched: tuple[str, ...]
    """The coordinates that were at a limit."""


def measure(
    model: Model,
    frame: str,
    time: Array,
    q: Array,
    target: Array,
    setups: Sequence[tuple[int, Setup]],
    *,
    turns: bool,
    singular: float | None = None,
) -> Measures:
    """Measure an attempt, given as its fields; `singular` is the least singular value that no singular pose has, None:
    2 % of the largest singular value of the whole attempt."""
    steps = model.difference(q[:-1], q[1:])
    speeds = np.abs(steps) / np.diff(time)[:, None]
    worst = speeds.max(axis=0, initial=0.0)
    limited = np.isfinite(model.velocity)
    hand = model.pose(frame, q)
    away = np.linalg.norm(target[:, :3] - hand.xyz, axis=1)
    left = quaternion_log(quaternion_product(target[:, 3:], conjugate(hand.wxyz)))
    sigma = _singular_values(model.jacobian(frame, q)[:, : 6 if turns else 3])
    below = _SINGULAR * float(sigma.max(initial=0.0)) if singular is None else singular
    bad = sigma[:, -1] < below if sigma.shape[1] else np.zeros(len(q), dtype=bool)
    touched = np.any(at_limits(q, model.lower, model.upper), axis=(0, 1))
    return Measures(
        duration=float(time[-1]),
        joint_length=float(np.linalg.norm(steps, axis=1).sum()),
        hand_length=float(np.linalg.norm(np.diff(hand.xyz, axis=0), axis=1).sum()),
        clearance=_clearance(bodied(model, frame), q, setups),
        worst_speed=float(worst.max(initial=0.0)),
        worst_joint=_mover(model, int(worst.argmax())) if worst.any() else "",
        speed_share=float((worst[limited] / model.velocity[limited]).max()) if limited.any() else None,
        least_singular_value=float(sigma[:, -1].min()) if sigma.shape[1] else 0.0,
        singular_below=below,
        singular_poses=int(bad[0]) + int((bad[1:] & ~bad[:-1]).sum()),
        position_error=float(away.max()),
        position_error_rms=math.sqrt(float((away * away).mean())),
        rotation_error=float(np.linalg.norm(left, axis=1).max()) if turns else None,
        limits_touched=tuple(np.array(model.coordinates, dtype=str)[touched].tolist()),
    )


def _singular_values(jacobians: Array) -> Array:
    """(n, r) the singular values of the effector's Jacobians, falling, without those that are zero in every pose."""
    sigma = np.asarray(np.linalg.svd(jacobians, compute_uv=False), dtype=np.float64)
    ever = sigma.max(axis=0, initial=0.0) > _ALWAYS_ZERO * max(float(sigma.max(initial=0.0)), 1e-300)
    return sigma[:, ever]


def _clearance(model: Model, q: Array, setups: Sequence[tuple[int, Setup]]) -> float | None:
    """The least distance from an obstacle, with the obstacles of each time."""
    ends = [row for row, _ in setups[1:]] + [len(q)]
    spans = [(setup, slice(row, end)) for (row, setup), end in zip(setups, ends, strict=True)]
    if not any(setup.obstacles for setup, _ in spans):
        return None
    world, least = World(), math.inf
    scene = CollisionLimit(world, self_collision=False).scene(model)
    for obstacles, group in groupby(spans, key=lambda span: span[0].obstacles):
        if obstacles:
            rows = [rows for _, rows in group]
            surround(world, obstacles)
            scene.sync()
            found = nearest_of_many(scene, np.array(q[rows[0].start : rows[-1].stop], order="C"))
            least = min(least, float(found.distance.min()))
    return least


def _mover(model: Model, velocity: int) -> str:
    """The joint that a place in v belongs to."""
    return next(name for name in model.joint_names if model.velocity_index(name).stop > velocity)
