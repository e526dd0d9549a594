"""The derivatives of many answers to the pose of one frame: J^+, the least change, with the joints at limits held."""

from typing import Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.jit import prepare
from poise.model.model import Model
from poise.solving.arguments.arguments import cores
from poise.solving.arguments.work_queue import WorkQueue
from poise.solving.problem.workspace import Bound
from poise.solving.requirements.outcome import PreparedProblem
from poise.tasks.pose import PoseTask

Flags: TypeAlias = npt.NDArray[np.bool_]
SINGULAR, SMOOTH, ONE_SIDED = range(3)
"""What is known of an answer, see `poise.kernels.gradients.pose_inverse`."""
_CHUNK: Final = 1024
"""Answers that a thread takes at a time."""
_TWIST: Final = 6


@final
class _One:
    """Room for one answer, which a call borrows."""

    __slots__ = ("address", "copy", "cotangent", "known", "scratch", "start")

    def __init__(self, bound: Bound, *, pulled: bool) -> None:
        n = len(bound.problem.velocities)
        scratch, known, out = bound.new(), np.empty(1), np.empty(_TWIST if pulled else (n, _TWIST))
        scratch.widen(bound)
        self.cotangent = np.empty(n)
        arrays = {"goals": self.cotangent} if pulled else {}
        scratch.set_arrays(starts=scratch.start, found=known, answers=out, **arrays)
        scratch.set_fields(problems=1)
        self.scratch, self.address, self.start = scratch, scratch.address, scratch.start_view
        self.copy, self.known = out.copy, known.data


@final
class Inverses:
    """The derivatives of answers, each the same alone and among others, to the bit."""

    def __init__(self, model: Model, prepared: PreparedProblem) -> None:
        task = prepared.tasks.all[0]
        self.there = (
            len(prepared.tasks.all) == 1
            and isinstance(task, PoseTask)
            and task.in_world
            and task.weighted_rows == _TWIST
            and not prepared.limits.has_constraints
            and not len(prepared.problem.section("balls"))
        )
        """Whether the whole pose of one frame in the world is asked for, and nothing else."""
        if self.there:
            self._bound, self._nv = prepared.bound.bare, model.nv
            self._velocities = list(prepared.problem.velocities)
            self._all = self._velocities == list(range(model.nv))
            self._find = prepare("gradients.pose_inverse.pose_inverses")
            self._idle: tuple[list[_One], list[_One]] = [], []

    def of_one(self, q: Array, cotangent: Array | None = None) -> tuple[Array, float]:
        """J^+ (nv, 6) by a twist of the target of an answer q (nq,), or a cotangent (nv,) times that (6,); and what is
        known of it: SINGULAR, where this is no derivative, SMOOTH or ONE_SIDED."""
        pulled = cotangent is not None
        idle = self._idle[pulled]
        one = idle.pop() if idle else _One(self._bound, pulled=pulled)
        one.start[:] = q
        if cotangent is not None:
            one.cotangent[:] = cotangent if self._all else cotangent[self._velocities]
        self._find(one.address)
        out, known = one.copy(), one.known[0]
        idle.append(one)
        return out if self._all or pulled else self._spread(out[None])[0], known

    def of_many(self, q: Array, cotangents: Array | None = None) -> tuple[Array, Array]:
        """The same of answers q (n, nq) and cotangents (n, nv), on all cores: (n, nv, 6) or (n, 6), and (n,)."""
        q, known, count = np.ascontiguousarray(q), np.empty(len(q)), len(self._velocities)
        given = None if cotangents is None else np.ascontiguousarray(cotangents[:, self._velocities])
        out = np.empty((len(q), *((count, _TWIST) if given is None else (_TWIST,))))
        queue = WorkQueue(len(q), _CHUNK)

        def work() -> None:
            with self._bound.scratch() as scratch:
                scratch.widen(self._bound)
                for chunk in queue:
                    at = slice(chunk.start, chunk.stop)
                    scratch.set_arrays(starts=q[at], found=known[at], answers=out[at])
                    scratch.set_fields(goals=0 if given is None else given[at].ctypes.data, problems=len(chunk))
                    self._find(scratch.address)

        queue.share(work, min(max(len(queue), 1), cores()))
        return out if given is not None or self._all else self._spread(out), known

    def _spread(self, active: Array) -> Array:
        """(n, nv, 6) of (n, active velocities, 6)."""
        out = np.zeros((len(active), self._nv, _TWIST))
        out[:, self._velocities] = active
        return out


def inverses_of(model: Model, prepared: PreparedProblem) -> Inverses:
    """Those of what was asked."""
    derived = prepared.bound.derived
    found: Inverses | None = derived.get(Inverses)
    return derived.setdefault(Inverses, Inverses(model, prepared)) if found is None else found
