"""The derivatives of many answers to the pose of one frame: J^+, the least change, with the joints at limits held."""

from typing import Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from poise.kernels.machine.jit import prepare
from poise.model.model import Model
from poise.solving.arguments import cores
from poise.solving.kept import kept
from poise.solving.outcome import Asked
from poise.solving.pieces import Pieces
from poise.solving.scratch import Bound
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


@final
class _One:
    """Room for one answer, which a call borrows."""

    __slots__ = ("known", "out", "scratch")

    def __init__(self, bound: Bound, *, pulled: bool) -> None:
        n = len(bound.problem.velocities)
        self.scratch, self.known, self.out = bound.new(), np.empty(1), np.empty(_TWIST if pulled else (n, _TWIST))
        self.scratch.widen(bound)
        given = {"goals": np.empty(n)} if pulled else {}
        self.scratch.tell_of(starts=self.scratch.start, found=self.known, answers=self.out, **given)
        self.scratch.tell(problems=1)


@final
class Inverses:
    """The derivatives of answers, each the same alone and among others, to the bit."""

    def __init__(self, model: Model, asked: Asked) -> None:
        task = asked.tasks[0]
        self.there = (
            len(asked.tasks) == 1
            and isinstance(task, PoseTask)
            and task.in_world
            and task.asked == _TWIST
            and not asked.limits.beside
            and not len(asked.problem.section("balls"))
        )
        """Whether the whole pose of one frame in the world is asked for, and nothing else."""
        if self.there:
            self._bound, self._nv = asked.bound.bare, model.nv
            self._velocities = list(asked.problem.velocities)
            self._all = self._velocities == list(range(model.nv))
            self._find = prepare("gradients.pose_inverse.pose_inverses")
            self._idle: tuple[list[_One], list[_One]] = [], []

    def of_one(self, q: Array, cotangent: Array | None = None) -> tuple[Array, int]:
        """J^+ (nv, 6) by a twist of the target of an answer q (nq,), or a cotangent (nv,) times that (6,); and what is
        known of it: SINGULAR, where this is no derivative, SMOOTH or ONE_SIDED."""
        pulled = cotangent is not None
        idle = self._idle[pulled]
        one = idle.pop() if idle else _One(self._bound, pulled=pulled)
        one.scratch.start_view[:] = q
        if cotangent is not None:
            one.scratch.lent["goals"][:] = cotangent if self._all else cotangent[self._velocities]
        self._find(one.scratch.address)
        out, known = one.out.copy(), int(one.known[0])
        idle.append(one)
        return out if pulled or self._all else self._spread(out[None])[0], known

    def of_many(self, q: Array, cotangents: Array | None = None) -> tuple[Array, Array]:
        """The same of answers q (n, nq) and cotangents (n, nv), on all cores: (n, nv, 6) or (n, 6), and (n,)."""
        q, known, count = np.ascontiguousarray(q), np.empty(len(q)), len(self._velocities)
        given = None if cotangents is None else np.ascontiguousarray(cotangents[:, self._velocities])
        out = np.empty((len(q), *((count, _TWIST) if given is None else (_TWIST,))))
        pieces = Pieces(len(q), _PIECE)

        def work() -> None:
            with self._bound.scratch() as scratch:
                scratch.widen(self._bound)
                for piece in pieces:
                    at = slice(piece.start, piece.stop)
                    scratch.tell_of(starts=q[at], found=known[at], answers=out[at])
                    scratch.tell(goals=0 if given is None else given[at].ctypes.data, problems=len(piece))
                    self._find(scratch.address)

        pieces.share(work, min(max(len(pieces), 1), cores()))
        return out if given is not None or self._all else self._spread(out), known

    def _spread(self, active: Array) -> Array:
        """(n, nv, 6) of (n, active velocities, 6)."""
        out = np.zeros((len(active), self._nv, _TWIST))
        out[:, self._velocities] = active
        return out


def inverses_of(model: Model, asked: Asked) -> Inverses:
    """Those of what was asked."""
    return kept(model, (Inverses, asked), lambda: Inverses(model, asked))


def sides_of_limits(model: Model, asked: Asked, q: Array) -> npt.NDArray[np.int8]:
    """(nv,) -1 of a joint at its lower limit, 1 at its upper one, 2 at both, which are one, 0 of others, at q (nq,)."""
    found = np.zeros(model.nv, dtype=np.int8)
    if asked.problem.limits:
        at_q, at_v = model._plain
        some = q[at_q]
        below, above = some <= model.lower[at_q] + AT_LIMIT, some >= model.upper[at_q] - AT_LIMIT
        found[at_v] = np.where(below & above, 2, np.where(below, -1, above))
    return found
