"""What a Tracker does after each step, so that loops are closed at its end."""

import warnings
from collections.abc import Sequence
from typing import Any, Final, final

from poise.model.loop import named
from poise.model.model import Model
from poise.solving.closure import CLOSED, Closure
from poise.solving.inequalities import Limit, VelocityLimit, together
from poise.solving.search import Search
from poise.spatial import Array
from poise.tasks.base import Task
from poise.tasks.loop import LoopTask

_OPEN: Final = (
    "the loops of {name} are open by {gap:.3g} m or rad at this q, and no closed configuration was found from it: q "
    "stays where it is; begin at one that solve returns"
)


@final
class Kept:
    """Closed loops: takes the end of each step to where they are closed."""

    __slots__ = ("_aim", "_closure", "_loops", "_model", "_search", "_warned")

    def __init__(
        self, model: Model, loops: Sequence[LoopTask], *, limits: bool, bounds: Sequence[Limit], dt: float | None
    ) -> None:
        changes = together(model, range(model.nv), bounds, dt).changes
        self._model, self._loops = model, tuple(loops)
        self._closure = Closure(model, loops, limits=limits, changes=changes)
        self._search: Search | None = None
        self._aim: Array | None = None
        self._warned = False

    @property
    def labels(self) -> str:
        """What it keeps closed, in a sentence."""
        return named(self._loops)

    def forget(self) -> None:
        """Choose anew where an open start is to be closed."""
        self._aim = None

    def __call__(self, start: Array, q: Array) -> Array:
        """(nq,) where a step from `start` to `q` (nq,) leads with all loops closed.

        From a start that is open, and too far from closed ones for a step, it is a step on the way to the nearest.
        """
        model, closure = self._model, self._closure
        start = model.normalize(start)
        found = closure.kept(model, start, q)
        if found is not None:
            self.forget()
            return found
        gap = closure.gap(start)
        if gap <= CLOSED:
            return start
        if self._aim is None:
            near = closure.closed(model, start)
            self._aim = self._searched(start) if near is None else near
        if self._aim is None:
            if not self._warned:
                self._warned = True
                warnings.warn(_OPEN.format(name=model.name, gap=gap), RuntimeWarning, stacklevel=3)
            return start
        return closure.towards(model, start, self._aim)

    def _searched(self, start: Array) -> Array | None:
        """(nq,) a closed configuration that random starts lead to; None if there is none."""
        if self._search is None:
            self._search = Search(self._model, self._loops, limits=self._closure.limits)
        found = self._search(self._model, None, start, None)
        return found.q if found.success else None


def kept(
    model: Model,
    tasks: Sequence[Task],
    stated: Sequence[Any],
    pace: VelocityLimit,
    *,
    limits: bool,
    dt: float | None,
    explore: bool,
) -> Kept | None:
    """What keeps the loops among `tasks` closed beside the `stated` limits, in steps of `dt` [s] at the `pace`.

    None without loops.  Raises ValueError for limits that a step which is brought back to closed loops would not keep.
    """
    loops = [task for task in tasks if isinstance(task, LoopTask)]
    if not loops:
        return None
    for limit in stated:
        if not isinstance(limit, VelocityLimit):
            raise ValueError(
                f"{type(limit).__name__} is not kept together with closed loops, such as {loops[0].label}; joint "
                "limits and speeds are: leave it out"
            )
    if explore:
        raise ValueError(f"explore=True does not keep loops closed, such as {loops[0].label}: leave it out")
    bounds = [*stated, *(() if dt is None else (pace,))]
    return Kept(model, loops, limits=limits, bounds=bounds, dt=dt)


def refuse_ranges(kept: Kept | None, ranges: Sequence[Task]) -> None:
    """Raises ValueError for ranges that steps shall not leave, where the way back to closed loops may lead outside."""
    if kept is not None:
        for task in ranges:
            raise ValueError(
                f"{task.label} is no wall where loops are closed, such as {kept.labels}: leave one of them out; with a "
                "later priority, or a method that keeps no inequalities, such as 'dls', it is felt from outside only"
            )
