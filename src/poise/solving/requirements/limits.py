"""What `limits=` says, in every function: whether joints keep theirs, and what must hold beside them."""

from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from poise.common.checks import broken_rule
from poise.common.errors import InvalidType, InvalidValue
from poise.model.model import Model
from poise.solving.problem.problem import Problem
from poise.tasks.base import Task

if TYPE_CHECKING:
    from poise.solving.requirements.collision import CollisionLimit
    from poise.solving.requirements.inequalities import Constraint, Limit, VelocityLimit

LimitsLike: TypeAlias = "bool | Sequence[Limit | Constraint]"
"""What `limits=` may be: whether joint limits hold, or what must hold beside them."""
_KINDS = ("inequalities", "guard")
"""A limit has one of these methods."""


class Limits(NamedTuple):
    """What was stated."""

    positions: bool
    """Whether joints keep their limits."""
    collision: "CollisionLimit | None"
    """What keeps shapes apart."""
    others: "tuple[Limit, ...]"
    """All others: bounds and rows of velocities."""

    @classmethod
    def of(cls, limits: "LimitsLike | Limits") -> "Limits":
        """Raises TypeError for what is no limit, ValueError for two CollisionLimits."""
        if isinstance(limits, Limits):
            return limits
        if isinstance(limits, bool):
            return cls(limits, None, ())
        if not isinstance(limits, (list, tuple)) or not all(map(_is_limit, limits)):
            tasks = [x.label for x in limits if isinstance(x, Task)] if isinstance(limits, (list, tuple)) else []
            given = f"{tasks[0]}: give it among the tasks" if tasks else repr(limits)
            raise InvalidType(
                "not-a-limit",
                "limits must be True or False, whether joint limits hold, or a list of what must hold beside them, "
                f"such as LinearLimit or CollisionLimit, got {given}",
            )
        from poise.solving.requirements.collision import one_collision_limit

        collision = one_collision_limit(limits)
        return cls(True, collision, tuple(limit for limit in limits if limit is not collision))

    @property
    def has_constraints(self) -> bool:
        """Whether anything is stated beside the limits of joints."""
        return self.collision is not None or bool(self.others)

    @property
    def as_given(self) -> LimitsLike:
        """As `limits=` says it."""
        return [*self.others, *(() if self.collision is None else (self.collision,))] or self.positions

    @property
    def key(self) -> Hashable:
        """By which what was prepared for the same limits is found again."""
        return key_of(self.as_given)

    def timeless(self, model: Model) -> "Limits":
        """Those that hold of a configuration by itself, which has no speed: sums of joints, and distances of shapes;
        see `at_rest` for torques.  Raises what the others raise of a model that they do not fit."""
        found = [limit.inequalities(model, range(model.nv), 1.0) for limit in self.others]
        some = [limit for limit, each in zip(self.others, found, strict=True) if len(each.rows)]
        return self._replace(others=tuple(some))

    def at_rest(self, model: Model) -> tuple[Task, ...]:
        """What limits of torques ask of a configuration by itself: tasks that bound what joints give at rest."""
        found = (limit.inequalities(model, range(model.nv), 1.0) for limit in self.others)
        return tuple(torques.task for each in found for torques in each.torques)

    def tied(self, model: Model) -> list[int]:
        """The velocities that sums of joints are of: they move for them, even where they move no task."""
        if not self.others:
            return []
        return [int(v) for v in np.flatnonzero(self._summed(model) & model._free)]

    def ties_still(self, model: Model) -> bool:
        """Whether a joint that stands still is in a sum of joints."""
        return bool((self._summed(model) & ~model._free).any())

    def _summed(self, model: Model) -> npt.NDArray[np.bool_]:
        """(nv,) which velocities sums of joints are of."""
        rows = [limit.inequalities(model, range(model.nv), None).rows for limit in self.timeless(model).others]
        return np.asarray(np.vstack([np.zeros((1, model.nv)), *rows]).any(axis=0), dtype=np.bool_)


def key_of(limits: LimitsLike) -> Hashable:
    """By which what was prepared for the same limits is found again."""
    if limits is True or limits is False:
        return limits
    parsed = Limits.of(limits)
    return (parsed.collision, *map(_structure, parsed.others))


def part_of_speeds(model: Model, speed: float, dt: float | None) -> "VelocityLimit":
    """The part `speed` of the model's velocity limits; raises ValueError where it is none, or says nothing."""
    if (
        isinstance(speed, bool)
        or not isinstance(speed, (int, float, np.floating, np.integer))
        or not 0.0 < speed <= 1.0
    ):
        raise InvalidValue(
            broken_rule(speed, "out-of-range"),
            f"speed is {speed!r}; it is a part of the model's velocity limits, above 0 and up to 1",
        )
    from poise.solving.requirements.inequalities import VelocityLimit

    if speed == 1.0:
        return VelocityLimit()
    if dt is None:
        raise InvalidValue("no-dt", f"speed={speed:g} needs the time of a step: give the Tracker dt [s]")
    if not np.isfinite(model.velocity).any():
        raise InvalidValue(
            "no-limits",
            f"speed={speed:g} is a part of the model's velocity limits, and {model.name} has none: state them with "
            "model.with_limits(velocity={joint: rad/s or m/s})",
        )
    return VelocityLimit(speed * model.velocity)


def with_feasibility_check(
    model: Model, problem: Problem, limits: Limits, rows: Mapping[str, int] = MappingProxyType({})
) -> Problem:
    """A problem whose solutions are looked at: whether shapes are apart there, and sums of joints within their limits;
    its workspace has these `rows` too.

    Raises ValueError for limits of what takes time, which `Limits.timeless` leaves out.
    """
    from poise.solving.requirements.collision import guard_rows
    from poise.solving.requirements.inequalities import together
    from poise.solving.requirements.sums import by_places

    combined = together(model, range(model.nv), limits.others)
    n = len(problem.velocities)
    collision = limits.collision
    guard = (
        {} if collision is None else {"velocities": [*problem.velocities, model.nv], "collision": collision.guard(None)}
    )
    return problem.extended(
        {"inequalities": np.column_stack([by_places(model, combined.rows), combined.most]).ravel(), **guard},
        {**rows, "best": model.nq, **({} if collision is None else guard_rows(n)), "clearance": 2},
    )


def _structure(limit: object) -> Hashable:
    """What tells one limit from another; of one that has no hash nothing is the same."""
    found = getattr(limit, "structure", limit)
    try:
        hash(found)
    except TypeError:
        return object()
    return found


def _is_limit(limit: object) -> bool:
    return not isinstance(limit, type) and any(callable(getattr(limit, kind, None)) for kind in _KINDS)
