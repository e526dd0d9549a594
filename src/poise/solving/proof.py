"""Proofs that a target is out of reach: by lengths alone, which is cheap, and else by what turns around a loop."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from poise.model.model import Model
from poise.solving.arguments import each_goal
from poise.solving.certificate import Certificate
from poise.solving.kept import kept
from poise.solving.span import span
from poise.solving.turns import comparisons
from poise.solving.verify import Polygon, polygon
from poise.spatial import SE3, Array
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame

_ROUNDS: Final = 8
"""Halvings of a joint at most."""


def certificate_of(model: Model, tasks: Sequence[Task], goal: Array, *, limits: bool) -> Certificate | None:
    """A proof that one of the targets of tasks, whose goal numbers are joined, is out of reach; None without."""
    asked = list(zip(tasks, each_goal(tasks, goal[None]), strict=True))
    tried = (way(model, task, one, limits=limits) for way in (by_lengths, by_turns) for task, (one,) in asked)
    return next((proof for proof in tried if proof is not None), None)


def by_lengths(model: Model, task: Task, goal: Array, *, limits: bool) -> Certificate | None:
    """The proof that the links are too short for the goal (7,) of a task, or one of them too long; None without."""
    for proof, sides in _polygons(model, task, limits=limits):
        if sides.open(_unit(goal[None]))[0]:
            return _aimed(proof, goal)
    return None


def ruled_out(model: Model, task: Task, goals: Array, *, limits: bool) -> npt.NDArray[np.bool_]:
    """(n,) whether there is such a proof for each of the goals (n, 7)."""
    unit, out = _unit(goals), np.zeros(len(goals), dtype=np.bool_)
    for _, sides in _polygons(model, task, limits=limits):
        out |= sides.open(unit)
        if out.all():
            break
    return out


def by_turns(model: Model, task: Task, goal: Array, *, limits: bool) -> Certificate | None:
    """The proof that no branch is within the limits, for the goal (7,) of a task; None without."""
    if task.placed is None or not task.required:
        return None
    rows, split = kept(model, (by_turns, task.structure), lambda: _comparisons(model, task))
    whole = posed(task)
    if not len(rows) or not np.isfinite(goal).all() or (whole and not np.any(goal[3:])):
        return None
    stated = _stated(task, whole=whole, limits=limits, numbers=rows)
    proof = replace(_aimed(stated, goal), kind="turns", split=split, rounds=1 if split < 0 else _ROUNDS)
    return proof if proof.verify(model) else None


def posed(task: Task) -> bool:
    """Whether a task must bring a frame to all of a pose in the world."""
    return task.placed is not None and task.required and len(task.blocks) > 1 and min(task.blocks[1].weight) > 0.0


def _stated(task: Task, *, whole: bool, limits: bool, numbers: Array) -> Certificate:
    """What a proof says, but for the target."""
    assert isinstance(task, OfFrame)
    return Certificate(
        kind="lengths", frame=task.frame, offset=task.offset or SE3.identity(), target=SE3.identity(),
        position_tolerance=task.blocks[0].tolerance, rotation_tolerance=task.blocks[1].tolerance if whole else np.pi,
        limits=limits, numbers=numbers,
    )  # fmt: skip


def _aimed(proof: Certificate, goal: Array) -> Certificate:
    """It with the goal (7,) as the target, or the place of it where that is all that is asked."""
    whole = proof.rotation_tolerance < np.pi
    return replace(proof, target=SE3(goal) if whole else SE3.from_parts(goal[:3]))


def _unit(goals: Array) -> Array:
    """Goals (n, 7) with unit quaternions; NaN, of which nothing is proved, where one has no length that is a number."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        size = np.linalg.norm(goals[:, 3:], axis=1, keepdims=True)
        return np.concatenate([goals[:, :3], goals[:, 3:] / np.where(size < np.inf, size, np.nan)], axis=1)


def _polygons(model: Model, task: Task, *, limits: bool) -> list[tuple[Certificate, Polygon]]:
    """Proofs by lengths that there could be, the target left open; none where no length proves anything of a task."""
    if task.placed is None or not task.required:
        return []
    return kept(model, (by_lengths, task.structure, limits), lambda: list(_walks(model, task, limits=limits)))


def _walks(model: Model, task: Task, *, limits: bool) -> Iterator[tuple[Certificate, Polygon]]:
    """Along the links, origin to origin or the shortest way, and to where the whole pose puts the last axis."""
    assert isinstance(task, OfFrame)
    for whole, shortest in [(False, False), (False, True)] + [(True, True)] * posed(task):
        way = span(model, task.frame, limits=limits, of_pose=whole, offset=task.offset, shortest=shortest)
        proof = _stated(task, whole=whole, limits=limits, numbers=way.heights)
        sides = polygon(model, proof)
        if sides is not None:
            yield proof, sides


def _comparisons(model: Model, task: Task) -> tuple[Array, int]:
    """The rows of a certificate for the chain, none if there are none, and the joint that is split."""
    assert isinstance(task, OfFrame)
    at = task.place(model)
    units = [model.tree.units[i] for i in model.tree.path(at.tip)]
    return comparisons(units, at.hang.matrix(), posed=posed(task)) or (np.zeros((0, 11)), -1)
