"""A posture task, prepared: what it moves within the null space of the others, and what no other task moves."""

from typing import final

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError
from poise.kernels.machine.jit import prepare
from poise.kernels.solver import lm_solver
from poise.model.model import Model
from poise.solving.problem import Packed
from poise.spatial import Array
from poise.tasks.posture import PostureTask

_ITERATIONS = 400


@final
class Posture:
    """Bring solved configurations near to a posture; see `poise.kernels.solver.posture`."""

    __slots__ = ("_alone", "_counts", "_model", "_own", "_pull", "_rest", "_target", "_tolerance", "_weight")

    def __init__(self, model: Model, task: PostureTask, packed: Packed) -> None:
        given = np.asarray(task.weight, dtype=np.float64)
        if given.shape not in ((), (model.nv,)):
            raise ShapeError(
                f"weight of the PostureTask must be a number or have shape ({model.nv},), got {given.shape}"
            )
        weight = np.broadcast_to(given, (model.nv,))
        self._model, self._tolerance = model, task.tolerance
        self._counts = weight > 0.0
        active = list(packed.velocities)
        largest = float(weight[active].max(initial=0.0))
        self._weight = np.array(weight[active]) / (largest or 1.0)
        self._pull, self._rest = np.zeros(len(active)), np.zeros(3 * packed.blocks)
        self._alone = self._coordinates(self._counts & ~np.isin(np.arange(model.nv), active))
        self._own = self._checked(model.home if task.target is None else task.target)
        self._target = self._own.copy()

    def _coordinates(self, velocities: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        """The places in q of the joints with any of these velocities."""
        places: list[int] = []
        for joint in self._model.joint_names:
            at, speeds = self._model.index(joint), velocities[self._model.velocity_index(joint)]
            if at.stop - at.start == len(speeds):
                places += [at.start + i for i in np.flatnonzero(speeds)]
            elif speeds.any():
                places += range(at.start, at.stop)
        return np.array(places, dtype=np.intp)

    def _checked(self, target: npt.ArrayLike, name: str = "target") -> Array:
        posture = self._model.normalize(target, name)
        if posture.shape != (self._model.nq,):
            raise ShapeError(f"{name} of the PostureTask must have shape ({self._model.nq},), got {posture.shape}")
        return posture

    def aim(self, target: npt.ArrayLike | None, name: str = "target") -> None:
        """Take the posture (nq,) for the next solve; None: the task's own, or the model's home."""
        self._target[:] = self._own if target is None else self._checked(target, name)

    def distance(self, q: Array) -> float:
        """Largest |q_i - target_i| [rad or m] over the joints whose weight is not 0."""
        away = np.abs(self._model.difference(q, self._target))
        return float(away[self._counts].max(initial=0.0))

    def settle(self, ints: npt.NDArray[np.int64], floats: Array, work: Array, out: Array, code: int) -> int:
        """Move the configuration in `out`, if it is solved, near to the posture; the code of `solver.lm_solver`.

        The last entry of `out` becomes the distance that is left.
        """
        from poise.kernels.solver.posture import settle

        model = self._model
        q = out[lm_solver.ANSWER : lm_solver.ANSWER + model.nq]
        if code == lm_solver.SOLVED:
            q[self._alone] = np.clip(self._target, model.lower, model.upper)[self._alone]
            if self._weight.any():
                prepare(settle)
                code = settle(ints, floats, work, self._pull, self._rest, self._target, self._weight, _ITERATIONS, out)
        out[-1] = self.distance(q)
        if code == lm_solver.SOLVED and out[-1] > self._tolerance:
            out[lm_solver.STATIONARY] = 1.0
            code = lm_solver.UNSOLVED
        return code
