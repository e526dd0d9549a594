"""Two trees that grow towards each other, and what is cut short of their way: what kernels do of it, and what they ask.

They look at distances of shapes and at sums of joints themselves.  Of each way on which these hold they ask whether all
else does, and where loops are closed, for its corners.
"""

import ctypes
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.geometry.shapes import Sphere
from poise.kernels.collision.free_way import BLOCKER, CUTS, DRAWN, LEAST, LOOKS, SEED, buffer_size
from poise.kernels.kinematics.joint_rows import JOINT
from poise.kernels.machine import packing
from poise.kernels.machine.jit import UNJITTED, address, prepare
from poise.kernels.machine.layout import CLOSED, WIDTH
from poise.kernels.path.holding import ASKED, BEGIN, FOUND
from poise.kernels.path.trees import NODES, scratch_size, trees_size
from poise.model.model import Model
from poise.model.scene import Scene
from poise.solving.path.clock import Clock
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.ways import aims_between
from poise.solving.problem.problem import Problem

_STEP: Final = 100
"""Looks of kernels in a step of work."""
_MOST_CUTS: Final = 1000
"""Times that a way is tried to be cut short, at most."""
_MOST_CORNERS: Final = 1000
"""Corners of a straight way along which loops are closed, at most: fifty radians."""


