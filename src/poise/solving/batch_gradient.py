"""The gradients of many answers, as arrays."""

import os
from collections.abc import Callable
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.cached import cached_property
from poise.checks import finite
from poise.errors import ShapeError
from poise.model.model import Model
from poise.solving.gradient import SolutionGradient
from poise.solving.inverses import Flags, along, inverses_at
from poise.solving.outcome import Asked
from poise.solving.pieces import Pieces
from poise.spatial import Array, ArrayLike

_PIECE: Final = 1024
"""Answers that a thread takes at a time."""


@final
class BatchGradient:
    """The derivatives of `SolutionBatch.q` by the targets of its tasks; each is that of `Solution.gradient`, to the
    bit.  Where the pose of one frame is asked for they are found on all cores at once."""

    def __init__(
        self, model: Model, asked: Asked, q: Array, solved: Flags, alone: Callable[[int], SolutionGradient]
    ) -> None:
        """Of answers q (n, nq), of which these are `solved` (n,); `alone` gives the gradient of one."""
        self._model = model
        inverses = np.empty((len(q), model.nv, 6))
        sound, one_sided = np.zeros((2, len(q)), dtype=np.bool_)
        pieces = Pieces(len(q), _PIECE)

        def work() -> None:
            for piece in pieces:
                at = slice(piece.start, piece.stop)
                inverses[at], sound[at], one_sided[at] = inverses_at(model, asked, q[at])

        pieces.share(work, min(len(pieces), os.cpu_count() or 1) or 1)
        sound &= solved
        self._inverses, self._sound, self._one_sided = inverses, sound, one_sided
        self._others: dict[int, SolutionGradient] = {int(i): alone(int(i)) for i in np.flatnonzero(~sound)}

    @cached_property
    def status(self) -> npt.NDArray[np.str_]:
        """(n,) "smooth", "one-sided" or "undefined", see `SolutionGradient.status`."""
        found = np.where(self._one_sided, "one-sided", "smooth")
        for i, one in self._others.items():
            found[i] = one.status
        return found

    @cached_property
    def by_target(self) -> tuple[Array, ...]:
        """By the target of each task (n, nv, k), see `SolutionGradient.by_target`; NaN where the status is
        "undefined"."""
        if self._sound.all():
            return (self._inverses,)
        found = {i: one.by_target for i, one in self._others.items() if one.status != "undefined"}
        shapes = [part.shape for part in next(iter(found.values()), (self._inverses[0],))]
        out = tuple(np.full((len(self._sound), *shape), np.nan) for shape in shapes)
        if self._sound.any():
            out[0][self._sound] = self._inverses[self._sound]
        for i, parts in found.items():
            for whole, part in zip(out, parts, strict=True):
                whole[i] = part
        return out

    def vjp(self, cotangents: ArrayLike) -> tuple[Array, ...]:
        """(n, k) for each task: how a number of each problem changes with its targets, that has these derivatives
        (n, nv) by q.

        Raises ShapeError for another shape, ValueError for numbers that are not finite.
        """
        given, expected = finite("cotangents", cotangents), (len(self._sound), self._model.nv)
        if given.shape != expected:
            raise ShapeError(f"cotangents must have shape {expected}, a row a problem, got {given.shape}")
        if self._sound.all():
            return (along(given, self._inverses),)
        out = tuple(along(given, part) for part in self.by_target)
        for i, one in self._others.items():
            if one.status != "undefined":
                for whole, part in zip(out, one.vjp(given[i]).by_target, strict=True):
                    whole[i] = part
        return out

    def __len__(self) -> int:
        return len(self._sound)

    def __repr__(self) -> str:
        words, counts = np.unique(self.status, return_counts=True)
        told = ", ".join(f"{count:,} {word}" for word, count in zip(words, counts, strict=True))
        return f"BatchGradient({told})"
