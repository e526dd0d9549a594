"""The derivatives of many answers to the pose of one frame: J^+, the least change, with the joints at limits held."""

import os
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.jit import prepare
from poise.model.model import Model
from poise.solving.outcome import Asked
from poise.solving.pieces import Pieces
from poise.spatial import Array
from poise.tasks.pose import PoseTask

Flags: TypeAlias = npt.NDArray[np.bool_]
AT_LIMIT: Final = 1e-6
"""A joint this near to a limit [rad or m] stands at it."""
SINGULAR, SMOOTH, ONE_SIDED = range(3)
"""What is known of an answer, see `poise.kernels.gradients.pose_inverse`."""
_PIECE: Final = 1024
"""Answers that a thread takes at a time."""
_TWIST: Final = 6


def has_inverses(asked: Asked) -> bool:
    """Whether the whole pose of one frame in the world is asked for, and nothing else."""
    task = asked.tasks[0]
    return (
        len(asked.tasks) == 1
        and isinstance(task, PoseTask)
        and task.in_world
        and task.asked == _TWIST
        and not asked.limits.beside
        and not len(asked.problem.section("balls"))
    )


def inverses_at(model: Model, asked: Asked, q: Array, cotangents: Array | None = None) -> tuple[Array, Array]:
    """J^+ (n, nv, 6) by a twist of the target of answers q (n, nq), or cotangents (n, nv) times that (n, 6); and what is
    known of each (n,): SINGULAR, for which these are no derivatives, SMOOTH or ONE_SIDED.

    Found on all cores; each as if it were alone, to the bit.
    """
    bound, velocities = asked.bound.bare, list(asked.problem.velocities)
    q = np.ascontiguousarray(q)
    known = np.empty(len(q))
    if cotangents is None:
        given = np.zeros((len(q), 0))
        out = np.empty((len(q), len(velocities), _TWIST))
    else:
        given, out = np.ascontiguousarray(cotangents[:, velocities]), np.empty((len(q), _TWIST))
    find, pieces = prepare("gradients.pose_inverse.pose_inverses"), Pieces(len(q), _PIECE)

    def work() -> None:
        with bound.scratch() as scratch:
            scratch.widen(bound)
            for piece in pieces:
                at = slice(piece.start, piece.stop)
                goals = 0 if cotangents is None else given[at].ctypes.data
                scratch.tell_of(starts=q[at], found=known[at], answers=out[at])
                scratch.tell(goals=goals, problems=len(piece))
                find(scratch.address)

    pieces.share(work, min(len(pieces), os.cpu_count() or 1) or 1)
    if cotangents is None and len(velocities) < model.nv:
        whole = np.zeros((len(q), model.nv, _TWIST))
        whole[:, velocities] = out
        out = whole
    return out, known


def sides_of_limits(model: Model, asked: Asked, q: Array) -> npt.NDArray[np.int8]:
    """(nv,) -1 of a joint at its lower limit, 1 at its upper one, 2 at both, which are one, 0 of others, at q (nq,)."""
    found = np.zeros(model.nv, dtype=np.int8)
    if asked.problem.limits:
        at_q, at_v = model._plain
        some = q[at_q]
        below, above = some <= model.lower[at_q] + AT_LIMIT, some >= model.upper[at_q] - AT_LIMIT
        found[at_v] = np.where(below & above, 2, np.where(below, -1, above))
    return found
