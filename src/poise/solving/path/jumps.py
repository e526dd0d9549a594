"""Jumps in a joint path: steps out of all proportion to those around them."""

from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import broken_rule, finite, positive
from poise.common.errors import InvalidValue, ShapeError
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.solving.problem.problem import velocity_names

_WINDOW: Final = 5
"""Steps before and after one that it is compared with."""
FACTOR: Final = 6.0
LEAST: Final = 0.1
_SHARE: Final = 0.5
"""A joint takes part in a jump if it moves at least this share of the one that moves most."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """One step of a path that is out of proportion."""

    step: int
    """It leads from configuration `step` to the next."""
    size: float
    """The largest change of a joint [rad or m]."""
    joints: tuple[str, ...]
    """The joints that jump, the one that moves most first; numbers as names where no model was given."""
    changes: Array
    """(nv,) the change of each joint, (nq,) without a model [rad or m]."""

    def __str__(self) -> str:
        return f"step {self.step}: {', '.join(self.joints)} by {self.size:.3g}"


def jumps(
    q: ArrayLike, model: Model | None = None, *, frame: str | None = None, factor: float = FACTOR,
    least: float = LEAST,
) -> list[Jump]:  # fmt: skip
    """Branch jumps in a joint path `q` (n, nq), from whatever source, in their order.

    The size of a step is the largest change of a joint [rad or m].  A step is a jump if its size is more than `least`
    and more than `factor` times the median size of the five steps before and the five after it.  With a `frame`, sizes
    are compared as shares of the frame's own motion over the step, so that waypoints that are farther apart than the
    others make no jump.

    With a model, differences are those of `model.difference`: a ball turns the shorter way, and a joint without limits
    that turns is where it was after whole turns; other joints differ as numbers.  Raises ShapeError, and ValueError for
    numbers that are not finite.
    """
    positive("factor", factor)
    if not least >= 0.0:
        raise InvalidValue(
            broken_rule(least, "negative"), f"least is {least!r}; it must be a change [rad or m], 0 or more"
        )
    if frame is not None and model is None:
        raise InvalidValue("needs", "a frame needs the model that it belongs to: jumps(q, model, frame=...)")
    changes, names = _changes(q, model)
    if not len(changes):
        return []
    moves = np.abs(changes)
    sizes = moves.max(axis=1, initial=0.0)
    compared = sizes
    if frame is not None and model is not None:
        compared = sizes / _motion(model, frame, q)
    usual = around(compared)
    found = np.flatnonzero((sizes > least) & (compared > factor * usual))
    return [
        Jump(
            int(t), float(sizes[t]),
            tuple(names[j] for j in np.argsort(-moves[t], kind="stable") if moves[t, j] >= _SHARE * sizes[t]),
            changes[t],
        )
        for t in found
    ]  # fmt: skip


def around(sizes: Array) -> Array:
    """(k,) the median of the five numbers before and the five after each, without itself; 0 where there is none."""
    k = len(sizes)
    if k < 2:
        return np.full(k, np.inf)  # a step alone is out of proportion to nothing
    padded = np.full(k + 2 * _WINDOW, np.nan)
    padded[_WINDOW : _WINDOW + k] = sizes
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * _WINDOW + 1).copy()
    windows[:, _WINDOW] = np.nan
    median: Array = np.nanmedian(windows, axis=1)
    return median


def _changes(q: Any, model: Model | None) -> tuple[Array, tuple[str, ...]]:
    """(n - 1, nv) the changes from each configuration to the next, and their names."""
    if model is None:
        path = finite("q", q)
        if path.ndim != 2:
            raise ShapeError(f"q must be a path of shape (n, nq), got {path.shape}")
        return np.diff(path, axis=0), tuple(map(str, range(path.shape[1])))
    path = model.check_q(q)
    if path.ndim != 2:
        raise ShapeError(f"q must be a path of shape (n, {model.nq}), got {path.shape}")
    changes = model.difference(path[:-1], path[1:])
    for joint in model.joints:
        if joint.kind is JointKind.CONTINUOUS and joint.nq:
            at = model.velocity_index(joint.name)
            changes[:, at] -= 2.0 * np.pi * np.rint(changes[:, at] / (2.0 * np.pi))
    return changes, tuple(velocity_names(model))


def _motion(model: Model, frame: str, q: Any) -> Array:
    """(n - 1,) how far the frame moves in each step, in units of what it moves usually."""
    poses = model.pose(frame, q)
    away = np.linalg.norm(np.diff(poses.xyz, axis=0), axis=1)
    dots = np.abs((poses.wxyz[:-1] * poses.wxyz[1:]).sum(axis=1))
    turn = 2.0 * np.arccos(np.minimum(dots, 1.0))
    parts = [part / usual for part in (away, turn) if (usual := float(np.median(part))) > 1e-9]
    motion: Array = np.maximum(np.sum(parts, axis=0), 1.0) if parts else np.ones(len(away))
    return motion
