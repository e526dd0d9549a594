"""Proofs that a target is out of reach: by lengths alone, which is cheap, and else by boxes of joints."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.model.model import Model
from poise.quaternions import rotate
from poise.solving.arguments.arguments import each_goal
from poise.solving.arguments.lru_cache import cached
from poise.solving.problem.chain import Chain, chain_of
from poise.solving.problem.reach_bound import walk
from poise.solving.unreachable.branch_and_bound import bisected
from poise.solving.unreachable.certificate import Certificate
from poise.solving.unreachable.loop_features import plan
from poise.solving.unreachable.verify import POINT, loop_of
from poise.spatial import SE3
from poise.tasks.base import ROTATION, Task
from poise.tasks.frame import OfFrame

_ROUNDING: Final = 1e-8
"""A share of the lengths by which they have to prove it, so that who checks the proof may round in another way."""


def certificate_of(model: Model, tasks: Sequence[Task], goal: Array, q: Array, *, limits: bool) -> Certificate | None:
    """A proof that one of the targets of tasks, whose goal numbers are joined, is out of reach of what may move; None
    without.

    What stands still does so where `q` (nq,) has it.
    """
    still, model = {name: tuple(at.tolist()) for name, at in _still_at(model, q).items()}, with_still_locked(model, q)
    pairs = list(zip(tasks, each_goal(tasks, goal[None]), strict=True))
    certificates = (way(model, task, one, limits=limits) for way in (by_lengths, by_boxes) for task, (one,) in pairs)
    return next((replace(certificate, still=still) for certificate in certificates if certificate is not None), None)


def with_still_locked(model: Model, q: Array) -> Model:
    """The model with what stands still fixed where q (nq,) has it; the last one is kept."""
    if not model.still:
        return model
    positions = _still_at(model, q)
    key = tuple(map(tuple, positions.values()))
    last, made = model.queries.get(with_still_locked, (None, model))
    if last != key:
        made = model._locked_at(positions)
        model.queries[with_still_locked] = key, made
    return made


def _still_at(model: Model, q: Array) -> dict[str, Array]:
    """Where q (nq,) has each joint that stands still."""
    return {name: q[model.index(name)] for name in model.joint_names if name in model.still}


def by_lengths(model: Model, task: Task, goal: Array, *, limits: bool) -> Certificate | None:
    """The proof that the links are too short for the goal (7,) of a task, or one of them too long; None without."""
    for polygon in _polygons(model, task, limits=limits):
        if polygon.open(_unit(goal[None]))[0]:
            return _aimed(polygon.certificate, goal)
    return None


def ruled_out(model: Model, task: Task, goals: Array, *, limits: bool) -> npt.NDArray[np.bool_]:
    """(n,) whether there is such a proof for each of the goals (n, 7)."""
    unit, out = _unit(goals), np.zeros(len(goals), dtype=np.bool_)
    for polygon in _polygons(model, task, limits=limits):
        out |= polygon.open(unit)
        if out.all():
            break
    return out


def by_boxes(model: Model, task: Task, goal: Array, *, limits: bool) -> Certificate | None:
    """The proof that no box of joints has a solution for the goal (7,) of a task; None without."""
    whole = posed(task) or turned(task)
    if not (provable(task) or whole) or not np.isfinite(goal).all() or (whole and not np.any(goal[3:])):
        return None
    assert isinstance(task, OfFrame)
    chain = chain_of_task(model, task, limits=limits)
    features = cached(
        model, (by_boxes, task.structure, limits), lambda: plan(chain, posed=whole, placed=not turned(task))
    )
    template = _aimed(_certificate_for(task, whole=whole, limits=limits), goal)
    found = bisected(loop_of(chain, template), features)
    certificate = None if found is None else replace(template, tree=found[0], reasons=tuple(found[1]))
    return certificate if certificate is not None and certificate.verify(model) else None


def never_turned(model: Model, task: Task, goal: Array, *, limits: bool) -> bool:
    """Whether no joint turns the frame of a task, and its goal (7,) is turned."""
    if not (posed(task) or turned(task)):
        return False
    assert isinstance(task, OfFrame)
    chain = chain_of_task(model, task, limits=limits)
    return not any(axis.turns for axis in chain.axes) and by_boxes(model, task, goal, limits=limits) is not None


def provable(task: Task) -> bool:
    """Whether there may be a proof of a task: it must bring a frame to a place, all of it."""
    return task.placed is not None and task.required


def posed(task: Task) -> bool:
    """Whether a task must bring a frame to all of a pose."""
    return provable(task) and len(task.blocks) > 1 and min(task.blocks[1].weight) > 0.0


def turned(task: Task) -> bool:
    """Whether a task must bring a frame to all of a rotation, and leaves its place free."""
    return task.frame_parts == (ROTATION,) and task.required and min(task.blocks[0].weight) > 0.0


class Polygon(NamedTuple):
    """Points on the axes of a chain, and the sides between them; a target adds the one that closes."""

    certificate: Certificate
    """What it proves, the target left open."""
    first: Array
    """(3,) in the base [m]."""
    last: Array
    """(3,) in the frame [m]."""
    longest: float
    total: float
    """Of the sides [m]."""
    slack: float
    """By how much tolerances and slides may change them [m]."""

    def open(self, targets: Array) -> npt.NDArray[np.bool_]:
        """(n,) whether one of the sides is longer than all the others together, at targets (n, 7): place, unit wxyz.

        A target that is not finite is none, and nothing is said of it.
        """
        places = targets[:, :3]
        with np.errstate(invalid="ignore", over="ignore"):
            if self.last.any():
                places = places + rotate(targets[:, 3:], self.last)
            side = np.linalg.norm(places - self.first, axis=1)
            total = self.total + side
            far = total + np.linalg.norm(targets[:, :3], axis=1)
            return np.asarray(2.0 * np.maximum(self.longest, side) - total > self.slack + _ROUNDING * far)


def _polygons(model: Model, task: Task, *, limits: bool) -> list[Polygon]:
    """Proofs by lengths that there could be; none where no length proves anything of a task.

    Along the links, origin to origin or the shortest way, and to where the whole pose puts the last axis.
    """
    if not provable(task):
        return []
    assert isinstance(task, OfFrame)

    def made() -> list[Polygon]:
        chain = chain_of_task(model, task, limits=limits)
        ways = [(False, False), (False, True)] + [(True, True)] * posed(task)
        return [
            _polygon(chain, _certificate_for(task, whole=whole, limits=limits), shortest=shortest)
            for whole, shortest in ways
        ]

    return cached(model, (by_lengths, task.structure, limits), made)


def _polygon(chain: Chain, template: Certificate, *, shortest: bool) -> Polygon:
    """The polygon of a walk along a chain, to its last axis if a rotation is stated."""
    whole = template.rotation_tolerance < np.pi
    way = walk(chain, of_pose=whole, shortest=shortest)
    ups = [
        height + (axis.slides and axis.slides * axis.centre)
        for axis, height in zip(chain.axes, way.heights, strict=True)
    ]
    points = [axis.matrix @ [0.0, 0.0, up, 1.0] for axis, up in zip(chain.axes, ups, strict=True)]
    rows = [[POINT, k, k + 1, *point] for k, point in enumerate(points)]
    if not whole:
        points.append(chain.hang[:, 3])
        rows.append([POINT, len(rows), len(rows), *chain.hang[:, 3]])
    edges = [np.linalg.norm(p - [0.0, 0.0, up, 1.0]) for p, up in zip(points[1:], way.heights, strict=False)]
    slack = template.position_tolerance + sum(abs(axis.slides) * axis.half for axis in chain.axes if axis.slides)
    slack += template.rotation_tolerance * float(np.linalg.norm(way.point)) * whole
    certificate = replace(template, kind="lengths", reasons=(np.array(rows),), tree=np.array([-1], dtype=np.int16))
    return Polygon(certificate, way.centre, way.point, float(max(edges, default=0.0)), float(sum(edges)), float(slack))


def chain_of_task(model: Model, task: OfFrame, *, limits: bool) -> Chain:
    """The chain whose frame, or tool, a task leads."""
    return chain_of(model, task.frame, task.base, task.offset or SE3.identity(), limits=limits)


def _certificate_for(task: OfFrame, *, whole: bool, limits: bool) -> Certificate:
    """What a proof says, but for the target and why."""
    place, turn = (np.inf if turned(task) else task.blocks[0].tolerance), task.blocks[-1].tolerance
    return Certificate(
        kind="boxes", frame=task.frame, base=task.base, offset=task.offset or SE3.identity(), target=SE3.identity(),
        position_tolerance=place, rotation_tolerance=turn if whole else np.pi,
        limits=limits, reasons=(), tree=np.zeros(0, dtype=np.int16),
    )  # fmt: skip


def _aimed(certificate: Certificate, goal: Array) -> Certificate:
    """It with the goal (7,) as the target, or the place of it where that is all that is asked."""
    whole = certificate.rotation_tolerance < np.pi
    return replace(certificate, target=SE3(goal) if whole else SE3.from_parts(goal[:3]))


def _unit(goals: Array) -> Array:
    """Goals (n, 7) with unit quaternions; NaN, of which nothing is proved, where one has no length that is a number."""
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        size = np.linalg.norm(goals[:, 3:], axis=1, keepdims=True)
        return np.concatenate([goals[:, :3], goals[:, 3:] / np.where(size < np.inf, size, np.nan)], axis=1)
