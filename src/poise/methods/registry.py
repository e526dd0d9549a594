"""Methods by their short names.

A method's module is imported when its class is asked for, so that the names alone cost nothing.
"""

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, final

from poise.common.errors import InvalidValue

if TYPE_CHECKING:
    from poise.methods.base import Method

_HOMES: Final = {
    "jt": "transpose.JacobianTranspose",
    "pinv": "pseudoinverse.Pseudoinverse",
    "dls": "damped.DampedLeastSquares",
    "sdls": "selective.SelectivelyDamped",
    "filtered": "filtered.FilteredInverse",
    "gn": "newton.GaussNewton",
    "lm": "newton.LevenbergMarquardt",
    "halley": "halley.Halley",
    "hybrid": "hybrid.Hybrid",
    "ccd": "ccd.CyclicCoordinateDescent",
    "fabrik": "fabrik.Fabrik",
    "qp": "bounded.BoundedLeastSquares",
    "bfgs": "quasi_newton.BFGS",
    "lbfgs": "quasi_newton.LBFGS",
    "priority": "priority.TaskPriority",
    "das": "das.DasSlotineSheridan",
    "extended": "extended.ExtendedJacobian",
    "pairwise": "pairwise.PairwiseJacobian",
}
"""Where the library's own methods are, within `poise.methods`."""


@final
class Methods(Mapping[str, "type[Method]"]):
    """Classes by name: those of the library, imported when they are asked for, then those that users register."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = {name: f"poise.methods.{place}" for name, place in homes.items()}
        self._own: dict[str, type[Method]] = {}

    def register(self, kind: "type[Method]") -> None:
        """Add a class; raises ValueError if its name is that of another one."""
        name, place = kind.name, f"{kind.__module__}.{kind.__qualname__}"
        if self._homes.setdefault(name, place) != place:
            raise InvalidValue(
                "duplicate",
                f"the method {name!r} is {self._homes[name]} already: give {kind.__qualname__} another name",
            )
        if not place.startswith("poise."):
            self._own[name] = kind

    def __getitem__(self, name: str) -> "type[Method]":
        if name in self._own:
            return self._own[name]
        module, _, kind = self._homes[name].rpartition(".")
        found: type[Method] = getattr(importlib.import_module(module), kind)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


METHODS: Final = Methods(_HOMES)
"""The class of each short name."""
