"""Steps of differential inverse kinematics, as mink and pink ask for them: weighted least squares within limits."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from poise.methods.bounded import BoundedLeastSquares
from poise.methods.damping import ChanLawrence
from poise.model.model import Model
from poise.solving.limits import Stated
from poise.solving.tracker import Tracker
from poise.spatial import Array
from poise.tasks.base import Task
from poise.tasks.velocity import DampingTask, JointVelocityTask

_MOST: Final = 16
"""Sets of tasks and limits that are kept prepared."""
_AT_ONCE: Final = 7
"""Velocities of a JointVelocityTask."""


@final
@dataclass(frozen=True)
class Term:
    """A task without its target, what it is made of, and the target of this step."""

    kind: type[Task]
    settings: tuple[tuple[str, Any], ...]
    target: Any = None

    def task(self) -> Task:
        """The task."""
        return self.kind(**dict(self.settings))


def term(kind: type[Task], target: Any = None, **settings: Any) -> Term:
    """A term; its settings are numbers, text and tuples."""
    return Term(kind, tuple(settings.items()), target)


def posture_terms(model: Model, weights: Array, change: Array, dt: float) -> Iterator[Term]:
    """Rows `weight_i (change_i - dq_i)`, for weights and changes (nv,), as velocities over `dt` [s]."""
    for names, at in _chunks(model, weights):
        yield term(JointVelocityTask, change[at] / dt, joints=names, weight=tuple(map(float, weights[at])))


def damping_terms(model: Model, weights: Array) -> Iterator[Term]:
    """Rows `weight_i dq_i`, for weights (nv,)."""
    for names, at in _chunks(model, weights):
        yield term(DampingTask, joints=names, weight=tuple(map(float, weights[at])))


def _chunks(model: Model, weights: Array) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """Joints of which a velocity has a weight, a few at a time, and their places in v."""
    names: list[str] = []
    at: list[int] = []
    for name in model.joint_names:
        places = range(model.nv)[model.velocity_index(name)]
        if not weights[places].any():
            continue
        if len(at) + len(places) > _AT_ONCE:
            yield tuple(names), at
            names, at = [], []
        names.append(name)
        at = [*at, *places]
    if names:
        yield tuple(names), at


@final
@dataclass
class Steps:
    """Trackers by what they were made of."""

    made: dict[Any, Tracker] = field(default_factory=dict)

    def step(
        self,
        model: Model,
        terms: Sequence[Term],
        q: Array,
        dt: float,
        limits: tuple[Any, ...] | bool,
        damping: float,
        lm: float,
    ) -> Array:
        """(nq,) where one step of `dt` [s] from `q` (nq,) leads, within `limits`.

        It minimises the weighted squares of what the terms lack, and lambda^2 |dq|^2 with lambda^2 of `damping` and of
        `lm` times the squares of the errors.
        """
        key = model, tuple((t.kind, t.settings) for t in terms), dt, limits, damping, lm
        if key not in self.made:
            if len(self.made) >= _MOST:
                del self.made[next(iter(self.made))]
            tasks = [t.task() for t in terms]
            heaviest = max(
                (float(np.max(x)) for t in terms for n, x in t.settings if n.endswith("weight")), default=1.0
            )
            rule = ChanLawrence(max(2.0 * lm, 1e-300), math.sqrt(damping) / (heaviest or 1.0))
            method = BoundedLeastSquares(max_error=None, max_step=math.pi, damping=rule)
            stated: Stated = list(limits) if isinstance(limits, tuple) else limits
            self.made[key] = Tracker(model, tasks, method, dt=dt, limits=stated, settle=False)
        targets = [t.target for t in terms]
        return self.made[key].step(q, targets[0] if len(targets) == 1 else targets)
