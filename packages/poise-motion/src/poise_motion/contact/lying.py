"""When a body is not on its feet: it lies, crawls, sits, rolls or turns over in the air.

A foot that is low and still need not stand: of a body that lies it is the heel, the instep or a side that touches.  It
stands on its sole only while that can face the ground, which the turn of the foot and the direction of the shin tell.
A body is off its feet where its trunk is level or upside down while no foot stands, or where its hips are about as low
as the rest of it.  All have hysteresis, so that nothing comes and goes from frame to frame.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from poise.extending import Array
from poise.quaternions import unit_vectors
from poise_motion.anatomy.contact_schedule import Contact, Contacts, Flags, runs
from poise_motion.anatomy.parts import HIPS, SIDES
from poise_motion.contact.contacts import hysteresis, lasting

_SOLE: Final = (0.57, 0.42)
"""Least cosine between up in a foot and the vertical: to come to stand on its sole, and to stay; 55 and 65 degrees."""
_SHIN: Final = (0.5, 0.34)
"""The same of the shin; 60 and 70 degrees."""
_TRUNK: Final = (0.26, 0.5)
"""Cosines between the trunk and the vertical below which a body gets off its feet, and stays so; 75 and 60 degrees."""
_LOW: Final = (0.35, 0.5)
"""The same of the height of its hips above its lowest part, as a share of that of one that stands."""
_ABOUT: Final = 0.25
"""Nor is it on its feet so long before and after [s]."""


def on_soles(found: Contacts, ups: Mapping[str, Array], shins: Mapping[str, Array], times: Array) -> Contacts:
    """The contacts without the times at which a sole cannot face the ground.

    `ups` and `shins` hold by part, (frames, 3), up in the foot and the way from its ankle to its knee; parts that have
    none stand as they were found to.
    """
    on, points, shortened = np.zeros_like(found.on), {}, list[Contact]()
    for i, part in enumerate(found.parts):
        able = np.ones(len(found), dtype=bool)
        if part in ups and part in shins:
            sole, shin = (unit_vectors(ways[part])[:, 2] for ways in (ups, shins))
            able = hysteresis((sole > _SOLE[0]) & (shin > _SHIN[0]), (sole > _SOLE[1]) & (shin > _SHIN[1]))
        for one in (one for one in found.intervals if one.part == part):
            for start, stop in runs(lasting(able[one.start : one.stop], times[one.start : one.stop])):
                shortened.append(replace(one, start=one.start + start, stop=one.start + stop))
                on[one.start + start : one.start + stop, i] = True
        points[part] = found.points[part] & on[:, i, None]
    return Contacts(found.parts, on, points, tuple(shortened))


def off_feet(places: Mapping[str, Array], found: Contacts, times: Array, height: float) -> Flags:
    """(frames,) when a body with the parts at `places` (frames, 3) is not on its feet; its hips stand at `height` [m].

    A body whose hips or shoulders are not known never is off its feet.
    """
    ends = [*HIPS, *(f"{side}_shoulder" for side in SIDES)]
    if any(part not in places for part in ends):
        return np.zeros(len(times), dtype=bool)
    hips, shoulders = (0.5 * (places[left] + places[right]) for left, right in (ends[:2], ends[2:]))
    trunk = unit_vectors(shoulders - hips)[:, 2]
    high = (hips[:, 2] - np.min([path[:, 2] for path in places.values()], axis=0)) / height
    stands = found.on.any(axis=1)
    tilted = hysteresis((trunk < _TRUNK[0]) & ~stands, trunk < _TRUNK[1])
    out = np.zeros(len(times), dtype=bool)
    for start, stop in runs(tilted | hysteresis(high < _LOW[0], high < _LOW[1])):
        out |= (times > times[start] - _ABOUT) & (times < times[stop - 1] + _ABOUT)
    return out
