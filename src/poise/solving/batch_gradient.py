"""The gradients of many answers, as arrays."""

from collections.abc import Callable, Iterator
from typing import final

import numpy as np
import numpy.typing as npt

from poise.cached import cached_property
from poise.checks import finite
from poise.errors import ShapeError
from poise.model.model import Model
from poise.solving.gradient import SolutionGradient
from poise.solving.inverses import ONE_SIDED, SINGULAR, Flags, inverses_of
from poise.solving.outcome import Asked
from poise.spatial import Array, ArrayLike


@final
class BatchGradient:
    """The derivatives of `SolutionBatch.q` by the targets of its tasks; each is that of `Solution.gradient`, to the
    bit.  Where the pose of one frame is asked for they are found on all cores at once."""

    def __init__(
        self, model: Model, asked: Asked, q: Array, solved: Flags, alone: Callable[[int], SolutionGradient]
    ) -> None:
        """Of answers q (n, nq), of which these are `solved` (n,); `alone` gives the gradient of one."""
        self._model, self._q, self._alone, self._of = model, q, alone, inverses_of(model, asked)
        self._solved = solved & self._of.there
        self._known: Array | None = None
        """(n,) what is known of each, of which only those are looked at that are solved."""

    def _looked_at(self, cotangents: Array | None = None) -> Array:
        """(n, nv, 6) by the target of a pose, or cotangents times that (n, 6); what is known of each by the way."""
        self._known = np.full(len(self), float(SINGULAR))
        if not self._solved.any():
            return np.zeros((len(self), *((self._model.nv, 6) if cotangents is None else (6,))))
        out, known = self._of.of_many(self._q, cotangents)
        self._known[self._solved] = known[self._solved]
        return out

    @cached_property
    def _inverses(self) -> Array:
        return self._looked_at()

    @property
    def _sound(self) -> Flags:
        """(n,) whether these are the derivatives."""
        if self._known is None:
            self._looked_at(np.zeros((len(self), self._model.nv)))
        return np.asarray(self._known) != SINGULAR

    @cached_property
    def _others(self) -> dict[int, SolutionGradient]:
        return {int(i): self._alone(int(i)) for i in np.flatnonzero(~self._sound)}

    @property
    def undefined(self) -> npt.NDArray[np.intp]:
        """The rows that have no derivative."""
        return np.array([i for i, one in self._others.items() if one.status == "undefined"], dtype=np.intp)

    @cached_property
    def status(self) -> npt.NDArray[np.str_]:
        """(n,) "smooth", "one-sided" or "undefined", see `SolutionGradient.status`."""
        others = self._others
        found = np.where(self._known == ONE_SIDED, "one-sided", "smooth")
        for i, one in others.items():
            found[i] = one.status
        return found

    @cached_property
    def by_target(self) -> tuple[Array, ...]:
        """By the target of each task (n, nv, k), see `SolutionGradient.by_target`; NaN where the status is
        "undefined"."""
        return self._merged(self._inverses, {i: one.by_target for i, one in self._defined()})

    def vjp(self, cotangents: ArrayLike) -> tuple[Array, ...]:
        """(n, k) for each task: how a number of each problem changes with its targets, that has these derivatives
        (n, nv) by q; NaN where the status is "undefined".

        Raises ShapeError for another shape, ValueError for numbers that are not finite.
        """
        given, expected = finite("cotangents", cotangents), (len(self), self._model.nv)
        if given.shape != expected:
            raise ShapeError(f"cotangents must have shape {expected}, a row a problem, got {given.shape}")
        pulled = self._looked_at(given)
        return self._merged(pulled, {i: one.vjp(given[i]).by_target for i, one in self._defined()})

    def _defined(self) -> Iterator[tuple[int, SolutionGradient]]:
        """Those of the others that have derivatives."""
        return ((i, one) for i, one in self._others.items() if one.status != "undefined")

    def _merged(self, inverses: Array, found: dict[int, tuple[Array, ...]]) -> tuple[Array, ...]:
        """A row a problem: of `inverses` where these hold, else what was found; NaN where nothing was."""
        if self._sound.all():
            return (inverses,)
        shapes = [part.shape for part in next(iter(found.values()), (inverses[0],))]
        out = tuple(np.full((len(self), *shape), np.nan) for shape in shapes)
        if self._sound.any():
            out[0][self._sound] = inverses[self._sound]
        for i, parts in found.items():
            for whole, part in zip(out, parts, strict=True):
                whole[i] = part
        return out

    def __len__(self) -> int:
        return len(self._q)

    def __repr__(self) -> str:
        words, counts = np.unique(self.status, return_counts=True)
        told = ", ".join(f"{count:,} {word}" for word, count in zip(words, counts, strict=True))
        return f"BatchGradient({told})"
