"""Which solvers and trackers can leave Python, and their files; see `image`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.kernels.machine.image import SOLVER, TRACKER
from poise.solving.arguments import joined
from poise.solving.image import written
from poise.solving.search import Search

if TYPE_CHECKING:
    from poise.model.model import Model
    from poise.solving.tracker import Tracker


def export_solver(model: "Model", search: Search, file: Any) -> None:
    """Write the file of a search; raises ValueError where the kernel's answer is not all of it."""
    reasons = [why for holds, why in _reasons(search) if holds]
    if reasons:
        raise ValueError(f"this Solver cannot be exported: {reasons[0]}")
    goals = [task.at(model, model.home) if task.target is None else task.goal_on(model) for task in search.tasks]
    targets, scratch = joined(search.tasks, goals), search.bound.new(model)
    written(file, SOLVER, model, search.tasks, search.bound, scratch, targets, held=search._held)


def _reasons(search: Search) -> list[tuple[bool, str]]:
    """What may stand against it, and how to say so."""
    return [
        (search.trace, "a trace is kept by Python; leave out trace=True"),
        (bool(search.bound.own), "its own tasks, methods or potentials are compiled in each process of Python alone"),
        (
            search._posture is not None,
            "Python slides its answers to the posture; export a Tracker, which follows a PostureTask",
        ),
        (
            any(not task.required for task in search.frame_tasks),
            "how far a task that is not required gives way is found by Python; require all, or export a Tracker",
        ),
        (
            bool(search.loops) or search._closure is not None or search._aside is not None,
            "the loops of its model are closed by Python; export it without them",
        ),
        (
            search.unranged is not None,
            "what lies within a range that is required is found by Python; export a Tracker",
        ),
    ]


def export_tracker(tracker: "Tracker", file: Any) -> None:
    """Write the file of a tracker; raises ValueError where its steps are more than the kernel's."""
    reasons: Sequence[tuple[bool, str]] = [
        (bool(tracker._bound.own), "its own tasks, methods or potentials are compiled in each process of Python alone"),
        (tracker._explorer is not None, "ways round are looked for by Python; leave out explore=True"),
        (
            tracker._closing is not None or tracker._aside is not None,
            "the loops of its model are closed by Python; export it without them",
        ),
    ]
    found = [why for holds, why in reasons if holds]
    if found:
        raise ValueError(f"this Tracker cannot be exported: {found[0]}")
    bound, now = tracker._bound, tracker._scratch
    scratch = bound.new(tracker.model)
    scratch.goal[:] = now.goal
    guide = bound.problem.rows("guide")
    scratch.narrow[guide] = now.narrow[guide]
    scratch.out[:] = np.nan
    targets = np.concatenate([now.goal, now.narrow[guide]])
    written(file, TRACKER, tracker.model, tracker._followed, bound, scratch, targets)
