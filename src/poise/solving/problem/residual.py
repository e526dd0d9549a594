"""A task's residual of its own, prepared: tried once on a model, in plain Python, then compiled."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.jit import address
from poise.kernels.machine.kinds import FROZEN, FROZEN_TABLE, REALS, ROWS, TABLE
from poise.model.model import Model
from poise.solving.arguments.user_functions import compiled, refuse_mismatch, run
from poise.spatial import SO3
from poise.tasks.base import Task

_NEAR: Final = 1e-6
"""Half the way of a difference quotient [rad or m]."""


def try_residual(model: Model, task: Task) -> None:
    """Run the functions of a task of the user's at some configuration.

    Raises ValueError, with the way out, for a residual that is not there, fails, leaves a row unwritten or is no finite
    number, and for a Jacobian that is not that of its residual.
    """
    label, rows = task.label, task.rows
    residual, jacobian = task.function("residual"), task.function("jacobian")
    if residual is None:
        raise InvalidValue(
            "own-function",
            f"{label} has no residual: give its class residual(frames, numbers, out), which writes {rows}",
        )
    if not task.frame_names:
        raise InvalidValue("own-function", f"{label} names no frame: give it a field such as frame: str, or frames")
    q = model.sample(seed=0)
    goal = task.goal(task.target) if task.target is not None else task.at(model, q)
    frames, numbers = task.frames_at(model, q), task.all_numbers(goal)
    where = f"q = {q.tolist()}"

    def written(name: str, function: Callable[..., Any], seen: Array, *shape: int) -> Array:
        out = np.full(int(np.prod(shape)), np.nan)
        arguments = (seen.ravel(), out) if task.lanes else (seen.copy(), out.reshape(shape))
        run(name, label, function, where, arguments[0], numbers.copy(), arguments[1])
        if not np.isfinite(out).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(out.reshape(shape)))[0])
            raise InvalidValue(
                "own-function",
                f"{name} of {label} leaves out{list(at)} without a finite number at {where}: it must write all "
                f"{' x '.join(map(str, shape))}",
            )
        return out.reshape(shape)

    written("residual", residual, frames, rows)
    if jacobian is None:
        return
    given = written("jacobian", jacobian, frames, rows, 6 * len(frames))
    found = np.zeros_like(given)
    for i in range(6 * len(frames)):
        ahead, behind = (written("residual", residual, _moved(frames, i, sign * _NEAR), rows) for sign in (1.0, -1.0))
        found[:, i] = (ahead - behind) / (2.0 * _NEAR)
    refuse_mismatch("jacobian", "residual", label, where, given, found, 1.0)


def _moved(frames: Array, i: int, way: float) -> Array:
    """The frames (n, 12) with number i of their twists at `way` [m or rad]."""
    out, (f, axis) = frames.copy(), divmod(i, 6)
    if axis < 3:
        out[f, axis] += way
    else:
        turn = SO3.from_rotvec(way * np.eye(3)[axis - 3]).matrix()
        out[f, 3:] = (turn @ out[f, 3:].reshape(3, 3)).ravel()
    return out


def places(kind: type[Task], ndim: int) -> tuple[list[Any], int, int]:
    """The functions of a kind of task, compiled for a workspace of this rank, to be kept; where they are, 0 for none.

    Raises ValueError for one that Numba does not compile.
    """
    references, found = [], [0, 0]
    for i, (name, out) in enumerate((("residual", REALS), ("jacobian", TABLE))):
        function = getattr(kind, name, None)
        if function is not None:
            signature = 3 * (ROWS[ndim],) if kind.lanes else (FROZEN_TABLE, FROZEN, out)
            references.append(compiled(name, kind.__name__, "third", function, *signature))
            found[i] = address(references[-1], *signature)
    return references, found[0], found[1]
