"""A model with what stands still locked at one place, and how answers on it become those on the whole model."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.machine.layout import ANSWER
from poise.model.model import Model
from poise.solving.unreachable.infeasibility import with_still_locked


class Locked(NamedTuple):
    """A model of the joints that may move, part of another."""

    model: Model
    moved: npt.NDArray[np.intp]
    """The places in q of the joints that may move."""
    still: npt.NDArray[np.intp]
    """The places of the others."""
    at: Array
    """Where these stand."""

    @classmethod
    def of(cls, model: Model, q: Array) -> "Locked":
        """The part of a model whose other joints stand where q (nq,) has them."""
        still = np.flatnonzero(model._standing)
        return cls(with_still_locked(model, q), np.flatnonzero(~model._standing), still, q[still])

    def whole(self, raw: Array) -> Array:
        """(..., rows of `out`) answers on the whole model, of those on the part."""
        end, more = ANSWER + self.model.nq, len(self.still)
        out = np.empty((*raw.shape[:-1], raw.shape[-1] + more))
        out[..., :ANSWER], out[..., end + more :] = raw[..., :ANSWER], raw[..., end:]
        out[..., ANSWER + self.moved], out[..., ANSWER + self.still] = raw[..., ANSWER:end], self.at
        return out
