"""What is wrong with the loops of a robot: that nothing closes them, dead points, motors that do not hold its tip."""

from collections.abc import Iterator
from typing import Final

from poise.doctor.finding import Finding
from poise.kernels.machine.layout import EXACT
from poise.model.closure import loop_closure
from poise.model.looped import ACTUATED
from poise.model.mechanism import Mechanism
from poise.model.model import Model

_STARTS: Final = 20
"""Random configurations from which a closed one is sought."""


def findings_of_loops(model: Model) -> Iterator[Finding]:
    """What is found with the loops of a model, at the closed configuration that is nearest to home."""
    if not model.loops:
        return
    where = f"{len(model.loops)} loops of {model.name}" if len(model.loops) > 1 else model.loops[0].label
    starts = [model.home, *model.sample(_STARTS, seed=0)]
    closure = loop_closure(model, limits=True)
    closed = next((q for start in starts if (q := closure.closed(start, EXACT)) is not None), None)
    if closed is None:
        yield Finding(
            "loops-open",
            "error",
            where,
            f"nothing closes them, from home and {_STARTS} other starts",
            "look at their frames and kinds, and for balls that the file calls hinges: load(..., joints=...)",
        )
        return
    if ACTUATED not in model.groups:
        yield Finding(
            "motors-unknown",
            "note",
            where,
            "nothing says which joints have motors, so dead points were not looked for",
            "state them with the loops: actuated, or name_mot",
        )
        return
    here = Mechanism(model, closed)
    if here.dead:
        yield Finding(
            "dead-point",
            "warning",
            where,
            f"near home {here.dead} motions of the {len(here.actuated)} motors cannot happen, as at a dead point",
            "begin elsewhere, or name fewer motors: those that the loops tie to others are none",
        )
    given = here.gives_way(model.tip)
    if len(given):
        yield Finding(
            "not-held",
            "warning",
            f"frame {model.tip!r}",
            f"with all motors locked it moves in {len(given)} ways near home",
            "begin elsewhere if that is a dead point; else motors or loops are missing",
        )
