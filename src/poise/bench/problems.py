"""Sets of problems: where each task shall go, and where each solve begins; the same seed makes the same problems."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np

from poise.bench.judge import feasibility_of
from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidValue, ShapeError
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.solving.arguments.arguments import alone, joined
from poise.solving.requirements.limits import LimitsLike
from poise.spatial import SE3
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame

_NEAR = 0.1
"""How far a near start is from an answer, a joint [rad or m]."""
_CANDIDATES = 100
"""Configurations of which a singular target takes the one nearest to a singular pose."""
_BEYOND = 1.5
"""How far a target out of reach is, in units of the reach."""
_DRAWS: Final = 100
"""How often as many configurations are drawn as are wanted, to find those in which all holds that must."""
_SLIDES = (JointKind.PRISMATIC, JointKind.HELICAL, JointKind.PLANAR, JointKind.FLOATING)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """N problems for the same tasks."""

    targets: tuple[Any, ...]
    """N targets, as a Solver takes them: one target, or for several tasks a tuple of them."""
    starts: Array
    """(N, nq) where each solve begins."""


def reachable(model: Model, tasks: Sequence[Task], count: int, seed: int, limits: LimitsLike = True) -> Problems:
    """Targets at random configurations in which all holds that must; starts within the limits of joints, independent
    of them."""
    goal, _ = _streams(seed)
    return Problems(targets_at(model, tasks, _holding(model, tasks, count, goal, limits)), starts(model, count, seed))


def near(model: Model, tasks: Sequence[Task], count: int, seed: int) -> Problems:
    """Targets as in `reachable`; every joint starts within 0.1 rad or m of an answer."""
    goal, start = _streams(seed)
    answers = _holding(model, tasks, count, goal)
    moved = model.integrate(answers, start.uniform(-_NEAR, _NEAR, (count, model.nv)))
    return Problems(targets_at(model, tasks, answers), model.clip(moved))


def singular(model: Model, tasks: Sequence[Task], count: int, seed: int) -> Problems:
    """Targets at the worst of 100 random configurations: least ratio of least to largest singular value of J.

    Raises ValueError for tasks that are not about a frame in the world.
    """
    goal, _ = _streams(seed)
    samples = _holding(model, tasks, count * _CANDIDATES, goal).reshape(count, _CANDIDATES, model.nq)
    rows = [_rows(model, task, samples) for task in tasks]
    values = np.linalg.svd(np.concatenate(rows, axis=-2), compute_uv=False)
    worst = np.argmin(values[..., -1] / values[..., 0], axis=1)
    return Problems(targets_at(model, tasks, samples[np.arange(count), worst]), starts(model, count, seed))


def unreachable(model: Model, tasks: Sequence[Task], count: int, seed: int) -> Problems:
    """Targets as in `reachable`, their positions moved out to 1.5 times the reach, seen from the world's origin.

    Raises ValueError for tasks without a position, and for a robot that can slide without limit.
    """
    for task in tasks:
        if not isinstance(task, OfFrame) or task.placed is None:
            raise InvalidValue("not-supported", f"{task.label} has no position that could be out of reach")
    for joint in model.joints:
        if joint.kind in _SLIDES and not np.isfinite([joint.lower, joint.upper]).all():
            raise InvalidValue(
                "no-limits", f"nothing is out of reach of {model.name}: its joint {joint.name!r} slides without limit"
            )
    goal, _ = _streams(seed)
    answers = _holding(model, tasks, count, goal)
    probes = np.concatenate([answers, model.sample(1000, seed=goal)])
    targets = []
    for task in (task for task in tasks if isinstance(task, OfFrame)):
        pose = task.frame_pose(model, answers).array.copy()
        reach = np.linalg.norm(task.frame_pose(model, probes).xyz, axis=-1).max()
        pose[:, :3] *= _BEYOND * reach / np.linalg.norm(pose[:, :3], axis=-1, keepdims=True)
        targets.append([task.target_of(SE3(row)) for row in pose])
    return Problems(_by_problem(targets), starts(model, count, seed))


SETS: Final[Mapping[str, Callable[[Model, Sequence[Task], int, int], Problems]]] = MappingProxyType(
    {make.__name__: make for make in (reachable, near, singular, unreachable)}
)
"""What makes each set, by name."""


def starts(model: Model, count: int, seed: int) -> Array:
    """(count, nq) random configurations within the limits, independent of the targets of the same seed."""
    _, start = _streams(seed)
    return model.sample(count, seed=start)


def targets_at(model: Model, tasks: Sequence[Task], q: Array) -> tuple[Any, ...]:
    """N targets that the configurations `q` (N, nq) fulfil; raises ValueError for a task that cannot tell one.

    What need not be fulfilled, a posture or a task that is not required, keeps the target of its own.
    """
    return _by_problem([[_target_at(model, task, row) for row in q] for task in tasks])


def _target_at(model: Model, task: Task, q: Array) -> Any:
    if not task.blocks or (not task.required and task.aimed):
        return None
    found = task.target_at(model, q)
    if found is None and task.takes_target:
        raise InvalidValue(
            "needs", f"{task.label} tells no targets within reach: give it target_at(model, q), or give targets"
        )
    return found


def goals(model: Model, tasks: Sequence[Task], targets: Sequence[Any]) -> Array:
    """(N, .) numbers of N targets, joined; raises ShapeError or ValueError that says which one is none."""
    out, several = [], len(tasks) > 1
    for i, given in enumerate(targets):
        if several and (not isinstance(given, (Sequence, np.ndarray)) or len(given) != len(tasks)):
            raise ShapeError(f"targets[{i}] must be {len(tasks)} targets, one a task in their order, got {given!r}")
        each = []
        for k, task in enumerate(tasks):
            name = f"targets[{i}][{k}]" if several else f"targets[{i}]"
            each.append(task.goal_on(model, given[k] if several else alone(given, name), name))
            if not np.isfinite(each[-1]).all():
                raise InvalidValue("not-finite", f"{name} of {task.label} is not finite")
        out.append(joined(tasks, each))
    return np.array(out)


def given_starts(model: Model, q0: ArrayLike, count: int) -> Array:
    """(count, nq) of one start for all problems, or of one for each; raises ShapeError for another number of them."""
    q = model.check_q(q0, "q0")
    if q.shape not in ((model.nq,), (count, model.nq)):
        raise ShapeError(
            f"q0 must have shape ({model.nq},), one start for all, or ({count}, {model.nq}), one a problem, "
            f"got {q.shape}"
        )
    return np.array(np.broadcast_to(q, (count, model.nq)))


def _holding(
    model: Model, tasks: Sequence[Task], count: int, seed: np.random.Generator, limits: LimitsLike = True
) -> Array:
    """(count, nq) random configurations in which all holds that must; raises ValueError where next to none is found."""
    with feasibility_of(model, tasks, limits) as feasibility:
        found = np.zeros((0, model.nq))
        for _ in range(_DRAWS):
            q = model.sample(count, seed=seed)
            if feasibility.loops is not None:
                q, closed = feasibility.loops.all_closed(q)
                q = q[closed]
            found = np.concatenate([found, q[feasibility(q) >= 0.0]])
            if len(found) >= count:
                return found[:count]
    raise InvalidValue(
        "needs", f"hardly any configuration of {model.name} that was drawn keeps what must hold: give targets"
    )


def _streams(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    goal, start = np.random.default_rng(seed).spawn(2)
    return goal, start


def _rows(model: Model, task: Task, q: Array) -> Array:
    """(..., rows, nv) of the Jacobian of a task's frame, as far as it follows them; an aim is a whole rotation."""
    if not isinstance(task, OfFrame) or not task.in_world:
        raise InvalidValue(
            "not-supported", f"singular poses are of frames in the world, not of {task.label}: choose other problems"
        )
    jacobian, units = model.jacobian(task.frame, q), {block.unit for block in task.blocks}
    if task.offset is not None:  # the tool's own velocity: v + w x r
        arm = (task.frame_pose(model, q).xyz - model.pose(task.frame, q).xyz)[..., None]
        jacobian[..., :3, :] += np.cross(jacobian[..., 3:, :], arm, axis=-2)
    return jacobian[..., 0 if "m" in units else 3 : 6 if "rad" in units else 3, :]


def _by_problem(targets: list[list[Any]]) -> tuple[Any, ...]:
    return tuple(targets[0]) if len(targets) == 1 else tuple(zip(*targets, strict=True))
