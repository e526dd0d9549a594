"""The joints of a case as plans go through them: from link to link, idle ones aside."""

from typing import final

from poise.kernels.machine.layout import BALL_TURN, BY_FUNCTION
from poise.methods.base import Case


@final
class Joints:
    """The units and effectors of a packed problem."""

    def __init__(self, case: Case) -> None:
        units, coordinates = case.section("units"), case.section("coordinates")
        self.parents = units["parent"].tolist()
        self.kinds = [kind if kind < BY_FUNCTION else kind - BY_FUNCTION for kind in units["kind"].tolist()]
        self.places, self.multipliers = units["q_index"].tolist(), units["multiplier"].tolist()
        self.tips = case.section("effectors")["tip"].tolist()
        self.coordinate = {int(q): c for c, q in enumerate(coordinates["q"])}
        moved = (*coordinates, *case.section("balls"))
        self.velocity = {int(row["q"]): int(row["v"]) for row in moved}

    def acting(self, unit: int) -> int:
        """The unit that moves what hangs on `unit`: itself, or the nearest before it that is not idle; or -1."""
        while unit >= 0 and self.idle(unit):
            unit = self.parents[unit]
        return unit

    def idle(self, unit: int) -> bool:
        """Whether a unit stands still, moves no task, or only ends a ball."""
        return self.kinds[unit] == BALL_TURN or self.multipliers[unit] == 0.0 or self.places[unit] not in self.velocity

    def carries(self, unit: int, link: int) -> bool:
        """Whether `unit` moves what hangs on the unit `link`."""
        while link > unit:
            link = self.parents[link]
        return link == unit

    def velocities(self) -> list[int]:
        """The velocity of each unit, -1 where it has none."""
        return [-1 if self.idle(u) else self.velocity[place] for u, place in enumerate(self.places)]
