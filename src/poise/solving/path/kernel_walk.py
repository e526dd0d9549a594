"""The ways of `walk` in kernels, where distances of shapes are all that is asked for."""

from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.collision.free_way import BLOCKER, CUTS, DRAWN, LEAST, LOOKS, SEED, buffer_size
from poise.kernels.kinematics.joint_rows import JOINT
from poise.kernels.machine import packing
from poise.kernels.machine.jit import prepare
from poise.kernels.path.trees import NODES, scratch_size, trees_size
from poise.model.model import Model
from poise.model.scene import Scene
from poise.solving.path.clock import Clock
from poise.solving.path.ways import aims_between

_STEP: Final = 100
"""Looks in a step of work."""
_MOST_CUTS: Final = 1000
"""Times that a way is tried to be cut short, at most."""


@final
class KernelWalk:
    """As `Walk`, with all shapes of a scene at least so far apart [m]; a step of work is a hundred looks."""

    first: Final = 25
    """See `Walk`."""
    more: Final = 25
    """See `Walk`."""

    def __init__(
        self, model: Model, scene: Scene, least: float, q0: Array, q1: Array, moved: npt.NDArray[np.bool_]
    ) -> None:
        self._model, self._scene, self._ends = model, scene, np.stack([q0, q1])
        size = packing.unpack(scene.words, "scene")[0]
        self._buffer = np.zeros(buffer_size(model.nv, int(size["movers"]), int(size["count"])))
        self._buffer[LEAST], self._buffer[BLOCKER] = least, -1.0
        self._trees = np.empty(trees_size(model.nq))
        self._scratch, self._way = (
            np.empty(scratch_size(model.nq, model.nv)),
            np.empty((2 * NODES + _MOST_CUTS) * model.nq),
        )
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
        """See `Walk`."""
        self._buffer[SEED], self._buffer[DRAWN] = np.random.default_rng(numbers).integers(2**52), 0.0

    def straight(self) -> Array | None:
        """See `Walk`."""
        free = prepare("path.way.is_free_between")(
            *self._scene.addresses, self._joints.reshape(-1), self._buffer, self._ends.reshape(-1)
        )
        return self._ends.copy() if free else None

    def grown(self, best: Array | None, most: int, clock: Clock) -> tuple[Array | None, int]:
        """See `Walk`; the clock is not looked at, for all of it takes less than a second."""
        self._put_aims(best)
        self._buffer[LOOKS] = _STEP * most
        self._way[: self._ends.size] = self._ends.reshape(-1)
        count = prepare("path.way.find_way")(
            *self._scene.addresses, self._joints.reshape(-1), self._buffer, self._trees, self._scratch,
            self._way,
        )  # fmt: skip
        spent = most - max(int(self._buffer[LOOKS]) // _STEP, 0)
        return (self._way[: count * self._model.nq].reshape(count, -1).copy() if count else None), spent

    def shortened(self, way: Array, cuts: int, clock: Clock) -> Array:
        """See `Walk`."""
        if clock.late:
            return way
        self._way[: way.size], self._buffer[CUTS] = way.reshape(-1), cuts
        count = prepare("path.way.cut_short")(
            *self._scene.addresses, self._joints.reshape(-1), self._buffer, self._scratch, self._way, len(way)
        )
        return self._way[: count * self._model.nq].reshape(count, -1).copy()
