"""Which solvers and trackers can leave Python, and their files; see `image`."""

import os
from typing import TYPE_CHECKING, Final

import numpy as np

from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.kernels.serialised import SOLVER, TRACKER
from poise.solving.arguments.arguments import joined
from poise.solving.search.search import Search
from poise.solving.search.serialised import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poise.common.array import Array
    from poise.model.model import Model
    from poise.solving.problem.workspace import Bound, Scratch
    from poise.tasks.base import Task

_OWN: Final = "its own tasks, methods or potentials are compiled in each process of Python alone"
_PASSIVE_LOOPS: Final = (
    "loops of its model that no task moves are seen to by Python; lock their joints, or export it without them"
)


def export_solver(model: "Model", search: Search, file: str | os.PathLike[str]) -> None:
    """Write the file of a search; raises ValueError where the kernel's answer is not all of it."""
    _refuse(
        "Solver",
        (search.settings.trace, "a trace is kept by Python; leave out trace=True"),
        (bool(search.bound.own), _OWN),
        (search.has_passive_loops, _PASSIVE_LOOPS),
    )
    goals = [task.at(model, model.home) if task.target is None else task.goal_on(model) for task in search.tasks.all]
    scratch, own = search.bound.new(model), slice(len(search.tasks.stated))
    search.supply_all(model, scratch)
    scratch.goal[:] = joined(search.tasks.all, goals)
    targets = joined(search.tasks.stated, goals[own])
    written(
        file, SOLVER, model, search.tasks.stated, search.bound, scratch, targets, home=model.home,
        constrained=search.falls_back,
    )  # fmt: skip


def export_tracker(
    model: "Model",
    tasks: "Sequence[Task]",
    bound: "Bound",
    now: "Scratch",
    file: str | os.PathLike[str],
    *,
    home: "Array",
    explores: bool,
    passive_loops: bool,
) -> None:
    """Write the file of a tracker, of which `now` holds the targets; raises ValueError where its steps are more than
    the kernel's, as where it explores.

    `home` (nq,) is where it begins.  The loops that tasks move are no tasks of the file: their goals stay as they are.
    """
    _refuse(
        "Tracker",
        (bool(bound.own), _OWN),
        (explores, "ways round are looked for by Python; leave out explore=True"),
        (passive_loops, _PASSIVE_LOOPS),
    )
    scratch = bound.new(model)
    assert now.following is not None
    scratch.follow(now.following)
    scratch.goal[:] = now.goal
    guide = bound.problem.rows("guide")
    scratch.narrow[guide] = now.narrow[guide]
    scratch.out[:] = np.nan
    own = now.goal[: GOAL_NUMBERS * sum(bool(task.blocks) for task in tasks)]
    written(file, TRACKER, model, tasks, bound, scratch, np.concatenate([own, now.narrow[guide]]), home=home)


def _refuse(kind: str, *reasons: tuple[bool, str]) -> None:
    """Say the first of the reasons that there is; nothing where there is none."""
    for there, why in reasons:
        if there:
            raise InvalidValue("not-exportable", f"this {kind} cannot be exported: {why}")
