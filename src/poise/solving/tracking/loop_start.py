"""From a start at which loops are open to where they are closed, step by step."""

import warnings
from collections.abc import Sequence
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import CLOSED
from poise.model.closure import LoopClosure
from poise.model.loop import named
from poise.model.model import Model
from poise.solving.requirements.inequalities import Limit, together
from poise.solving.search.search import Search
from poise.tasks.loop import LoopTask

_OPEN: Final = (
    "the loops of {name} are open by {gap:.3g} m or rad at this q, and no closed configuration was found from it: q "
    "stays where it is; begin at one that solve returns"
)


@final
class LoopStart:
    """The way of a Tracker from an open start that is too far from closed ones for a step, to the nearest of them."""

    __slots__ = ("_aim", "_closure", "_limits", "_loops", "_model", "_most", "_search", "_warned")

    def __init__(
        self, model: Model, loops: Sequence[LoopTask], *, limits: bool, bounds: Sequence[Limit], dt: float | None
    ) -> None:
        self._most = together(model, range(model.nv), bounds, dt).changes
        self._model, self._loops, self._limits = model, tuple(loops), limits
        self._closure = LoopClosure(model, [task.loop for task in loops], limits=limits)
        self._search: Search | None = None
        self._aim: Array | None = None
        self._warned = False

    def refuse_open(self, starts: Array) -> None:
        """Raises ValueError if the loops are open at one of these (N, nq)."""
        for q in starts:
            gap = self._closure.gap(q)
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
        model = self._model
        start = model.normalize(start)
        if self._aim is None:
            self._aim = self.closed(start)
        if self._aim is None:
            if not self._warned:
                self._warned = True
                gap = self._closure.gap(start)
                warnings.warn(_OPEN.format(name=model.name, gap=gap), RuntimeWarning, stacklevel=4)
            return start
        return self._towards(start, self._aim)

    def _towards(self, start: Array, q: Array) -> Array:
        """(nq,) a step on the straight way from `start` to `q` (nq,), as far as a step may go; what is beyond a limit
        comes back."""
        model, low, high = self._model, -self._most, self._most.copy()
        endless = np.full(model.nq, np.inf)
        lower, upper = (model.lower, model.upper) if self._limits else (-endless, endless)
        at_q, at_v = model._plain
        low[at_v] = np.maximum(low[at_v], np.minimum(lower[at_q] - start[at_q], self._most[at_v]))
        high[at_v] = np.minimum(high[at_v], np.maximum(upper[at_q] - start[at_q], -self._most[at_v]))
        way = model.difference(start, q)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(way > 0.0, high / way, np.where(way < 0.0, low / way, np.inf))
        way = np.clip(way * min(1.0, max(0.0, float(share.min(initial=1.0)))), low, high)
        there = model.integrate(start, way)
        for ball in model.ball_limits if self._limits else ():
            at = slice(ball.place, ball.place + 4)
            if ball.inside(start[at]):
                there[at] = ball.pulled_in(there[at])
        return np.clip(there, np.minimum(lower, start), np.maximum(upper, start))

    def closed(self, start: Array) -> Array | None:
        """(nq,) the configuration near to `start` (nq,) in which loops are closed; None if none is found."""
        near = self._closure.closed(start)
        return self._searched(start) if near is None else near

    def _searched(self, start: Array) -> Array | None:
        """(nq,) a closed configuration that random starts lead to; None if there is none."""
        if self._search is None:
            self._search = Search(self._model, self._loops, limits=self._limits)
        found = self._search(self._model, None, start, None)
        return found.q if found.success else None
