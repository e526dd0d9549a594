"""The derivatives of many answers to the pose of one frame: J^+, the least change, with the joints at limits held."""

from typing import Final, NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt

from poise.model.kinematics import frame_jacobians
from poise.model.model import Model
from poise.solving.outcome import Asked
from poise.spatial import Array
from poise.tasks.pose import PoseTask

Flags: TypeAlias = npt.NDArray[np.bool_]
AT_LIMIT: Final = 1e-6
"""A joint this near to a limit [rad or m] stands at it."""
_LEFT: Final = 1e-9
"""What J J^+ may be from the identity: more is near to singular, and looked at by singular values."""
_SINGULAR: Final = 1e-30
"""A determinant of J J^T, its trace being 1, from which on nothing can be divided by it."""


@final
class Inverses(NamedTuple):
    """The derivatives of n answers."""

    by_target: Array
    """(n, nv, 6) by a twist of the target, with joints that stand at limits held."""
    sound: Flags
    """(n,) whether these are they: none where more than one whole pose is asked for, nor near to singular."""
    one_sided: Flags
    """(n,) whether a joint that moves the frame stands at a limit."""


def inverses_at(model: Model, asked: Asked, q: Array) -> Inverses:
    """The derivatives of answers q (n, nq)."""
    task, count = asked.tasks[0], len(q)
    no: Flags = np.zeros(count, dtype=np.bool_)
    if len(asked.tasks) > 1 or asked.limits.beside or not isinstance(task, PoseTask) or not _is_whole(task):
        return Inverses(np.zeros((count, model.nv, 6)), no, no)
    jacobian, poses = frame_jacobians(model, model.frame(task.frame), q)
    if task.offset is not None:
        arm = task.seen(model, q).xyz - poses[:, :3]
        jacobian[:, :3] += np.cross(jacobian[:, 3:], arm[:, :, None], axis=1)
    held = sides_of_limits(model, asked, q) != 0
    one_sided: Flags = np.any(held & jacobian.any(axis=1), axis=1)
    jacobian *= ~held[:, None]
    square = np.matmul(jacobian, jacobian.swapaxes(1, 2))
    # What is near to singular is judged by what is left of the identity; until then nothing may stop the others.
    scale = np.trace(square, axis1=1, axis2=2)
    sound: Flags = np.asarray(np.linalg.det(square / np.where(scale > 0.0, scale, 1.0)[:, None, None]) > _SINGULAR)
    if len(asked.problem.section("balls")):
        sound = no
    square[~sound] = np.eye(6)
    inverse = np.ascontiguousarray(np.linalg.solve(square, jacobian).swapaxes(1, 2))
    sound = sound & (np.abs(np.matmul(jacobian, inverse) - np.eye(6)).max(axis=(1, 2)) <= _LEFT)
    return Inverses(inverse, sound, one_sided)


def along(cotangents: Array, derivatives: Array) -> Array:
    """(..., k) of (..., nv) and (..., nv, k), the same to the bit for one and for many."""
    out: Array = (cotangents[..., None] * derivatives).sum(axis=-2)
    return out


def _is_whole(task: PoseTask) -> bool:
    """Whether it asks for all of a pose in the world."""
    return task.in_world and task.asked == 6


def sides_of_limits(model: Model, asked: Asked, q: Array) -> npt.NDArray[np.int8]:
    """(n, nv) -1 of a joint at its lower limit, 1 at its upper one, 2 at both, which are one, 0 of others."""
    found = np.zeros((len(q), model.nv), dtype=np.int8)
    if asked.problem.limits:
        at_q, at_v = model._plain
        some = q[:, at_q]
        below, above = some <= model.lower[at_q] + AT_LIMIT, some >= model.upper[at_q] - AT_LIMIT
        found[:, at_v] = np.where(below & above, 2, np.where(below, -1, above))
    return found
