"""A shield: what no method need know of, it keeps shapes apart in the steps of any."""

from typing import final

import numpy as np

from poise.methods.bounded import BoundedLeastSquares
from poise.methods.damping import Constant
from poise.model.model import Model
from poise.solving.collision import CollisionLimit
from poise.solving.tracker import Tracker
from poise.spatial import Array
from poise.tasks.pose import PoseTask
from poise.viewer.operator.body import carriers

_DAMPING = 1e-6
"""Against rounding alone: the poses of all links leave no joint undetermined."""


@final
class Shield:
    """The step that takes the links nearest to where a method would take them, of those that keep shapes apart.

    It is one step of least squares with the pairs' inequalities, see `CollisionLimit`, towards the poses that the links
    would have; so where nothing is near, it is the method's own but for the square of its length.
    """

    def __init__(self, model: Model, frame: str, limit: CollisionLimit, dt: float) -> None:
        self._model, self._links = model, carriers(model, frame)
        method = BoundedLeastSquares(damping=Constant(_DAMPING), max_error=None, max_step=np.inf)
        tasks = [PoseTask(link) for link in self._links]
        self._tracker = Tracker(model, tasks, method, dt=dt, limits=[limit], settle=False)

    def step(self, q: Array, wish: Array) -> Array:
        """(nq,) where to go from `q`, with a method that would go to `wish`."""
        targets = self._tracker.targets
        for row, link in enumerate(self._links):
            targets[row] = self._model.pose(link, wish).array
        return self._tracker.step(q)

    @property
    def failed(self) -> bool:
        """Whether the last step was no finite number, and was not taken."""
        return self._tracker.failed
