"""The page of what `retarget` returned, as `view` asks for it."""

from typing import Any

from poise import InvalidType
from poise_motion.carry.carrying import Carrying
from poise_motion.carry.page import CarryingPage
from poise_motion.retarget import Retargeted


def page(thing: object, **settings: Any) -> CarryingPage | None:
    """The page of a result, or of several with one robot and one skeleton; None for what is none.

    Raises TypeError for a list with results and other things, ValueError for results with different robots.
    """
    every = thing if isinstance(thing, (list, tuple)) else (thing,)
    results = [one for one in every if isinstance(one, Retargeted)]
    if not results:
        return None
    if len(results) < len(every):
        other = next(type(one).__name__ for one in every if not isinstance(one, Retargeted))
        raise InvalidType("wrong-type", f"view takes a list of what retarget returns, got a list with {other} too")
    return CarryingPage(list(map(Carrying, results)), **settings)
