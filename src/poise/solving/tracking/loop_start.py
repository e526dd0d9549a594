"""From a start at which loops are open to where they are closed, step by step."""

import warnings
from collections.abc import Sequence
from typing import Final, final

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import CLOSED
from poise.model.loop import named
from poise.model.model import Model
from poise.solving.requirements.inequalities import Limit, together
from poise.solving.requirements.loop_projection import LoopProjection
from poise.solving.search.search import Search
from poise.tasks.loop import LoopTask

_OPEN: Final = (
    "the loops of {name} are open by {gap:.3g} m or rad at this q, and no closed configuration was found from it: q "
    "stays where it is; begin at one that solve returns"
)


@final
class LoopStart:
    """The way of a Tracker from an open start that is too far from closed ones for a step, to the nearest of them."""

    __slots__ = ("_aim", "_loops", "_model", "_projection", "_search", "_warned")

    def __init__(
        self, model: Model, loops: Sequence[LoopTask], *, limits: bool, bounds: Sequence[Limit], dt: float | None
    ) -> None:
        changes = together(model, range(model.nv), bounds, dt).changes
        self._model, self._loops = model, tuple(loops)
        self._projection = LoopProjection(model, loops, limits=limits, changes=changes)
        self._search: Search | None = None
        self._aim: Array | None = None
        self._warned = False

    def refuse_open(self, starts: Array) -> None:
        """Raises ValueError if the loops are open at one of these (N, nq)."""
        for q in starts:
            gap = self._projection.residual(q)
            if gap > CLOSED:
                raise InvalidValue(
                    "inconsistent",
                    f"a rollout begins with closed loops, and {named(self._loops)} is open by {gap:.3g} m or rad at q: "
                    "begin at one that solve returns, or take steps, which close it",
                )

    def forget(self) -> None:
        """Choose anew where an open start is to be closed."""
        self._aim = None

    def __call__(self, start: Array) -> Array:
        """(nq,) where the next step on the way from `start` (nq,) leads."""
        model, projection = self._model, self._projection
        start = model.normalize(start)
        if self._aim is None:
            self._aim = self.closed(start)
        if self._aim is None:
            if not self._warned:
                self._warned = True
                gap = projection.residual(start)
                warnings.warn(_OPEN.format(name=model.name, gap=gap), RuntimeWarning, stacklevel=4)
            return start
        return projection.towards(model, start, self._aim)

    def closed(self, start: Array) -> Array | None:
        """(nq,) the configuration near to `start` (nq,) in which loops are closed; None if none is found."""
        near = self._projection.project(self._model, start)
        return self._searched(start) if near is None else near

    def _searched(self, start: Array) -> Array | None:
        """(nq,) a closed configuration that random starts lead to; None if there is none."""
        if self._search is None:
            self._search = Search(self._model, self._loops, limits=self._projection.limits)
        found = self._search(self._model, None, start, None)
        return found.q if found.success else None
