"""An index of starts: configurations by the goals that they fulfil, see `poise.kernels.solver.starts`."""

from collections import OrderedDict
from threading import RLock
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.algebra.swing_twist import random_rotation
from poise.kernels.machine.forks import hold_over_forks
from poise.kernels.machine.layout import DIRECTION, FEATURES, PLACE, TURN
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.quaternions import quaternion_matrix
from poise.solving.problem.problem import Problem, strides
from poise.tasks.base import Task

_LEVELS, _SIZE = 8, 32
"""Levels of splits, and configurations in each of the leaves: 8,192 in all, of 1 MB for seven joints."""
_PLACE, _TURN = 1.15, 0.86
"""What a place weighs, in units of the spread of all places, and an axis of a rotation."""
_CROWDED, _MARGIN = 1.0, 0.4
"""The feature of a configuration at a limit, and the distance [rad or m] over which it falls."""
_CACHED: Final = 8
"""Indices that are kept for a model."""

Words = npt.NDArray[np.int64]


def start_index(model: Model, tasks: tuple[Task, ...], problem: Problem) -> Words | None:
    """The index for these tasks, which the model keeps; None where their goals tell nothing of configurations."""
    with _LOCK:
        cache = _INDICES.setdefault(model, OrderedDict())
        key = problem.words.tobytes()
        if key not in cache:
            cache[key] = _made(model, tasks, problem)
            while len(cache) > _CACHED:
                cache.popitem(last=False)
        cache.move_to_end(key)
        return cache[key]


_INDICES: "WeakKeyDictionary[Model, OrderedDict[bytes, Words | None]]" = WeakKeyDictionary()
_LOCK = RLock()
hold_over_forks(_LOCK, rank=3)


def _made(model: Model, tasks: tuple[Task, ...], problem: Problem) -> Words | None:
    """The words of an index, as the kernels read them."""
    root = _free_root(model)
    places = [int(i) for i in problem.sampled_coordinates["q"]]
    places += [int(i) + k for i in problem.section("balls")["q"] for k in range(4)]
    if root >= 0:
        places = [i for i in places if not root <= i < root + 7]
    q = _configurations(model, problem, _SIZE << _LEVELS, root)
    features, weights = _features(model, tasks, q)
    if not places or not weights.any():
        return None
    order, splits = _tree(features)
    usual = _usual(features[order].reshape(1 << _LEVELS, _SIZE, -1), _costs(tasks, weights))
    features = np.column_stack([features, _crowding(problem, q)])
    leaves = [x[order].reshape(1 << _LEVELS, _SIZE, -1) for x in (features, q[:, places])]
    tables = np.concatenate(
        [leaves[0].transpose(0, 2, 1).reshape(1 << _LEVELS, -1), leaves[1].reshape(1 << _LEVELS, -1)], 1
    )
    head = [_LEVELS, _SIZE, features.shape[1], len(places), root]
    parts = [np.array([usual]), weights, np.array(places, dtype=np.float64), splits, tables]
    return np.concatenate([np.array(head), *(np.ascontiguousarray(part).view(np.int64).ravel() for part in parts)])


def _free_root(model: Model) -> int:
    """Where in q a free root begins; -1 if the root is not free."""
    for joint in model.joints:
        if joint.nq:
            return model.index(joint.name).start if joint.kind is JointKind.FLOATING else -1
    return -1


def _configurations(model: Model, problem: Problem, count: int, root: int) -> Array:
    """(count, nq) spread evenly over the sampling box, the same at all times; other numbers as at home."""
    q = np.tile(model.home, (count, 1))
    low, high = model.sampling_box
    coordinates = problem.sampled_coordinates
    balls = problem.section("balls").view(np.recarray)
    n = len(coordinates)
    u = np.modf(0.5 + np.arange(1, count + 1)[:, None] * strides(n + 3 * len(balls)))[0]
    at = coordinates["q"]
    q[:, at] = np.clip(low[at] + u[:, :n] * (high - low)[at], coordinates["lower"], coordinates["upper"])
    for k, ball in enumerate(balls):
        drawn = random_rotation(ball, *u[:, n + 3 * k : n + 3 * k + 3].T)
        q[:, ball.q : ball.q + 4] = np.stack(drawn, axis=1)
    if root >= 0:
        q[:, root : root + 7] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    return q