@final
class Walk:
    """Ways from q0 to q1 (nq,) along which all holds that must; numbers of q that are not `moved` (nq,) stay.

    A step of work is a hundred looks of kernels, or an answer; one that says no, which is known sooner, an eighth.
    """

    def __init__(
        self, model: Model, feasibility: PathFeasibility, q0: Array, q1: Array, moved: npt.NDArray[np.bool_]
    ) -> None:
        self._model, self._ends = model, np.stack([q0, q1])
        clearance, sums, self._asked = feasibility.parted()
        scene = _tip_alone(model) if clearance is None else clearance.scene
        self._scene, self._words = scene, scene.words
        if sums is not None:
            table = np.column_stack([sums.factors, sums.most]).ravel()
            self._words = Problem(scene.words.copy(), ()).extended({"inequalities": table}, {}).words
        size, asks = packing.unpack(scene.words, "scene")[0], bool(self._asked) or self._asked.loops is not None
        self._buffer = np.zeros(buffer_size(model.nv, int(size["movers"]), int(size["count"])))
        self._buffer[LEAST], self._buffer[BLOCKER] = 0.0 if clearance is None else clearance.least, -1.0
        self._trees = np.empty(trees_size(model.nq))
        corners = 2 if self._asked.loops is None else _MOST_CORNERS
        begin = scratch_size(model.nq, model.nv)
        self._scratch = np.empty(begin + corners * model.nq + BEGIN)
        self._corners = self._scratch[begin:-BEGIN].reshape(corners, model.nq)
        self._way = np.empty((2 * NODES + _MOST_CUTS) * model.nq)
        self._callback: Any = None
        self._scratch[-BEGIN], self._scratch[-ASKED] = begin, -1.0
        if asks:
            self._scratch[-ASKED], self._callback = _called(self._answer)
        self._clock, self._raised = Clock(None), list[BaseException]()
        self.first: int = 1_000 if asks else 25
        """Steps of work of the first pair of trees; of each second one after it twice as many."""
        self.more: int = 200 if asks else 25
        """Steps that each more may take, once there is a way, at least; else half of those that the first took."""
        places = [[i, v, 0.0, model._costs[v]] for i, v in np.transpose(model._plain) if moved[i]]
        self._plain = np.array([place[0] for place in places], dtype=np.intp)
        places += [[i, v, 1.0, model._costs[v]] for i, v in model._turning if moved[i]]
        self._joints = np.zeros((len(places), JOINT))
        self._joints[:, :4] = places
        self._put_aims(None)

    def _put_aims(self, best: Array | None) -> None:
        count = len(self._plain)
        q0, q1 = self._ends
        self._joints[:count, 4], self._joints[:count, 5] = aims_between(self._model, q0, q1, self._plain, best)

    def seed(self, numbers: list[int]) -> None:
        """What is drawn from here on depends on these."""
        self._buffer[SEED], self._buffer[DRAWN] = _mixed(*numbers), 0.0

    def straight(self) -> Array | None:
        """(k, nq) corners of the straight way; None if it is not free."""
        if not self._run("is_free_between", self._ends.reshape(-1)):
            return None
        return self._asked.straight(self._model, *self._ends)

    def grown(self, best: Array | None, most: int, clock: Clock) -> tuple[Array | None, int]:
        """(k, nq) corners of a way as two trees have it, one that may be shorter than the `best`, None if they do not
        meet in `most` steps of work; and how many these took.

        The clock is looked at with each answer, for all that kernels do without asking takes less than a second.
        """
        self._put_aims(best)
        self._clock, self._buffer[LOOKS] = clock, _STEP * most
        self._way[: self._ends.size] = self._ends.reshape(-1)
        count = self._run("find_way", self._trees, self._scratch, self._way)
        spent = most - max(int(self._buffer[LOOKS]) // _STEP, 0)
        return (self._cornered(self._taken(count)) if count else None), spent

    def shortened(self, way: Array, cuts: int, clock: Clock) -> Array:
        """The way (k, nq), of which parts are replaced by straight ones, tried so many times."""
        if clock.late:
            return way
        self._clock, self._buffer[CUTS] = clock, cuts
        self._way[: way.size] = way.reshape(-1)
        return self._taken(self._run("cut_short", self._scratch, self._way, len(way)))

    def _taken(self, count: int) -> Array:
        return self._way[: count * self._model.nq].reshape(count, -1).copy()

    def _run(self, name: str, *arguments: Any) -> int:
        """What a kernel says; raises what an answer to it has raised."""
        found = prepare(f"path.way.{name}")(
            int(self._words.ctypes.data), *self._scene.addresses[1:], self._joints.reshape(-1), self._buffer, *arguments
        )
        if self._raised:
            raise self._raised.pop()
        return int(found)

    # What kernels ask ------------------------------------------------------------------------------------------------

    def _answer(self) -> None:
        """Put the corners of the way between the first two in their place; none where it is not free.

        Kernels know no exceptions: what is raised here `_run` raises.
        """
        way = None
        try:
            if self._raised or self._clock.late:
                self._buffer[LOOKS] = 0.0
            else:
                way = self._between(self._corners[:2].copy())
                self._buffer[LOOKS] -= _STEP // (WIDTH if way is None else 1)
        except BaseException as error:
            self._raised.append(error)
        found = self._corners[:0] if way is None or len(way) > len(self._corners) else way
        self._corners[: len(found)], self._scratch[-FOUND] = found, len(found)

    def _between(self, ends: Array) -> Array | None:
        """(k, nq) corners of the straight way between two configurations (2, nq) where loops are closed, as they are
        at the ends or near by; None if it is not free."""
        loops = self._asked.loops
        if loops is not None:
            closed, found = loops.all_closed(ends, whole=True)
            if not found.all():
                return None
            ends = np.where((loops.gaps(ends) > CLOSED)[:, None], closed, ends)
        return self._asked.straight(self._model, *ends)

    def _cornered(self, way: Array) -> Array | None:
        """(k, nq) configurations one after the other, with the corners between them along which loops are closed: each
        of the ways was found free from one of its ends."""
        if self._asked.loops is None:
            return way
        way[[0, -1]], rows = self._ends, [way[:1]]
        for a, b in pairwise(way):
            part = self._asked.straight(self._model, a, b)
            if part is None:
                part = self._asked.straight(self._model, b, a)
                if part is None:
                    return None
                part = part[::-1]
            rows.append(part[1:])
        cornered = np.concatenate(rows)
        return cornered if cornered.size <= self._way.size else None


@lru_cache(maxsize=4096)
def _mixed(*numbers: int) -> int:
    """A seed for kernels out of several; what makes it takes 40 us."""
    return int(np.random.default_rng(numbers).integers(2**52))


def _called(function: Callable[[], None]) -> tuple[int, Any]:
    """Where kernels call a function, and what has to be kept for as long as they may."""
    if UNJITTED:
        return address(function), None
    made = ctypes.CFUNCTYPE(None)(function)
    return int(ctypes.cast(made, ctypes.c_void_p).value or 0), made


def _tip_alone(model: Model) -> Scene:
    """Where nothing is to be kept apart: the tip as a point, which kernels shift as they do what is in the way."""
    return Scene(model, {model.frame(model.tip).link: (Sphere((0.0, 0.0, 0.0)),)}, excluded=None)
