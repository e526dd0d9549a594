"""Keep a body that rests on contacts with friction such that it neither tips nor slips."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.cached import cached_property
from poise.common.checks import by_name, finite, number, one_of
from poise.common.errors import InvalidValue, ShapeError
from poise.geometry.balance import Balance
from poise.tasks.fields import direction
from poise.tasks.support import OverPolygon

if TYPE_CHECKING:
    from poise.model.model import Model

_NEAR: Final = 2e-5
"""A centre of mass that is no farther from a side stands at it [m]: twice what steps stay inside."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class EquilibriumTask(OverPolygon):
    """Keep the centre of mass of the model where `contacts` can hold the weight, so that nothing tips or slips.

    A contact is the points where a foot or a hand touches something, (3,) or (n, 3) in the world [m], by name.  It
    stands still, pushes along its normal and, by its `friction`, across; it does not pull.  So the centre of mass may
    be anywhere in a vertical prism, whose section is `corners` (Bretl and Lall 2008, doi:10.1109/TRO.2008.2001360); of
    contacts on one level floor that is their convex hull.  Cones of friction are pyramids of 16 edges within them.  It
    is of a robot at rest, whose weight is all that acts on it: the joints may be too weak, which a `TorqueTask` says.

    Inside it asks for nothing; outside, what is left is the way to the nearest place that can be held [m], seen from
    above.  A `Tracker` does not leave it, see there.  Contacts that are moved make another task.  The weight [1/m] is
    one number.  Raises ValueError for contacts that hold nothing, or only on a line, and for a margin that leaves
    nothing.
    """

    contacts: Mapping[str, ArrayLike]
    """Name to points [m], (3,) or (n, 3) in the world, such as the corners of a foot."""
    normals: Mapping[str, ArrayLike] = field(default_factory=dict, kw_only=True)
    """Name to the direction (3,) out of what is touched, of any length but 0; where none is given, up."""
    friction: float | Mapping[str, float] = field(default=0.5, kw_only=True)
    """The coefficient, 0 or more: one for all contacts, or by name."""
    press: float = field(default=10.0, kw_only=True)
    """The most that all contacts press together, as a multiple of the weight: without it, hands that push against each
    other could hold it anywhere."""

    def __post_init__(self) -> None:
        if not isinstance(self.contacts, Mapping) or not self.contacts:
            raise InvalidValue(
                "wrong-type" if self.contacts else "empty",
                f"contacts must name points, as in {{'foot': [[0.1, 0.0, 0.0]]}}, got {self.contacts!r}",
            )
        points = {name: finite(f"contacts[{name!r}]", given) for name, given in self.contacts.items()}
        for name, given in points.items():
            if given.ndim not in (1, 2) or given.shape[-1] != 3 or not given.size:
                raise ShapeError(f"contacts[{name!r}] must have shape (3,) or (n, 3), got {given.shape}")
        self._set("contacts", {name: given.reshape(-1, 3) for name, given in points.items()})
        by_name("normals", self.normals, "{'wall': (-1, 0, 0)}")
        self._set("normals", {name: direction(f"normals[{name!r}]", x) for name, x in self.normals.items()})
        stated: Any = self.friction
        rubs: Mapping[str, float] = stated if isinstance(stated, Mapping) else dict.fromkeys(points, stated)
        for what, named in (("normals", self.normals), ("friction", rubs)):
            for name in named:
                one_of(f"a name in {what}", name, tuple(points))
        for name in points:
            if name not in rubs:
                raise InvalidValue(
                    "empty", f"friction has none for {name!r}: give one for each contact, or one for all"
                )
        rubs = {name: number(f"friction[{name!r}]" if rubs is stated else "friction", rubs[name]) for name in points}
        for name, rub in rubs.items():
            if rub < 0.0:
                raise InvalidValue("negative", f"friction of {name!r} is {rub}; it must be 0 or more")
        self._set("friction", rubs if isinstance(stated, Mapping) else next(iter(rubs.values())))
        self._set("press", number("press", self.press))
        if not self.press > 0.0:
            raise InvalidValue("not-positive", f"press is {self.press}; it must be above 0")
        super().__post_init__()

    @property
    def label(self) -> str:
        """What it is and of what, in messages."""
        return f"EquilibriumTask({', '.join(map(repr, self.contacts))})"

    @cached_property
    def _of_contact(self) -> list[str]:
        """The contact of each point."""
        return [name for name, points in self.contacts.items() for _ in np.asarray(points)]

    def _balance(self) -> Balance:
        rubs = self.friction if isinstance(self.friction, Mapping) else dict.fromkeys(self.contacts, self.friction)
        normals = np.array([self.normals.get(name, (0.0, 0.0, 1.0)) for name in self._of_contact])
        friction = [rubs[name] for name in self._of_contact]
        points = np.concatenate([np.asarray(given) for given in self.contacts.values()])
        return Balance(points, normals, np.array(friction), self.press)

    @cached_property
    def _points(self) -> Array:
        """(n, 2) corners of where the centre of mass may be [m]."""
        balance = self._balance()
        if not balance.holds:
            raise InvalidValue(
                "empty",
                f"{self.label} can hold no weight, wherever it is: normals point out of what is touched, towards the "
                "robot; some must point up, or friction be larger",
            )
        return balance.section()

    @property
    def _flat(self) -> str:
        """What is said where it has no inside."""
        return f"{self.label} can hold a weight on one line alone: add points, such as the corners of a foot"

    def at_sides(self, model: "Model", q: Array) -> list[str]:
        """See `Task.at_sides`: the contacts that would give way beyond the sides that the centre of mass stands at."""
        centre, starts = model.centre_of_mass(q)[:2], self.corners
        along = np.roll(starts, -1, axis=0) - starts
        out = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1, keepdims=True)
        gaps = ((centre - starts) * out).sum(axis=1)
        worst = int(gaps.argmax())
        if gaps[worst] < -_NEAR:
            return []
        firm = self._balance().farthest(out[worst])[1]
        found = []
        for name in self.contacts:
            own = np.array([of == name for of in self._of_contact])
            bears, sticks = firm.bears[own], firm.sticks[own]
            if not bears.any():
                found.append(f"{name} would lift")
            elif not bears.all():
                found.append(f"{name} would tip")
            elif not sticks.all():
                found.append(f"{name} would slip")
        return found
