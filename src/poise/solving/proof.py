"""Proofs that a target is out of reach: by lengths alone, which is cheap, and else by what turns around a loop."""

from dataclasses import replace
from typing import Final

import numpy as np

from poise.model.model import Model
from poise.quaternions import rotate
from poise.solving.certificate import Certificate
from poise.solving.kept import kept
from poise.solving.span import Span, span
from poise.solving.turns import comparisons
from poise.spatial import SE3, Array
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame

_ROUNDS: Final = 8
"""Halvings of a joint at most."""


def by_lengths(model: Model, task: Task, goal: Array, *, limits: bool) -> Certificate | None:
    """The proof that the links are too short for the goal (7,) of a task, or one of them too long; None without."""
    if task.placed is None or not task.required:
        return None
    for ball, whole in kept(model, (by_lengths, task.structure, limits), lambda: _spans(model, task, limits=limits)):
        turn = task.blocks[1].tolerance * float(np.linalg.norm(ball.point)) if whole else 0.0
        place = goal[:3] + rotate(goal[3:], ball.point) if whole else goal[:3]
        away, slack = float(np.linalg.norm(place - ball.centre)), task.placed[1] + turn
        if away - slack > ball.radius or away + slack < ball.hole:
            proof = _stated(task, goal, posed=whole, limits=limits, numbers=ball.heights)
            if proof is not None and proof.verify(model):
                return proof
    return None


def by_turns(model: Model, task: Task, goal: Array, *, limits: bool) -> Certificate | None:
    """The proof that no branch is within the limits, for the goal (7,) of a task; None without."""
    if task.placed is None or not task.required:
        return None
    rows, split = kept(model, (by_turns, task.structure), lambda: _comparisons(model, task))
    proof = _stated(task, goal, posed=_posed(task), limits=limits, numbers=rows)
    if proof is None or not len(rows):
        return None
    proof = replace(proof, kind="turns", split=split, rounds=1 if split < 0 else _ROUNDS)
    return proof if proof.verify(model) else None


def _posed(task: Task) -> bool:
    """Whether a task asks for all of a pose."""
    return len(task.blocks) > 1 and min(task.blocks[1].weight) > 0.0


def _stated(task: Task, goal: Array, *, posed: bool, limits: bool, numbers: Array) -> Certificate | None:
    """What a proof would have to say; None if the goal is none."""
    assert isinstance(task, OfFrame)
    if not np.isfinite(goal).all() or (posed and not np.any(goal[3:])):
        return None
    return Certificate(
        kind="lengths", frame=task.frame, offset=task.offset or SE3.identity(),
        target=SE3(goal) if posed else SE3.from_parts(goal[:3]), position_tolerance=task.blocks[0].tolerance,
        rotation_tolerance=task.blocks[1].tolerance if posed else np.pi, limits=limits, numbers=numbers,
    )  # fmt: skip


def _spans(model: Model, task: Task, *, limits: bool) -> list[tuple[Span, bool]]:
    """Walks along the links, and whether each ends where the whole pose puts the last axis."""
    assert isinstance(task, OfFrame)
    ways = [(False, False), (False, True)] + [(True, True)] * _posed(task)
    return [
        (span(model, task.frame, limits=limits, of_pose=whole, offset=task.offset, shortest=short), whole)
        for whole, short in ways
    ]


def _comparisons(model: Model, task: Task) -> tuple[Array, int]:
    """The rows of a certificate for the chain, none if there are none, and the joint that is split."""
    assert isinstance(task, OfFrame)
    at = task.place(model)
    units = [model.tree.units[i] for i in model.tree.path(at.tip)]
    return comparisons(units, at.hang.matrix(), posed=_posed(task)) or (np.zeros((0, 11)), -1)
