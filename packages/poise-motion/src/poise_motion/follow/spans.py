"""Spans of frames in which what is asked of a robot stays the same."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from poise_motion.anatomy.contact_schedule import Contact, Flags, runs
from poise_motion.anatomy.parts import KNEES
from poise_motion.contact.touches import Touch
from poise_motion.follow.detours import Detour
from poise_motion.follow.task_stack import Stance, Standing
from poise_motion.reference.bodies import Robot, Source
from poise_motion.reference.targets import Plane, ground_of

CATCH_UP: Final = 0.25
"""How long a part has, when other parts begin or end to stand, to catch up with its target [s]."""
_LANDING: Final = 0.5
"""How long before it stands a foot of a body off its feet is kept above the ground [s]: one that begins too late comes
down too fast for its joints."""
_MILLIMETRES: Final = 3
"""Decimals of heights of the ground, so that stances on one step have one Tracker."""


def spans(source: Source, detours: Sequence[Detour], robot: Robot) -> Iterator[tuple[Stance, list[str], slice]]:
    """How the body stands, and which parts come to stand, over each span of frames in which that stays the same.

    Spans end where a detour begins and ends.
    """
    contacts = source.contacts
    edges = {0, len(contacts), *(edge for one in contacts.intervals for edge in (one.start, one.stop))}
    edges |= {edge for touch in source.touches for edge in (_reached(source, touch), touch.stop)}
    edges |= {_approached(source, one, robot) for one in contacts.intervals}
    edges |= {edge for span in (*runs(source.off_feet), *((one.start, one.stop) for one in detours)) for edge in span}
    for start, stop in pairwise(sorted(edges)):
        coming = [one.part for one in contacts.intervals if one.start == start]
        yield _stance(source, start, robot), coming, slice(start, stop)


def pieces(apart: Flags, span: slice) -> list[slice]:
    """The parts of a span of frames in which shapes are kept `apart` (frames,), or not."""
    changes = np.flatnonzero(np.diff(apart[span])) + span.start + 1
    return [slice(start, stop) for start, stop in pairwise((span.start, *changes.tolist(), span.stop))]


def _stance(source: Source, frame: int, robot: Robot) -> Stance:
    """How a robot stands in a frame."""
    holds = {
        Standing(one.part, one.hold or source.hold, _rounded(ground_of(source, robot, one)), one.shapes)
        for one in source.contacts.intervals
        if one.start <= frame < one.stop
    }
    late = sorted(source.touches, key=lambda touch: -touch.start)  # so that of two of a hand the earlier is taken
    touches = {touch.part: touch for touch in late if _reached(source, touch) <= frame < touch.stop}
    off, agile = bool(source.off_feet[frame]), bool(source.off_feet.any())
    coming = {one.part for one in source.contacts.intervals if _approached(source, one, robot) <= frame < one.start}
    landing = frozenset(part for part in coming if off or part in KNEES)
    return Stance(frozenset(holds), off, agile, frozenset(touches.values()), landing)


def _rounded(ground: Plane) -> Plane:
    """Ground to the millimetre, so that stances on one step have one Tracker."""
    return Plane(ground.normal, round(ground.offset, _MILLIMETRES))


def _approached(source: Source, stance: Contact, robot: Robot) -> int:
    """The frame from which a foot, off its feet, is kept above the ground on which it stands from another one on, and
    from which a knee is led there."""
    early = source.off_feet.any() or stance.part in robot.props
    return int(np.searchsorted(source.times, source.times[stance.start] - _LANDING)) if early else stance.start


def _reached(source: Source, touch: Touch) -> int:
    """The frame from which a hand is led as one that touches, so that it has caught up with its place by then."""
    return int(np.searchsorted(source.times, source.times[touch.start] - CATCH_UP))
