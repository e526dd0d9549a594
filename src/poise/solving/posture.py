"""A posture task, prepared: what it moves within the null space of the others, and what no other task moves."""

from typing import final

import numpy as np
import numpy.typing as npt

from poise.errors import ShapeError
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import ANSWER, CHOICE, SOLVED, STATIONARY, UNSOLVED
from poise.model.model import Model
from poise.solving.problem import Problem
from poise.solving.scratch import Scratch
from poise.solving.suspicion import ask_for_degrees_in
from poise.spatial import Array
from poise.tasks.posture import PostureTask


@final
class Posture:
    """Bring solved configurations near to a posture; see `poise.kernels.solver.posture`."""

    __slots__ = ("_alone", "_counts", "_own", "_tolerance", "_weight")

    def __init__(self, model: Model, task: PostureTask, problem: Problem) -> None:
        given = np.asarray(task.weight, dtype=np.float64)
        if given.shape not in ((), (model.nv,)):
            raise ShapeError(
                f"weight of the PostureTask must be a number or have shape ({model.nv},), got {given.shape}"
            )
        weight = np.broadcast_to(given, (model.nv,))
        self._tolerance = task.tolerance
        self._counts = weight > 0.0
        active = list(problem.velocities)
        largest = float(weight[active].max(initial=0.0))
        self._weight = np.array(weight[active]) / (largest or 1.0)
        self._alone = _coordinates(model, self._counts & ~np.isin(np.arange(model.nv), active))
        self._own = _checked(model, model.home if task.target is None else task.target)

    def extended(self, problem: Problem) -> Problem:
        """The problem with the weights of the posture, and room for it."""
        vectors = dict.fromkeys(("phi", "moved", "gradient", "other"), len(self._weight))
        rows = {"posture_goal": len(self._own), "choice": CHOICE, **vectors}
        return problem.extended({"posture_weights": self._weight}, rows)

    def aim(self, scratch: Scratch, model: Model, target: npt.ArrayLike | None, name: str = "target") -> None:
        """Take the posture (nq,) for this solve; None: the task's own, or the model's home."""
        scratch.posture_goal[:] = self._own if target is None else _checked(model, target, name)

    def _distance(self, model: Model, q: Array, goal: Array) -> float:
        """Largest |q_i - target_i| [rad or m] over the joints whose weight is not 0."""
        away = goal - q if model.nq == model.nv else model.difference(q, goal)
        return float(np.abs(away[self._counts]).max(initial=0.0))

    def measure(self, model: Model, scratch: Scratch) -> None:
        """Let the last entry of `out` be how far its configuration is from the posture."""
        q = scratch.out[ANSWER : ANSWER + model.nq]
        scratch.out[-1] = self._distance(model, q, scratch.posture_goal)

    def settle(self, model: Model, scratch: Scratch, code: int) -> int:
        """Move the configuration in the scratch's `out`, if it is solved, near to the posture; the code.

        The last entry of `out` becomes the distance that is left.
        """
        from poise.kernels.solver.posture import settle

        out, goal = scratch.out, scratch.posture_goal
        q = out[ANSWER : ANSWER + model.nq]
        if code == SOLVED:
            if self._alone.size:
                q[self._alone] = model.clip(goal)[self._alone]
            if self._weight.any():
                prepare(settle)
                code = settle(scratch.address)
        self.measure(model, scratch)
        if code == SOLVED and out[-1] > self._tolerance:
            out[STATIONARY] = 1.0
            code = UNSOLVED
        return code


def _coordinates(model: Model, velocities: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """The places in q of the joints with any of these velocities."""
    places: list[int] = []
    for joint in model.joint_names:
        at, speeds = model.index(joint), velocities[model.velocity_index(joint)]
        if at.stop - at.start == len(speeds):
            places += [at.start + i for i in np.flatnonzero(speeds)]
        elif speeds.any():
            places += range(at.start, at.stop)
    return np.array(places, dtype=np.intp)


def _checked(model: Model, target: npt.ArrayLike, name: str = "target") -> Array:
    posture = model.normalize(target, name)
    if posture.shape != (model.nq,):
        raise ShapeError(f"{name} of the PostureTask must have shape ({model.nq},), got {posture.shape}")
    ask_for_degrees_in(model, posture, "the target of the PostureTask")
    return posture