def _features(model: Model, tasks: tuple[Task, ...], q: Array) -> tuple[Array, Array]:
    """(count, FEATURES each) of what the configurations fulfil, and (tasks, 2) the weights of places and turns."""
    features, weights = np.zeros((len(q), len(tasks), FEATURES)), np.zeros((len(tasks), 2))
    for k, task in enumerate(tasks):
        goals = task.fulfilled(model, q)
        if goals is None or not np.isfinite(goals).all():
            continue
        units = {block.unit for block in task.blocks if block.weighted_rows}
        if task.goal_kind & DIRECTION:
            weights[k, 0] = _TURN
        elif task.goal_kind & PLACE and units - {"rad"}:
            weights[k, 0] = _PLACE / max(float(np.sqrt(goals[:, :3].var(0).mean())), 1e-9)
        if task.goal_kind & TURN and "rad" in units:
            weights[k, 1] = _TURN
            axes = quaternion_matrix(goals[:, 3:])
            features[:, k, 3:6], features[:, k, 6:9] = axes[:, :, 0], axes[:, :, 2]
        features[:, k, :3] = goals[:, :3]
        features[:, k] *= np.repeat(weights[k], (3, 6))
    return features.reshape(len(q), -1), weights


def _costs(tasks: tuple[Task, ...], weights: Array) -> Array:
    """(FEATURES tasks,) what the square of a difference of features is in the sum of squares of all errors.

    Two axes of a small turn move by 4/3 of the square of its angle, in the mean over all directions.
    """
    task_weights = np.array([[_weight(task, "m"), _weight(task, "rad")] for task in tasks])
    scales = np.divide(task_weights, weights, out=np.zeros_like(weights), where=weights > 0.0) ** 2
    costs: Array = np.repeat(scales * [1.0, 0.75], (3, 6), axis=1).ravel()
    return costs


def _weight(task: Task, unit: str) -> float:
    found = [weight for block in task.blocks if block.unit == unit for weight in block.weight]
    return float(np.mean(found)) if found else 0.0


def _usual(leaves: Array, costs: Array) -> float:
    """The median, over a sample, of what is left between a goal and the nearest other one in its leaf."""
    found = []
    for leaf in leaves[:: len(leaves) // 16]:
        away = ((leaf[:, None] - leaf) ** 2).sum(axis=2)
        np.fill_diagonal(away, np.inf)
        found.append(((leaf - leaf[away.argmin(axis=1)]) ** 2) @ costs)
    return float(np.median(np.concatenate(found)))


def _crowding(problem: Problem, q: Array) -> Array:
    """(count,) how near the configurations are to a limit."""
    coordinates = problem.sampled_coordinates
    x = q[:, coordinates["q"]]
    margin = np.minimum(x - coordinates["lower"], coordinates["upper"] - x).min(axis=1, initial=np.inf)
    return _CROWDED * np.exp(-margin / _MARGIN)


def _tree(features: Array) -> tuple[npt.NDArray[np.intp], Array]:
    """The order of the configurations, leaf by leaf, and (2^levels - 1, 2) the splits: each at the median of the
    feature that varies most."""
    order, splits = np.arange(len(features)), []
    for level in range(_LEVELS):
        cells = order.reshape(1 << level, -1)
        inside = features[cells]
        along = inside.var(axis=1).argmax(axis=1)
        keys = np.take_along_axis(inside, along[:, None, None], axis=2)[:, :, 0]
        half = keys.shape[1] // 2
        ranks = np.argpartition(keys, half, axis=1)
        split_value = np.take_along_axis(keys, ranks[:, half : half + 1], axis=1)[:, 0]
        splits.append(np.stack([along.view(np.float64), split_value], axis=1))
        order = np.take_along_axis(cells, ranks, axis=1).ravel()
    return np.sort(order.reshape(-1, _SIZE), axis=1).ravel(), np.concatenate(splits)
